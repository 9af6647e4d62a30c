// What the cpu plugin and the kernel library multiply with: the BLAS that is named, with either
// size of integers and any marking of its names, or a refusal in words; AMX or not.
#include "../core/support.hpp"
#include "atoll/kernels.h"

#include <dlfcn.h>

using namespace Atoll;

namespace {

std::string fact(const std::string &name) {
    for (const DeviceFact &one : device("cpu").facts())
        if (one.name == name) return one.value;
    return {};
}
bool contains(const std::string &text, const std::string &words) {
    INFO(text);
    const bool found = text.find(words) != std::string::npos;
    CHECK(found);
    return found;
}

// The cpu plugin with this setting while it lives.
class Loaded {
public:
    explicit Loaded(const std::string &value, const std::string &key = "blas") : key_(key) {
        configure("cpu", key, value);
        load_plugin("cpu");
    }
    ~Loaded() {
        retire_plugin("cpu");
        configure("cpu", key_, "");
    }

private:
    std::string key_;
};

std::string fake(const std::string &name) { return std::string(FAKE_BLAS) + "/lib" + name + ".so"; }
long calls_of(const std::string &library) {
    void *handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    REQUIRE(handle);
    return *static_cast<long *>(dlsym(handle, "fake_blas_calls"));
}

// Products whose every element is a small integer, which floats hold exactly: of matrices, of a
// matrix and a vector, with what is added, of transposes and of conjugates.
void check_products(DType dtype) {
    const Device cpu = device("cpu");
    // Small whole numbers and their product in int64, which is not BLAS's. Without a name it only
    // multiplies matrices with more than 512 rows or columns.
    constexpr std::int64_t m = 540, k = 50, n = 560;
    const Tensor whole_a = remainder(arange(m * k, {int64, cpu}), 7).reshape({m, k}),
                 whole_b = remainder(arange(k * n, {int64, cpu}), 5).reshape({k, n}),
                 product = matmul(whole_a, whole_b);
    const Tensor a = whole_a.cast(dtype), b = whole_b.cast(dtype);
    const auto same = [](const Tensor &x, const Tensor &y) {
        return x.shape() == y.shape() && static_cast<bool>(all(equal(x, y)));
    };
    CHECK(same(matmul(a, b), product));
    CHECK(same(matmul(b.T(), a.T()), product.T()));
    CHECK(same(matmul(a, b(all_, 3)), product(all_, 3)));
    CHECK(same(matmul(b.T(), a.T()(all_, 3)), product.T()(all_, 3)));
    Tensor c = product.cast(dtype);
    gemm(2, a, Op::N, b, Op::N, 1, c);
    CHECK(same(c, 3 * product));
    Tensor d = zeros({n, m}, {dtype, cpu});
    gemm(1, b, Op::C, a, Op::T, 0, d);
    CHECK(same(d, product.T()));
    // Of the transpose, which is what BLAS writes here, a factor is conjugated and not transposed.
    Tensor e = zeros({m, n}, {dtype, cpu}).T();
    gemm(1, b, Op::C, a, Op::T, 0, e);
    CHECK(same(e, product.T()));
}

} // namespace

TEST_CASE("the setting names the BLAS, whatever it calls its functions and whatever its sizes") {
    struct Kind {
        const char *name, *sizes;
    };
    for (const Kind &kind :
         {Kind{"fake_blas", "32-bit sizes"}, Kind{"fake_blas64_", "64-bit sizes"},
          Kind{"fake_blas_64", "64-bit sizes"}, Kind{"fake_blas_unmarked64", "64-bit sizes"}}) {
        const std::string library = fake(kind.name);
        INFO(library);
        const Loaded plugin(library);
        contains(fact("blas"), kind.sizes);
        contains(fact("blas"), library);
        contains(fact("blas"), "by the setting cpu.blas: ");
        for (const DType dtype : {float32, float64, complex64, complex128}) {
            INFO(name(dtype));
            const long before = calls_of(library);
            check_products(dtype);
            CHECK(calls_of(library) >= before + 4);
            // Each of a stack.
            const Tensor ones_of = ones({40, 40, 9}, {dtype, device("cpu")});
            const long between = calls_of(library);
            CHECK(static_cast<bool>(all(equal(matmul(ones_of, ones_of), 40))));
            CHECK(calls_of(library) == between + 9);
        }
    }
}

TEST_CASE("without the setting it is OpenBLAS, opened by the first product") {
    const Loaded plugin("");
    CHECK(fact("blas") == "by default: OpenBLAS, opened by the first product");
    for (const DType dtype : {float32, float64, complex64, complex128}) check_products(dtype);
    // Or why not, on a processor that it does not know.
    const bool own = fact("blas").starts_with("by default: own kernels, because the default ");
    if (!own) contains(fact("blas"), "by default: OpenBLAS ");
    contains(fact("blas"), "openblas");
}

// With OPENBLAS_CORETYPE=Prescott, as OpenBLAS chooses on processors newer than itself.
TEST_CASE("an OpenBLAS that computes as on an earlier processor does not multiply" *
          doctest::skip(!std::getenv("OPENBLAS_CORETYPE") ||
                        std::string(std::getenv("OPENBLAS_CORETYPE")) != "Prescott")) {
    const std::string told =
        "own kernels, because the default would compute as on a processor Prescott: ";
    {
        const Loaded plugin("");
        for (const DType dtype : {float32, float64, complex64, complex128}) check_products(dtype);
        if (fact("level") == "v2")
            contains(fact("blas"), "by default: OpenBLAS ");
        else
            contains(fact("blas"), "by default: " + told + "OpenBLAS ");
    }
    // The user's choice is used as it is.
    const Loaded plugin("libopenblas.so.0");
    check_products(float32);
    CHECK(fact("blas").find(told) == std::string::npos);
}

