#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "model/embedding_model.h"
#include "train/objective.h"
#include "train/pair_batch.h"

namespace faceter {

/// Counts the tokens of a text as a model reads it, special ones and instruction included.
using CountTokens = std::function<std::size_t(std::string_view text)>;

/// A text in pieces of at most `limit` tokens each, in its order and nothing left out: as long as they can be, with an end before white
/// space where there is any. A single character that has more tokens stays as it is.
std::vector<std::string_view> segments_of(std::string_view text, const CountTokens& count, std::size_t limit);

/// The set as pre-training reads it (Nomic Embed v2, section 4.1): every example whose texts are longer than the model, or `lengths`, takes
/// becomes several, one a segment. Of `both` texts the shorter one is read again with the further segments of the longer. Without
/// negatives.
TrainingSet segmented_set(const EmbeddingModel& model, const TrainingSet& set, ReadTexts texts, const TokenLengths& lengths);

}  // namespace faceter
