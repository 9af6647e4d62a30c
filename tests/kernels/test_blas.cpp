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
    // Small whole numbers, 40 by 50 and 50 by 60, and their product in int64, which is not BLAS's.
    const Tensor whole_a = remainder(arange(40 * 50, {int64, cpu}), 7).reshape({40, 50}),
                 whole_b = remainder(arange(50 * 60, {int64, cpu}), 5).reshape({50, 60}),
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
    Tensor d = zeros({60, 40}, {dtype, cpu});
    gemm(1, b, Op::C, a, Op::T, 0, d);
    CHECK(same(d, product.T()));
    // Of the transpose, which is what BLAS writes here, a factor is conjugated and not transposed.
    Tensor e = zeros({40, 60}, {dtype, cpu}).T();
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
        }
    }
}

TEST_CASE("without the setting it is OpenBLAS, opened by the first product") {
    const Loaded plugin("");
    CHECK(fact("blas") == "by default: OpenBLAS, opened by the first product");
    for (const DType dtype : {float32, float64, complex64, complex128}) check_products(dtype);
    contains(fact("blas"), "by default: OpenBLAS ");
    contains(fact("blas"), "openblas");
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

TEST_CASE("the kernel library uses the BLAS that it is told to, or says why not") {
    constexpr std::int64_t n = 40, size = 8, column = n * size;
    const std::vector<double> a(n * n, 2), b(n * n, 3);
    std::vector<double> d(n * n);
    const std::int64_t extents[] = {n, n, n}, of_d[] = {size, 0, column},
                       of_a[] = {size, column, 0}, of_b[] = {0, size, column};
    const auto input = [](const std::vector<double> &x, const std::int64_t *strides) {
        return atoll_kernel_operand{const_cast<double *>(x.data()), strides, ATOLL_DTYPE_FLOAT64,
                                    0};
    };
    const atoll_kernel_operand operands[] = {input(d, of_d), input(a, of_a), input(b, of_b)};
    char error[300] = "";
    atoll_kernel_call call{};
    call.struct_size = sizeof call;
    call.function = ATOLL_KERNEL_matmul;
    call.dtype = ATOLL_DTYPE_FLOAT64;
    call.rank = 3;
    call.operand_count = 3;
    call.extents = extents;
    call.operands = operands;
    call.error = error;
    call.error_capacity = sizeof error;

    CHECK(std::string(atoll_kernel_blas()).empty());
    REQUIRE(atoll_kernel_run(&call) == ATOLL_STATUS_OK);
    contains(atoll_kernel_blas(), "OpenBLAS");

    CHECK(atoll_kernel_use_blas("/no/such/libblas.so", 0, error, sizeof error) ==
          ATOLL_STATUS_NOT_FOUND);
    contains(error, "[atoll_kernel_use_blas] /no/such/libblas.so cannot be opened");
    CHECK(std::string(atoll_kernel_blas()).empty());
    d.assign(n * n, -1);
    CHECK(atoll_kernel_run(&call) == ATOLL_STATUS_NOT_SUPPORTED);
    contains(error, "[matmul] /no/such/libblas.so cannot be opened");
    CHECK(d[0] == -1);

    const std::string library = fake("fake_blas64_");
    REQUIRE(atoll_kernel_use_blas(library.c_str(), 1, nullptr, 0) == ATOLL_STATUS_OK);
    contains(atoll_kernel_blas(), "64-bit sizes, " + library);
    const long before = calls_of(library);
    REQUIRE(atoll_kernel_run(&call) == ATOLL_STATUS_OK);
    CHECK(calls_of(library) == before + 1);
    CHECK(d == std::vector<double>(n * n, n * 6.0));
    CHECK(atoll_kernel_use_blas(nullptr, 0, error, sizeof error) == ATOLL_STATUS_OK);
    contains(atoll_kernel_blas(), "OpenBLAS");
}

// 2^-130 is subnormal in bfloat16: zero where AMX multiplies.
TEST_CASE("bfloat16 is multiplied without AMX where that is wanted") {
    constexpr std::int64_t n = 40, size = 2, column = n * size;
    const std::vector<std::uint16_t> a(n * n, 8), b(n * n, 0x7180); // 2^-130, 2^100
    const std::vector<std::uint16_t> product(n * n, 0x3320);        // 40 * 2^-30
    {
        const Loaded plugin("0", "amx");
        const Placement place{bfloat16, device("cpu")};
        const Tensor x = from_values(a.data(), bfloat16, n * n, place).reshape({n, n}),
                     y = from_values(b.data(), bfloat16, n * n, place).reshape({n, n}),
                     z = from_values(product.data(), bfloat16, n * n, place).reshape({n, n});
        CHECK(static_cast<bool>(all(equal(matmul(x, y), z))));
    }
    std::vector<std::uint16_t> d(n * n);
    const std::int64_t extents[] = {n, n, n}, of_d[] = {size, 0, column},
                       of_a[] = {size, column, 0}, of_b[] = {0, size, column};
    const auto operand = [](const std::vector<std::uint16_t> &x, const std::int64_t *strides) {
        return atoll_kernel_operand{const_cast<std::uint16_t *>(x.data()), strides,
                                    ATOLL_DTYPE_BFLOAT16, 0};
    };
    const atoll_kernel_operand operands[] = {operand(d, of_d), operand(a, of_a), operand(b, of_b)};
    atoll_kernel_call call{};
    call.struct_size = sizeof call;
    call.function = ATOLL_KERNEL_matmul;
    call.dtype = ATOLL_DTYPE_BFLOAT16;
    call.rank = 3;
    call.operand_count = 3;
    call.extents = extents;
    call.operands = operands;
    atoll_kernel_use_amx(0);
    CHECK(atoll_kernel_run(&call) == ATOLL_STATUS_OK);
    atoll_kernel_use_amx(1);
    CHECK(d == product);
}