TEST_CASE("a BLAS that cannot be used refuses the plugin, and no other takes its place") {
    const auto refusal = [](const std::string &blas) -> std::string {
        try {
            const Loaded plugin(blas);
        } catch (const Error &error) {
            configure("cpu", "blas", "");
            return error.what();
        }
        return "loaded";
    };
    contains(refusal("/no/such/libblas.so"),
             "setting \"blas\": /no/such/libblas.so cannot be opened: ");
    contains(refusal("folder/libblas.so"), "folder/libblas.so is a path that is not absolute");
    contains(refusal("libm.so.6"),
             "libm.so.6 is no BLAS with the C interface: it has no cblas_dgemm");
    contains(refusal(fake("fake_blas_without_zgemv")), "has no cblas_zgemv64_");
    const Loaded plugin("");
    check_products(float64);
}

// A product of column-major matrices of n by n by the kernel library: d, a, b.
template <class T> struct LibraryProduct {
    static constexpr std::int64_t n = 40, size = sizeof(T);
    std::vector<T> d = std::vector<T>(n * n), a, b;
    char error[300] = "";

    std::int32_t run(std::uint32_t dtype) {
        const std::int64_t extents[] = {n, n, n}, column = n * size;
        const std::int64_t of_d[] = {size, 0, column}, of_a[] = {size, column, 0},
                           of_b[] = {0, size, column};
        const atoll_kernel_operand operands[] = {
            {d.data(), of_d, dtype, 0}, {a.data(), of_a, dtype, 0}, {b.data(), of_b, dtype, 0}};
        atoll_kernel_call call{};
        call.struct_size = sizeof call;
        call.function = ATOLL_KERNEL_matmul;
        call.dtype = dtype;
        call.rank = 3;
        call.operand_count = 3;
        call.extents = extents;
        call.operands = operands;
        call.error = error;
        call.error_capacity = sizeof error;
        return atoll_kernel_run(&call);
    }
};

TEST_CASE("the kernel library uses the BLAS that it is told to, or says why not") {
    LibraryProduct<double> product;
    const auto count = static_cast<std::size_t>(product.n * product.n);
    product.a.assign(count, 2);
    product.b.assign(count, 3);
    const auto run = [&] { return product.run(ATOLL_DTYPE_FLOAT64); };
    auto &error = product.error;

    CHECK(std::string(atoll_kernel_blas()).empty());
    REQUIRE(run() == ATOLL_STATUS_OK);
    contains(atoll_kernel_blas(), "OpenBLAS");

    CHECK(atoll_kernel_use_blas("/no/such/libblas.so", 0, error, sizeof error) ==
          ATOLL_STATUS_NOT_FOUND);
    contains(error, "[atoll_kernel_use_blas] /no/such/libblas.so cannot be opened");
    CHECK(std::string(atoll_kernel_blas()).empty());
    product.d.assign(count, -1);
    CHECK(run() == ATOLL_STATUS_NOT_SUPPORTED);
    contains(error, "[matmul] /no/such/libblas.so cannot be opened");
    CHECK(product.d[0] == -1);

    const std::string library = fake("fake_blas64_");
    REQUIRE(atoll_kernel_use_blas(library.c_str(), 1, nullptr, 0) == ATOLL_STATUS_OK);
    contains(atoll_kernel_blas(), "64-bit sizes, " + library);
    const long before = calls_of(library);
    REQUIRE(run() == ATOLL_STATUS_OK);
    CHECK(calls_of(library) == before + 1);
    CHECK(product.d == std::vector<double>(count, product.n * 6.0));
    CHECK(atoll_kernel_use_blas(nullptr, 0, error, sizeof error) == ATOLL_STATUS_OK);
    contains(atoll_kernel_blas(), "OpenBLAS");
}

// 2^-130 is subnormal in bfloat16: zero where AMX multiplies.
TEST_CASE("bfloat16 is multiplied without AMX where that is wanted") {
    LibraryProduct<std::uint16_t> product;
    constexpr std::int64_t n = product.n, all_elements = n * n;
    product.a.assign(all_elements, 8);                               // 2^-130
    product.b.assign(all_elements, 0x7180);                          // 2^100
    const std::vector<std::uint16_t> expected(all_elements, 0x3320); // 40 * 2^-30
    {
        const Loaded plugin("0", "amx");
        const Placement place{bfloat16, device("cpu")};
        const Tensor x = from_values(product.a.data(), bfloat16, n * n, place).reshape({n, n}),
                     y = from_values(product.b.data(), bfloat16, n * n, place).reshape({n, n}),
                     z = from_values(expected.data(), bfloat16, n * n, place).reshape({n, n});
        CHECK(static_cast<bool>(all(equal(matmul(x, y), z))));
    }
    atoll_kernel_use_amx(0);
    CHECK(product.run(ATOLL_DTYPE_BFLOAT16) == ATOLL_STATUS_OK);
    atoll_kernel_use_amx(1);
    CHECK(product.d == expected);
}
