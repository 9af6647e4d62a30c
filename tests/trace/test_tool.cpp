// `atoll trace` as a command: programs of every fate, outputs, refusals.
#include "tool_tests.hpp"

#include <algorithm>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tool_tests;

TEST_CASE("however a program ends, its calls are in the trace, and its table appears once") {
    const Folder folder;
    const Counts all = counted(shell(folder, "$traced threads").out);
    struct End {
        const char *mode;
        int status;
        bool regular; // the program itself prints the table
    };
    for (const auto &[name, status, regular] : {End{"threads", 0, true},
                                                {"quick_exit", 4, true},
                                                {"quick", 3, false},
                                                {"abort", 128 + 6, false},
                                                {"killed", 128 + 9, false},
                                                {"segfault", 128 + 11, false}}) {
        const std::string mode = name;
        CAPTURE(mode);
        const Ran ran = shell(folder, "ulimit -c 0; ASAN_OPTIONS=handle_segv=0 "
                                      "$atoll trace -o " +
                                          mode + ".json -- $traced " + mode);
        CHECK(ran.status == status);
        const Json trace = parsed(folder, mode + ".json");
        CHECK(spans(trace) == all);
        CHECK(trace["otherData"]["processes"][0]["ended_regularly"] == regular);
        CHECK(contains(ran.error, "core.matmul"));
        CHECK(contains(ran.error, "dtype (MIXED_INPUTS)"));
        const std::size_t table = ran.error.find("GB/s");
        REQUIRE(table != std::string::npos);
        CHECK(ran.error.find("GB/s", table + 1) == std::string::npos);
        CHECK(contains(ran.error, " calls within ") == regular);
        // With the libraries that may exist twice.
        const Json &libraries = trace["otherData"]["libraries"];
        REQUIRE(libraries.size() > 0);
        for (const Json &library : libraries) {
            CHECK(std::filesystem::exists(library["path"].get<std::string>()));
            CHECK(contains(ran.error, library["library"].get<std::string>() + " "));
            CHECK(contains(ran.error, library["path"].get<std::string>()));
        }
        if (status > 128) {
            CHECK(trace["otherData"]["signal"] == status - 128);
            CHECK(contains(ran.error, "ended by signal " + std::to_string(status - 128)));
        }
    }
}

TEST_CASE("on a terminal that is too narrow for the tracer's table the tool prints one that fits") {
    const Folder folder;
    int ours = -1, its = -1;
    winsize size{};
    size.ws_row = 50;
    size.ws_col = 80;
    REQUIRE(::openpty(&ours, &its, nullptr, nullptr, &size) == 0);
    std::string text;
    std::jthread reader([&] {
        char bytes[4096];
        for (ssize_t n; (n = ::read(ours, bytes, sizeof bytes)) > 0;)
            text.append(bytes, static_cast<std::size_t>(n));
    });
    const std::string terminal = "/proc/self/fd/" + std::to_string(its);
    const Ran ran = shell(folder, "NO_COLOR=1 $atoll trace -- $traced threads 2> " + terminal);
    ::close(its);
    reader.join();
    ::close(ours);
    CHECK(ran.status == 0);
    const std::size_t table = text.find("function  "), end = text.find("libraries of which");
    REQUIRE(table < end);
    std::istringstream lines(text.substr(table, end - table));
    for (std::string line; std::getline(lines, line);)
        CHECK_MESSAGE(line.size() <= 81, line); // with the terminal's \r
    for (const char *words : {"core.matmul", "temps", "MIXED_INPUTS"}) CHECK(contains(text, words));
    CHECK(!contains(text, " calls within "));
}

TEST_CASE("without the tool the table appears after quick_exit too") {
    const Folder folder;
    const Ran ran = shell(folder, "ATOLL_INTERPOSERS=trace $traced quick_exit");
    CHECK(ran.status == 4);
    CHECK(contains(ran.error, " calls within "));
}

TEST_CASE("a trace lists the libraries that `atoll info` lists") {
    const Folder folder;
    REQUIRE(shell(folder, "$atoll trace -o run.json -- $traced threads").status == 0);
    const Json info = Json::parse(shell(folder, "$atoll info --libraries --json").out);
    std::map<std::string, Json> known;
    for (const Json &library : info["libraries"]["mapped"]) known[library["path"]] = library;
    const Json trace = parsed(folder, "run.json");
    long blas = 0;
    for (const Json &library : trace["otherData"]["libraries"]) {
        const std::string path = library["path"];
        REQUIRE(known.count(path) == 1);
        for (const char *key : {"library", "version", "build_id"})
            CHECK(library[key] == known[path][key]);
        blas += library["library"] == "OpenBLAS"; // opened at run time, with the first product
    }
    CHECK(blas == 1);
    CHECK(trace["otherData"]["library_warnings"] == info["libraries"]["warnings"]);
}

