// The cpu kernels' largest errors against correctly rounded references, as a table and within bars.
//
// The table goes to the file named by the first argument and to the output. From an
// ATOLL_TEST_SCALE of 55000 on it takes every float32.
#define DOCTEST_CONFIG_IMPLEMENT
#include "../random_tests.hpp"
#include "atoll/core_functions.hpp"
#include "bounds.h"
#include "measure.h"
#include "reductions.h"
#include "reference.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>

namespace accuracy {
namespace {

// Slow ones first, so that threads finish together.
std::vector<Finding> measure_all() {
    std::vector<Finding> findings;
    for (int dtype = ATOLL_DTYPE_COUNT; dtype-- > 0;)
        for (int function = 0; function < ATOLL_FN_COUNT; ++function) {
            const Reference *reference = find_reference(function);
            if (!reference || !has_dtype(function, dtype)) continue;
            if (dtypes[dtype].kind < ATOLL_DTYPE_KIND_FLOAT) continue; // integers are exact
            if (!(is_complex(dtype) ? reference->complex : reference->real)) continue;
            findings.emplace_back();
            findings.back().function = function;
            findings.back().dtype = dtype;
        }
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t k; (k = next++) < findings.size();)
            findings[k] =
                measure(findings[k].function, findings[k].dtype, 0.4 * random_tests::scale());
        mpfr_free_cache();
    };
    std::vector<std::thread> threads(std::clamp(std::thread::hardware_concurrency(), 1u, 4u));
    for (std::thread &thread : threads) thread = std::thread(work);
    for (std::thread &thread : threads) thread.join();
    std::stable_sort(findings.begin(), findings.end(), [](const Finding &a, const Finding &b) {
        return a.function < b.function || (a.function == b.function && a.dtype < b.dtype);
    });
    return findings;
}
const std::vector<Finding> &all_findings() {
    static const std::vector<Finding> findings = measure_all();
    return findings;
}

const std::vector<ReductionFinding> &all_reductions() {
    static const std::vector<ReductionFinding> findings =
        measure_reductions(0.4 * random_tests::scale());
    return findings;
}

// "0.500", but no lower than what was found.
std::string figure(double error) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, error < 1000 ? "%.3f" : "%.2g",
                  error < 1000 ? std::ceil(error * 1000) / 1000 : error);
    return buffer;
}

std::string table() {
    const int columns[] = {ATOLL_DTYPE_FLOAT16,   ATOLL_DTYPE_BFLOAT16,  ATOLL_DTYPE_FLOAT32,
                           ATOLL_DTYPE_FLOAT64,   ATOLL_DTYPE_COMPLEX32, ATOLL_DTYPE_COMPLEX64,
                           ATOLL_DTYPE_COMPLEX128};
    std::ostringstream out;
    char cell[64];
    out << "Largest errors of the cpu kernels, in units of the last place. Complex results: by the "
           "larger part (each part by itself).\n\n";
    std::snprintf(cell, sizeof cell, "%-13s", "");
    out << cell;
    for (const int dtype : columns) {
        std::snprintf(cell, sizeof cell, is_complex(dtype) ? " %18s" : " %9s", dtypes[dtype].name);
        out << cell;
    }
    const std::vector<Finding> &findings = all_findings();
    int last = -1;
    for (const Finding &row : findings) {
        if (row.function == last) continue;
        last = row.function;
        std::snprintf(cell, sizeof cell, "\n%-13s", function_name(last).c_str());
        out << cell;
        for (const int dtype : columns) {
            const auto found =
                std::find_if(findings.begin(), findings.end(), [&](const Finding &finding) {
                    return finding.function == last && finding.dtype == dtype;
                });
            std::string entry = "-";
            if (found != findings.end()) {
                entry = found->status ? "missing" : figure(found->worst().error);
                if (!found->status && gives_complex(last, dtype))
                    entry += " (" + figure(found->part.error) + ")";
            }
            std::snprintf(cell, sizeof cell, is_complex(dtype) ? " %18s" : " %9s", entry.c_str());
            out << cell;
        }
    }
    out << "\n\nWhere, with the number of arguments tried:\n";
    for (const Finding &row : findings) {
        const Worst &worst = row.worst();
        std::snprintf(cell, sizeof cell, "%-13s %-10s %9s %8lld  ",
                      function_name(row.function).c_str(), dtypes[row.dtype].name,
                      figure(worst.error).c_str(), static_cast<long long>(row.samples));
        const Bound bound = bound_of(row.function, row.dtype);
        out << cell << text(row.function, row.dtype, worst.at);
        if (bound.reason) out << " (" << bound.reason << ")";
        out << "\n";
    }
    out << "\nReductions, in units of the result's last place; sums and means in those of the same "
           "of the moduli:\n";
    for (const ReductionFinding &row : all_reductions()) {
        std::snprintf(cell, sizeof cell, "%-13s %-10s %9s  ", row.name.c_str(),
                      dtypes[row.dtype].name, row.status ? "missing" : figure(row.error).c_str());
        const Bound bound = bound_of(row.function, row.dtype);
        out << cell << row.input;
        if (bound.reason) out << " (" << bound.reason << ")";
        out << "\n";
    }
    return out.str();
}

