#pragma once
#include <memory>

#include "plugin/registry.h"

namespace faceter {

/// A run made of finished runs (methods.md, section 9): their weights' mean, their greedy soup by validation score (Wortsman et al., 2022),
/// or task arithmetic theta_0 + weight * sum (theta_i - theta_0) (Ilharco et al., 2023); with `fold_experts`, task experts become one dense
/// block with their mean. It trains nothing. Settings: runs (folders), how, weight, fold_experts (record/merged_run.h). Errors (data) as it
/// is prepared or finished: a run that is gone, or whose model has another shape than the first one's.
std::unique_ptr<Variant> make_merged_variant(const Json& settings);

}  // namespace faceter
