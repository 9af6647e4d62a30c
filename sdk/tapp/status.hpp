// Statuses: the latest executions of the process.
#pragma once

#include "failure.hpp"

#include <cstdint>

namespace Atoll::Tapp {

struct Execution {
    const char *device = ""; // lives as long as the process
    std::int64_t nanoseconds = 0, operations = 0;
    TAPP_error error = 0;
};

// The number of a new status, which is negative.
TAPP_status record(const Execution &execution) noexcept;
// Whether the number is or was one of a status.
bool is_status(std::intptr_t number) noexcept;
// Throws Failure.
Execution execution(TAPP_status status);

} // namespace Atoll::Tapp
