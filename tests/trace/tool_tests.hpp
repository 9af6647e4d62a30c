// What the tests of `atoll trace` share: running a line of shell, reading what it left.
#pragma once

#include "../core/plugin_tests.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <utility>

namespace tool_tests {

using plugin_tests::contains;
using plugin_tests::Folder;
using Json = nlohmann::json;

// A number with three decimals, in thousandths.
inline std::int64_t nano(const Json &micro) { return std::llround(micro.get<double>() * 1000); }

inline std::string variable(const char *name) {
    const char *text = std::getenv(name);
    REQUIRE_MESSAGE(text, name, " must be set");
    return text;
}
inline std::string traced() { return variable("ATOLL_TRACED"); }

struct Ran {
    int status;
    std::string out, error;
};
inline std::string content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
// Runs a line of shell in which $atoll and $traced stand for the two programs.
inline Ran shell(const Folder &folder, const std::string &line) {
    const std::string command = "cd '" + folder.path + "' && atoll='" + variable("ATOLL_TOOL") +
                                "' traced='" + traced() + "' && { " + line +
                                "\n} > out.txt 2> error.txt";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(folder.path + "/out.txt"),
            content(folder.path + "/error.txt")};
}

inline Json parsed(const Folder &folder, const std::string &name) {
    return Json::parse(content(folder.path + "/" + name));
}

// The data of a page.
inline Json page_data(const Folder &folder, const std::string &name) {
    const std::string page = content(folder.path + "/" + name);
    const std::size_t begin = page.find("id=\"data\">") + 10;
    return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

using Counts = std::map<std::pair<std::string, std::string>, long>; // function, device type

// What `traced` printed. Loading enumerates devices before the program could count that.
inline Counts counted(const std::string &text) {
    Counts counts;
    std::istringstream lines(text);
    std::string function, device;
    for (long calls; lines >> function >> device >> calls;) counts[{function, device}] = calls;
    return counts;
}
inline bool is_call(const Json &event) {
    return event["ph"] == "X" && (event["cat"] == "call" || event["cat"] == "inserted");
}
// A queue entry; those that do no work are "waiting".
inline bool is_execution(const Json &event) {
    return event["ph"] == "X" && (event["cat"] == "execution" || event["cat"] == "waiting");
}
inline Counts spans(const Json &trace) {
    Counts counts;
    for (const Json &event : trace["traceEvents"])
        if (is_call(event) && event["name"] != "device.enumerate") {
            const std::string device = event["args"]["device"];
            ++counts[{event["name"], device.substr(0, device.find(':'))}];
        }
    return counts;
}

} // namespace tool_tests
