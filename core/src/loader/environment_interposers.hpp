// The interposers that ATOLL_INTERPOSERS asks for.
#pragma once

#include "runtime/registry.hpp"

#include <functional>
#include <string>
#include <vector>

namespace Atoll::detail {

// Under the registry's mutex.
class EnvironmentInterposers {
public:
    // Pushes those that can be had of the plugins `loaded`. When called first, has their plugins
    // loaded, which may call this again.
    void push(const std::vector<PluginRecord *> &loaded,
              const std::function<void(const std::string &)> &load);

private:
    void read(const std::function<void(const std::string &)> &load);

    // An entry whose target, a module or device type, may come with a later plugin.
    struct Wanted {
        std::string item, name, target;
        bool told = false; // that it could not be pushed
    };
    std::vector<Wanted> wanted_;
    bool read_ = false;
};

} // namespace Atoll::detail
