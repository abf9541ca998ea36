#pragma once
#include <span>
#include <string>
#include <vector>

#include "figure/table_export.h"
#include "record/run_directory.h"
#include "stats/paired.h"
#include "stats/welch.h"

namespace faceter {

/// For each pair of tasks the cosine similarity of each text with itself under the other task.
struct SimilarityPair {
    std::string a, b;
    std::vector<double> values;  ///< one a text
    double mean = 0;
};

/// results/inter_task_similarity.json of a run.
struct SimilaritySet {
    std::vector<SimilarityPair> pairs{};
    std::vector<std::string> texts{};  ///< what was embedded, long ones cut; empty where the run did not keep it
    std::string fingerprint{};         ///< of the whole texts; empty where the run did not keep it
    Json source{};                     ///< the analysis's setting `texts`; null where the run did not keep it
    std::size_t num_texts() const { return pairs.empty() ? 0 : pairs.front().values.size(); }
};
/// A data error naming the run where it has none.
SimilaritySet read_similarity(const RunDirectory& run);
SimilaritySet similarity_from_json(const Json& json, std::string_view name);
/// The texts in words: "debian descriptions, 128".
std::string texts_label(const Json& source, std::size_t num_texts);
/// False only where both are known to be others.
bool same_texts(const SimilaritySet& first, const SimilaritySet& second);
/// The seeds of one configuration as one set: each text's mean over the seeds, so that n stays the number of texts (pooled, every text
/// would count once a seed, and no test allows for that). Pairs that all have. What embedded other texts than the first is left out and
/// named in `notes` by `names`.
SimilaritySet average_over_seeds(std::span<const SimilaritySet> seeds, std::span<const std::string> names, std::vector<std::string>& notes);

/// One pair of tasks, in two runs: MoTE, section 5.2, and methods.md, section 7.
struct SimilarityTest {
    std::string a, b;
    double mean_first = 0, mean_second = 0;
    std::size_t texts = 0, texts_second = 0;
    bool paired_is_possible = false;  ///< both runs embedded the same texts
    PairedTResult paired;
    WelchResult one_sided, two_sided;
    double paired_holm = 0, one_sided_holm = 0, two_sided_holm = 0;  ///< adjusted over the family of pairs
    double d_z = 0, d = 0;                                           ///< effect sizes: of the paired differences; Cohen's d
};

struct SimilarityComparison {
    std::string first, second;
    Alternative alternative = Alternative::less;
    std::vector<SimilarityTest> tests;
    std::size_t seeds_first = 1, seeds_second = 1;  ///< that each text's values are the mean of
};

/// Whether a pair of tasks is in both.
bool share_a_pair(const SimilaritySet& first, const SimilaritySet& second);
/// HA: mean(first) < mean(second) for `less`. Pairs that only one run has are left out; a data error where they share none.
SimilarityComparison compare_similarity(const std::string& first_name, const SimilaritySet& first, const std::string& second_name,
                                        const SimilaritySet& second, Alternative alternative);
/// The paired test over texts first (both runs embed the same texts), Welch's after it, as published.
Table similarity_table(const SimilarityComparison& comparison);
Json similarity_json(const SimilarityComparison& comparison);

/// Which of a comparison's tests stars and words speak of.
enum class SimilarityTestKind { paired, welch, welch_two_sided };
/// "paired over texts", "Welch, one-sided, as published", "Welch, two-sided".
std::string_view similarity_test_name(SimilarityTestKind kind);
/// NaN everywhere where the test is not possible.
struct SimilarityOutcome {
    double t = 0, df = 0, p = 0, p_holm = 0;
    double effect = 0;  ///< d_z of the paired test, else Cohen's d; with the sign of the difference
};
SimilarityOutcome similarity_outcome(const SimilarityTest& test, SimilarityTestKind kind);
/// One test of one or several groups against one baseline (`second` of all), a row a pair and group: means, difference with stars by the
/// Holm-adjusted p, t, df, p, effect size. The names of columns and rows are the comparisons'.
Table similarity_summary(std::span<const SimilarityComparison> comparisons, SimilarityTestKind kind);
/// Mean and standard deviation of each pair, where there is nothing to compare with.
Table similarity_means(const std::string& name, const SimilaritySet& set);
/// What `faceter similarity` prints: the tables one after another, JSON as one document (of several comparisons a list).
std::string export_similarity(std::span<const SimilarityComparison> comparisons, TableFormat format, const TextTableOptions& options = {});
/// The hypothesis, n and the family, in one or two sentences.
std::string similarity_words(const SimilarityComparison& comparison, SimilarityTestKind kind);

}  // namespace faceter
