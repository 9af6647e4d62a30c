// Descriptions of tensors.
#include "tensor_info.hpp"

#include <algorithm>
#include <span>

namespace Atoll::Tapp {

namespace {

constexpr TAPP_datatype first_own = 0x1000;
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    static_assert(TAPP_ATOLL_##ENUM == first_own + (id));
#include "atoll/lists/dtypes.inc"

struct GuardedInfo {
    std::mutex mutex;
    TensorInfo info;
};

Table<GuardedInfo> &infos() {
    static auto *const table = new Table<GuardedInfo>("a tensor info");
    return *table;
}

DType dtype_of_type(TAPP_datatype type) {
    constexpr DType standard[] = {float32, float64, complex64, complex128, float16, bfloat16};
    if (type >= 0 && type < static_cast<TAPP_datatype>(std::size(standard))) return standard[type];
    if (type > first_own && type < first_own + ATOLL_DTYPE_COUNT)
        return static_cast<DType>(type - first_own);
    fail(TAPP_ATOLL_BAD_DATATYPE, "{} is no data type; see tapp/datatype.h and tapp/atoll.h", type);
}

void require_modes(int nmode) {
    if (nmode < 0) fail(14, "got {} modes, need 0 or more", nmode);
}

void require_extents(std::span<const std::int64_t> extents) {
    for (std::size_t mode = 0; mode < extents.size(); ++mode)
        if (extents[mode] < 0)
            fail(15, "got extent {} of mode {}, need 0 or more", extents[mode], mode);
}

template <class Body> TAPP_error change(TAPP_tensor_info info, const Body &body) noexcept {
    return guarded([&] {
        const auto found = infos().get(info, "info");
        const std::lock_guard lock(found->mutex);
        body(found->info);
    });
}

void get(TAPP_tensor_info info, std::vector<std::int64_t> TensorInfo::*list,
         std::int64_t *to) noexcept {
    change(info, [&](const TensorInfo &described) {
        if (!(described.*list).empty()) require_memory(to, "the array");
        std::copy((described.*list).begin(), (described.*list).end(), to);
    });
}

} // namespace

TensorInfo tensor_info(TAPP_tensor_info info, const char *name) {
    const auto found = infos().get(info, name);
    const std::lock_guard lock(found->mutex);
    return found->info;
}

} // namespace Atoll::Tapp

using namespace Atoll::Tapp;

TAPP_error TAPP_create_tensor_info(TAPP_tensor_info *info, TAPP_datatype type, int nmode,
                                   const std::int64_t *extents, const std::int64_t *strides) {
    return guarded([&] {
        require_memory(info, "info");
        *info = 0;
        require_modes(nmode);
        if (nmode > 0) require_memory(extents, "extents");
        require_extents({extents, static_cast<std::size_t>(nmode)});
        if (nmode > 0) require_memory(strides, "strides");
        const auto made = std::make_shared<GuardedInfo>();
        made->info = {dtype_of_type(type), {extents, extents + nmode}, {strides, strides + nmode}};
        *info = infos().add(made);
    });
}

TAPP_error TAPP_destroy_tensor_info(TAPP_tensor_info info) {
    return guarded([&] { infos().remove(info, "info"); });
}

int TAPP_get_nmodes(TAPP_tensor_info info) {
    int modes = -1;
    change(info, [&](const TensorInfo &described) {
        modes = static_cast<int>(described.extents.size());
    });
    return modes;
}

TAPP_error TAPP_set_nmodes(TAPP_tensor_info info, int nmodes) {
    return change(info, [&](TensorInfo &described) {
        require_modes(nmodes);
        TensorInfo changed = described;
        changed.extents.resize(static_cast<std::size_t>(nmodes), 1);
        changed.strides.resize(static_cast<std::size_t>(nmodes), 0);
        described = std::move(changed);
    });
}

void TAPP_get_extents(TAPP_tensor_info info, std::int64_t *extents) {
    get(info, &TensorInfo::extents, extents);
}

TAPP_error TAPP_set_extents(TAPP_tensor_info info, const std::int64_t *extents) {
    return change(info, [&](TensorInfo &described) {
        if (!described.extents.empty()) require_memory(extents, "extents");
        require_extents({extents, described.extents.size()});
        std::copy_n(extents, described.extents.size(), described.extents.begin());
    });
}

void TAPP_get_strides(TAPP_tensor_info info, std::int64_t *strides) {
    get(info, &TensorInfo::strides, strides);
}

TAPP_error TAPP_set_strides(TAPP_tensor_info info, const std::int64_t *strides) {
    return change(info, [&](TensorInfo &described) {
        if (!described.strides.empty()) require_memory(strides, "strides");
        std::copy_n(strides, described.strides.size(), described.strides.begin());
    });
}
