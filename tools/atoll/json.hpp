// JSON documents that the tool prints and writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace Atoll::libraries {
struct Library;
}

namespace Atoll::tools {

// Keeps the order of insertion.
using Json = nlohmann::ordered_json;

// On one line, or indented. Names of files and from plugins need not be UTF-8: invalid bytes are
// replaced.
std::string dump(const Json &value, int indent = -1);
// To standard output, indented.
void print_json(const Json &document);

// A library of a process, as `atoll info` and `atoll trace` describe it.
Json json_of(const libraries::Library &library);

} // namespace Atoll::tools
