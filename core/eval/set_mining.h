#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "eval/mining.h"
#include "model/task.h"

namespace faceter {

/// Embeds texts as a teacher does: float32 [N, D] whose dot products are its scores.
using TeacherEmbedder = std::function<at::Tensor(std::span<const std::string_view> texts, Role role)>;

/// Gives every example of `set` the hard negatives that the teacher finds among the set's documents (choose_negatives), in place of those it has.
Tally mine_negatives(TrainingSet& set, const TeacherEmbedder& teacher, const MiningSettings& settings);
/// Drops the negatives that a set has already where they score above the limit (Nomic Embed v2, Eq. 5).
Tally filter_given_negatives(TrainingSet& set, const TeacherEmbedder& teacher, const MiningSettings& settings);
/// Keeps the examples whose document is among the teacher's `top_k` for its query (is_consistent).
Tally filter_pairs(TrainingSet& set, const TeacherEmbedder& teacher, std::size_t top_k);

}  // namespace faceter