TEST_CASE("two traces are compared by their totals") {
    const Folder folder;
    REQUIRE(shell(folder, "$atoll trace -o a.json -o a.html -- $traced many 1000").status == 0);
    REQUIRE(shell(folder, "$atoll trace -o b.json.gz -- $traced many 3000").status == 0);
    const Ran ran = shell(folder, "$atoll trace --json --diff a.json b.json.gz");
    REQUIRE(ran.status == 0);
    bool found = false;
    const Json difference = Json::parse(ran.out);
    for (const Json &line : difference["functions"])
        if (line["function"] == "core.add") {
            found = true;
            CHECK(line["before"]["calls"] == 1000);
            CHECK(line["after"]["calls"] == 3000);
            CHECK(line["after"]["bytes"] == 3000 * 24);
            CHECK(line["after"]["ns"] > 0);
        }
    CHECK(found);
    CHECK(Json::parse(
              shell(folder, "$atoll trace --json --diff a.html b.json.gz").out)["functions"] ==
          difference["functions"]);
    const Ran text = shell(folder, "$atoll trace --diff a.json b.json.gz");
    CHECK(contains(text.out, "core.add"));
    CHECK(contains(text.out, "run time: "));
    folder.file("no.json", "{}");
    for (const char *wrong : {"a.json missing.json", "no.json a.json", "a.json"}) {
        const Ran refused = shell(folder, std::string("$atoll trace --diff ") + wrong);
        CHECK(refused.status == 2);
        CHECK(contains(refused.error, "--diff"));
    }
}

TEST_CASE("several programs of one command come into one trace") {
    const Folder folder;
    const Ran ran = shell(folder, "$atoll trace -o run.json -- sh -c \"'$traced' threads; "
                                  "'$traced' threads\"");
    REQUIRE(ran.status == 0);
    const Json trace = parsed(folder, "run.json");
    CHECK(trace["otherData"]["processes"].size() == 2);
    Counts twice = counted(shell(folder, "$traced threads").out);
    for (auto &[function, calls] : twice) calls *= 2;
    CHECK(spans(trace) == twice);
}

TEST_CASE("the status of the program, or the reason why there is none, is passed on") {
    const Folder folder;
    CHECK(shell(folder, "$atoll trace -- $traced status").status == 42);
    const Ran nothing = shell(folder, "$atoll trace -o run.json -- $traced nothing");
    CHECK(nothing.status == 5);
    CHECK(contains(nothing.error, "has loaded no plugin of Atoll"));
    CHECK_FALSE(std::filesystem::exists(folder.path + "/run.json"));
    CHECK(shell(folder, "$atoll trace -- true").status == 1);
    const Ran missing = shell(folder, "$atoll trace -- ./no_such_program");
    CHECK(missing.status == 127);
    CHECK(contains(missing.error, "no_such_program: No such file"));
    CHECK(shell(folder, "$atoll trace -- no_such_program").status == 127);
    folder.file("text", "no program");
    const Ran text = shell(folder, "$atoll trace -- ./text");
    CHECK(text.status == 126);
    CHECK(contains(text.error, "not a file that you may execute"));
    CHECK(contains(shell(folder, "$atoll trace -- ./").error, "a folder"));
    CHECK(shell(folder, "$atoll trace -- ''").status == 127);
    folder.file("strange", "#!/no/such/interpreter\n");
    const Ran strange = shell(folder, "chmod +x strange; $atoll trace -- ./strange");
    CHECK(strange.status == 126);
    CHECK(contains(strange.error, "the interpreter in its first line"));
    const Ran plain = shell(folder, "chmod +x text; $atoll trace -- ./text");
    CHECK(plain.status == 126);
    CHECK(contains(plain.error, "nor a script whose first line begins with #!"));
    // What comes after the program's name is the program's own.
    const Ran own = shell(folder, "$atoll trace --limit 2M -o run.json $traced status --json");
    CHECK(own.status == 42);
    CHECK(contains(own.out, "core.add cpu"));
    CHECK(shell(folder, "$atoll trace ls -d / --no-such-option").status == 2);
    CHECK(shell(folder, "$atoll trace ls -d /").out == "/\n");
    // A signal to the tool reaches the program.
    const Ran stopped = shell(folder, "$atoll trace -o run.json -- $traced sleep > ready & p=$!\n"
                                      "until grep -q ready ready; do :; done; kill -TERM $p\n"
                                      "wait $p");
    CHECK(stopped.status == 128 + 15);
    CHECK(spans(parsed(folder, "run.json")).size() > 3);
}

TEST_CASE("what cannot work is refused before the program runs, and leaves no file") {
    const Folder folder;
    const auto refused = [&](const std::string &options, const std::string &text) {
        CAPTURE(options);
        const Ran ran = shell(folder, options + " -- touch has_run");
        CHECK(ran.status == 2);
        CHECK_MESSAGE(contains(ran.error, text), ran.error);
        CHECK_FALSE(std::filesystem::exists(folder.path + "/has_run"));
    };
    refused("$atoll trace -o run.txt", "ends in .html");
    refused("$atoll trace -o no_such_folder/run.json", "No such file or directory");
    refused("mkdir folder.json; $atoll trace -o folder.json", "this is a folder");
    refused("ATOLL_SAFE_MODE=1 $atoll trace", "ATOLL_SAFE_MODE");
    refused("ATOLL_PLUGINS_DISABLE=trace $atoll trace", "the tracer cannot be loaded");
    refused("$atoll trace --limit few", "--limit");
    refused("$atoll trace --limit 64K", "need at least 1064960 bytes");
    refused("$atoll trace --limit -5", "not in range");
    refused("$atoll trace --limit 2T", "not in range");
    CHECK(shell(folder, "$atoll trace -o run.json").status == 2);
    CHECK(shell(folder, "$atoll trace -- true; ls").out == "error.txt\nfolder.json\nout.txt\n");
}

