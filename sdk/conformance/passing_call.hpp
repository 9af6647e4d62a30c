// A copy of a call whose memory is gone when the call has returned.
#pragma once

#include "atoll/plugin.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace Atoll::conformance {

// Note [Gone]
// The call, its arrays, attributes, parameters, scalars and error live until it returns, and only
// the error and some parameters are written. The kit makes calls with copies, compares these with
// the originals when the call returns, and makes their memory unreadable: an implementation that
// reads them later, from a thread of its own, crashes instead of reading what happens to be there.
class PassingCall {
public:
    // `reserved`: of the call, its operands, attributes.
    explicit PassingCall(const atoll_call &original, std::optional<unsigned char> reserved = {});
    ~PassingCall();
    PassingCall(const PassingCall &) = delete;
    PassingCall &operator=(const PassingCall &) = delete;

    // Calls link->fn with the copies of the link and of the call; the error is copied back.
    std::int32_t pass(const atoll_link &link);
    // What the implementation has changed that is not its own; empty: nothing.
    const std::string &changed() const { return changed_; }

private:
    template <class T> T *copy(const T *from, std::size_t count);
    std::size_t size_of_params() const;

    char *page_;
    std::size_t used_ = 0;
    struct Part {
        const char *what;
        std::size_t at, bytes;
    };
    std::vector<Part> parts_; // which must stay as they are
    const atoll_call &original_;
    atoll_call *call_ = nullptr;
    atoll_error *error_ = nullptr;
    std::string changed_;
};

} // namespace Atoll::conformance
