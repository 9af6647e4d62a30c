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

struct PrintSettings {
    int decimals = 5;     // at most
    int width = 80;       // characters per line
    int threshold = 1000; // more elements than this are abbreviated
    int edge = 3;         // rows and columns shown at each end when abbreviated
};

// What happens to elements outside the mathematical domain of sqrt, log, log2, log10, log1p, asin,
// acos, acosh, atanh and pow, and to divisors that are zero. All but `standard` read the operands
// once more and wait for the answer.
enum class ComputeMode : std::uint8_t {
    standard, // no check: NaN, inf, or 0 for integers
    warning,  // computed as by `standard`, and a warning is raised
    error,    // Error (domain), and the destination is untouched
    complex   // computed in complex numbers if an element is outside; divisors: as `standard`
};

enum class WarningMode : std::uint8_t { off, once /* per function and process */, always };

struct Settings {
    // For functions that are not told a dtype. DType::none: such a function throws.
    DType default_dtype = DType::float32;
    // "cpu" or "dummy:1"; empty: the first device with host memory that was loaded.
    std::string default_device;
    bool auto_cast = true;      // off: any mismatch of dtype or device is an error
    bool auto_broadcast = true; // off: shapes must be equal
    ComputeMode compute_mode = ComputeMode::standard;
    WarningMode warning_mode = WarningMode::once;
    // Longest wait of Device::, Stream:: and Event::synchronize and of retire(), after which they
    // throw Error (not_ready); zero: no limit. The device's work cannot be called off: its tensors
    // stay in use. Reading data back waits for as long as it takes: synchronise first.
    std::chrono::milliseconds synchronize_deadline{0};
    PrintSettings print;
};

// The settings in force on this thread: the innermost scope's, else the process default.
// Thread-safe.
Settings settings();
// Sets the process default. Threads inside a scope keep theirs. Thread-safe.
void set_settings(const Settings &settings);

// What a warning says: the function's full name ("core.sqrt") and a sentence.
struct Warning {
    std::string_view function, text;
};
// Called by the thread whose call raised the warning, during that call; an exception it throws ends
// the call before anything is computed. Empty: back to the default, the log. Thread-safe.
void set_warning_handler(std::function<void(const Warning &)> handler);

// While it lives, this thread uses `settings` (or the current ones, changed by `change`). Scopes
// nest and must end in reverse order on the thread that made them.
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
