// What a call needs at most: its operands, its result and a MiB, whatever it converts.
#include "../support.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <malloc.h>
#include <string>

using namespace Atoll;

namespace {

// KiB of the process by a line of /proc/self/status.
std::int64_t kibibytes(const std::string &line) {
    std::ifstream status("/proc/self/status");
    for (std::string text; std::getline(status, text);)
        if (text.starts_with(line)) return std::stoll(text.substr(line.size() + 1));
    return 0;
}
// Whether the system gives huge pages only where somebody asks for them.
bool pages_are_as_asked() {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string text;
    std::getline(file, text);
    return text.find("[always]") == std::string::npos;
}

} // namespace

TEST_CASE("an element-wise call needs no memory but that of its result") {
    mallopt(M_PERTURB, 0);               // by Meson, which would have all of a block written
    setenv("ATOLL_CPU_THREADS", "1", 1); // every thread has a stack
    const Device cpu = support::cpu();
    const auto tensor = [&](std::int64_t n, DType dtype) { return ones({n}, {dtype, cpu}); };
    std::vector<std::array<Tensor, 2>> pairs = {
        {tensor(10'000'000, float32), tensor(10'000'000, float32)},
        {tensor(1'000'000, int32), tensor(1'000'000, float32)},
        {tensor(1'000'000, float64), tensor(1'000'000, float64)}};
    pairs[2][1].byteswap();
    add(tensor(10, float32), tensor(10, float32));
    for (const auto &[a, b] : pairs) {
        std::ofstream("/proc/self/clear_refs") << 5; // the peak begins anew
        const std::int64_t before = kibibytes("VmRSS:"), reset = kibibytes("VmHWM:");
        const Tensor c = add(a, b);
        const std::int64_t most = kibibytes("VmHWM:") - before, result = c.bytes() / 1024;
        if (reset > before + 64 || !pages_are_as_asked()) {
            MESSAGE("not known here: peaks do not begin anew, or all pages may be huge");
            continue;
        }
        CAPTURE(c.size());
        CHECK(most <= result + 1024);
        if (a.size() > 1'000'000) CHECK(most >= result); // others may get memory that is there
    }
}
