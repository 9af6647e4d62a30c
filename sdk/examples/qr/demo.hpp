// The parts of the demonstration. Each prints what it does to standard output and throws where a
// result is not what it must be.
#pragma once

#include <stdexcept>
#include <string>

namespace Demo {

inline void require(bool holds, const std::string &what) {
    if (!holds) throw std::runtime_error("expected that " + what);
}

// The QR example of the Ocean paper, in its setting and against its output.
void figure();
// NIST's Longley regression by QR, on every loaded device, against the certified coefficients.
void longley(const std::string &csv);
// A third party's square root takes over, is counted, and goes again.
void replaced_sqrt(const std::string &plugin);

} // namespace Demo
