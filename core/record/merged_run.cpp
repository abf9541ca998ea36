#include "record/merged_run.h"

#include <map>

#include "checkpoint/model_description.h"
#include "checkpoint/safetensors.h"
#include "common/error.h"
#include "experiment/resolve.h"
#include "record/start_fingerprint.h"
#include "record/state.h"
#include "record/whole_settings.h"

namespace faceter {
namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

/// Of every tensor of the final model, by file and name.
Shapes shapes_of(const RunDirectory& run) {
    Shapes shapes;
    const fs::path model = run.folder() / "model";
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(model)) {
        if (entry.path().extension() != ".safetensors") continue;
        const SafetensorsFile file(entry.path());
        for (const TensorInfo& tensor : file.tensors())
            shapes[fs::relative(entry.path(), model).string() + ": " + tensor.name] = tensor.shape;
    }
    return shapes;
}

void check_parent(const RunDirectory& run) {
    const RunInfo& info = run.info();
    if (info.is_imported() || info.is_baseline())
        throw usage_error("{} has no trained model of its own ({}); merge runs that were trained", info.shown_name(),
                          info.is_imported() ? "its results were imported" : "it is the start model");
    const fs::path model = run.folder() / "model";
    if (!fs::is_directory(model) && read_state(run).phase == RunPhase::done)
        throw usage_error(
            "{0} is done, and its model is not here (a bundle holds records without models); merge where it was trained, or train it anew: "
            "faceter rerun {0}",
            info.shown_name());
    if (!fs::is_directory(model))
        throw usage_error("{} has no final model yet; let it finish, or go on with 'faceter resume {}'", info.shown_name(),
                          info.shown_name());
    if (fs::exists(model / "router.json"))
        throw usage_error("{}: its model is a router of gates, whose pilots belong to each gate as it is; gates are not merged",
                          info.shown_name());
    if (const auto description = ModelDescription::read(model); description && !description->adapters.empty())
        throw usage_error(
            "{}: its model has low-rank adapters, whose two factors cannot be averaged one by one; let its variant average them "
            "(final_form: averaged), or merge runs of whole models",
            info.shown_name());
}

bool is_routed_by_task(const ModelDescription& description) { return description.has_task_experts() || description.num_encoders > 1; }

/// Experts and encoders are numbered in the order in which an experiment names their tasks: one number may stand for two tasks.
void check_places(const RunDirectory& run, const RunDirectory& first, const ModelDescription& own, const ModelDescription& wanted) {
    const auto same = [](const ModelDescription::RouteShape& a, const ModelDescription::RouteShape& b) {
        return a.encoder == b.encoder && a.expert == b.expert;
    };
    for (const ModelDescription::TaskShape& task : wanted.tasks)
        for (const ModelDescription::TaskShape& other : own.tasks)
            if (other.name == task.name && !(same(other.query, task.query) && same(other.document, task.document)))
                throw usage_error(
                    "{} and {} number their experts otherwise (that of '{}' stands in another place), so that expert does not stand beside "
                    "expert; train them with the tasks in one order",
                    run.info().shown_name(), first.info().shown_name(), task.name);
}

/// One folder may be written in two ways, or have been moved between two runs: then what both noted of it tells.
bool began_alike(const RunDirectory& run, const RunDirectory& other) {
    if (whole_settings(run).at("model") == whole_settings(other).at("model")) return true;
    const std::string noted = began_from(run);
    return !noted.empty() && noted == began_from(other);
}

void check_beside(const RunDirectory& run, const RunDirectory& first) {
    const Json &own = whole_settings(run), &wanted = whole_settings(first);
    if (!began_alike(run, first))
        throw usage_error("{} began from {}, {} from {}: weights that did not begin as the same model do not add up",
                          run.info().shown_name(), own.at("model").dump(), first.info().shown_name(), wanted.at("model").dump());
    const Shapes shapes = shapes_of(run), expected = shapes_of(first);
    for (const auto& [name, shape] : expected)
        if (const auto found = shapes.find(name); found == shapes.end() || found->second != shape)
            throw usage_error("{} (variant {}) and {} (variant {}) have different models: tensor {} is {}; merge runs of one shape",
                              run.info().shown_name(), run.info().variant, first.info().shown_name(), first.info().variant, name,
                              found == shapes.end() ? "missing in the one" : "of another shape");
    if (shapes.size() != expected.size())
        throw usage_error("{} has tensors that {} lacks; merge runs of one shape", run.info().shown_name(), first.info().shown_name());
    const auto shape = ModelDescription::read(run.folder() / "model"), first_shape = ModelDescription::read(first.folder() / "model");
    if (!shape || !first_shape || !is_routed_by_task(*first_shape)) return;
    for (const auto& [task, settings] : wanted.at("tasks").items())
        if (!own.at("tasks").contains(task) ||
            own.at("tasks").at(task).value("instructions", Json()) != settings.value("instructions", Json()))
            throw usage_error("{} and {} have experts of other tasks or instructions ('{}'), so that expert does not stand beside expert",
                              run.info().shown_name(), first.info().shown_name(), task);
    check_places(run, first, *shape, *first_shape);
}

