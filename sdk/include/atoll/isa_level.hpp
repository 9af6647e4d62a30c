// ISA levels: that of this processor, and their names. See ATOLL_ISA_LEVEL in abi/note.h.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace Atoll::sdk {

// The level of an AArch64 processor, from AT_HWCAP and AT_HWCAP2.
inline int arm_level(unsigned long hwcap, unsigned long hwcap2) {
    // Bits from Linux, arch/arm64/include/uapi/asm/hwcap.h.
    constexpr unsigned long half_and_dots = 1ul << 9 | 1ul << 10 | 1ul << 20, sve = 1ul << 22,
                            sve2 = 1ul << 1;
    if ((hwcap & half_and_dots) != half_and_dots) return 1;
    if (!(hwcap & sve)) return 2;
    return hwcap2 & sve2 ? 4 : 3;
}

// The level of this processor, 1 to 4; 0 on unknown machines. On x86-64 as in the psABI: a level
// needs all of its features, and an operating system that saves the registers.
inline int isa_level() {
#if defined(__x86_64__) && defined(__clang__)
    // Clang 14 does not know the levels by name. Every processor with these features of a level has
    // the others too.
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return 1;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
        return 2;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? 4
               : 3;
#elif defined(__x86_64__)
    return __builtin_cpu_supports("x86-64-v4")   ? 4
           : __builtin_cpu_supports("x86-64-v3") ? 3
           : __builtin_cpu_supports("x86-64-v2") ? 2
                                                 : 1;
#elif defined(__aarch64__)
    return arm_level(::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2));
#else
    return 0;
#endif
}

// A level of the machine that this is compiled for, for messages: "x86-64-v3", "AArch64 with SVE".
inline std::string level_name(std::uint32_t level) {
#if defined(__aarch64__)
    static constexpr const char *names[] = {"AArch64", "AArch64",
                                            "AArch64 with half precision and dot products",
                                            "AArch64 with SVE", "AArch64 with SVE2"};
    if (level < std::size(names)) return names[level];
    return "AArch64 of level " + std::to_string(level);
#else
    return "x86-64-v" + std::to_string(level);
#endif
}

} // namespace Atoll::sdk
