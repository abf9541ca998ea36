#pragma once
#include <map>
#include <string>
#include <vector>

#include "compare/study_report.h"

/// What a study found, as tables.
namespace faceter {

/// A row a claim: verdict, effect with interval, p before and after Holm, seeds, power, equivalence.
Table claims_table(const std::vector<ClaimOutcome>& claims);
/// A row a claim and data set (or pair of tasks).
Table set_effects_table(const std::vector<ClaimOutcome>& claims);
/// A row a data set, a column a variant: mean and standard deviation over seeds.
Table scores_table(const std::map<std::string, std::map<std::string, std::vector<double>>>& by_variant_and_set);
Table costs_table(const std::vector<StudyCost>& costs);

}  // namespace faceter
