#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace faceter {

/// What a batch holds each of its queries against, as far as the settings say it (no data are read). Masked false negatives are still
/// among them. Chunks of a gradient cache and the shares of processes that train together change nothing: embeddings are gathered, and
/// the negatives are those of the whole batch; batches that are accumulated keep to their own.
struct BatchNegatives {
    enum class From { data_set, task, all_tasks, curriculum };  ///< where a batch's pairs come from; the last: the curriculum decides
    std::string stage;                                          ///< of `stages`; empty: there are none
    std::vector<std::string> tasks;                             ///< whose batches these are
    std::string objective;
    From from = From::data_set;
    std::int64_t pairs = 0;                 ///< of a batch
    std::int64_t most_tokens = 0;           ///< training.batch_tokens: longer batches are cut, and have fewer; 0: no limit
    std::int64_t chunk = 0;                 ///< pairs of the gradient cache's chunks; 0: off
    std::optional<std::int64_t> in_batch;   ///< documents of the other pairs; nothing: a plugin's objective decides
    std::optional<std::int64_t> hard_each;  ///< hard negatives that come with a pair, at most; nothing: as many as the data give
    std::optional<std::int64_t> hard;       ///< hard negatives for one query, at most; nothing: as hard_each, or as in_batch
    bool operator==(const BatchNegatives&) const = default;
};
std::string_view words(BatchNegatives::From from);
/// Where the pairs of a stage's batches of a task come from: of `recipe`, what its settings train (recipes_of()).
BatchNegatives::From batches_from(const Json& recipe, const Json& task);

/// Of a run's settings (ResolvedRun::settings), in the order of its stages; tasks that differ in nothing stand together. Tasks without
/// training data and the untrained start model have none.
std::vector<BatchNegatives> batch_negatives(const Json& settings);

/// Configurations whose batches are alike, by variant and sweep point.
struct AlikeRuns {
    std::vector<std::string> names;  ///< "MoTE", "MoTE/learning_rate=1e-05"
    std::vector<BatchNegatives> batches;
};
/// In the order of the first of each; runs without negatives are left out.
std::vector<AlikeRuns> alike_runs(const std::vector<const ResolvedRun*>& runs);

/// As `faceter check --json` has it. `processes`: that train together.
Json negatives_json(const std::vector<BatchNegatives>& all, int processes);

}  // namespace faceter
