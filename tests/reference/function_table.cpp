// Prints core/FUNCTIONS.md: what every function of the core module does, and which devices have it
// for which dtypes, as the loaded plugins say.
#include "atoll/abi/module.h"
#include "atoll/atoll.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Row {
    const char *name, *signature, *rule;
    atoll_dtype_set domain;
    const char *doc;
};
constexpr Row rows[] = {
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)             \
    {#name, SIGNATURE, #RULE, ATOLL_DOMAIN_##DOMAIN, doc},
#include "atoll/lists/functions.inc"
};

struct Device {
    const char *type;
    char letter;
};
constexpr Device devices[] = {{"cpu", 'c'}, {"dummy", 'd'}};

constexpr char introduction[] =
    "# The functions of the module `core`\n\n"
    "Generated from `sdk/include/atoll/lists/functions.inc` and from what the plugins declare; a "
    "test\ncompares. One row per function, one column per compute dtype T. `c`: the cpu plugin "
    "implements the\nfunction for this T; `d`: the dummy plugin does; `-`: the function is not "
    "defined for this T. Inputs\nof other dtypes are converted to T first, outputs of other dtypes "
    "from it. The cuda plugin is not\nlisted: `atoll info` and `Function::support` list what the "
    "loaded plugins implement.\n\n"
    "Note [Signatures] in `abi/module.h` explains signatures and rules.\n\n";

} // namespace

int main() {
    for (const Device &device : devices) Atoll::load_plugin(device.type);
    std::fputs(introduction, stdout);
    std::string header = "| function | signature | rule |", line = "|---|---|---|";
    for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
        header += " " + std::string(name(static_cast<Atoll::DType>(d))) + " |";
        line += "---|";
    }
    std::printf("%s\n%s\n", header.c_str(), line.c_str());
    int gaps = 0;
    for (const Row &row : rows) {
        const auto support = Atoll::Function(std::string("core.") + row.name).support();
        std::printf("| `%s` | `%s` | %s |", row.name, row.signature, row.rule);
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            std::string cell;
            for (const Device &device : devices)
                for (const auto &own : support)
                    if (own.device_type == device.type &&
                        std::count(own.dtypes.begin(), own.dtypes.end(),
                                   static_cast<Atoll::DType>(d)))
                        cell += device.letter;
            const bool inside = row.domain >> d & 1;
            gaps += inside ? static_cast<int>(std::size(devices) - cell.size())
                           : static_cast<int>(cell.size());
            std::printf(" %s |", cell.empty() && !inside ? "-" : cell.c_str());
        }
        std::printf("\n");
    }
    std::printf("\n## What they do\n\n| function | result |\n|---|---|\n");
    for (const Row &row : rows) {
        std::string doc = row.doc;
        for (std::size_t at = 0; (at = doc.find('|', at)) != std::string::npos; at += 2)
            doc.replace(at, 1, "\\|");
        std::printf("| `%s` | %s |\n", row.name, doc.c_str());
    }
    if (gaps) std::fprintf(stderr, "%d cells of the table are gaps\n", gaps);
    return gaps != 0;
}
