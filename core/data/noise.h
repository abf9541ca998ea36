#pragma once
#include <cstdint>
#include <vector>

#include "data/training_set.h"

namespace faceter {

/// Noise at a known rate: this share of the pairs (rounded up or down by chance, so that many small sets have the rate together) have their
/// positives go round among them, so that each gets another pair's. Which ones is drawn from the seed and the set's name; a smaller rate's
/// pairs are among those of a larger one. No pair gets a positive of its own query or label, nor a text among its negatives: where the
/// chosen ones have no other, it gets a copy of some other pair's, and where the set has none it keeps its own, which the card counts and
/// warns of. Source: noisy correspondence (Huang et al., NeurIPS 2021), whose captions are shuffled so. 0 changes nothing, not the
/// fingerprint either. Errors (settings): pairs with scores, which are of the texts as they stood; texts that are their own positives.
void inject_noise(TrainingSet& set, double rate, std::uint64_t seed);

/// Of each example whether noise was injected into it; empty: into none, or the set has other examples than when it was (a filter).
std::vector<char> noisy_examples(const TrainingSet& set);

}  // namespace faceter
