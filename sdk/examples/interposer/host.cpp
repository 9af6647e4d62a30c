// An application that wraps functions, its own way and with a plugin: host PATH_OF_COUNT
#include <atoll/atoll.hpp>
#include <atomic>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace Atoll;

namespace {

void require(bool condition, const std::string &what) {
    if (!condition) throw std::runtime_error("not so: " + what);
}

// An interposer of the application's own: a function and what it finds in self->ctx.
std::int32_t elements(const atoll_link *self, atoll_call *call) {
    std::int64_t count = 1;
    for (std::uint32_t axis = 0; axis < call->rank; ++axis) count *= call->shape[axis];
    static_cast<std::atomic<std::int64_t> *>(self->ctx)->fetch_add(count);
    return self->next->fn(self->next, call);
}

void run(const char *path) {
    load_plugin("cpu");
    load_plugin(path);
    const Tensor a = ones({10, 10}, {float32, device("cpu")});

    std::atomic<std::int64_t> added = 0;
    const InterposerHandle own = push_interposer("core.add@cpu:float32", elements, &added);
    const InterposerHandle all = push_interposer("core.*", "count");
    for (const std::string &link : chain("core.add", "cpu", "float32")) std::cout << link << "\n";
    a + a;
    a + a;
    exp(a);
    const std::string report = interposer_report(all);
    std::cout << report;
    require(report.find("core.add@cpu 2\n") != std::string::npos, "two additions are counted");
    require(report.find("core.exp@cpu 1\n") != std::string::npos, "and one exponential");
    require(added == 200, "of a hundred elements each");

    pop_interposer(all);
    pop_interposer(own);
    a + a;
    require(added == 200, "popped, it is not called any more");
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " PATH_OF_COUNT\n";
        return 2;
    }
    try {
        run(argv[1]);
        std::cout << "all is as it must be\n";
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
