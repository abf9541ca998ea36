#include "study_methods.h"

#include <ATen/ATen.h>

#include "stats/descriptive.h"

namespace faceter {

std::vector<std::vector<int>> choices(const StudyData& data, const std::vector<int>& candidates, const RouterSettings& settings) {
    const auto router = make_query_router(data.library(), candidates, settings);
    std::vector<std::vector<int>> all;
    for (const StudySet& set : data.sets) all.push_back(router->choose(set.base));
    return all;
}

RouterSettings pilot_settings(const StudyData& data) {
    RouterSettings settings = data.router->settings();
    settings.kind = "pilot";
    return settings;
}

std::vector<std::string> names_of(const StudyData& data, const std::vector<int>& experts) {
    std::vector<std::string> names;
    for (const int expert : experts) names.push_back(data.library().name_of(expert));
    return names;
}

std::vector<double> row_means(const StudySet& set, const std::vector<int>& experts) {
    const at::Tensor means = set.scores.mean(0);
    std::vector<double> all;
    for (const int expert : experts) all.push_back(means[expert].item<double>());
    return all;
}

std::vector<double> StudyMethod::means() const {
    std::vector<double> all;
    for (const auto& set : scores) all.push_back(faceter::mean(set));
    return all;
}
double StudyMethod::mean() const { return faceter::mean(means()); }

StudyMethod routed(const StudyData& data, const std::string& name, const std::vector<int>& candidates, const RouterSettings& settings) {
    StudyMethod method{name, {}};
    const auto chosen = choices(data, candidates, settings);
    for (std::size_t s = 0; s < data.sets.size(); ++s) method.scores.push_back(chosen_scores(data.sets[s], chosen[s]));
    return method;
}

StudyMethod through(const StudyData& data, const std::string& name, int expert) {
    StudyMethod method{name, {}};
    for (const StudySet& set : data.sets) method.scores.push_back(chosen_scores(set, std::vector<int>(set.queries.size(), expert)));
    return method;
}

StudyMethod oracle(const StudyData& data, const std::vector<int>& candidates) {
    StudyMethod method{"Oracle (by query)", {}};
    for (const StudySet& set : data.sets) method.scores.push_back(chosen_scores(set, oracle_choice(set, candidates)));
    return method;
}

StudyMethod best_individuals(const StudyData& data, const std::vector<int>& candidates) {
    StudyMethod method{"Best Individual (oracle by data set)", {}};
    for (const StudySet& set : data.sets)
        method.scores.push_back(chosen_scores(set, std::vector<int>(set.queries.size(), best_individual(set, candidates))));
    return method;
}

}  // namespace faceter
