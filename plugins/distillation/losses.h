#pragma once
#include <memory>

#include "common/json.h"
#include "train/objective.h"

namespace faceter {

std::unique_ptr<PairObjective> make_margin_mse(const Json& settings);
std::unique_ptr<PairObjective> make_kl(const Json& settings);
std::unique_ptr<PairObjective> make_cosine_to_teacher(const Json& settings);
std::unique_ptr<PairObjective> make_gist(const Json& settings);

}  // namespace faceter