std::string describe(const Finding &finding, const Worst &worst) {
    const int dtype =
        gives_complex(finding.function, finding.dtype) ? finding.dtype : dtypes[finding.dtype].part;
    return function_name(finding.function) + " of " + dtypes[finding.dtype].name + " at " +
           text(finding.function, finding.dtype, worst.at) + ": got " + text(dtype, worst.got) +
           ", the true value is near " + text(dtype, worst.want);
}

} // namespace
} // namespace accuracy

using namespace accuracy;

TEST_CASE("every function that rounds has a reference") {
    for (const Atoll::sdk::FunctionLine &line : Atoll::sdk::core_functions) {
        if (!line.signature.elementwise() || line.rule != ATOLL_RULE_FLOAT) continue;
        CAPTURE(std::string(line.name));
        CHECK(find_reference(line.id) != nullptr);
    }
}

TEST_CASE("errors stay within the bars, or within an exception with a reason") {
    for (const Finding &finding : all_findings()) {
        const std::string what = describe(finding, finding.worst());
        CAPTURE(what);
        REQUIRE(finding.status == ATOLL_STATUS_OK);
        REQUIRE(finding.samples > 0);
        CHECK(finding.worst().error <= bound_of(finding.function, finding.dtype).error);
    }
}

TEST_CASE("a complex function's parts stay within the bars by themselves, but for products") {
    for (const Finding &finding : all_findings()) {
        if (!gives_complex(finding.function, finding.dtype)) continue;
        const std::string what = describe(finding, finding.part);
        CAPTURE(what);
        switch (finding.function) {
        case ATOLL_FN_multiply:
        case ATOLL_FN_divide:
        case ATOLL_FN_square:
        case ATOLL_FN_reciprocal: continue;
        default: CHECK(finding.part.error <= bound_of(finding.function, finding.dtype).error);
        }
    }
}

TEST_CASE("reductions stay within their bars") {
    for (const ReductionFinding &finding : all_reductions()) {
        const std::string what =
            finding.name + " of " + dtypes[finding.dtype].name + ": " + finding.input;
        CAPTURE(what);
        REQUIRE(finding.status == ATOLL_STATUS_OK);
        CHECK(finding.error <= bound_of(finding.function, finding.dtype).error);
    }
}

TEST_CASE("NaN, infinities and signs of zeros are those of the true function") {
    for (const Finding &finding : all_findings()) {
        const std::string what = describe(finding, finding.first_wrong);
        CAPTURE(what);
        CHECK(finding.wrong == 0);
    }
}

TEST_CASE("a result does not depend on its neighbours") {
    for (const Finding &finding : all_findings()) {
        const std::string what = describe(finding, finding.first_moved);
        CAPTURE(what);
        CHECK(finding.moved == 0);
    }
}

TEST_CASE("16-bit floats get the float32 result, rounded once") {
    for (const Finding &finding : all_findings()) {
        const std::string what = describe(finding, finding.first_unlike);
        CAPTURE(what);
        CHECK(finding.unlike == 0);
    }
}

int main(int argc, char **argv) {
    const int result = doctest::Context(argc, argv).run();
    const std::string text = table();
    std::fputs(text.c_str(), stdout);
    if (argc > 1) std::ofstream(argv[1]) << text;
    return result;
}
