// Injected faults: see Note [Faults] in faults.hpp.
#include "faults.hpp"

#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace Dummy {

namespace sdk = Atoll::sdk;

namespace {

constexpr std::int32_t garbage_status = 9999;

enum class Argument { None, Optional, Name, Number };
struct Kind {
    std::string_view name;
    Argument argument;
};
constexpr std::array kinds{
    Kind{"allocate", Argument::Number},   Kind{"stream_create", Argument::None},
    Kind{"event_create", Argument::None}, Kind{"enqueue", Argument::Name},
    Kind{"kernel", Argument::Name},       Kind{"transfer", Argument::None},
    Kind{"lost", Argument::Optional},     Kind{"latency", Argument::Number},
    Kind{"throw", Argument::Name},        Kind{"status", Argument::Name},
};

bool parse_number(const std::string &text, std::uint64_t &value) {
    const char *end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc() && result.ptr == end;
}

bool valid(const std::string &kind, const std::string &argument) {
    std::uint64_t value;
    for (const Kind &known : kinds)
        if (known.name == kind) switch (known.argument) {
            case Argument::None: return argument.empty();
            case Argument::Optional: return argument.empty() || parse_number(argument, value);
            case Argument::Name: return !argument.empty();
            case Argument::Number: return parse_number(argument, value);
            }
    return false;
}

// Functions that a lost device still serves: giving back must work, and so must waiting, because
// memory of the host may be in use until the wait is over.
bool served_when_lost(const atoll_call &call) {
    if (call.module != ATOLL_MODULE_DEVICE) return false;
    switch (call.function) {
    case ATOLL_DEVICE_FN_enumerate:
    case ATOLL_DEVICE_FN_free:
    case ATOLL_DEVICE_FN_stream_destroy:
    case ATOLL_DEVICE_FN_stream_synchronize:
    case ATOLL_DEVICE_FN_event_destroy:
    case ATOLL_DEVICE_FN_event_synchronize:
    case ATOLL_DEVICE_FN_host_callback: return true;
    default: return false;
    }
}

} // namespace

Faults::Faults(const atoll_host &host, std::string device_type)
    : host_(host), device_type_(std::move(device_type)) {
    const std::lock_guard lock(mutex_);
    refresh();
}

void Faults::refresh() {
    std::string setting = sdk::config(host_, "fault");
    if (setting == setting_) return;
    std::vector<Fault> faults;
    std::uint64_t allocations = 0;
    for (std::size_t begin = 0; begin < setting.size();) {
        const std::size_t end = std::min(setting.find(',', begin), setting.size());
        const std::string text = setting.substr(begin, end - begin);
        const std::size_t colon = std::min(text.find(':'), text.size());
        const std::string kind = text.substr(0, colon);
        const std::string argument = text.substr(std::min(colon + 1, text.size()));
        if (!valid(kind, argument))
            throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "setting fault of " + device_type_ +
                                                                ": cannot understand '" + text +
                                                                "'");
        if (kind == "allocate") parse_number(argument, allocations);
        faults.push_back({text, kind, argument});
        begin = end + 1;
    }
    setting_ = std::move(setting);
    faults_ = std::move(faults);
    allocations_left_ = allocations;
}

bool Faults::names(const Fault &fault, const std::string &function) {
    return fault.argument == function || fault.argument == function.substr(function.find('.') + 1);
}

std::int32_t Faults::before(const atoll_call &call) {
    const std::lock_guard lock(mutex_);
    refresh();
    if (faults_.empty()) return ATOLL_STATUS_OK;
    const std::string function = host_.function_name(call.module, call.function);
    for (const Fault &fault : faults_) {
        const std::string text = "injected fault " + fault.text;
        if (fault.kind == "lost") {
            if ((fault.argument.empty() || fault.argument == std::to_string(call.device)) &&
                !served_when_lost(call))
                throw sdk::Error(ATOLL_STATUS_DEVICE_LOST, text);
        } else if (fault.kind == "allocate") {
            if (function == "device.allocate" && allocations_left_ > 0 && --allocations_left_ == 0)
                throw sdk::Error(ATOLL_STATUS_OUT_OF_MEMORY, text);
        } else if (fault.kind == "stream_create" || fault.kind == "event_create") {
            if (function == "device." + fault.kind)
                throw sdk::Error(ATOLL_STATUS_OUT_OF_MEMORY, text);
        } else if (!names(fault, function)) {
            continue;
        } else if (fault.kind == "enqueue") {
            throw sdk::Error(ATOLL_STATUS_KERNEL_FAILED, text);
        } else if (fault.kind == "throw") {
            throw std::runtime_error(text);
        } else if (fault.kind == "status") {
            return garbage_status;
        }
    }
    return ATOLL_STATUS_OK;
}

Faults::Later Faults::later(const atoll_call &call) {
    Later later;
    const std::lock_guard lock(mutex_);
    if (faults_.empty()) return later;
    const std::string function = host_.function_name(call.module, call.function);
    for (const Fault &fault : faults_) {
        std::uint64_t microseconds = 0;
        if (fault.kind == "latency" && parse_number(fault.argument, microseconds))
            later.latency = std::chrono::microseconds(microseconds);
        if ((fault.kind == "kernel" && names(fault, function)) ||
            (fault.kind == "transfer" && function == "device.transfer"))
            later.fault = fault.text;
    }
    return later;
}

bool Faults::lost(std::int32_t device) {
    const std::lock_guard lock(mutex_);
    refresh();
    for (const Fault &fault : faults_)
        if (fault.kind == "lost" &&
            (fault.argument.empty() || fault.argument == std::to_string(device)))
            return true;
    return false;
}

void Faults::Later::happen() const {
    if (latency.count() > 0) std::this_thread::sleep_for(latency);
    if (!fault.empty()) throw sdk::Error(ATOLL_STATUS_KERNEL_FAILED, "injected fault " + fault);
}

} // namespace Dummy
