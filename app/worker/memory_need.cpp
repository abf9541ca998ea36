#include "memory_need.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "common/error.h"
#include "experiment/catalogue.h"
#include "made_pairs.h"
#include "model/compute.h"
#include "plugin/loader.h"
#include "settings/check.h"
#include "stage_memory.h"
#include "train/memory_forecast.h"

namespace faceter::worker {
namespace {

constexpr std::size_t pairs = 32, tokens_a_text = 128;

double bytes_of(const at::Tensor& t) { return static_cast<double>(t.numel()) * static_cast<double>(t.element_size()); }

double weights_bytes(const Encoder& encoder) {
    double sum = 0;
    for (const Parameter& p : encoder.parameters()) sum += bytes_of(p.tensor);
    return sum;
}

/// Matrices of the blocks, which a form of computing lays out in its own type.
double product_values(const Encoder& encoder) {
    double sum = 0;
    for (const LinearPlace& place : encoder.linears()) sum += static_cast<double>(place.rows) * static_cast<double>(place.columns);
    return sum;
}

/// Four tasks, each with an instruction of its own.
std::vector<Task> four_tasks() {
    Json tasks = Json::object();
    for (const char* name : {"first", "second", "third", "fourth"})
        tasks[name] = {{"instructions", {{"query", std::string(name) + ": "}, {"document", std::string(name) + ": "}}}};
    return read_tasks(tasks);
}

struct Method {
    const char* variant;
    Json settings = Json::object();  ///< over its schema's defaults
};
const std::vector<Method>& methods() {
    static const std::vector<Method> all = {
        {"dense"}, {"instruction"}, {"mote"}, {"token_routed_moe", {{"experts", 4}, {"top_k", 2}}}, {"task_lora"}};
    return all;
}

Json settings_of(const Method& method, const Schema& schema) {
    Json settings = defaults_of(schema);
    settings.update(method.settings);
    settings["method"] = method.variant;
    return settings;
}

Json entry(const EmbeddingModel& model, const Method& method, const Schema& schema) {
    const auto variant = registry().make_variant(method.variant, settings_of(method, schema));
    const auto start = shapes_of(model);
    start->tasks = four_tasks();
    const auto shapes = shapes_under(*variant, *start);
    const std::size_t length = std::min(tokens_a_text, shapes->max_length);
    const MadePairs made(*shapes, pairs, 0, {length, length});
    BatchPlan plan;
    for (std::uint32_t i = 0; i < pairs; ++i) plan.items.push_back({0, i});
    const auto forecast = [&](bool recomputed) {
        TrainingSettings training;
        training.activation_checkpointing = recomputed;
        return forecast_memory(*shapes,
                               {variant->stages(*shapes).front(), made.batcher(), training,
                                [](const EmbeddingModel&) { return std::make_unique<InfoNce>(InfoNceSettings{}); }},
                               plan);
    };
    const MemoryForecast kept = forecast(false);
    return {{"method", method.variant}, {"parameters", kept.parameters}, {"bytes", kept.most}, {"bytes_recomputed", forecast(true).most}};
}

bool is_dense(const EmbeddingModel& model) {
    const Encoder& encoder = *model.encoders.front();
    return model.encoders.size() == 1 && encoder.adapters().empty() &&
           std::none_of(encoder.blocks().begin(), encoder.blocks().end(),
                        [](const Block& block) { return block.is_mixture() || block.routing.has_value(); });
}

}  // namespace

Json memory_to_embed(const EmbeddingModel& model) {
    Json all = Json::array();
    for (const Compute compute : {Compute::float32, Compute::bf16, Compute::int8}) {
        double bytes = 0;
        for (const auto& encoder : model.encoders) {
            const double products = product_values(*encoder);
            const at::Tensor& any = encoder->blocks().front().qkv.weight;
            const double as_kept = products * static_cast<double>(any.element_size());
            const double laid_out = compute == Compute::float32 ? as_kept : products * (compute == Compute::bf16 ? 2 : 1);
            bytes += weights_bytes(*encoder) - as_kept + laid_out;
        }
        all.push_back({{"compute", compute_name(compute)}, {"bytes", static_cast<std::int64_t>(bytes)}});
    }
    return all;
}

Json memory_to_train(const EmbeddingModel& model) {
    Json all = Json::array();
    if (!is_dense(model)) return all;
    const Catalogue catalogue = Catalogue::load(plugin_folders());
    for (const Method& method : methods())
        if (const Catalogue::Entry* known = catalogue.find(ExtensionKind::variant, method.variant)) try {
                all.push_back(entry(model, method, known->extension.schema));
            } catch (const Error&) {  // not of this model: it has too few blocks
            }
    return all;
}

}  // namespace faceter::worker
