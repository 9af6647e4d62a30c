// Error codes and their texts.
#include "failure.hpp"

#include <algorithm>
#include <atoll/error.hpp>
#include <cstring>
#include <new>

namespace Atoll::Tapp {

namespace {

constexpr TAPP_error code_of(Status status) { return 1000 + static_cast<TAPP_error>(status); }

// The latest failure of this thread. A plain buffer: keeping it cannot fail.
struct Latest {
    TAPP_error code = 0;
    std::size_t length = 0;
    char text[2048];
};
thread_local Latest latest;

std::string_view meaning(TAPP_error code) {
    switch (code) {
    case 0: return "success";
    case 1: return "an index has different extents in A and B";
    case 2: return "an index has different extents in A and D";
    case 3: return "an index has different extents in B and D";
    case 4: return "an index of D is in neither A nor B";
    case 5: return "C has another number of modes than D";
    case 6: return "C has another index than D on a mode";
    case 7: return "C has another extent than D on a mode";
    case 8: return "elements of D share memory, or it takes too long to find out";
    case 9: return "an index has different extents within A";
    case 10: return "an index has different extents within B";
    case 11: return "an index has different extents within D";
    case 12: return "C is NULL although beta is not 0";
    case 13: return "invalid description of a tensor: the number of modes or an extent is negative";
    case 14: return "the number of modes is negative";
    case 15: return "an extent is negative";
    case 33: return "there is no executor";
    case TAPP_ATOLL_BAD_OBJECT: return "not an object of the kind that is needed";
    case TAPP_ATOLL_NULL_ARGUMENT: return "an argument is NULL that needs memory";
    case TAPP_ATOLL_BAD_DATATYPE: return "unknown data type";
    case TAPP_ATOLL_BAD_OPERATION: return "unknown element operation";
    case TAPP_ATOLL_BAD_PRECISION: return "unknown precision";
    case TAPP_ATOLL_BAD_KEY: return "the object has no such attribute, or it cannot be set";
    case TAPP_ATOLL_BAD_VALUE: return "invalid value of an attribute";
    case TAPP_ATOLL_EXPIRED_STATUS:
        return "the status was destroyed, or is older than the latest 1024";
    case TAPP_ATOLL_BAD_COUNT: return "the number of products is negative";
    case TAPP_ATOLL_TOO_MANY_INDICES: return "a product has more than 64 indices";
    default: return {};
    }
}

std::string explanation(TAPP_error code) {
    if (code != 0 && code == latest.code) return {latest.text, latest.length};
    if (const std::string_view known = meaning(code); !known.empty()) return std::string(known);
    switch (code) {
#define ATOLL_STATUS(value, ENUM, identifier, text)                                                \
    case code_of(Status::identifier):                                                              \
        if (Status::identifier != Status::ok) return "error of Atoll: " text;                      \
        break;
#include "atoll/lists/status.inc"
    }
    return fmt::format("{} is no error code of this library", code);
}

} // namespace

Failure failure_of(std::exception_ptr error) noexcept {
    try {
        try {
            std::rethrow_exception(std::move(error));
        } catch (Failure &failure) {
            return std::move(failure);
        } catch (const Error &failed) {
            return {code_of(failed.status()), failed.what()};
        } catch (const std::bad_alloc &) {
            return {code_of(Status::out_of_memory), {}};
        } catch (const std::exception &other) {
            return {code_of(Status::internal), other.what()};
        } catch (...) {
            return {code_of(Status::internal), {}};
        }
    } catch (...) { // no memory for the text
        return {code_of(Status::out_of_memory), {}};
    }
}

TAPP_error remember(const Failure &failure) noexcept {
    latest.code = failure.text.empty() ? 0 : failure.code;
    latest.length = std::min(failure.text.size(), sizeof latest.text);
    std::memcpy(latest.text, failure.text.data(), latest.length);
    return failure.code;
}

} // namespace Atoll::Tapp

bool TAPP_check_success(TAPP_error error) { return error == 0; }

std::size_t TAPP_explain_error(TAPP_error error, std::size_t maxlen, char *message) {
    try {
        const std::string text = Atoll::Tapp::explanation(error);
        if (maxlen == 0) return text.size();
        if (!message) return 0;
        const std::size_t length = std::min(text.size(), maxlen - 1);
        std::memcpy(message, text.data(), length);
        message[length] = '\0';
        return length;
    } catch (...) {
        if (maxlen > 0 && message) *message = '\0';
        return 0;
    }
}
