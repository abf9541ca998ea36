#pragma once
#include "compare/significance.h"

namespace faceter::testing {

/// Two groups of three seeds on four data sets (retrieval twice, classification, clustering); the numbers that SciPy was asked about.
inline Comparison compared_groups() {
    const double base[4][3] = {{41.2, 40.1, 42.0}, {55.3, 54.8, 56.1}, {61.0, 60.2, 60.9}, {72.4, 73.0, 71.9}};
    const double mine[4][3] = {{42.9, 42.2, 43.1}, {55.9, 56.0, 56.4}, {61.1, 60.8, 60.3}, {75.0, 74.1, 74.8}};
    const char* types[] = {"retrieval", "retrieval", "classification", "clustering"};
    Comparison comparison;
    comparison.baseline = 0;
    comparison.groups.resize(2);
    for (std::size_t g = 0; g < 2; ++g) {
        RunGroup& group = comparison.groups[g];
        group.name = g == 0 ? "EM" : "MoTE";
        for (std::size_t seed = 0; seed < 3; ++seed) {
            RunRow run;
            run.info.id = group.name + std::to_string(seed + 1);
            run.info.variant = group.name;
            run.info.seed = seed + 1;
            group.runs.push_back(run);
            group.costs.push_back({22'700'000 + static_cast<std::int64_t>(g) * 1'000'000, {}, {}, {}, 9.5});
        }
        for (int set = 0; set < 4; ++set) {
            const auto& values = g == 0 ? base[set] : mine[set];
            group.scores["set" + std::to_string(set)].assign(values, values + 3);
            group.scored_runs["set" + std::to_string(set)] = {0, 1, 2};
        }
    }
    for (int set = 0; set < 4; ++set) comparison.sets.push_back({"set" + std::to_string(set), types[set], "score"});
    return comparison;
}

/// Ten examples a set whose differences are d[j] = (7 j mod 10) - 2.6; `without`: a set that stores none.
inline ExampleScores example_scores(const std::string& without = "") {
    ExampleScores examples;
    examples.groups.resize(2);
    for (int set = 0; set < 4; ++set) {
        const std::string name = "set" + std::to_string(set);
        for (std::size_t g = 0; g < 2; ++g) {
            ExampleScores::Of& of = examples.groups[g][name];
            for (int j = 0; j < 10; ++j) of.values.push_back(50 + (g == 1 ? (j * 7) % 10 - 2.6 : 0));
            if (name == without) of = {{}, "its metric is no mean over examples"};
        }
    }
    return examples;
}

}  // namespace faceter::testing
