// Writes JSON documents.
#include "json.hpp"

#include "libraries.hpp"

#include <cstdio>

namespace Atoll::tools {

std::string dump(const Json &value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void print_json(const Json &document) {
    const std::string text = dump(document, 2) + "\n";
    (void)std::fwrite(text.data(), 1, text.size(), stdout); // main reports errors
}

Json json_of(const libraries::Library &library) {
    return {{"library", library.kind},
            {"version", library.version},
            {"path", library.path},
            {"build_id", library.build_id},
            {"needed_by", library.needed_by}};
}

} // namespace Atoll::tools
