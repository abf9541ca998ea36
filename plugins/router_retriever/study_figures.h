#pragma once
#include "study.h"

// Parts of the study: each a table or a figure from scores alone.

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
    const Library& library() const { return router->library(); }
    const std::vector<int>& candidates() const { return router->candidates(); }
    bool has_gate(const StudySet& set) const { return library().own_gate(set.domain, candidates()) > 0; }
};

/// Every query through the gate that this router chooses for it, over these candidates and the domains that they were trained on.
StudyMethod routed(const StudyData& data, const std::string& name, const std::vector<int>& candidates, const RouterSettings& settings);
StudyMethod through(const StudyData& data, const std::string& name, int expert);
StudyMethod oracle(const StudyData& data, const std::vector<int>& candidates);
StudyMethod best_individuals(const StudyData& data, const std::vector<int>& candidates);

Table score_table(const StudyData& data, const std::vector<StudyMethod>& methods, std::vector<std::string> notes);
/// The first method against each other one, query by query.
Table test_table(const StudyData& data, const std::vector<StudyMethod>& methods);
Table matrix_table(const StudyData& data);
Figure matrix_figure(const StudyData& data);
Figure best_gate_figure(const StudyData& data);
Figure routed_gate_figure(const StudyData& data);
Table agreement_table(const StudyData& data);
Table own_gate_table(const StudyData& data);
Table second_gate_table(const StudyData& data, const std::vector<std::string>& gates);
Figure gate_count_figure(const StudyData& data, int orders);
Figure clusters_figure(const StudyData& data, std::vector<int> clusters);
Figure label_weight_figure(const StudyData& data, std::vector<double> weights);
/// Nothing where no gate was trained on another size.
std::vector<std::pair<std::string, Figure>> training_size_figures(const StudyData& data);
Table error_table(const StudyData& data);
Table example_table(const StudyData& data, std::size_t count);
Table gate_table(const StudyData& data, const EmbeddingModel& model);

}  // namespace faceter
