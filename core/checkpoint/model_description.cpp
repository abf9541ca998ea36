#include "checkpoint/model_description.h"

#include <algorithm>

#include "common/error.h"
#include "common/file.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_bytes = 16u << 20;
constexpr int format = 1, largest_count = 1 << 12;

using BlockShape = ModelDescription::BlockShape;
using RouteShape = ModelDescription::RouteShape;
using TaskShape = ModelDescription::TaskShape;

template <typename Integer>
Integer number(const Json& json, const char* key, std::string_view name, std::int64_t least, std::int64_t most, std::int64_t fallback) {
    const auto value = json_or<std::int64_t>(json, key, fallback, name);
    if (value < least || value > most) throw data_error("{}: '{}' is {}, expected {} to {}", name, key, value, least, most);
    return static_cast<Integer>(value);
}

Json block_json(const BlockShape& block) {
    Json json = Json::object();
    if (block.task_experts > 0) json.update({{"task_experts", block.task_experts}, {"shared_norms", block.shared_norms}});
    if (block.routed_experts > 0)
        json.update({{"routed_experts", block.routed_experts}, {"top_k", block.top_k}, {"renormalise", block.renormalise}});
    return json;
}

BlockShape block_from(const Json& json, std::string_view name) {
    BlockShape block;
    block.task_experts = number<int>(json, "task_experts", name, 0, largest_count, 0);
    block.shared_norms = json_or<bool>(json, "shared_norms", false, name);
    block.routed_experts = number<std::int64_t>(json, "routed_experts", name, 0, largest_count, 0);
    block.top_k = number<std::int64_t>(json, "top_k", name, 1, std::max<std::int64_t>(1, block.routed_experts), 1);
    block.renormalise = json_or<bool>(json, "renormalise", false, name);
    if (block.task_experts > 0 && block.routed_experts > 0)
        throw data_error("{}: a block has task experts and token-routed ones; one kind was expected", name);
    return block;
}

Json route_json(const RouteShape& route) {
    return {{"instruction", route.instruction},
            {"encoder", route.encoder},
            {"expert", route.expert},
            {"adapter", route.adapter},
            {"routed", route.routed}};
}

RouteShape route_from(const Json& json, const ModelDescription& model, std::string_view name) {
    int experts = 0;
    for (const BlockShape& block : model.blocks)
        if (block.task_experts > 0) experts = experts == 0 ? block.task_experts : std::min(experts, block.task_experts);
    RouteShape route;
    route.instruction = json_or<std::string>(json, "instruction", "", name);
    route.encoder = number<int>(json, "encoder", name, 0, model.num_encoders - 1, 0);
    route.expert = number<int>(json, "expert", name, -1, experts - 1, -1);
    route.adapter = number<int>(json, "adapter", name, -1, static_cast<std::int64_t>(model.adapters.size()) - 1, -1);
    route.routed = json_or<bool>(json, "routed", false, name);
    return route;
}

bool any(const std::vector<BlockShape>& blocks, auto has) { return std::any_of(blocks.begin(), blocks.end(), has); }

}  // namespace

bool ModelDescription::has_task_experts() const {
    return any(blocks, [](const BlockShape& block) { return block.task_experts > 0; });
}
bool ModelDescription::has_routed_blocks() const {
    return any(blocks, [](const BlockShape& block) { return block.routed_experts > 0; });
}
bool ModelDescription::is_plain() const { return num_encoders == 1 && adapters.empty() && !has_task_experts() && !has_routed_blocks(); }

Json ModelDescription::to_json() const {
    Json json = {
        {"faceter_model", format}, {"encoders", num_encoders}, {"blocks", Json::array()}, {"adapters", adapters}, {"tasks", Json::array()}};
    for (const BlockShape& block : blocks) json["blocks"].push_back(block_json(block));
    for (const TaskShape& task : tasks)
        json["tasks"].push_back(
            {{"name", task.name}, {"type", task.type}, {"query", route_json(task.query)}, {"document", route_json(task.document)}});
    return json;
}

ModelDescription ModelDescription::from_json(const Json& json, std::string_view name) {
    if (!json.is_object()) throw data_error("{}: is no JSON object", name);
    if (const auto written = json_at<int>(json, "faceter_model", name); written != format)
        throw data_error("{}: is of form {}, this Faceter reads form {}; use the version that wrote it", name, written, format);
    ModelDescription model;
    model.num_encoders = number<int>(json, "encoders", name, 1, largest_count, 1);
    for (const Json& block : json_or<Json>(json, "blocks", Json::array(), name)) model.blocks.push_back(block_from(block, name));
    model.adapters = json_or<std::vector<std::string>>(json, "adapters", {}, name);
    for (const Json& task : json_or<Json>(json, "tasks", Json::array(), name))
        model.tasks.push_back({json_at<std::string>(task, "name", name), json_or<std::string>(task, "type", "", name),
                               route_from(json_at<Json>(task, "query", name), model, name),
                               route_from(json_at<Json>(task, "document", name), model, name)});
    return model;
}

std::optional<ModelDescription> ModelDescription::read(const std::filesystem::path& folder) {
    const fs::path file = folder / model_description_file;
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::nullopt;
    return from_json(read_json(file, max_bytes), file.string());
}

}  // namespace faceter
