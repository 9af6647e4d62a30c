// A process of its own for a group of checks, and what it tells of them.
//
// Note [Children]
// The kit forks without exec, before this process has opened any plugin: the child opens the
// plugin, writes its plan, and then a line before and after every check into a pipe. A child that
// dies or stays silent for too long was in the check it announced last; that one failed, and a new
// child goes on behind it. Every child makes the same plan, so an index says where to go on. A
// child ends with its group, so that no group sees what another left behind.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/types.h>

namespace Atoll::conformance {

// The child's end.
class Pipe {
public:
    explicit Pipe(int end) : end_(end) {}
    void write(const nlohmann::json &line);

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

    // The next line; nothing when the child is through, or dead, or was silent for too long.
    bool next(nlohmann::json &line);
    // Why it ended, in words; empty: as it should.
    std::string end();

private:
    bool has_ended() const;
    std::string last_words() const;

    double deadline_; // seconds
    int end_ = -1, errors_ = -1;
    pid_t pid_ = -1;
    std::string buffer_;
    bool hung_ = false;
};

} // namespace Atoll::conformance
