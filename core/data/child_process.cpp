#include "data/child_process.h"

#include <filesystem>
#include <optional>

#include "common/cancel.h"
#include "common/command.h"
#include "common/error.h"

namespace faceter {
namespace {

using Clock = std::chrono::steady_clock;

void check_limits(const std::string& program, Clock::time_point deadline, std::chrono::seconds limit) {
    if (stop_requested() != StopRequest::none)
        throw Error(ExitCode::stopped, fmt::format("stopped while {} was running", std::filesystem::path(program).filename().string()));
    if (Clock::now() <= deadline) return;
    throw data_error("{} took longer than {} s and was ended; check the network and the package sources, then try again", program,
                     limit.count());
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, std::chrono::seconds time_limit, std::uint64_t max_output) {
    const auto deadline = Clock::now() + time_limit;
    std::optional<Command> command;
    try {
        command.emplace(arguments, std::string_view(), Command::Environment{{"LC_ALL", "C"}});
    } catch (const Error& problem) {
        return {127, "", problem.what()};
    }
    ChildResult result;
    while (const auto more = command->read(200)) {
        check_limits(arguments[0], deadline, time_limit);
        result.output += *more;
        if (result.output.size() > max_output)
            throw data_error("{} wrote more than {} bytes; this is not an index of packages", arguments[0], max_output);
    }
    result.exit_code = command->finish();
    result.last_lines = command->complaint();
    return result;
}

}  // namespace faceter
