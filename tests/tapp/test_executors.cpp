// Where products are computed: devices with memory of their own, their failures, many threads.
#include "products.hpp"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

using namespace tapp_tests;

namespace {

// A matrix product of float64, columns of A in reverse.
Product matrices(std::int64_t m, std::int64_t k, std::int64_t n) {
    Product of;
    for (Tensor &tensor : of.tensors) tensor.dtype = ATOLL_DTYPE_FLOAT64;
    const auto lay_out = [&](Role role, Numbers indices, Numbers extents, Numbers strides) {
        of.tensors[role].indices = std::move(indices);
        of.tensors[role].extents = std::move(extents);
        of.tensors[role].strides = std::move(strides);
    };
    lay_out(A, {1, 2}, {m, k}, {1, -m});
    lay_out(B, {2, 3}, {k, n}, {1, k});
    lay_out(C, {1, 3}, {m, n}, {1, m});
    lay_out(D, {1, 3}, {m, n}, {n, 1});
    of.tensors[A].origin = m * (k - 1);
    return of;
}

std::vector<double> counting(std::int64_t count, double first) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(first + static_cast<double>(i % 7));
    return values;
}

std::vector<double> expected(std::int64_t m, std::int64_t k, std::int64_t n,
                             const std::vector<double> &a, const std::vector<double> &b,
                             double alpha, double beta, const std::vector<double> &c) {
    std::vector<double> d(static_cast<std::size_t>(m * n));
    const auto at = [](const std::vector<double> &of, std::int64_t i) {
        return of[static_cast<std::size_t>(i)];
    };
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < k; ++l)
                sum += at(a, i + (k - 1 - l) * m) * at(b, l + j * k);
            d[static_cast<std::size_t>(i * n + j)] =
                alpha * sum + (beta == 0 ? 0 : beta * at(c, i + j * m));
        }
    return d;
}

} // namespace

TEST_CASE("operands in the memory of a device") {
    const Executor executor("dummy:0");
    REQUIRE(executor.code == 0);
    CHECK(TAPP_attr_set(executor.exec, TAPP_ATOLL_MEMORY, const_cast<char *>("device")) == 0);
    const std::int64_t m = 3, k = 5, n = 4;
    const auto a = counting(m * k, 1), b = counting(k * n, -2), c = counting(m * n, 3);
    const Atoll::Placement there(Atoll::float64, Atoll::device("dummy:0"));
    const Atoll::Tensor on_a = Atoll::vector(a, there), on_b = Atoll::vector(b, there),
                        on_c = Atoll::vector(c, there), on_d = Atoll::zeros({m * n}, there);
    const Plan plan(matrices(m, k, n));
    REQUIRE(plan.code == 0);
    const auto address = [](const Atoll::Tensor &tensor) {
        return static_cast<double *>(tensor.storage().data());
    };
    const double alpha = 2, beta = -1;
    there.device.synchronize();
    CHECK(TAPP_execute_product(plan.plan, executor.exec, nullptr, &alpha,
                               address(on_a) + m * (k - 1), address(on_b), &beta, address(on_c),
                               address(on_d)) == 0);
    CHECK(on_d.to_doubles() == expected(m, k, n, a, b, alpha, beta, c));
}

TEST_CASE("an error of the device is an error of the execution, and of no other") {
    const Executor executor("dummy:0");
    REQUIRE(executor.code == 0);
    const std::int64_t m = 2, k = 2, n = 2;
    const auto a = counting(m * k, 1), b = counting(k * n, 1);
    std::vector<double> d(4, -1);
    const Plan plan(matrices(m, k, n));
    const double one = 1, zero = 0;
    const auto execute = [&](TAPP_status *status) {
        return TAPP_execute_product(plan.plan, executor.exec, status, &one, a.data() + m * (k - 1),
                                    b.data(), &zero, nullptr, d.data());
    };
    for (const auto &[fault, code] : {std::pair{"enqueue:matmul", Atoll::Status::kernel_failed},
                                      {"kernel:matmul", Atoll::Status::kernel_failed},
                                      {"transfer", Atoll::Status::kernel_failed},
                                      {"allocate:2", Atoll::Status::out_of_memory}}) {
        CAPTURE(fault);
        TAPP_status status = 0;
        Atoll::configure("dummy", "fault", fault);
        const TAPP_error error = execute(&status);
        Atoll::configure("dummy", "fault", "");
        CHECK(error == 1000 + static_cast<int>(code));
        CHECK(explain(error).find("dummy:0") != std::string::npos);
        CHECK(d == std::vector<double>(4, -1));
        void *value = nullptr;
        CHECK(TAPP_attr_get(status, TAPP_ATOLL_ERROR, &value) == 0);
        CHECK(reinterpret_cast<std::intptr_t>(value) == error);
    }
    CHECK(execute(nullptr) == 0);
    CHECK(d == expected(m, k, n, a, b, 1, 0, {}));
}

