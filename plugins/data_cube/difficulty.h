#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "data/leaves.h"
#include "model/task.h"
#include "plan.h"
#include "train/pair_batch.h"

namespace faceter::data_cube {

/// Embeddings [N, D] of texts of one side of a task's pairs, under that side's instruction.
using EmbedSide = std::function<at::Tensor(std::span<const std::string_view> texts, PairSide side)>;

struct DifficultySettings {
    /// Of several given negatives: the one most similar to the query, or the mean of all similarities.
    enum class Negatives { hardest, mean };
    Negatives negatives = Negatives::hardest;
    std::size_t texts_per_chunk = 8192;  ///< so many embeddings are in memory at a time
};
/// `negatives` of a curriculum's or a report's settings.
DifficultySettings difficulty_settings(const Json& settings, std::string_view name);

/// The instructions of a data set: its own, else its task's.
SetInstructions instructions_of(const TrainingSet& set, const Task& task);

/// phi of `examples` of a set (Data-CUBE, Eq. 8): sim(q, s+) - sim(q, s-) by cosine. Without a given negative another positive of the set
/// stands in, the same one each time; where all positives are one text, phi is sim(q, s+) and marked.
TaskDifficulty measure_difficulty(const TrainingSet& set, std::span<const std::uint32_t> examples, const EmbedSide& embed,
                                  const DifficultySettings& settings);

/// The example whose positive stands in as the negative of `example`; -1 where all positives of the set are one text.
std::int64_t stand_in_negative(const TrainingSet& set, std::uint32_t example);

struct TaskVector {
    std::vector<float> values;   ///< the mean; zeros where no query has a finite embedding
    std::size_t not_finite = 0;  ///< queries left out of it
};
/// A task's vector: the mean embedding of `num_queries` queries, drawn from these examples, with their instruction (Data-CUBE, Eq. 4).
TaskVector task_vector(const TrainingSet& set, std::span<const std::uint32_t> examples, const EmbedSide& embed, std::size_t num_queries,
                       std::uint64_t seed);

/// sim(q, s+) - sim(q, s-) < margin is underfitting (Data-CUBE, Figure 1). The share of such examples among those that have a negative;
/// NaN: none has.
double underfitting_ratio(const TaskDifficulty& task, double margin);

}  // namespace faceter::data_cube
