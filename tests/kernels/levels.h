// The levels under test: the oracle, which is slow, computes once what all of them should give.
#pragma once

#include "../oracle/operand.h"
#include "level.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace oracle {

inline std::vector<const LevelKernels *> levels;
inline const LevelKernels *level = nullptr; // where calls go

// The pool that the levels have.
void parallel_for(void *, std::int64_t count, std::int64_t grain, atoll_range_body body,
                  void *argument);

// Calls body() with calls going to one level after the other.
template <class Body> void at_each_level(const Body &body) {
    for (const LevelKernels *each : levels) {
        level = each;
        INFO("level " << each->name);
        body();
    }
}

// While it lives, operands are large from other sizes on.
struct Lowered {
    Atoll::kernels::LargeOperands before = level->large_operands();
    explicit Lowered(const Atoll::kernels::LargeOperands &lowest) {
        at_each_level([&] { level->large_operands() = lowest; });
    }
    ~Lowered() {
        at_each_level([this] { level->large_operands() = before; });
    }
};

// run() is a call that writes `out` and nothing else of `operands`. At each level it finds the same
// bytes; check() looks at what it wrote, unless it looked at the same bytes before.
template <class Run, class Check> void compute(Operand &out,
                                               const std::vector<const Operand *> &operands,
                                               const Run &run, const Check &check) {
    const std::vector<char> before = out.memory;
    std::vector<std::vector<char>> others, results;
    for (const Operand *operand : operands)
        others.push_back(operand == &out ? std::vector<char>() : operand->memory);
    at_each_level([&] {
        std::copy(before.begin(), before.end(), out.memory.begin());
        REQUIRE(run() == ATOLL_STATUS_OK);
        for (std::size_t k = 0; k < operands.size(); ++k)
            CHECK((operands[k] == &out || operands[k]->memory == others[k]));
        if (std::find(results.begin(), results.end(), out.memory) != results.end()) return;
        check();
        results.push_back(out.memory);
    });
}

} // namespace oracle
