// Keeping the way in which a thread calculates while a plugin's code runs on it.
#pragma once

#include <cfenv>
#include <string>

namespace Atoll::detail {

// Note [Floating-point mode]
// A library that was linked with -ffast-math switches, in a constructor, the thread that opens it
// to flushing small numbers to zero; other code changes the rounding. All that this thread computes
// afterwards would differ, in the application too. So the mode is put back after a load, with a
// warning in the log.
class FloatModeKeeper {
public:
    explicit FloatModeKeeper(std::string plugin);
    ~FloatModeKeeper();
    FloatModeKeeper(const FloatModeKeeper &) = delete;
    FloatModeKeeper &operator=(const FloatModeKeeper &) = delete;

private:
    std::string plugin_;
    std::fenv_t before_;
    unsigned control_;
};

} // namespace Atoll::detail