/// Task arithmetic on a merged run whose form is not its start model's goes back to what its parents began from. A record that came from
/// elsewhere may name itself among them.
void check_beginning(const RunDirectory& run, int generation = 0) {
    constexpr int most_generations = 100;
    if (generation == most_generations)
        throw data_error("{}: the runs that it was merged from lead back to more than {} others", run.folder().string(), most_generations);
    const auto description = ModelDescription::read(run.folder() / "model");
    if (run.info().method != "merged" || !description || description->is_plain()) return;
    const fs::path parent = first_parent_of(run);
    if (!fs::exists(parent / "run.json"))
        throw usage_error(
            "{} was merged from {}, which is no longer there: what its experts began from is not known; take that run back from the trash "
            "(faceter restore), or use --how mean",
            run.info().shown_name(), parent.string());
    check_beginning(RunDirectory(parent), generation + 1);
}

void check_experts(const RunDirectory& run) {
    const auto description = ModelDescription::read(run.folder() / "model");
    if (description && description->has_task_experts()) return;
    throw usage_error("{} (method {}) has no task experts, which --fold-experts averages; leave it out, or name a run of mote",
                      run.info().shown_name(), run.info().method);
}

bool has_validation(const Json& settings) {
    for (const auto& [name, task] : settings.at("tasks").items())
        if (task.contains("validation") && !task.at("validation").empty()) return true;
    return false;
}

}  // namespace

fs::path first_parent_of(const RunDirectory& merged) {
    const std::string name = (merged.folder() / "run.json").string() + ": settings: variant";
    const auto parents = json_at<std::vector<std::string>>(merged.settings().at("variant"), "runs", name);
    if (parents.empty()) throw data_error("{}: runs is empty; the runs that were merged were expected", name);
    const fs::path recorded = parents.front();
    const fs::path beside = merged.folder().parent_path() / recorded.filename();  // where the project was moved or copied
    return !fs::exists(recorded / "run.json") && fs::exists(beside / "run.json") ? beside : recorded;
}

RunInfo merged_run(const MergeRequest& request) {
    if (const std::string wrong = request.name.empty() ? "" : wrong_in_variant_name(request.name); !wrong.empty())
        throw usage_error("--name: {}", wrong);
    if (request.parents.empty() || (request.parents.size() < 2 && !request.fold_experts))
        throw usage_error("a merge takes two runs or more; one alone only with --fold-experts");
    const RunDirectory& first = request.parents.front();
    Json folders = Json::array();
    for (const RunDirectory& run : request.parents) {
        check_parent(run);
        if (run.folder() != first.folder()) check_beside(run, first);
        if (request.how == "task_arithmetic") check_beginning(run);
        folders.push_back(run.folder().string());
    }
    if (request.fold_experts) check_experts(first);
    if (request.how == "soup" && !has_validation(whole_settings(first)))
        throw usage_error(
            "a greedy soup chooses by validation data, and {} has none; give its experiment tasks.*.validation, or use --how mean",
            first.info().shown_name());
    RunInfo info = first.info();
    info.method = "merged";
    info.plugin = "core";
    info.variant = request.name.empty() ? "merged-" + request.how : request.name;
    info.point.clear();
    info.name.clear();    // it gets one of its own
    info.parent.clear();  // of a rerun; those of a merge are in its settings
    info.settings["variant"] = {{"name", info.variant}, {"method", "merged"},       {"runs", folders},
                                {"how", request.how},   {"weight", request.weight}, {"fold_experts", request.fold_experts}};
    info.settings["stages"] = Json::array();
    return info;
}

}  // namespace faceter
