#pragma once
#include <string>
#include <vector>

#include "figure/table.h"
#include "run/run_directory.h"
#include "stats/paired.h"
#include "stats/welch.h"

namespace faceter {

/// results/inter_task_similarity.json of a run: for each pair of tasks, the cosine similarity of each text with itself under the other task.
struct SimilarityPair {
    std::string a, b;
    std::vector<double> values;
    double mean = 0;
};
std::vector<SimilarityPair> read_similarity(const RunDirectory& run);
std::vector<SimilarityPair> similarity_from_json(const Json& json, std::string_view name);

/// One pair of tasks, in two runs: MoTE, section 5.2, and methods.md, section 7.
struct SimilarityTest {
    std::string a, b;
    double mean_first = 0, mean_second = 0;
    std::size_t texts = 0;
    bool paired_is_possible = false;   ///< both runs embedded the same number of texts
    PairedTResult paired;
    WelchResult one_sided, two_sided;
    double paired_holm = 0, one_sided_holm = 0, two_sided_holm = 0;   ///< adjusted over the family of pairs
};

struct SimilarityComparison {
    std::string first, second;
    Alternative alternative = Alternative::less;
    std::vector<SimilarityTest> tests;
};

/// HA: mean(first) < mean(second) for `less`. Pairs that only one run has are left out; a data error where none is left.
SimilarityComparison compare_similarity(const std::string& first_name, const std::vector<SimilarityPair>& first, const std::string& second_name,
                                        const std::vector<SimilarityPair>& second, Alternative alternative);
/// The paired test over texts first (both runs embed the same texts), Welch's after it, as published.
Table similarity_table(const SimilarityComparison& comparison);
Json similarity_json(const SimilarityComparison& comparison);

}  // namespace faceter
