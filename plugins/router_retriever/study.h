#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plugin/registry.h"
#include "router_model.h"

namespace faceter {

std::unique_ptr<Analysis> make_router_study(const Json& settings);
std::unique_ptr<Analysis> make_context_preference(const Json& settings);

/// A retrieval set as routing sees it: nDCG@10 of every query through every expert. All of a study is computed from these.
struct StudySet {
    std::string name, domain;  ///< domain: the task it is of; empty: of none that has a gate
    std::vector<std::string> queries;
    at::Tensor base;    ///< [Q, D] queries under the base
    at::Tensor scores;  ///< float64 [Q, experts + 1], percent
};

/// Scores in percent that are nearer to each other than this are equal.
inline constexpr double equal_percent = 100 * equal_scores;

/// The scores of a set's queries, each through the expert chosen for it; percent.
std::vector<double> chosen_scores(const StudySet& set, const std::vector<int>& chosen);
/// The highest score of the candidates for a query; percent.
double best_score(const StudySet& set, std::size_t query, const std::vector<int>& candidates);
/// The best of the candidates for each query, of equal ones the first: the instance oracle.
std::vector<int> oracle_choice(const StudySet& set, const std::vector<int>& candidates);
/// The candidate with the best mean: the data set oracle (Best Individual).
int best_individual(const StudySet& set, const std::vector<int>& candidates);
/// Share of queries that go through each candidate.
std::vector<double> shares(const std::vector<int>& chosen, const std::vector<int>& candidates);
/// Share of queries for which each candidate has the best score; those that tie share the query.
std::vector<double> best_shares(const StudySet& set, const std::vector<int>& candidates);

}  // namespace faceter
