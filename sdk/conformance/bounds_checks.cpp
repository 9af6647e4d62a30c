// Operands beside memory without access: reading or writing one element too many ends the process.
#include "calls.hpp"
#include "suites.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace Atoll::conformance {

namespace {

enum class Side { before, behind };

// The operand again, in memory that begins or ends with its elements.
Tensor beside_nothing(const Guarded &operand, Side side) {
    if (!operand.tensor.is_defined() || operand.tensor.size() == 0) return operand.tensor;
    const auto &own = operand.elements;
    const auto first = std::find(own.begin(), own.end(), 1) - own.begin();
    const auto end = std::find(own.rbegin(), own.rend(), 1).base() - own.begin();
    const auto size = static_cast<std::size_t>(end - first);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t inside = (size + page - 1) / page * page, all = inside + 2 * page;
    void *const mapped = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) skip("the system has no memory for the operands");
    const std::shared_ptr<void> owner(mapped, [all](void *at) { ::munmap(at, all); });
    char *const begin = static_cast<char *>(mapped) + page;
    if (::mprotect(begin, inside, PROT_READ | PROT_WRITE) != 0)
        skip("the system has no memory for the operands");
    char *const elements = side == Side::before ? begin : begin + inside - size;
    std::memcpy(elements, operand.image.data() + first, size);
    const Tensor &tensor = operand.tensor;
    return from_memory(elements + (tensor.offset() - first), tensor.shape(), tensor.strides(),
                       tensor.dtype(), tensor.device(), [owner] {});
}

void stays_inside(const Declared &declared, DType dtype, Side side) {
    const Prepared::Form dense, strided{Layout::strided, Layout::strided},
        reversed{Layout::reversed}; // inputs alone: the host turns what is reversed in all
    const auto moved = [side](const std::vector<Guarded> &operands) {
        std::vector<Tensor> list;
        for (const Guarded &operand : operands) list.push_back(beside_nothing(operand, side));
        return list;
    };
    bool called = false;
    std::string refusal;
    for (const Setting &setting : settings_of(declared))
        for (const auto &[size, form] : {std::pair{Size::small, dense},
                                         {Size::long_, dense},
                                         {Size::one, dense},
                                         {Size::small, strided},
                                         {Size::small, reversed}})
            try {
                const Prepared prepared(
                    make_call(declared.function, dtype, {.size = size, .setting = setting}),
                    {dtype, declared.device()}, form);
                invoke(prepared.call, moved(prepared.inputs), prepared.device,
                       moved(prepared.outputs));
                prepared.device.synchronize();
                called = true;
            } catch (const Error &error) {
                // The device may lack what the host would convert operands with.
                const bool lacks = error.status() == Status::not_supported &&
                                   error.function() != declared.function.name;
                if (!lacks && !setting.is_refused_by(error)) throw;
                refusal = error.what();
            }
    if (!called) skip("no call was made: {}", refusal);
}

} // namespace

void add_bounds_checks(Checks &checks, const Target &target) {
    for (const Declared &declared : target.functions) {
        if (!callable(declared.function) || !declared.device().is_host_memory()) continue;
        for (const DType dtype : declared.all_dtypes())
            for (const auto &[side, name] : {std::pair{Side::before, "no access before operands"},
                                             {Side::behind, "no access behind operands"}})
                checks.push_back(
                    {"bounds", declared.subject(), word(dtype), name,
                     [&declared, dtype, side] { stays_inside(declared, dtype, side); }});
    }
}

} // namespace Atoll::conformance
