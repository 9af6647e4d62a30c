// One check, and how it says what became of it.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace Atoll::conformance {

// Thrown by a check's body: the plugin does not do what it should. The text says what happened,
// with which arguments, and what to do.
struct Failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// Thrown by a check's body that has nothing to look at here; the text says why.
struct Skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Check {
    std::string group, subject, dtype, variant; // as in Result
    std::function<void()> body;

    std::string name() const;
};
using Checks = std::vector<Check>;

// "group/subject:dtype/variant", without the parts that are empty.
std::string check_name(const std::string &group, const std::string &subject,
                       const std::string &dtype, const std::string &variant);

} // namespace Atoll::conformance
