#include "train/training_settings.h"

namespace faceter {

TrainingSettings TrainingSettings::from_json(const Json& settings) {
    const std::string name = "training";
    const Json t = settings.at("training");
    TrainingSettings s;
    const auto integer = [&](const char* key, std::int64_t fallback) { return json_or<std::int64_t>(t, key, fallback, name); };
    s.batch_size = integer("batch_size", s.batch_size);
    s.epochs = integer("epochs", s.epochs);
    s.steps = integer("steps", 0);
    s.accumulate = integer("accumulate", 1);
    s.checkpoint_every_steps = integer("checkpoint_every_steps", s.checkpoint_every_steps);
    s.evaluate_every_steps = integer("evaluate_every_steps", 0);
    s.learning_rate = json_or<double>(t, "learning_rate", s.learning_rate, name);
    s.warmup_ratio = json_or<double>(t, "warmup_ratio", s.warmup_ratio, name);
    s.warmup_steps = integer("warmup_steps", -1);
    s.lengths = {static_cast<std::size_t>(integer("query_length", 0)), static_cast<std::size_t>(integer("document_length", 0))};
    s.activation_checkpointing = json_or<bool>(t, "activation_checkpointing", false, name);
    s.max_grad_norm = json_or<double>(t, "max_grad_norm", s.max_grad_norm, name);
    s.dropout = json_or<double>(t, "dropout", -1, name);
    s.schedule = schedule_from_name(json_or<std::string>(t, "schedule", "cosine", name));
    s.sharding = json_or<std::string>(t, "sharding", "none", name) == "zero2" ? Sharding::zero2 : Sharding::none;
    s.adamw.weight_decay = json_or<double>(t, "weight_decay", s.adamw.weight_decay, name);
    s.gradient_cache_chunk = json_or<std::int64_t>(settings.at("objective"), "gradient_cache_chunk", 0, "objective");
    s.bf16 = json_or<std::string>(settings, "precision", "float32", "precision") == "bf16";
    s.seed = json_or<std::uint64_t>(settings, "seed", 1, "seed");
    return s;
}

}  // namespace faceter
