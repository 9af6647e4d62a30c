/* The ELF note that describes a plugin, so that the host can refuse a wrong file before it runs.
 *
 * Section .note.atoll, name "Atoll", type 1. The descriptor contains five 32-bit words (magic; ABI
 * major << 16 | minor; lowest host minor; kinds; ISA level), one word of sanitizer bits, and the
 * name, NUL-terminated and padded to 4 bytes. */
#ifndef ATOLL_ABI_NOTE_H
#define ATOLL_ABI_NOTE_H

#include "atoll/abi/base.h"

#define ATOLL_NOTE_TYPE 1

/* Kinds: a set of flags that says what a plugin contains. */
#define ATOLL_CONTAINS_DEVICES 1     /* device types */
#define ATOLL_CONTAINS_MODULES 2     /* module interfaces */
#define ATOLL_CONTAINS_IMPLS 4       /* implementations for other plugins' device types */
#define ATOLL_CONTAINS_INTERPOSERS 8 /* interposers */

/* ISA level of the whole file, relative to the file's machine type. Among files of one plugin, the
 * host opens the one with the highest level that the processor supports. 0: any processor.
 *   x86-64   1 to 4: x86-64-v1 to v4
 *   AArch64  1: ARMv8.0; 2: with half-precision arithmetic and dot products; 3: with SVE; 4: SVE2
 */
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define ATOLL_ISA_LEVEL 4
#elif defined(__AVX2__) && defined(__FMA__)
#define ATOLL_ISA_LEVEL 3
#elif defined(__SSE4_2__)
#define ATOLL_ISA_LEVEL 2
#elif defined(__x86_64__)
#define ATOLL_ISA_LEVEL 1
#elif defined(__ARM_FEATURE_SVE2)
#define ATOLL_ISA_LEVEL 4
#elif defined(__ARM_FEATURE_SVE)
#define ATOLL_ISA_LEVEL 3
#elif defined(__ARM_FEATURE_DOTPROD) && defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#define ATOLL_ISA_LEVEL 2
#elif defined(__aarch64__)
#define ATOLL_ISA_LEVEL 1
#else
#define ATOLL_ISA_LEVEL 0
#endif

/* Sanitizers that the file is built with. Host and plugin must match. */
#define ATOLL_SANITIZER_ADDRESS 1
#define ATOLL_SANITIZER_THREAD 2
#if defined(__SANITIZE_ADDRESS__)
#define ATOLL_SANITIZERS 1
#elif defined(__SANITIZE_THREAD__)
#define ATOLL_SANITIZERS 2
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATOLL_SANITIZERS 1
#elif __has_feature(thread_sanitizer)
#define ATOLL_SANITIZERS 2
#else
#define ATOLL_SANITIZERS 0
#endif
#else
#define ATOLL_SANITIZERS 0
#endif

#define ATOLL_STRINGIFY_(x) #x
#define ATOLL_STRINGIFY(x) ATOLL_STRINGIFY_(x)

/* Use once per plugin, at file scope: ATOLL_PLUGIN_NOTE("cpu", ATOLL_CONTAINS_DEVICES, 0). All
 * arguments must be literals (the macros above are literals). */
/* clang-format off */
#define ATOLL_PLUGIN_NOTE(name, kinds, min_host_minor)                                     \
    __asm__(".pushsection .note.atoll,\"a\",%note\n"                                       \
            ".balign 4\n"                                                                  \
            ".long 6, 2f - 1f, " ATOLL_STRINGIFY(ATOLL_NOTE_TYPE) "\n"                     \
            ".asciz \"Atoll\"\n"                                                           \
            ".balign 4\n"                                                                  \
            "1: .long 0x4c4f5441\n"                                                        \
            ".long (" ATOLL_STRINGIFY(ATOLL_ABI_MAJOR) " << 16) | " ATOLL_STRINGIFY(ATOLL_ABI_MINOR) "\n" \
            ".long " ATOLL_STRINGIFY(min_host_minor) "\n"                                  \
            ".long " ATOLL_STRINGIFY(kinds) "\n"                                           \
            ".long " ATOLL_STRINGIFY(ATOLL_ISA_LEVEL) "\n"                                 \
            ".long " ATOLL_STRINGIFY(ATOLL_SANITIZERS) "\n"                                \
            ".asciz \"" name "\"\n"                                                        \
            "2: .balign 4\n"                                                               \
            ".popsection\n")
/* clang-format on */

#endif
