// Calls with copies: Note [Gone].
#include "passing_call.hpp"

#include "atoll/abi/device.h"
#include "atoll/dtype_facts.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <new>
#include <sys/mman.h>

namespace Atoll::conformance {

namespace {

constexpr std::size_t page_bytes = 64 << 10; // more than a call of highest rank needs
constexpr std::size_t kept_pages = 256;      // whose addresses are not used again yet

// A call of rank 0 has no shape. A kernel that reads it anyway writes too many elements.
const std::int64_t no_shape[] = {3, 3, 3, 3};

// Whether a function of the module `device` writes to its parameters.
bool has_results(int function) {
    switch (function) {
    case ATOLL_DEVICE_FN_enumerate:
    case ATOLL_DEVICE_FN_properties:
    case ATOLL_DEVICE_FN_allocate:
    case ATOLL_DEVICE_FN_allocate_host:
    case ATOLL_DEVICE_FN_stream_create:
    case ATOLL_DEVICE_FN_event_create:
    case ATOLL_DEVICE_FN_event_time:
    case ATOLL_DEVICE_FN_native_handle: return true;
    default: return false;
    }
}

char *new_page() {
    void *page =
        ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    return static_cast<char *>(page);
}

void drop_page(char *page) {
    static std::mutex mutex;
    static auto &gone = *new std::deque<char *>; // threads may call at exit
    ::mprotect(page, page_bytes, PROT_NONE);
    ::madvise(page, page_bytes, MADV_DONTNEED);
    const std::lock_guard lock(mutex);
    gone.push_back(page);
    if (gone.size() <= kept_pages) return;
    ::munmap(gone.front(), page_bytes);
    gone.pop_front();
}

} // namespace

template <class T> T *PassingCall::copy(const T *from, std::size_t count) {
    constexpr std::size_t alignment = 64;
    used_ = (used_ + alignment - 1) / alignment * alignment;
    if (used_ + count * sizeof(T) > page_bytes) throw std::bad_alloc();
    auto *to = reinterpret_cast<T *>(page_ + used_);
    std::copy_n(from, count, to);
    used_ += count * sizeof(T);
    return to;
}

PassingCall::PassingCall(const atoll_call &original, std::optional<unsigned char> reserved)
    : page_(new_page()), original_(original) {
    const auto mark = [&](const char *what, std::size_t begin) {
        parts_.push_back({what, begin, used_ - begin});
    };
    const auto overwrite = [&](auto &words) {
        if (reserved) std::memset(&words, *reserved, sizeof words);
    };
    call_ = copy(&original, 1);
    mark("the members", 0);
    overwrite(call_->reserved);
    std::size_t begin = used_;
    call_->shape = original.rank > 0 ? copy(original.shape, original.rank)
                                     : copy(no_shape, std::size(no_shape));
    mark("the shape", begin);
    begin = used_;
    call_->operands = copy(original.operands, original.operand_count);
    mark("the operands", begin);
    begin = used_;
    for (int o = 0; o < original.operand_count; ++o) {
        atoll_operand &operand = call_->operands[o];
        overwrite(operand.reserved);
        operand.strides = copy(operand.strides, original.rank);
        if (operand.flags & ATOLL_OPERAND_SCALAR)
            operand.data = copy(static_cast<const char *>(operand.data),
                                static_cast<std::size_t>(sdk::dtype_size(operand.dtype)));
    }
    mark("the strides", begin);
    begin = used_;
    if (original.module == ATOLL_MODULE_DEVICE) {
        if (original.params)
            call_->params = copy(static_cast<const char *>(original.params), size_of_params());
        if (!has_results(original.function)) mark("the parameters", begin);
    } else {
        atoll_scalar *attributes = copy(original.attributes, original.attribute_count);
        for (int i = 0; i < original.attribute_count; ++i) {
            overwrite(attributes[i].reserved);
            if (attributes[i].dtype == ATOLL_VALUE_INTS)
                attributes[i].value.ints = copy(attributes[i].value.ints, attributes[i].count);
        }
        call_->attributes = attributes;
        mark("the attributes", begin);
    }
    error_ = call_->error = copy(original.error, 1);
}

std::size_t PassingCall::size_of_params() const {
    return *static_cast<const std::uint32_t *>(original_.params);
}

PassingCall::~PassingCall() { drop_page(page_); }

std::int32_t PassingCall::pass(const atoll_link &link) {
    const atoll_link *own = copy(&link, 1);
    const std::vector<char> before(page_, page_ + used_);
    const std::int32_t status = own->fn(own, call_);
    for (const Part &part : parts_)
        if (std::memcmp(page_ + part.at, before.data() + part.at, part.bytes) != 0)
            changed_ =
                std::string("wrote to ") + part.what + " of its call, which it may only read";
    *original_.error = *error_;
    if (original_.module == ATOLL_MODULE_DEVICE && original_.params)
        std::memcpy(original_.params, call_->params, size_of_params());
    return status;
}

} // namespace Atoll::conformance
