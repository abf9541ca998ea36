#include "train/training_settings.h"

#include <algorithm>
#include <cmath>

#include "settings/core_settings.h"

namespace faceter {
namespace {
constexpr double values_a_mib = (1 << 20) / 4.0;  // in float32
}  // namespace

TrainingSettings TrainingSettings::from_json(const Json& settings) {
    const std::string name = "training";
    const Json t = training_of(settings);
    TrainingSettings s;
    const auto integer = [&](const char* key) { return json_at<std::int64_t>(t, key, name); };
    const auto real = [&](const char* key) { return json_at<double>(t, key, name); };
    const auto length = [&](const char* key) { return json_or<std::size_t>(t, key, 0, name); };
    s.batch_size = integer("batch_size");
    s.epochs = integer("epochs");
    s.steps = json_or<std::int64_t>(t, "steps", 0, name);
    s.accumulate = integer("accumulate");
    s.checkpoint_every_steps = integer("checkpoint_every_steps");
    s.evaluate_every_steps = integer("evaluate_every_steps");
    s.learning_rate = real("learning_rate");
    s.warmup_ratio = real("warmup_ratio");
    s.warmup_steps = json_or<std::int64_t>(t, "warmup_steps", -1, name);
    s.lengths = {length("query_length"), length("document_length")};
    s.activation_checkpointing = json_at<bool>(t, "activation_checkpointing", name);
    s.max_grad_norm = real("max_grad_norm");
    s.dropout = json_or<double>(t, "dropout", -1, name);
    s.schedule = schedule_from_name(json_at<std::string>(t, "schedule", name));
    s.sharding = json_at<std::string>(t, "sharding", name) == "zero2" ? Sharding::zero2 : Sharding::none;
    s.bucket_values = std::max<std::int64_t>(1, std::llround(values_a_mib * real("gradient_bucket")));
    s.adamw.weight_decay = real("weight_decay");
    s.gradient_cache_chunk = gradient_cache_chunk_of(settings.at("objective"));
    s.bf16 = head_setting(settings, "precision") == "bf16";
    s.seed = seed_of(settings);
    return s;
}

}  // namespace faceter
