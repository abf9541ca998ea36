#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "train/curriculum.h"

namespace faceter {

/// Tokens of each pair that a step embeds: query, document, and the negatives that are taken along.
using PairTokens = std::function<std::vector<double>(std::span<const ExampleReference>)>;

/// The batches of another curriculum, those of more than `budget` tokens cut into as few of about the same size as keep within it; a pair
/// that is longer is a batch of its own. What is cut apart are no negatives of one another. Batches are counted by walking through all
/// `epochs`, which are cut differently: num_batches() is their mean, rounded up, so that no pair of the last one is left out. `warn` is
/// told where cuts leave batches of one pair.
std::unique_ptr<Curriculum> within_tokens(std::unique_ptr<Curriculum> whole, std::int64_t batch_size, double budget, PairTokens tokens_of,
                                          std::int64_t epochs = 1, const std::function<void(const std::string&)>& warn = {});

}  // namespace faceter
