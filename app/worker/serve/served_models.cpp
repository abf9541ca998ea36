#include "serve/served_models.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"

namespace faceter::worker {
namespace {

/// "path/to/model/" is called "model".
std::string short_name(const std::string& name) {
    fs::path path(name);
    if (path.filename().empty()) path = path.parent_path();
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? absolute_path(path).filename().string() : name;
}

}  // namespace

ServedModels::ServedModels(const std::vector<std::string>& names, const ModelOptions& common) {
    for (const std::string& name : names) {
        ModelOptions options = common;
        options.model = name;
        const std::string called = short_name(name);
        if (std::any_of(models_.begin(), models_.end(), [&](const One& one) { return one.name == called; }))
            throw usage_error("two models are called {}; clients could not tell them apart", faceter::quoted(called));
        models_.push_back({called, open_model(options, true)});
        prepare_to_embed(models_.back().opened, options, true);
    }
}

std::vector<std::string> ServedModels::One::prompts() const {
    std::vector<std::string> known;
    for (const Task& task : opened.model->tasks)
        for (const Role role : {Role::query, Role::document}) known.push_back(task.name + "." + std::string(role_name(role)));
    if (known.empty())
        for (const auto& [name, text] : opened.model->folder.prompts) known.push_back(name);
    return known;
}

const ServedModels::One& ServedModels::named(const std::string& name) const {
    if (name.empty() && models_.size() == 1) return models_.front();
    std::vector<std::string> known;
    for (const One& one : models_) {
        if (one.name == name) return one;
        known.push_back(one.name);
    }
    if (name.empty()) throw usage_error("the request names no model; served are {}", join(known, ", "));
    throw usage_error("no model {} is served{}", faceter::quoted(name), suggestion(name, known));
}

ServedRouteOf ServedModels::find(const std::string& model, const std::string& prompt) const {
    const bool whole = std::any_of(models_.begin(), models_.end(), [&](const One& one) { return one.name == model; });
    const std::size_t colon = whole ? std::string::npos : model.rfind(':');
    const One& one = named(model.substr(0, colon));
    const std::string wanted = prompt.empty() && colon != std::string::npos ? model.substr(colon + 1) : prompt;
    const EmbeddingModel& found = *one.opened.model;
    if (wanted.empty()) return {&found, one.opened.route};
    if (!found.tasks.empty()) {
        const ServedRoute served = parse_route(wanted, found.tasks);
        return {&found, found.route(served.task, served.role)};
    }
    if (!found.folder.prompts.contains(wanted))
        throw usage_error("no prompt {} in {}{}", faceter::quoted(wanted), one.name, suggestion(wanted, one.prompts()));
    Route route = one.opened.route;
    route.instruction = found.folder.prompt(wanted);
    return {&found, route};
}

}  // namespace faceter::worker
