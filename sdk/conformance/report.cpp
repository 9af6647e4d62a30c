// A report as text, JUnit XML and Markdown.
#include "atoll/atoll.hpp"
#include "atoll/conformance.hpp"
#include "base/printable.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

std::string escaped(const std::string &text) {
    std::string result;
    for (const char c : detail::printable(text)) {
        switch (c) {
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '&': result += "&amp;"; break;
        case '"': result += "&quot;"; break;
        case '\n': result += "&#10;"; break;
        default: result += c;
        }
    }
    return result;
}

// The results of each group, in the order of the groups.
std::vector<Report> by_group(const Report &report) {
    std::vector<Report> groups;
    for (const Result &result : report.results) {
        auto own = std::find_if(groups.begin(), groups.end(),
                                [&](const Report &group) { return group.name == result.group; });
        if (own == groups.end()) {
            own = groups.insert(own, Report());
            own->name = result.group;
        }
        own->results.push_back(result);
        own->seconds += result.seconds;
    }
    return groups;
}

std::string joined(const std::string &first, const std::string &variant) {
    return first + (first.empty() || variant.empty() ? "" : "/") + variant;
}

// The common part of messages with the same cause: up to the first detail, without numbers.
std::string kind_of(const std::string &message) {
    std::string kind;
    std::istringstream words(message.substr(0, message.find_first_of(":;,")));
    for (std::string word; words >> word;)
        kind += word.find_first_of("0123456789") == std::string::npos ? word + " " : "# ";
    return kind;
}

} // namespace

std::string summary(const Report &report) {
    // Failures of one function with one cause form a paragraph with the first message.
    struct Cause {
        const Result *first;
        std::vector<std::string> where;
    };
    std::vector<Cause> causes;
    std::map<std::string, std::size_t> seen;
    for (const Result &result : report.results) {
        if (result.outcome != Outcome::failed) continue;
        const bool many_devices = result.group == "device" || result.group == "streams";
        const auto [at, fresh] =
            seen.emplace(fmt::format("{}/{}/{}", result.group, many_devices ? "" : result.subject,
                                     kind_of(result.message)),
                         causes.size());
        if (fresh) causes.push_back({&result, {}});
        causes[at->second].where.push_back(
            joined(many_devices ? result.subject : result.dtype, result.variant));
    }
    std::string text;
    for (const Cause &cause : causes) {
        text += fmt::format("FAILED {}\n    {}\n", cause.first->name(),
                            detail::printable(cause.first->message));
        if (cause.where.size() > 1) {
            const std::size_t shown = std::min<std::size_t>(cause.where.size(), 6);
            text += fmt::format("    and {} more: {}{}\n", cause.where.size() - 1,
                                fmt::join(cause.where.begin() + 1,
                                          cause.where.begin() + static_cast<long>(shown), ", "),
                                shown < cause.where.size() ? ", …" : "");
        }
    }
    std::map<std::string, std::size_t> skipped;
    for (const Result &result : report.results)
        if (result.outcome == Outcome::skipped) ++skipped[result.message];
    for (const auto &[why, count] : skipped) text += fmt::format("skipped {}: {}\n", count, why);
    for (const Report &group : by_group(report))
        text += fmt::format("{:<12} {:>6} passed {:>5} failed {:>5} skipped\n", group.name,
                            group.passed(), group.failed(), group.skipped());
    text += fmt::format("{} {}: {} checks, {} passed, {} failed, {} skipped; compared with {}; "
                        "{:.1f} s\n",
                        report.name.empty() ? report.plugin.string() : report.name, report.version,
                        report.results.size(), report.passed(), report.failed(), report.skipped(),
                        report.reference.empty() ? "nothing" : report.reference, report.seconds);
    return text;
}

std::string junit(const Report &report) {
    std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    xml += fmt::format("<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" "
                       "skipped=\"{}\" errors=\"0\" time=\"{:.3f}\">\n",
                       escaped(report.name), report.results.size(), report.failed(),
                       report.skipped(), report.seconds);
    for (const Report &group : by_group(report)) {
        std::string cases;
        for (const Result &result : group.results) {
            cases += fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.6f}\"",
                                 escaped(group.name), escaped(result.subject),
                                 escaped(joined(result.dtype, result.variant)), result.seconds);
            if (result.outcome == Outcome::passed) {
                cases += "/>\n";
                continue;
            }
            const bool failed = result.outcome == Outcome::failed;
            // Some tools show the attribute, others the text.
            const std::string why = escaped(result.message);
            cases +=
                failed ? fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>"
                                     "\n    </testcase>\n",
                                     escaped(result.group), why, why)
                       : fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", why);
        }
        xml += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" "
                           "skipped=\"{}\" errors=\"0\" time=\"{:.3f}\">\n{}  </testsuite>\n",
                           escaped(group.name), group.results.size(), group.failed(),
                           group.skipped(), group.seconds, cases);
    }
    return xml + "</testsuites>\n";
}

std::string support_matrix(const Report &report) {
    // device type → function → dtype → the worst outcome of its layouts.
    std::map<std::string, std::map<std::string, std::map<std::string, Outcome>>> devices;
    std::map<std::string, std::vector<std::string>> order;
    for (const Result &result : report.results) {
        if (result.group != "functions" || result.dtype.empty()) continue;
        const std::size_t at = result.subject.rfind('@');
        const std::string function = result.subject.substr(0, at),
                          device = result.subject.substr(at + 1);
        auto &names = order[device];
        if (std::find(names.begin(), names.end(), function) == names.end())
            names.push_back(function);
        const auto [cell, fresh] = devices[device][function].emplace(result.dtype, result.outcome);
        if (!fresh && result.outcome != Outcome::skipped && cell->second != Outcome::failed)
            cell->second = result.outcome;
    }
    std::string text = fmt::format("# {} {}\n\n", report.name, report.version);
    text += fmt::format("{} checks: {} passed, {} failed, {} skipped. Compared with {}.\n\n"
                        "✓ all layouts passed · ✗ a check failed · ○ not compared · empty: not "
                        "declared\n",
                        report.results.size(), report.passed(), report.failed(), report.skipped(),
                        report.reference.empty() ? "nothing" : report.reference);
    for (const auto &[device, functions] : devices) {
        text += fmt::format("\n## On {}\n\n| function |", device);
        std::string rule = "\n|---|";
        std::vector<std::string> dtypes;
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const std::string dtype(Atoll::name(static_cast<DType>(d)));
            const bool used = std::any_of(functions.begin(), functions.end(), [&](const auto &f) {
                return f.second.count(dtype) != 0;
            });
            if (!used) continue;
            dtypes.push_back(dtype);
            text += fmt::format(" {} |", dtype);
            rule += ":-:|";
        }
        text += rule + "\n";
        for (const std::string &function : order[device]) {
            text += fmt::format("| {} |", function);
            for (const std::string &dtype : dtypes) {
                const auto cell = functions.at(function).find(dtype);
                text += fmt::format(" {} |", cell == functions.at(function).end() ? ""
                                             : cell->second == Outcome::passed    ? "✓"
                                             : cell->second == Outcome::failed    ? "✗"
                                                                                  : "○");
            }
            text += "\n";
        }
    }
    return text;
}

} // namespace Atoll::conformance
