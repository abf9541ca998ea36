#pragma once
#include <string>
#include <vector>

#include "data/evaluation_set.h"

namespace faceter {

/// What one entry of a result's scores of single examples (EvaluationResult::per_example) speaks of.
struct ScoredText {
    std::string text;    ///< the query, the test text; of a clustering its first text and how many more
    std::string wanted;  ///< what a model should find: the first relevant document, the label; empty where there is none
    std::string id{};    ///< the query's, as the data name it; empty where they have none
};

/// In the order of those scores. Empty where a task type has none (pairs, bitexts), where a set has subsets, and for summaries, whose
/// texts without a correlation are left out by what a model says of them.
std::vector<ScoredText> scored_texts(const EvaluationSet& set);

/// The evaluation set of this name that resolved settings of a run speak of, as their run read it. Errors: (data) none has the name; those
/// of load_evaluation_set.
EvaluationSet load_named_evaluation_set(const Json& settings, const std::string& name);

}  // namespace faceter
