// The example module `hello`: its implementations alone, the dummy one on top of `dummy`.
#include "device.hpp"

#include <doctest/doctest.h>

using namespace FakeHost;

TEST_CASE("hello: computes with the device's own functions and counts calls") {
    Dummy dummy;
    dummy.plugin.publish();
    Plugin interface(folder("HELLO_DIR") + "atoll-hello.so");
    CHECK(interface.descriptor->modules[0]->function_count == 2);
    const auto scale_add = [](const Plugin &plugin, void *out, void *a, void *b,
                              std::uint16_t dtype, std::int64_t size) {
        const std::int64_t shape[] = {3}, strides[] = {size};
        atoll_operand operands[] = {{out, strides, dtype, 0, 0, 0, out, {}},
                                    {a, strides, dtype, 0, 0, 0, a, {}},
                                    {b, strides, dtype, 0, 0, 0, b, {}}};
        atoll_call call{};
        call.module = FakeHost::module_hello;
        call.function = ATOLL_HELLO_scale_add;
        call.dtype = dtype;
        call.output_count = 1;
        call.operand_count = 3;
        call.rank = 1;
        call.shape = shape;
        call.operands = operands;
        plugin.call("hello", call);
    };
    // Writes to `out`.
    const auto calls = [](const Plugin &plugin, void *out) {
        atoll_operand operand{out, &zero, ATOLL_DTYPE_INT64, 0, 0, 0, out, {}};
        atoll_call call{};
        call.module = FakeHost::module_hello;
        call.function = ATOLL_HELLO_calls;
        call.output_count = call.operand_count = 1;
        call.operands = &operand;
        plugin.call("hello", call);
    };
    for (const bool on_cpu : {true, false}) {
        CAPTURE(on_cpu);
        Plugin plugin(folder("HELLO_DIR") +
                      (on_cpu ? "atoll-hello-cpu.so" : "atoll-hello-dummy.so"));
        const atoll_impl_decl &impl = *plugin.descriptor->impls[0];
        std::int64_t count = 0;
        CHECK(failure([&] { calls(plugin, &count); }).status ==
              ATOLL_STATUS_INVALID_ARGUMENT); // not open
        REQUIRE(impl.open_device(plugin.context, 0, nullptr) == ATOLL_STATUS_OK);
        const std::vector<float> a{1, 2, 3}, b{10, 20, 30};
        if (on_cpu) {
            std::vector<float> x = a, y = b;
            scale_add(plugin, y.data(), x.data(), y.data(), ATOLL_DTYPE_FLOAT32, 4);
            CHECK(y == std::vector<float>{12, 24, 36});
            calls(plugin, &count);
            CHECK(count == 2);
        } else {
            const std::uint64_t before = dummy.free_memory();
            char *x = dummy.upload(a), *y = dummy.upload(b);
            scale_add(plugin, y, x, y, ATOLL_DTYPE_FLOAT32, 4); // out is b
            CHECK(dummy.download<float>(y, 3) == std::vector<float>{12, 24, 36});
            scale_add(plugin, x, x, y, ATOLL_DTYPE_FLOAT32, 4); // out is a
            CHECK(dummy.download<float>(x, 3) == std::vector<float>{14, 28, 42});
            dummy.fault("enqueue:add");
            const Failed failed =
                failure([&] { scale_add(plugin, x, x, y, ATOLL_DTYPE_FLOAT32, 4); });
            CHECK(failed.status == ATOLL_STATUS_KERNEL_FAILED);
            CHECK(has(failed.what(), "core.add"));
            dummy.fault("");
            calls(plugin, x);
            CHECK(dummy.download<std::int64_t>(x, 1) == std::vector<std::int64_t>{4});
            dummy.free(x, 12);
            dummy.free(y, 12);
            dummy.synchronize();
            CHECK(dummy.free_memory() == before); // no temporary is left
        }
        impl.close_device(plugin.context, 0);
    }
}
