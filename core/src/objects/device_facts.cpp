// Device::facts: what a plugin says of its device, checked, since it goes to terminals and reports.
#include "base/printable.hpp"
#include "objects/objects.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

// Bounds of atoll_facts_params.
constexpr std::size_t most_facts = 256, longest_name = 63, longest_value = 255;

class Facts {
public:
    explicit Facts(const DeviceRecord &device) : device_(device) {}

    // The callback. No exception crosses the plugin: the first one is kept for list().
    static void add(void *argument, const char *name, const char *value) noexcept {
        auto &self = *static_cast<Facts *>(argument);
        if (self.failure_) return;
        try {
            self.add(name, value);
        } catch (...) {
            self.failure_ = std::current_exception();
        }
    }
    std::vector<DeviceFact> list() && {
        if (failure_) std::rethrow_exception(failure_);
        return std::move(list_);
    }

private:
    void add(const char *name, const char *value) {
        if (list_.size() == most_facts) refuse("gave more than {} facts", most_facts);
        if (!name) refuse("gave fact {} the name NULL", list_.size());
        const std::string_view title(name, ::strnlen(name, longest_name + 1));
        const auto fits = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        };
        if (title.empty() || title.size() > longest_name || title[0] < 'a' ||
            !std::all_of(title.begin(), title.end(), fits))
            refuse("gave fact {} the name \"{}\", need [a-z][a-z0-9_]*, at most {} bytes",
                   list_.size(), printable(title), longest_name);
        if (!value) refuse("gave the fact {} the value NULL", title);
        const std::string_view text(value, ::strnlen(value, longest_value + 1));
        if (text.empty() || text.size() > longest_value)
            refuse("gave the fact {} a value that is {}, need 1 to {} bytes", title,
                   text.empty() ? "empty" : "longer", longest_value);
        if (const std::string shown = printable(text);
            shown != text || text.find_first_of("\n\t") != text.npos)
            refuse("gave the fact {} the value \"{}\", need UTF-8 without control characters",
                   title, shown);
        for (const DeviceFact &other : list_)
            if (other.name == title) refuse("gave the fact {} twice", title);
        list_.push_back({std::string(title), std::string(text)});
    }

    template <class... Arguments> [[noreturn]] void refuse(fmt::format_string<Arguments...> text,
                                                           Arguments &&...arguments) const {
        throw Error(Status::plugin_fault, "device.facts",
                    fmt::format(text, std::forward<Arguments>(arguments)...) +
                        "; report it to the plugin's vendor",
                    device_.name, device_.type->plugin->name);
    }

    const DeviceRecord &device_;
    std::vector<DeviceFact> list_;
    std::exception_ptr failure_;
};

} // namespace

std::vector<DeviceFact> Device::facts() const {
    require_live(checked(record_), "device.facts");
    if (!device_implements(*record_->type, ATOLL_DEVICE_FN_facts)) return {};
    Facts facts(*record_);
    atoll_facts_params params{sizeof params, 0, &Facts::add, &facts};
    device_call(*record_, ATOLL_DEVICE_FN_facts, &params);
    return std::move(facts).list();
}

} // namespace Atoll
