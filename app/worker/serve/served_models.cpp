#include "serve/served_models.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "experiment/run_models.h"
#include "model/accelerator.h"
#include "record/models_by_run.h"
#include "serve/embedding_request.h"

namespace faceter::worker {
namespace {

/// Of the model's name in "name:prompt", either of which may hold colons itself: the longest name that is served counts.
std::size_t name_length(const std::vector<ServedModels::One>& models, const std::string& asked) {
    std::size_t longest = 0;
    for (const ServedModels::One& one : models)
        if (asked == one.name || asked.starts_with(one.name + ":")) longest = std::max(longest, one.name.size());
    return longest > 0 ? longest : std::min(asked.rfind(':'), asked.size());
}

/// The folder that the model's weights are read from.
ModelFolder files_of(const ModelOptions& options) {
    use_runs_as_models(options.project);
    const auto run = find_run(options.model, options.project);
    if (run && run->info().is_baseline()) return {};
    return ModelFolder::open(run ? final_model_folder(*run) : resolve_named_model(options.model));
}

std::string why_all_resident(const ModelFolder& files, const ModelOptions& options) {
    if (compute_from_name(options.compute) != Compute::float32) return "which products are in a lower form is measured over all of them";
    if (!choose_device(options.device).is_cpu()) return "on a GPU all of a model is in its memory; add --device cpu";
    if (!files.folder.empty() && !router_method(files.folder).empty()) return "its router may choose any gate for a query";
    return ResidentParts::why_not(files.description.value_or(ModelDescription{}));
}

/// A baseline is its start model, of which nothing is known, like of a folder.
std::optional<std::vector<std::int64_t>> trained_prefixes(const OpenedModel& opened) {
    if (!opened.run || opened.run->info().is_baseline()) return std::nullopt;
    const Json objective = json_or<Json>(opened.run->settings(), "objective", Json::object(), "settings");
    return json_or<std::vector<std::int64_t>>(objective, "matryoshka_dims", {}, "settings.objective");
}

constexpr const char* document_side = "document";

void open(ServedModels::One& one, const ModelOptions& options, std::size_t resident) {
    if (resident == 0) {
        one.opened = open_model(options, true);
        prepare_to_embed(one.opened, options, true);
        return;
    }
    const ModelFolder files = files_of(options);
    if (const std::string why = why_all_resident(files, options); !why.empty())
        throw usage_error("--resident {}: nothing of {} can wait on disk: {}; leave --resident out for it", resident,
                          faceter::quoted(one.name), why);
    const ServedRoute first{files.description->tasks.at(0).name, Role::query};
    ModelOptions alone = options;
    alone.task = first.task;
    one.opened = open_model(alone, true);
    prepare_to_embed(one.opened, options, true);
    one.opened.route = {};  // of a request without a prompt
    one.parts = std::make_unique<ResidentParts>(*one.opened.model, files, first, resident);
}

}  // namespace

ServedModels::ServedModels(const std::vector<std::string>& names, const ModelOptions& common, std::size_t resident) {
    for (const std::string& name : names) {
        ModelOptions options = common;
        options.model = name;
        const std::string called = short_model_name(name);
        if (std::any_of(models_.begin(), models_.end(), [&](const One& one) { return one.name == called; }))
            throw usage_error("two models are called {}; clients could not tell them apart", faceter::quoted(called));
        One one;
        one.name = called;
        open(one, options, resident);
        one.dim = one.opened.model->dim();
        one.has_document_side = !one.opened.run && is_document_side(one.opened.model->folder, document_side);  // a run's are its tasks'
        one.prefixes = trained_prefixes(one.opened);
        models_.push_back(std::move(one));
    }
}

std::vector<std::string> ServedModels::One::prompts() const {
    std::vector<std::string> known;
    for (const Task& task : opened.model->tasks)
        for (const Role role : {Role::query, Role::document}) known.push_back(task.name + "." + std::string(role_name(role)));
    if (known.empty()) known = task_names(*opened.model);
    if (has_document_side) known.emplace_back(document_side);
    return known;
}

std::vector<std::string> ServedModels::One::resident_prompts() const {
    std::vector<std::string> there;
    for (const Task& task : opened.model->tasks)
        for (const Role role : {Role::query, Role::document})
            if (!parts || parts->has(opened.model->route(task.name, role))) there.push_back(task.name + "." + std::string(role_name(role)));
    return there;
}

const ServedModels::One& ServedModels::named(const std::string& name) const {
    if (name.empty() && models_.size() == 1) return models_.front();
    std::vector<std::string> known;
    for (const One& one : models_) {
        if (one.name == name) return one;
        known.push_back(one.name);
    }
    if (name.empty()) throw Refused(400, "the request names no model; served are " + join(known, ", "));
    throw usage_error("no model {} is served{}", faceter::quoted(name), suggestion(name, known));
}

Route ServedModels::route_of(const EmbeddingModel& model, const std::string& prompt, const One& one) {
    if (one.has_document_side && prompt == document_side) return document_route(model);
    if (!model.tasks.empty()) {
        const ServedRoute served = parse_route(prompt, model.tasks);
        return model.route(served.task, served.role);
    }
    if (!has_task_route(model, prompt))
        throw usage_error("no prompt {} in {}{}", faceter::quoted(prompt), one.name, suggestion(prompt, one.prompts()));
    return task_route(model, prompt);
}

ServedRouteOf ServedModels::find(const std::string& model, const std::string& prompt) const {
    const std::size_t length = name_length(models_, model);
    const One& one = named(model.substr(0, length));
    const std::string with_name = length < model.size() ? model.substr(length + 1) : "", wanted = prompt.empty() ? with_name : prompt;
    if (!with_name.empty() && with_name != wanted)
        throw data_error("the model's name asks for prompt {} and prompt_name for {}; leave one of both out", faceter::quoted(with_name),
                         faceter::quoted(prompt));
    if (with_name.empty() && length < model.size())  // a task that a client had no value for
        throw usage_error("no prompt behind the ':' of {}; name one, or leave the colon out{}", faceter::quoted(model),
                          suggestion("", one.prompts()));
    const EmbeddingModel& found = *one.opened.model;
    const auto by = [&](const Route& route) {
        return ServedRouteOf{&found, route, one.parts.get(), one.dim, one.prefixes && one.prefixes->empty()};
    };
    if (wanted.empty()) return by(one.opened.route);
    try {
        return by(route_of(found, wanted, one));
    } catch (const Error& error) {  // of the model's name it says that there is none of that name, as usage errors do
        if (prompt.empty()) throw;
        throw Refused(400, error.what());
    }
}

}  // namespace faceter::worker
