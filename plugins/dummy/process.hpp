// The process that a plugin's workers belong to.
#pragma once

#include <string>
#include <unistd.h>

namespace Dummy {

// Note [Forked children]
// A child has the streams but not their workers, and locks that no thread of its own will release.
// So its calls are refused before they touch either, and at unload it leaves all of it behind. A
// child may load the plugin itself.
class Process {
public:
    Process(); // this one; throws sdk::Error
    // Whether this is a child that was forked later. Costs a load where there has been no fork.
    bool left_behind() const;

private:
    const pid_t id_ = getpid();
};

// Throws sdk::Error for a call in such a child.
[[noreturn]] void refuse_child(const std::string &plugin, const std::string &function);

} // namespace Dummy
