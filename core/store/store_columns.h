#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "store/sqlite.h"

namespace faceter {

// What a list of all runs needs of each, kept so that one pass over small rows reads it: the main scores, and the settings as hashes of
// "key = value".

struct StoredScore {
    std::string_view name, task_type;  ///< into the blob
    double score = 0;                  ///< percent
};
/// Nothing of the end that is not whole.
void for_each_score(std::string_view blob, const std::function<void(const StoredScore&)>& take);

/// From the rows of `results`. True where that changed the run's row.
bool put_scores(Database& database, const std::string& run);
void put_settings(Database& database, const std::string& run, const Json& settings);

}  // namespace faceter
