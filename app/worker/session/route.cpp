#include <ATen/ATen.h>

#include <algorithm>

#include "common/error.h"
#include "eval/embedder.h"
#include "plugin/loader.h"
#include "plugin/run_model.h"
#include "session/seen_text.h"
#include "session/session_data.h"

namespace faceter::worker {
namespace {

/// The folder with router.json of a run.
fs::path router_folder(const Json& params, const char* method) {
    const RunDirectory run(json_at<std::string>(params, "model", method));
    const fs::path folder = final_model_folder(run);
    if (!fs::exists(folder)) throw no_final_model(run);
    if (router_method(folder).empty())
        throw data_error("{}: its model has no router; expected a finished run of a method that routes, such as router_retriever",
                         run.folder().string());
    return folder;
}

}  // namespace

/// {"model": folder of a run, "text", "task": whose query instruction stands in front; empty: none} -> what the model's router says of the
/// text ("gate", "next_gate", "values", "pilots" ...; faceter router explain), "num_tokens" of it and "kept_tokens", which the model reads,
/// "instruction", "tasks": names of all tasks, "gates": what the router consists of.
Json route(const Json& params, SessionData& data, Request& request) {
    router_folder(params, "route");
    ModelOptions options;
    options.model = json_at<std::string>(params, "model", "route");
    request.progress("open the model", 0, 0);
    const EmbeddingModel& model = *data.named_model(options).model;
    const auto text = json_at<std::string>(params, "text", "route"), task = json_or<std::string>(params, "task", "", "route");
    Route plain;
    if (!task.empty()) plain.instruction = model.route(task, Role::query).instruction;
    Json answer = Json::object();
    if (!text.empty()) {
        const std::string_view view = text;
        answer = model.router->explain(embed_texts(model, {&view, 1}, plain)[0]);
        answer["num_tokens"] = num_tokens_of(model, plain.instruction, text);
        answer["kept_tokens"] = std::min<std::size_t>(answer["num_tokens"].get<std::size_t>(), model.max_length);
    }
    answer["instruction"] = plain.instruction;
    answer["tasks"] = Json::array();
    for (const Task& one : model.tasks) answer["tasks"].push_back(one.name);
    answer["gates"] = model.router->describe().value("gates", Json::array());
    return answer;
}

/// {"model": folder of a run, "change": as Registry::edit_router() takes it} -> {"done": what was done, a line}.
Json change_router(const Json& params, SessionData& data, Request& request) {
    const fs::path folder = router_folder(params, "change_router");
    data.forget_models();  // they have the router as it was, and its gates in their old order
    request.progress("change the router", 0, 0);
    const auto model = EmbeddingModel::open(ModelFolder::open(folder));  // without its gates, which the change opens
    return {{"done", registry().edit_router(router_method(folder), *model, folder, json_at<Json>(params, "change", "change_router"))}};
}

}  // namespace faceter::worker
