// A function of the application that it may replace while other threads call it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace Atoll::detail {

template <class Function> class Callback {
public:
    void set(Function function) {
        auto shared = function ? std::make_shared<const Function>(std::move(function)) : nullptr;
        const std::lock_guard lock(mutex_);
        function_ = std::move(shared);
    }
    // Null: none is set.
    std::shared_ptr<const Function> get() const {
        const std::lock_guard lock(mutex_);
        return function_;
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<const Function> function_;
};

} // namespace Atoll::detail