TEST_CASE("a program with more rights than its user is refused") {
    namespace fs = std::filesystem;
    const Folder folder;
    // Root makes one of another user; others take one of the system's.
    std::string program = folder.path + "/other";
    if (::geteuid() == 0) {
        fs::copy_file("/bin/true", program);
        REQUIRE(::chown(program.c_str(), 65534, 65534) == 0);
        REQUIRE(::chmod(program.c_str(), 04755) == 0);
    } else {
        for (const char *known : {"/bin/su", "/usr/bin/passwd", "/bin/mount", "/usr/bin/sudo"}) {
            struct stat facts {};
            if (::stat(known, &facts) == 0 && (facts.st_mode & S_ISUID)) program = known;
        }
        if (!fs::exists(program)) {
            MESSAGE("there is no set-user-ID program here to try");
            return;
        }
    }
    const Ran ran = shell(folder, "$atoll trace -o run.json -- " + program + " --version");
    CHECK(ran.status == 2);
    CHECK_MESSAGE(contains(ran.error, program + " is privileged (set-user-ID)"), ran.error);
    CHECK(ran.out.empty());
    CHECK_FALSE(fs::exists(folder.path + "/run.json"));
}

TEST_CASE("what one output or the reader cannot take leaves the others whole, and no rest") {
    const Folder folder;
    const auto files = [&](const std::string &part) {
        long found = 0;
        for (const auto &entry : std::filesystem::directory_iterator(folder.path))
            found += contains(entry.path().filename().string(), part);
        return found;
    };
    // The folder of the first goes while the program runs.
    const Ran ran = shell(folder, "mkdir gone; $atoll trace -o gone/a.html -o run.json -- "
                                  "sh -c \"rm -r gone; '$traced' name x\"");
    CHECK(ran.status == 1);
    CHECK_MESSAGE(contains(ran.error, "gone/a.html: cannot write: No such file"), ran.error);
    CHECK(parsed(folder, "run.json")["otherData"]["calls"].get<long>() > 10);
    // Standard error is a pipe without a reader.
    const Ran deaf = shell(folder, "mkdir tmp; TMPDIR=$PWD/tmp\nexport TMPDIR\n"
                                   "{ until [ -e closed ]; do :; done\n"
                                   "$atoll trace -o deaf.json -- $traced quick 2>&1\n"
                                   "echo $? > status; } | { exec <&-; touch closed; }\n"
                                   "ls tmp");
    CHECK(deaf.out.empty());
    CHECK(content(folder.path + "/status") == "3\n");
    CHECK(parsed(folder, "deaf.json")["otherData"]["calls"].get<long>() > 10);
    CHECK(files(".json") == 2);
    // Without room for the timeline.
    const Ran full = shell(folder, "trap '' XFSZ; ulimit -f 200; ATOLL_TRACE_BUFFER_BYTES=8192 "
                                   "$atoll trace --json -- $traced many");
    CHECK(full.status == 0);
    CHECK(Json::parse(full.out)["dropped"].get<long>() > 0);
    CHECK_MESSAGE(contains(full.error, "set TMPDIR to a folder with more space"), full.error);
    CHECK_FALSE(contains(full.error, "--limit"));
}

TEST_CASE("a file that is there already is replaced only by a whole new one") {
    const Folder folder;
    folder.file("run.json", "precious");
    CHECK(shell(folder, "$atoll trace -o run.json -- $traced nothing").status == 5);
    CHECK(content(folder.path + "/run.json") == "precious");
    CHECK(shell(folder, "$atoll trace -o run.json -- $traced name x").status == 0);
    CHECK(parsed(folder, "run.json")["otherData"]["calls"].get<long>() > 10);
}

TEST_CASE("with --json standard output is one document, and the user's own settings stay") {
    const Folder folder;
    const Ran ran = shell(folder, "ATOLL_INTERPOSERS=' trace=core.* ' $atoll trace --json -- "
                                  "$traced status");
    CHECK(ran.status == 42);
    const Json summary = Json::parse(ran.out);
    CHECK(summary["exit_status"] == 42);
    CHECK(summary["command"][1] == "status");
    CHECK(contains(ran.error, "core.add cpu")); // the program's own output
    CHECK_FALSE(contains(ran.error, "trace: "));
    for (const Json &line : summary["functions"])
        CHECK(line["function"].get<std::string>().starts_with("core."));
    CHECK(summary["functions"].size() > 5);
}
