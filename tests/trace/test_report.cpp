// The report of `atoll trace`: what its data say, and that its script can be read.
#include "tool_tests.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using namespace tool_tests;

namespace {

const Json &report_of_threads() {
    static const Json page = [] {
        const Folder folder;
        REQUIRE(shell(folder, "$atoll trace -o run.html -- $traced threads").status == 0);
        return page_data(folder, "run.html");
    }();
    return page;
}

enum Kind { api, call, inserted, execution, waiting, crowd, range }; // as in the page

} // namespace

TEST_CASE("the report distinguishes work from waiting and groups short calls") {
    const auto kinds = [](const Json &page) {
        std::map<int, long> counts;
        for (const int kind : page["spans"]["kind"]) ++counts[kind];
        return counts;
    };
    const Json &page = report_of_threads();
    CHECK(page["shown"] == page["summary"]["calls"]);
    std::map<std::string, bool> waits;
    for (const Json &line : page["summary"]["functions"]) waits[line["function"]] = line["waiting"];
    CHECK(waits.at("device.stream_synchronize"));
    CHECK(waits.at("device.event_wait"));
    CHECK_FALSE(waits.at("core.add"));
    CHECK(kinds(page)[4] > 20);
    CHECK(kinds(page)[5] == 0);
    // The streams of a device are side by side.
    std::vector<std::string> devices;
    for (const Json &track : page["tracks"])
        if (track.contains("stream")) {
            devices.push_back(track["group"]);
        }
    CHECK(devices.size() > 3);
    CHECK(std::is_sorted(devices.begin(), devices.end()));

    const Folder folder;
    REQUIRE(shell(folder, "$atoll trace -o many.html -- $traced many 70000").status == 0);
    const Json many = page_data(folder, "many.html");
    const long calls = many["summary"]["calls"];
    CHECK(calls >= 70'000);
    CHECK(many["shown"] == 50'000);
    long crowded = 0;
    for (std::size_t i = 0; i < many["spans"]["kind"].size(); ++i)
        if (many["spans"]["kind"][i] == 5) {
            const std::string name = many["names"][many["spans"]["name"][i].get<std::size_t>()];
            CHECK(name.ends_with(" short calls"));
            crowded += std::stol(name);
        }
    // Calls inside an interface call that is shown are left out.
    CHECK(crowded > (calls - 50'000) / 2);
    CHECK(crowded <= calls - 50'000);
}

TEST_CASE("a span of the report knows its line of the table and the device for which it is work") {
    const Json &page = report_of_threads(), &spans = page["spans"], &summary = page["summary"];
    std::map<long, long> calls, executions, executed_ns;
    for (std::size_t i = 0; i < spans["kind"].size(); ++i) {
        const int kind = spans["kind"][i];
        const long line = spans["line"][i], device = spans["device"][i];
        const std::string name = page["names"][spans["name"][i].get<std::size_t>()];
        const Json &track = page["tracks"][spans["track"][i].get<std::size_t>()];
        if (kind == api || kind == crowd || kind == range) {
            CHECK(line == -1);
            continue;
        }
        const Json &function = summary["functions"][static_cast<std::size_t>(line)];
        CHECK(function["function"] == name);
        const bool on_stream = track.contains("stream");
        ++(on_stream ? executions : calls)[line];
        if (on_stream) executed_ns[line] += spans["length"][i].get<long>();
        if (kind == waiting) CHECK(device == -1);
        if (name == "device.event_record" || name == "device.event_wait") CHECK(device == -1);
        if (name == "device.free") CHECK(device == -1);
        if (on_stream && name == "core.add") {
            const std::string own = summary["devices"][static_cast<std::size_t>(device)]["device"];
            CHECK(own.substr(0, own.find(':')) == function["device"]);
        }
        // An enqueued call is no work of its device, which is done in the execution.
        if (!on_stream && function["asynchronous"]) CHECK(device == -1);
    }
    for (std::size_t i = 0; i < summary["functions"].size(); ++i) {
        const Json &line = summary["functions"][i];
        CHECK(calls[static_cast<long>(i)] == line["calls"]);
        CHECK(executions[static_cast<long>(i)] == line["executions"]);
        // Each is rounded.
        CHECK(std::abs(executed_ns[static_cast<long>(i)] - line["execution_ns"].get<long>()) <=
              3 * line["executions"].get<long>());
        if (line["calls"] == 0) continue;
        const Json &spread = line["spread"];
        CHECK(spread["min_ns"] <= spread["p50_ns"]);
        CHECK(spread["p50_ns"] <= spread["p99_ns"]);
        CHECK(spread["p99_ns"] <= spread["max_ns"]);
        if (line["executions"] == 0) CHECK(spread["max_ns"] <= line["max_ns"].get<long>() + 2);
    }
}

TEST_CASE("the report shows the use of devices and memory over time") {
    const Json &page = report_of_threads(), &summary = page["summary"];
    std::set<std::string> devices;
    for (const Json &use : summary["devices"]) {
        devices.insert(use["device"]);
        CHECK(use["busy_ns"] <= use["work_ns"]);
        CHECK(use["overlap_ns"] <= use["busy_ns"]);
        CHECK(use["transfer_ns"] <= use["busy_ns"]);
        CHECK(use["hidden_transfer_ns"] <= use["transfer_ns"]);
        CHECK(use["busy_ns"] > 0);
        CHECK(use["busy_ns"] <= summary["traced_ns"]);
    }
    CHECK(devices == std::set<std::string>{"cpu:0", "dummy:0", "dummy_min:0"});
    CHECK(page["memory"].size() >= 3);
    for (std::size_t i = 0; i < page["memory"].size(); ++i) {
        const Json &use = page["memory"][i];
        REQUIRE(use["at"].size() == use["bytes"].size());
        std::int64_t most = 0;
        for (const Json &bytes : use["bytes"]) most = std::max(most, bytes.get<std::int64_t>());
        CHECK(most == use["peak"]);
        CHECK(most == summary["memory"][i]["peak_bytes"]);
    }
    CHECK(summary["libraries"].size() > 0);
}

TEST_CASE("rows of several processes are told apart") {
    const Folder folder;
    const Ran ran = shell(folder, "$atoll trace -o run.html -- sh -c \"$traced ranges & $traced "
                                  "ranges; wait\"");
    INFO(ran.error);
    REQUIRE(ran.status == 0);
    const Json page = page_data(folder, "run.html");
    std::set<std::pair<std::string, std::string>> rows;
    std::size_t count = 0;
    std::map<std::string, long> streams; // by device
    for (const char *list : {"tracks", "memory"})
        for (const Json &row : page[list]) {
            rows.emplace(row["group"], row["name"]);
            ++count;
            const std::string group = row["group"];
            if (row.contains("stream")) ++streams[group.substr(0, group.find(' '))];
        }
    CHECK(streams["dummy:0"] == 2);
    CHECK(page["memory"].size() >= 4);
    CHECK(rows.size() == count);
}

TEST_CASE("quotes, tags and broken UTF-8 in names break neither form") {
    const Folder folder;
    const Ran ran = shell(folder, "$atoll trace -o run.json -o run.html -- $traced name "
                                  "'</script>\"<!--\\\\'$(printf '\\377')");
    INFO(ran.error);
    REQUIRE(ran.status == 0);
    const std::string argument = parsed(folder, "run.json")["otherData"]["command"][2];
    CHECK(argument == "</script>\"<!--\\\\\xEF\xBF\xBD");
    const std::string page = content(folder.path + "/run.html");
    const auto count = [&](const std::string &part) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = page.find(part, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    CHECK(count("</script>") == 2); // the page's own
    CHECK(count("<!--") == 0);
    CHECK(count("https://") + count("http://") == 0); // it needs nothing else
    const Json data = page_data(folder, "run.html");
    for (const auto &[name, column] : data["spans"].items())
        CHECK(column.size() == data["spans"]["start"].size());
}

TEST_CASE("the script of the report can be read") {
    if (std::system("node --version > /dev/null 2>&1") != 0) {
        MESSAGE("node is not here, so the script is not read");
        return;
    }
    const Folder folder;
    REQUIRE(shell(folder, "$atoll trace -o run.html -- $traced name x").status == 0);
    const std::string page = content(folder.path + "/run.html");
    const std::size_t begin = page.rfind("<script>") + 8;
    folder.file("script.js", page.substr(begin, page.rfind("</script>") - begin));
    const Ran ran = shell(folder, "node --check script.js");
    CHECK_MESSAGE(ran.status == 0, ran.error);
}
