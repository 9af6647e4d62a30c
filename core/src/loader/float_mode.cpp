// The processor's floating-point control: see Note [Floating-point mode].
#include "loader/float_mode.hpp"

#include "atoll/abi/host.h"
#include "runtime/host_services.hpp"

#include <utility>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

// Rounding, traps and the treatment of denormal numbers, without the flags of what has happened.
unsigned control_bits() {
#if defined(__x86_64__)
    return _mm_getcsr() & ~unsigned{_MM_EXCEPT_MASK};
#elif defined(__aarch64__)
    unsigned long bits;
    __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
    return static_cast<unsigned>(bits);
#endif
}

} // namespace

FloatModeKeeper::FloatModeKeeper(std::string plugin) : plugin_(std::move(plugin)) {
    std::fegetenv(&before_);
    control_ = control_bits();
}

FloatModeKeeper::~FloatModeKeeper() {
    if (control_bits() == control_) return;
    std::fesetenv(&before_);
    log_message(ATOLL_LOG_WARN,
                fmt::format("plugin {} changed how this thread rounds or treats denormal numbers; "
                            "that was put back; report it to its vendor: it, or a library that it "
                            "links, was linked with -ffast-math",
                            plugin_));
}

} // namespace Atoll::detail
