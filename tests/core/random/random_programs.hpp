// Random programs as the tests draw them: the same numbers give the same programs.
#pragma once

#include "../../random_tests.hpp"
#include "draw.hpp"

namespace interpreter {

using Program = std::vector<Op>;
constexpr int length = 60; // operations of a program

// `plugin` is its name, or its file.
inline World world_of(const std::string &type, bool shaky, const char *plugin = nullptr) {
    Atoll::load_plugin(plugin ? plugin : type);
    const Atoll::Device first = Atoll::device(type);
    const Atoll::Device second = type == "dummy" ? Atoll::device("dummy:1") : first;
    World world;
    world.name = type;
    world.shaky = shaky && type == "dummy";
    world.places = {{DType::none, first},
                    {DType::none, first, first.new_stream()},
                    {DType::none, first, first.new_stream()},
                    {DType::none, second, second.new_stream()},
                    {DType::none, Atoll::device("cpu")}};
    return world;
}

inline std::uint64_t seed_of(std::int64_t program) {
    const auto seed = random_tests::seed();
    return (seed << 40) + static_cast<std::uint64_t>(program);
}
inline std::string rerun(std::int64_t program) {
    return "rerun with ATOLL_TEST_SEED=" + std::to_string(random_tests::seed()) +
           " ATOLL_TEST_CASE=" + std::to_string(program);
}

} // namespace interpreter
