#pragma once
#include <memory>

#include "common/json.h"
#include "train/objective.h"

namespace faceter {

std::unique_ptr<PairObjective> make_cosent(const Json& settings);
std::unique_ptr<PairObjective> make_angle(const Json& settings);
std::unique_ptr<PairObjective> make_triplet(const Json& settings);
std::unique_ptr<PairObjective> make_cosine_similarity(const Json& settings);
std::unique_ptr<PairObjective> make_contrastive(const Json& settings);
std::unique_ptr<PairObjective> make_online_contrastive(const Json& settings);

}  // namespace faceter
