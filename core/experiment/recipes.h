#pragma once
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter {

/// By what a run's settings train, in order: `stages`, each with its defaults; without them one of no name, of the run's own training,
/// curriculum and objective, on all tasks.
std::vector<Json> recipes_of(const Json& settings);

/// The recipe names the task, or none.
bool trains(const Json& recipe, const std::string& task);
/// And data of the task are in its batches: a weight of 0 keeps them out where batches are drawn by weight.
bool trains_on(const Json& recipe, const std::string& name, const Json& task);
/// It trains the task and mines hard negatives for it, whatever negatives its examples had before.
bool mines_for(const Json& recipe, const std::string& task);

}  // namespace faceter
