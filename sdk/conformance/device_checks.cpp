#include "suites.hpp"
namespace Atoll::conformance {
void add_device_checks(Checks &, const Target &) {}
} // namespace Atoll::conformance
