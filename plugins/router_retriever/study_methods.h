#pragma once
#include "study.h"

// Ways to choose a gate for every query of a study, and what each scores: all from scores that are there.

namespace faceter {

/// A way to answer all queries: per set, the score of every query (percent).
struct StudyMethod {
    std::string name;
    std::vector<std::vector<double>> scores;
    std::vector<double> means() const;  ///< of each set
    double mean() const;                ///< over sets
};

struct StudyData {
    const RouterModel* router = nullptr;
    std::vector<StudySet> sets;
    std::string run;
    std::size_t trained_domains = 0;  ///< of the run's multi-task gate
    const Library& library() const { return router->library(); }
    const std::vector<int>& candidates() const { return router->candidates(); }
    bool has_gate(const StudySet& set) const { return library().own_gate(set.domain, candidates()) > 0; }
};

/// Every query through the gate that this router chooses for it, over these candidates and the domains that they were trained on.
StudyMethod routed(const StudyData& data, const std::string& name, const std::vector<int>& candidates, const RouterSettings& settings);
StudyMethod through(const StudyData& data, const std::string& name, int expert);
StudyMethod oracle(const StudyData& data, const std::vector<int>& candidates);
StudyMethod best_individuals(const StudyData& data, const std::vector<int>& candidates);

/// Of each set's queries, the gate that a router of these settings chooses.
std::vector<std::vector<int>> choices(const StudyData& data, const std::vector<int>& candidates, const RouterSettings& settings);
/// The run's router settings with pilot embeddings choosing.
RouterSettings pilot_settings(const StudyData& data);
std::vector<std::string> names_of(const StudyData& data, const std::vector<int>& experts);
/// Mean score of a set through each of these experts.
std::vector<double> row_means(const StudySet& set, const std::vector<int>& experts);

}  // namespace faceter
