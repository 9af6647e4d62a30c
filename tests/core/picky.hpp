// The plugin tests/plugins/picky.cpp, loaded as a test wants it to be.
#pragma once

#include "plugin_tests.hpp"

namespace plugin_tests {

struct PickyOptions {
    std::uint64_t caps = 0;
    int max_rank = 0, knows = 0;
};

// Loaded while it lives; retired at the end.
class Picky {
public:
    explicit Picky(const std::string &words, PickyOptions options = {})
        : words_("PICKY", words), caps_("PICKY_CAPS", std::to_string(options.caps)),
          rank_("PICKY_RANK", std::to_string(options.max_rank)),
          knows_("PICKY_KNOWS", std::to_string(options.knows)) {
        Atoll::load_plugin("cpu");
        report = Atoll::load_plugin(test_plugin("picky"));
    }
    ~Picky() {
        Atoll::configure("picky", "make", "");
        Atoll::configure("picky", "destroy", "");
        const Caught error = caught([] { Atoll::retire_plugin("picky"); });
        CHECK_MESSAGE(error.status == Atoll::Status::ok, error.text);
    }
    Picky(const Picky &) = delete;
    Picky &operator=(const Picky &) = delete;
    static void set(const char *key, const char *value) { Atoll::configure("picky", key, value); }
    Atoll::PluginReport report;

private:
    Variable words_, caps_, rank_, knows_;
};

} // namespace plugin_tests
