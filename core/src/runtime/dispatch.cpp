// Dispatch, and the translation of a plugin's failure into an Error.
#include "runtime/dispatch.hpp"

#include "base/printable.hpp"
#include "runtime/log.hpp"

#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace Atoll::detail {

void fail(const Chain &chain, PreparedCall &prepared, std::int32_t status,
          std::string_view exception) {
    if (std::exchange(thread_state.pool_failed, false))
        throw Error(Status::kernel_failed, prepared.function->full_name,
                    "the parallel_for that the application set threw (see the log); the result is "
                    "incomplete",
                    prepared.device->name);
    atoll_error &error = prepared.error;
    error.function[sizeof error.function - 1] = '\0';
    const std::string plugin = chain.plugin ? chain.plugin->name : std::string();
    std::string text = prepared.text.text();
    std::string function = prepared.function->full_name;
    auto code = static_cast<Status>(status);
    if (!exception.empty()) {
        code = Status::plugin_fault;
        text = fmt::format(
            "an exception crossed the plugin's border ({}); the plugin must catch it{}", exception,
            chain.wrappers == 0 ? ""
                                : ", or one of the interposers around it must: see Atoll::chain()");
    } else if (status < 0 || status >= ATOLL_STATUS_COUNT) {
        code = Status::plugin_fault;
        text = fmt::format("the plugin{} returned status {}, which does not exist{}{}",
                           chain.wrappers == 0 ? ""
                                               : ", or one of the interposers around it "
                                                 "(Atoll::chain() lists them),",
                           status, text.empty() ? "" : ": ", text);
    } else if (text.empty()) {
        text = fmt::format("{} (the plugin gave no details)", name(code));
    }
    if (error.function[0] != '\0' && function != error.function) {
        // An asynchronous error of an earlier call.
        text = fmt::format("{} (reported by {})", text, function);
        function = error.function;
    }
    throw Error(code, function, text, prepared.device->name, plugin, error.native_code);
}

void fail_of_exception(const Chain &chain, PreparedCall &prepared) {
    fail(chain, prepared, ATOLL_STATUS_PLUGIN_FAULT, exception_text());
}

std::string exception_text() {
    try {
        throw;
    } catch (const std::exception &e) {
        const char *text = e.what(); // a plugin's own class may return NULL
        return text && *text ? printable(text) : "without text";
    } catch (...) {
        return "of unknown type";
    }
}

std::string border_crossed(std::string_view callback) {
    return fmt::format(
        "an exception crossed the plugin's border{}{} ({}); the plugin must catch it",
        callback.empty() ? "" : " in ", callback, exception_text());
}

void run_callback(std::string_view op, std::string_view what, const PluginRecord &plugin,
                  const std::function<std::int32_t(atoll_error *)> &callback,
                  std::optional<Status> as) {
    ErrorBuffer error;
    Status status = Status::plugin_fault;
    std::string words;
    try {
        const std::int32_t returned = callback(error.get());
        if (returned == ATOLL_STATUS_OK) return;
        words = error.words();
        if (returned > 0 && returned < ATOLL_STATUS_COUNT)
            status = as.value_or(static_cast<Status>(returned));
        else
            words = fmt::format("it returned status {}, which does not exist: {}", returned, words);
    } catch (...) {
        words = border_crossed();
    }
    throw Error(status, op, fmt::format("{}: {}", what, words), {}, plugin.name,
                error.native_code());
}

void run_finaliser(std::string_view owner, const std::function<void()> &callback) {
    try {
        callback();
    } catch (...) {
        log_message(ATOLL_LOG_ERROR, fmt::format("{}: {}", owner, border_crossed()));
    }
}

std::int32_t try_dispatch(const Chain &chain, PreparedCall &prepared) noexcept {
    try {
        return chain.call(prepared.call);
    } catch (...) {
        return ATOLL_STATUS_PLUGIN_FAULT;
    }
}

void warn_of_failure(const Chain &chain, PreparedCall &prepared, std::int32_t status,
                     bool thrown) noexcept {
    try {
        try {
            fail(chain, prepared, status, thrown ? exception_text() : std::string());
        } catch (const Error &error) { // "[function] …": who shows a warning adds the function
            warn(error.function(),
                 std::string_view(error.what()).substr(error.function().size() + 3));
        }
    } catch (...) { // no memory for the words, or the handler's: a destructor has nobody to tell
    }
}

} // namespace Atoll::detail
