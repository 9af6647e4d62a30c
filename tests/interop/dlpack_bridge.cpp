// DLPack structs behind a C interface, for test_numpy.py to hand to and take from NumPy.
#include "atoll/atoll.hpp"
#include "atoll/dlpack.hpp"

#include <cstring>

using namespace Atoll;

namespace {

std::string last_error;
Tensor imported;

template <class Body> bool guarded(Body &&body) {
    try {
        body();
        return true;
    } catch (const std::exception &error) {
        last_error = error.what();
        return false;
    }
}

} // namespace

extern "C" {

const char *bridge_error() { return last_error.c_str(); }

int bridge_load() {
    return guarded([] { load_plugin("cpu"); });
}

// 0, 1, 2, … of a dtype, of shape 2×3×4, reversed along `flipped` unless that is negative. Null on
// an error.
void *bridge_export(const char *dtype, int flipped) {
    void *managed = nullptr;
    guarded([&] {
        Tensor t = arange(24, {dtype_from_name(dtype), device("cpu")}).reshape({2, 3, 4});
        if (flipped >= 0) t = t.flip(flipped);
        managed = to_dlpack_unversioned(t);
    });
    return managed;
}

int bridge_import(void *managed) {
    return guarded([&] { imported = from_dlpack(static_cast<DLManagedTensor *>(managed)); });
}
const char *bridge_dtype() { return name(imported.dtype()).data(); }
int bridge_rank() { return imported.rank(); }
long long bridge_extent(int axis) { return imported.extent(axis); }
long long bridge_stride(int axis) { return imported.strides()[axis]; }
const void *bridge_data() { return imported.data(); }
void bridge_fill(double value) { imported.fill(Scalar(value).cast(imported.dtype())); }
void bridge_forget() { imported = Tensor(); }
}
