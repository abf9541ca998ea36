#include "experiment/run_models.h"

#include <mutex>

#include "checkpoint/hub.h"
#include "checkpoint/model_folder.h"
#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

struct Known {
    std::mutex mutex;
    RunModels models;
};
Known& known() {
    static Known of_this_process;
    return of_this_process;
}

RunModels models() {
    const std::lock_guard lock(known().mutex);
    return known().models;
}

bool may_be_a_run(const std::string& name) { return !name.empty() && name.find('/') == std::string::npos; }

/// VARIANT-N, as runs are called (record/run_names.h).
bool is_called_like_a_run(const std::string& name) {
    const std::size_t dash = name.rfind('-');
    return may_be_a_run(name) && dash != std::string::npos && dash > 0 && dash + 1 < name.size() &&
           name.find_first_not_of("0123456789", dash + 1) == std::string::npos;
}

/// Before the hub is asked, which takes its time where it cannot be reached.
void refuse_misspelt_run(const std::string& name, const fs::path& relative_to) {
    const auto near = is_called_like_a_run(name) ? nearest_run(name) : std::nullopt;
    if (!near || !find_model(name, relative_to).empty()) return;
    throw data_error(
        "model {} was not found; did you mean the run '{}' of this project? A model of the Hugging Face hub is named with its "
        "organisation: org/{}",
        faceter::quoted(name), *near, name);
}

}  // namespace

void use_run_models(RunModels models) {
    const std::lock_guard lock(known().mutex);
    known().models = std::move(models);
}

fs::path run_model(const std::string& name) {
    const RunModels now = models();
    return now.find && may_be_a_run(name) ? now.find(name) : fs::path();
}

std::optional<std::string> nearest_run(const std::string& name) {
    const RunModels now = models();
    return now.names && may_be_a_run(name) ? nearest(name, now.names()) : std::nullopt;
}

fs::path resolve_named_model(const std::string& name, const fs::path& relative_to) {
    std::error_code ignored;
    const fs::path run = fs::is_directory(relative_to / name, ignored) ? fs::path() : run_model(name);
    if (!run.empty()) return resolve_model(run.string());
    refuse_misspelt_run(name, relative_to);
    try {
        return resolve_model(name, relative_to);
    } catch (const Error& error) {
        const auto near = error.code() != ExitCode::stopped ? nearest_run(name) : std::nullopt;
        if (!near) throw;
        throw Error(error.code(), fmt::format("{}; did you mean the run '{}' of this project?", error.what(), *near));
    }
}

}  // namespace faceter
