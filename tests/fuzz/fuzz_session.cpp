#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "fuzz.h"
#include "memory_file.h"
#include "session/session_server.h"

using namespace faceter;
using namespace faceter::worker;

namespace {

std::map<std::string, Method> methods() {
    return {
        {"echo", [](const Json& params, Request&) { return params; }},
        {"fail", [](const Json& params, Request&) -> Json { throw data_error("no {}", json_at<std::string>(params, "what", "params")); }},
        {"tell", [](const Json&, Request& request) {
             request.progress("reading", 1, 2);
             return Json();
         }}};
}

/// An answer or a progress for each line at most, in JSON of its own line that no terminal takes a part of for a command.
void check_answers(const std::string& said, std::string_view asked) {
    std::ptrdiff_t answers = 0;
    for (const std::string_view line : split(said, '\n')) {
        if (line.empty()) continue;
        FUZZ_CHECK(printable(line) == line);
        const Json answer = parse_json(line, "answer", 200);
        FUZZ_CHECK(answer.is_object() && answer.contains("id"));
        FUZZ_CHECK(answer.contains("result") + answer.contains("error") + answer.contains("progress") == 1);
        answers += !answer.contains("progress");
    }
    FUZZ_CHECK(answers <= std::count(asked.begin(), asked.end(), '\n') + 1);
}

}  // namespace

/// What a workbench, or another program, sends an interactive worker.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile input("input"), output("output");
    return fuzz_one(data, size, [&](std::string_view text) {
        const fs::path from = input.put(data, size), to = output.put(data, 0);
        const int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC), out = ::open(to.c_str(), O_WRONLY | O_CLOEXEC);
        FUZZ_CHECK(in >= 0 && out >= 0);
        FUZZ_CHECK(SessionServer(in, out, methods()).serve() == 0);
        ::close(in);
        ::close(out);
        check_answers(read_file(to), text);
    });
}
