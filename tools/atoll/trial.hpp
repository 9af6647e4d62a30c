// Work that plugins may end before it is done.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace Atoll::tools {

// The text that `work` makes in a child process, which a plugin may kill or hold up while it is
// loaded; empty, after a word on standard error, if the child ended before the text was complete or
// did not end in time. Call it while the process has one thread.
std::optional<std::string> text_of_child(const std::function<std::string()> &work,
                                         std::chrono::milliseconds deadline);

// While it lives, what is written to standard output goes to standard error: plugins print when
// they are loaded, and must not end up in a document.
class OutputAside {
public:
    OutputAside();
    ~OutputAside();
    OutputAside(const OutputAside &) = delete;
    OutputAside &operator=(const OutputAside &) = delete;

private:
    int saved_;
};

} // namespace Atoll::tools
