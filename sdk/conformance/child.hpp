// A child process for a group of checks, and the messages that it sends about them.
//
// Note [Children]
// The kit forks without exec before this process has opened any plugin. The child opens the plugin
// and sends its plan, then a message before and after every check. If a child dies or stays silent
// for too long, the check that it announced last has failed, and a new child continues with the
// next one. Every child makes the same plan, so an index says where to continue. A child ends with
// its group of checks, so that no group sees what another one left behind.
//
// A child that has run all of its checks says so last. One that ends without having said it has
// died, whatever its status: the plugin called exit, or _exit. A child that leaves through exit(),
// to show that the plugin survives it, ends with a status that no plugin gives.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace Atoll::conformance {

// What a child sends: a keyword and its arguments, which may contain any bytes.
using Message = std::vector<std::string>;

// The child's end.
class Pipe {
public:
    explicit Pipe(int end) : end_(end) {}
    void write(const Message &message);
    // The last words of a child: it ends here, or in exit(), with all that exit() runs.
    [[noreturn]] void finish();
    [[noreturn]] void leave();

private:
    int end_;
};

// A child, and what came from it.
class Child {
public:
    // `body` runs in the child and does not return. `deadline` is for its silence, in seconds.
    Child(double deadline, const std::function<void(Pipe &)> &body);
    ~Child();
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    // Receives the next message. False if the child has said its last words, has ended or was
    // silent for too long.
    bool next(Message &message);
    // Ends it; returns why it died, empty if it did not.
    std::string end();

private:
    bool has_ended() const;
    std::string last_words() const;

    double deadline_; // seconds
    int end_ = -1, output_ = -1, errors_ = -1;
    pid_t pid_ = -1;
    std::string buffer_;
    bool hung_ = false, finished_ = false, leaving_ = false;
};

} // namespace Atoll::conformance
