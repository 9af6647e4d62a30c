// Ref: an intrusive pointer with an atomic reference count, for the handles of the public API.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace Atoll::detail {

// Whether the process has no other thread, as far as the C library knows: counts then need no
// locked instructions, of which one takes as long as twenty others. std::shared_ptr asks the same.
inline bool is_only_thread() noexcept {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded;
#else
    return false;
#endif
}

// First base of every counted object, so that both have the same address: handles count objects
// whose types the public headers do not define.
struct RefCounted {
    using Destroy = void (*)(RefCounted *) noexcept;
    explicit RefCounted(Destroy how) : destroy(how) {}
    mutable std::atomic<std::uint32_t> references{1};
    const Destroy destroy;
};

template <class T> class Ref {
public:
    Ref() noexcept = default;
    // Takes over the initial reference of a new object.
    static Ref adopt(T *object) noexcept {
        Ref ref;
        ref.object_ = object;
        return ref;
    }
    static Ref share(T *object) noexcept {
        retain(object);
        return adopt(object);
    }
    Ref(const Ref &other) noexcept : object_(other.object_) { retain(object_); }
    Ref(Ref &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref &operator=(const Ref &other) noexcept {
        retain(other.object_);
        release(std::exchange(object_, other.object_));
        return *this;
    }
    Ref &operator=(Ref &&other) noexcept {
        release(std::exchange(object_, std::exchange(other.object_, nullptr)));
        return *this;
    }
    ~Ref() { release(object_); }

    // Gives up the reference without counting it.
    T *detach() noexcept { return std::exchange(object_, nullptr); }

    T *get() const noexcept { return object_; }
    T *operator->() const noexcept { return object_; }
    T &operator*() const noexcept { return *object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    friend bool operator==(const Ref &a, const Ref &b) noexcept { return a.object_ == b.object_; }

private:
    static RefCounted *counted(T *object) noexcept {
        return reinterpret_cast<RefCounted *>(object);
    }
    static void retain(T *object) noexcept {
        if (!object) return;
        std::atomic<std::uint32_t> &count = counted(object)->references;
        if (is_only_thread())
            count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        else
            count.fetch_add(1, std::memory_order_relaxed);
    }
    static void release(T *object) noexcept {
        if (!object) return;
        RefCounted *count = counted(object);
        // The last owner needs no locked instruction: no other thread can change the count.
        const std::uint32_t references = count->references.load(std::memory_order_acquire);
        if (references == 1)
            count->destroy(count);
        else if (is_only_thread())
            count->references.store(references - 1, std::memory_order_relaxed);
        else if (count->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
            count->destroy(count);
    }
    T *object_ = nullptr;
};

} // namespace Atoll::detail
