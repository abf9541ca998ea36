#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "data/entry.h"
#include "data/evaluation_set.h"

namespace faceter {

/// The `keep` positions with the smallest hashes, ascending (all where keep is 0 or not smaller). What is chosen depends on the hashes
/// alone, and a smaller sample is part of a larger one: raising a limit adds records and changes none.
std::vector<std::uint32_t> stable_sample(std::span<const std::uint64_t> hashes, std::size_t keep);
std::uint64_t sample_hash(std::string_view key);

/// Cuts an evaluation set down to its limits. Retrieval keeps every relevant document of the queries that stay, and fills up with others;
/// where only max_documents is set and the relevant ones alone exceed it, queries go until they fit. Counts go to the report.
void limit_evaluation(EvaluationSet& set, const DataLimits& limits, DataReport& report);

}  // namespace faceter
