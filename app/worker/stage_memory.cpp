#include "stage_memory.h"

#include <fmt/format.h>

#include "common/strings.h"
#include "plugin/loader.h"
#include "plugin/registry.h"
#include "settings/core_settings.h"

namespace faceter::worker {
namespace {

std::string fitting(std::int64_t pairs) { return pairs > 0 ? fmt::format("a batch of {}", pairs) : "no batch"; }

}  // namespace

std::unique_ptr<EmbeddingModel> shapes_under(const Variant& variant, const EmbeddingModel& start) {
    auto shapes = shapes_of(start);
    variant.prepare(*shapes);
    shapes->move_to(c10::kMeta);  // what the variant has added
    return shapes;
}

std::unique_ptr<Objective> objective_of(const PlannedStage& planned) {
    const Json& settings = planned.settings.at("objective");
    return registry().make_objective(json_at<std::string>(settings, "method", "objective"), settings);
}

StageMemory::StageMemory(const EmbeddingModel& model, const PlannedStage& planned, const CurriculumContext& context,
                         const PairBatcher& batcher, int ranks)
    : model_(model),
      planned_(planned),
      batcher_(batcher),
      ranks_(ranks),
      settings_(planned.training()),
      batch_tokens_(json_or<double>(planned.settings.at("training"), "batch_tokens", 0, "training")),
      longest_(longest_pairs(context, batcher, model.encoders[static_cast<std::size_t>(planned.stage.encoder)]->config().hidden_dim,
                             objective_of(planned)->reads_negatives(), settings_.batch_size)) {}

BatchPlan StageMemory::batch(std::int64_t pairs) const {
    BatchPlan plan = longest_;
    plan.items.resize(std::min(plan.items.size(), static_cast<std::size_t>(pairs)));
    if (batch_tokens_ <= 0) return plan;
    const std::vector<double> tokens = computed_tokens(planned_.stage, *objective_of(planned_), batcher_, plan.items);
    double sum = 0;
    std::size_t kept = 0;
    while (kept < tokens.size() && (kept == 0 || sum + tokens[kept] <= batch_tokens_)) sum += tokens[kept++];
    plan.items.resize(kept);
    return plan;
}

std::unique_ptr<Objective> StageMemory::attached(const EmbeddingModel& shapes) const {
    auto objective = objective_of(planned_);
    objective->attach(shapes, settings_.seed, {});
    return objective;
}

MemoryForecast StageMemory::forecast(bool recomputed, std::int64_t pairs) const {
    TrainingSettings settings = settings_;
    settings.activation_checkpointing = recomputed;
    const auto objective = [this](const EmbeddingModel& shapes) { return attached(shapes); };
    const bool keeps_best = settings.evaluate_every_steps > 0 && training_of(planned_.settings).at("early_stopping").is_object();
    return forecast_memory(model_, {planned_.stage, batcher_, settings, objective, ranks_, keeps_best},
                           batch(pairs > 0 ? pairs : settings_.batch_size));
}

std::int64_t StageMemory::largest(std::uint64_t bytes, bool recomputed) const {
    const auto all = static_cast<std::int64_t>(longest_.items.size());
    return largest_batch(bytes, all, [&](std::int64_t pairs) { return forecast(recomputed, pairs).most; });
}

Json StageMemory::report(std::uint64_t size) const {
    const auto shapes = shapes_of(model_);
    const auto objective = attached(*shapes);  // keeps its guide at hand, which each forecast would read from the disk
    const MemoryForecast kept = forecast(false), recomputed = forecast(true);
    Json report = {{"stage", planned_.stage.name}, {"pairs", batch(settings_.batch_size).items.size()},
                   {"weights", kept.weights},      {"moments", kept.moments},
                   {"gradients", kept.gradients},  {"bytes", settings_.activation_checkpointing ? recomputed.most : kept.most},
                   {"bytes_kept", kept.most},      {"bytes_recomputed", recomputed.most}};
    if (ranks_ > 1) report["ranks"] = ranks_;
    if (size == 0) return report;
    report["device_bytes"] = size;
    if (batch_tokens_ > 0) return report;
    report["largest_batch"] = largest(size, false);
    report["largest_batch_recomputed"] = largest(size, true);
    return report;
}

std::string StageMemory::problem_in(const Json& report) {
    const auto size = json_or<std::uint64_t>(report, "device_bytes", 0, "memory"),
               bytes = json_at<std::uint64_t>(report, "bytes", "memory");
    if (size == 0 || bytes <= size) return {};
    std::string said = fmt::format("stage '{}' will take {} in a batch of its {} longest pairs{}, and the device has {}",
                                   report.at("stage").get<std::string>(), format_bytes(bytes), report.at("pairs").get<std::int64_t>(),
                                   report.contains("ranks") ? fmt::format(" shared by {} processes", report.at("ranks").get<int>()) : "",
                                   format_bytes(size));
    if (!report.contains("largest_batch")) return said + "; lower training.batch_tokens";
    return said + fmt::format(
                      "; {} fits, {} with activation_checkpointing: true; lower training.batch_size, or set "
                      "objective.gradient_cache_chunk to as many pairs",
                      fitting(report.at("largest_batch").get<std::int64_t>()),
                      fitting(report.at("largest_batch_recomputed").get<std::int64_t>()));
}

}  // namespace faceter::worker
