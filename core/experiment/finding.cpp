#include "experiment/finding.h"

#include <unistd.h>

#include <cstdlib>

#include "checkpoint/model_folder.h"
#include "common/command.h"
#include "common/error.h"
#include "common/process.h"
#include "common/strings.h"
#include "experiment/machine.h"

namespace faceter {
namespace {

std::string reason_of(const std::function<void()>& body) {
    try {
        body();
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

/// packaging/setup.sh as `faceter setup` runs it: what it fetches is checked against hashes, and what is there is left alone.
void set_up() {
    const fs::path script = shared_resource("packaging/setup.sh");
    const StartedProcess started = start_process({.arguments = {"bash", script.string(), "--user"}, .output = STDERR_FILENO});
    if (started.error != 0) throw failure("bash: cannot start: {}", errno_text(started.error));
    if (const int code = wait_for_process(started.process); code != 0)
        throw failure("faceter setup ended with exit code {}; the lines above say why", code);
}

/// Of a build folder: what builds it. Packages come from somewhere that we cannot know.
std::string building_command() {
    const fs::path script = (program_folder() / "../../../packaging/build.sh").lexically_normal();
    return fs::exists(script) ? shell_word(script.string()) : "";
}

bool names_torch() {
    const char* named = std::getenv("FACETER_TORCH_ROOT");
    return named && *named;
}

void look_at_torch(const Machine& machine, std::vector<std::string>& to_fetch, std::vector<DoctorFinding>& found) {
    std::error_code unreadable;
    const fs::path cuda = fs::path(machine.torch).replace_filename("libtorch_cuda.so");
    if (machine.torch.empty() && names_torch())
        found.push_back({"no libtorch found: FACETER_TORCH_ROOT names a folder without torch/lib/libtorch_cpu.so, or that cannot be read",
                         "unset FACETER_TORCH_ROOT && faceter setup",
                         {}});
    else if (machine.torch.empty())
        to_fetch.emplace_back("no libtorch found ('faceter setup' fetches it; FACETER_TORCH_ROOT names another place)");
    else if (!machine.gpus.empty() && !fs::exists(cuda, unreadable))
        found.push_back({fmt::format("{} is there, and {} is not: runs use the processor alone", machine.gpus.front(), cuda.string()),
                         command_for_cuda(machine.torch),
                         {}});
}

}  // namespace

std::string command_for_cuda(const fs::path& torch) {
    const auto fetched = [&] { return (cache_directory() / "torch-2.11.0").lexically_normal().string() + "/"; };
    if (reason_of(fetched).empty() && torch.lexically_normal().string().starts_with(fetched())) return "faceter setup --cuda";
    if (names_torch()) return "unset FACETER_TORCH_ROOT && faceter setup --cuda";
    return "pip install --force-reinstall 'torch==2.11.*'  # with CUDA, in the Python environment of that libtorch";
}

std::vector<DoctorFinding> find_in_installation(const Catalogue& catalogue) {
    std::vector<DoctorFinding> found;
    for (const RejectedPlugin& plugin : catalogue.plugins().rejected)
        found.push_back({fmt::format("plugin {}: {}", plugin.file.string(), plugin.reason), "", {}});
    if (const std::string reason = reason_of([] { worker_program(); }); !reason.empty()) found.push_back({reason, building_command(), {}});
    std::vector<std::string> to_fetch;
    if (std::string reason = reason_of([] { resolve_model("minilm"); }); !reason.empty()) to_fetch.push_back(std::move(reason));
    look_at_torch(this_machine(), to_fetch, found);
    if (!to_fetch.empty()) found.push_back({join(to_fetch, "; "), "faceter setup", set_up});
    return found;
}

}  // namespace faceter