TEST_CASE("equally spaced products are one call on the caller's memory") {
    const Executor executor("cpu");
    const std::int64_t m = 4, k = 3, n = 5, count = 10;
    const Plan plan(matrices(m, k, n));
    const auto a = counting(m * k * count, 1), b = counting(k * n * count, 2),
               c = counting(m * n * count, 3);
    std::vector<double> d(static_cast<std::size_t>(m * n * count));
    const void *as[count], *bs[count], *cs[count];
    void *ds[count];
    for (std::int64_t i = 0; i < count; ++i) {
        as[i] = a.data() + m * k * i + m * (k - 1);
        bs[i] = b.data() + k * n * i;
        cs[i] = c.data() + m * n * i;
        ds[i] = d.data() + m * n * i;
    }
    struct Counter {
        int calls = 0;
    } counter;
    // Of all functions, those for memory and copies among them.
    const auto count_call = [](const atoll_link *self, atoll_call *call) {
        ++static_cast<Counter *>(self->ctx)->calls;
        return self->next->fn(self->next, call);
    };
    const double alpha = 2, beta = 1;
    const auto execute = [&] {
        return TAPP_execute_batched_product(plan.plan, executor.exec, nullptr, count, &alpha, as,
                                            bs, &beta, cs, ds);
    };
    const Atoll::InterposerHandle handle =
        Atoll::push_interposer("*@cpu", count_call, &counter, 0, "counter");
    CHECK(execute() == 0);
    CHECK(counter.calls == 1);
    counter.calls = 0;
    std::swap(as[3], as[4]);
    CHECK(execute() == 0);
    CHECK(counter.calls == count);
    Atoll::pop_interposer(handle);
}

TEST_CASE("8 threads execute one plan, on two devices, one by one and batched") {
    const Executor executors[] = {Executor("cpu"), Executor("dummy:0")};
    for (const Executor &executor : executors) REQUIRE(executor.code == 0);
    const std::int64_t m = 4, k = 3, n = 5;
    const Plan plan(matrices(m, k, n));
    REQUIRE(plan.code == 0);
    const int rounds = static_cast<int>(random_tests::cases(200));
    std::atomic<int> wrong = 0, codes = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread)
        threads.emplace_back([&, thread] {
            const TAPP_executor exec = executors[thread % 2].exec;
            for (int round = 0; round < std::min(rounds, 200); ++round) {
                const int count = 1 + round % 3;
                const double alpha = 1 + thread, beta = round % 2;
                const auto a = counting(m * k * count, thread), b = counting(k * n, round),
                           c = counting(m * n * count, 2);
                std::vector<double> d(static_cast<std::size_t>(m * n * count));
                const void *as[3], *bs[3], *cs[3];
                void *ds[3];
                for (int i = 0; i < count; ++i) {
                    as[i] = a.data() + m * k * i + m * (k - 1);
                    bs[i] = b.data();
                    cs[i] = c.data() + m * n * i;
                    ds[i] = d.data() + m * n * i;
                }
                TAPP_status status = 0;
                codes += TAPP_execute_batched_product(plan.plan, exec, &status, count, &alpha, as,
                                                      bs, &beta, cs, ds) != 0;
                codes += TAPP_destroy_status(status) != 0;
                for (int i = 0; i < count; ++i) {
                    const std::vector<double> part(d.begin() + m * n * i,
                                                   d.begin() + m * n * (i + 1)),
                        a_part(a.begin() + m * k * i, a.begin() + m * k * (i + 1)),
                        c_part(c.begin() + m * n * i, c.begin() + m * n * (i + 1));
                    wrong += part != expected(m, k, n, a_part, b, alpha, beta, c_part);
                }
                // Objects come and go meanwhile.
                const Plan own(matrices(2, 2, 2));
                codes += own.code != 0;
                codes += TAPP_execute_product(own.plan, 0, nullptr, &alpha, nullptr, nullptr, &beta,
                                              &beta, nullptr) != 33;
            }
        });
    for (std::thread &thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(codes == 0);
}
