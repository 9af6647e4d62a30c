// The functions of atoll/kernels.h.
#include "atoll/isa_level.hpp"
#include "library/prepare.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

namespace Atoll::kernels {

// ATOLL_KERNELS_LEVELS: ATOLL_LEVEL(atoll_kernels_level_v2) and so on, those that are linked.
#define ATOLL_LEVEL(symbol) extern "C" const Level symbol;
ATOLL_KERNELS_LEVELS
#undef ATOLL_LEVEL

namespace {

// The best that this processor runs; null if there is none.
const Level *level() {
    static const Level *const best = [] {
        const Level *found = nullptr;
#define ATOLL_LEVEL(symbol) &symbol,
        for (const Level *one : {ATOLL_KERNELS_LEVELS})
#undef ATOLL_LEVEL
            if (one->isa <= sdk::isa_level() && (!found || one->isa > found->isa)) found = one;
        return found;
    }();
    return best;
}

// All of the struct's first version; more than any version has.
constexpr std::size_t least_size =
                          offsetof(atoll_kernel_call, error_capacity) + sizeof(std::size_t),
                      most_size = 4096;

// A caller's struct in the size that this library knows.
atoll_kernel_call completed(const atoll_kernel_call &given) {
    atoll_kernel_call call{};
    if (given.struct_size < least_size || given.struct_size > most_size)
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "struct_size is wrong");
    const char *bytes = reinterpret_cast<const char *>(&given);
    const std::size_t known = std::min<std::size_t>(sizeof call, given.struct_size);
    if (std::any_of(bytes + known, bytes + given.struct_size, [](char byte) { return byte; }))
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                         "the call has members that this version does not know");
    std::memcpy(&call, bytes, known);
    return call;
}

void run(const atoll_kernel_call &given) {
    const atoll_kernel_call call = completed(given);
    if (!level())
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                         "the library has no kernels for this processor, which is " +
                             sdk::level_name(static_cast<std::uint32_t>(sdk::isa_level())));
    const std::int32_t status = Prepared(call, *level()).run();
    if (status)
        throw sdk::Error(static_cast<atoll_status>(status), status == ATOLL_STATUS_OUT_OF_MEMORY
                                                                ? "no memory for scratch"
                                                                : "the kernels refused the call");
}

// Returns the status.
std::int32_t report(const atoll_kernel_call &call, std::int32_t status, const char *text) noexcept {
    if (call.struct_size < least_size || !call.error || !call.error_capacity) return status;
    const atoll_kernel_info *info = atoll_kernel_describe(call.function);
    std::snprintf(call.error, call.error_capacity, "[%s] %s",
                  info ? info->name : "atoll_kernel_run", text);
    return status;
}

constexpr atoll_kernel_info infos[] = {
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)             \
    {#name, SIGNATURE, ATTRIBUTES, PROPERTIES, doc, ATOLL_DOMAIN_##DOMAIN},
#include "atoll/lists/functions.inc"
};

} // namespace
} // namespace Atoll::kernels

using namespace Atoll;

std::int32_t atoll_kernel_run(const atoll_kernel_call *call) {
    if (!call) return ATOLL_STATUS_INVALID_ARGUMENT;
    try {
        kernels::run(*call);
        return ATOLL_STATUS_OK;
    } catch (const sdk::Error &error) {
        return kernels::report(*call, error.status(), error.what());
    } catch (const std::bad_alloc &) {
        return kernels::report(*call, ATOLL_STATUS_OUT_OF_MEMORY, "no memory");
    } catch (...) {
        return kernels::report(*call, ATOLL_STATUS_INTERNAL, "an unexpected exception");
    }
}

const atoll_kernel_info *atoll_kernel_describe(std::int32_t function) {
    return function >= 0 && function < ATOLL_KERNEL_COUNT ? &kernels::infos[function] : nullptr;
}

std::int32_t atoll_kernel_find(const char *name) {
    const auto *found = std::ranges::find(kernels::infos, std::string_view(name ? name : ""),
                                          &atoll_kernel_info::name);
    return found == std::end(kernels::infos) ? -1
                                             : static_cast<std::int32_t>(found - kernels::infos);
}

void atoll_kernel_use_amx(std::int32_t use) {
    if (const kernels::Level *level = kernels::level()) level->use_amx(use);
}

std::int32_t atoll_kernel_use_blas(const char *library, std::int32_t threads, char *error,
                                   std::size_t error_capacity) {
    const kernels::Level *level = kernels::level();
    const char *why = "the library has no kernels for this processor";
    try {
        if (level) level->set_blas(library ? library : "", threads);
        if (level) why = level->open_blas();
    } catch (...) {
        why = "no memory";
    }
    if (!why) return ATOLL_STATUS_OK;
    if (error && error_capacity)
        std::snprintf(error, error_capacity, "[atoll_kernel_use_blas] %s", why);
    return ATOLL_STATUS_NOT_FOUND;
}

const char *atoll_kernel_blas(void) { return kernels::level() ? kernels::level()->blas() : ""; }

const char *atoll_kernel_level(void) {
    static const std::string name =
        kernels::level() ? sdk::level_name(static_cast<std::uint32_t>(kernels::level()->isa)) : "";
    return name.c_str();
}
