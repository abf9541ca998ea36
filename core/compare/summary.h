#pragma once
#include "compare/compare_view.h"

namespace faceter {

/// What somebody wants to know first when runs are over: a small table and a handful of sentences. Tests of single data sets and of
/// inter-task similarity are `faceter compare`'s and `faceter similarity`'s.
struct ComparisonSummary {
    Table table;                         ///< a row a group: data sets (task types where there are many), mean, time
    std::vector<std::string> sentences;  ///< what was compared, what won where, whether that is more than chance, what it cost
    std::string next;                    ///< commands that say more; empty after a trial
};

/// `view` with a test over examples where runs have their scores (CompareTest::bootstrap): its p decide what is called more than chance.
ComparisonSummary summarise(const Comparison& comparison, const ComparisonView& view);

}  // namespace faceter
