#pragma once
#include <cstdint>

#include "common/json.h"
#include "train/group_optimizer.h"
#include "train/optimizer.h"
#include "train/pair_batch.h"

namespace faceter {

/// settings.training, read.
struct TrainingSettings {
    std::int64_t batch_size = 32, epochs = 1, steps = 0, accumulate = 1, checkpoint_every_steps = 100, evaluate_every_steps = 0;
    std::int64_t gradient_cache_chunk = 0;  ///< from the objective's settings
    std::int64_t warmup_steps = -1;         ///< -1: warmup_ratio of all
    TokenLengths lengths{};
    double learning_rate = 2e-5, warmup_ratio = 0.1, max_grad_norm = 1;
    double dropout = -1;  ///< < 0: as the model's config.json says
    Schedule schedule = Schedule::cosine;
    AdamWSettings adamw;
    Sharding sharding = Sharding::none;
    std::int64_t bucket_values = usual_bucket_values;  ///< of gradients that travel together between processes
    bool activation_checkpointing = false;
    bool bf16 = false;       ///< products in bf16 (Bf16Products, Encoder::lowered); weights, moments and losses in float32
    std::uint64_t seed = 1;  ///< of what a stage draws: dropout, masks (stage_seed() in core/plugin)
    static TrainingSettings from_json(const Json& settings);
};

}  // namespace faceter
