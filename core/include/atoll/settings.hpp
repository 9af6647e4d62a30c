// Settings: a process-wide default and thread-local scoped overrides.
#pragma once

#include "atoll/dtype.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace Atoll {

class Device;

// How many decimals the elements of a tensor have in print; all have the same number.
enum class FloatMode : std::uint8_t {
    maxprec, // as few as show every element, at most `decimals`
    fixed,   // `decimals`
    unique   // as many as tell every element from the other values of its dtype
};

struct PrintSettings {
    int decimals = 5;
    int width = 80;       // characters per line
    int threshold = 1000; // larger tensors are abbreviated
    int edge = 3;         // rows and columns shown at each end when abbreviated
    FloatMode float_mode = FloatMode::maxprec;
    // Never write an exponent. Otherwise all elements have one if one of them is below 1e-4 or is
    // 1e8 or more.
    bool suppress_exponent = false;
};

// The treatment of elements outside the mathematical domain of sqrt, log, log2, log10, log1p, asin,
// acos, acosh, atanh and pow, and of zero divisors. All modes except `standard` read the operands
// an additional time and wait for the result.
enum class ComputeMode : std::uint8_t {
    standard, // no check: NaN, inf, or 0 for integers
    warning,  // like `standard`, and raises a warning
    error,    // throws Error (domain); the destination is unchanged
    complex   // computes in complex if an element is outside; divisors: like `standard`
};

// The treatment of results whose kind the output cannot hold, in in-place arithmetic and with
// `out`: complex numbers for reals, fractions for integers, signed integers for unsigned ones,
// numbers for bool (NumPy's casting="same_kind"). Fewer bits of one kind are no loss of this sort.
// assign(), cast() and copy() always convert.
enum class Lossy : std::uint8_t {
    error, // throws Error (invalid_argument); the output is unchanged
    warn,  // converts, and raises a warning
    allow
};

enum class WarningMode : std::uint8_t { off, once /* per function and process */, always };

struct Settings {
    // The dtype of functions that are called without one. DType::none: such functions throw.
    DType default_dtype = DType::float32;
    // "cpu" or "dummy:1"; empty: the first loaded device with host memory.
    std::string default_device = {};
    bool auto_cast = true;      // off: any mismatch of dtype or device is an error
    bool auto_broadcast = true; // off: shapes must be equal
    ComputeMode compute_mode = ComputeMode::standard;
    Lossy lossy = Lossy::error;
    WarningMode warning_mode = WarningMode::once;
    // The longest wait of Device::, Stream:: and Event::synchronize and of retire_plugin(); zero:
    // no limit. After it, synchronize throws Error (not_ready) and retire_plugin() throws Error
    // (busy). The device's work cannot be cancelled: its tensors stay in use. Reading data back
    // waits without limit; synchronise first.
    std::chrono::milliseconds synchronize_deadline{0};
    PrintSettings print = {};
};

// The settings in effect on this thread: those of the innermost scope, else the process default.
// Thread-safe.
Settings settings();
// Sets the process default. Threads inside a scope keep the settings of the scope. Thread-safe.
void set_settings(const Settings &settings);

// A warning: the function's full name ("core.sqrt") and a sentence.
struct Warning {
    std::string_view function, text;
};
// Sets the handler of warnings; an empty handler restores the default, the log. The thread whose
// call raised the warning calls the handler during that call; if the handler throws, the call ends
// before anything is computed. Thread-safe.
void set_warning_handler(std::function<void(const Warning &)> handler);

// While it lives, this thread uses `settings` (or the current settings, modified by `change`).
// Scopes nest and must end in reverse order on the thread that created them; another order is
// logged as an error and harms no other scope.
class ScopedSettings {
public:
    explicit ScopedSettings(Settings settings);
    explicit ScopedSettings(const std::function<void(Settings &)> &change);
    ~ScopedSettings();
    ScopedSettings(const ScopedSettings &) = delete;
    ScopedSettings &operator=(const ScopedSettings &) = delete;

private:
    struct State;
    State *state_;
};

} // namespace Atoll
