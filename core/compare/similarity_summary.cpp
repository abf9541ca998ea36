#include <algorithm>

#include "common/error.h"
#include "common/json_text.h"
#include "compare/similarity_figures.h"
#include "stats/descriptive.h"
#include "stats/multiple_testing.h"
#include "stats/number.h"

namespace faceter {
namespace {

std::string hypothesis(const SimilarityComparison& comparison, SimilarityTestKind kind) {
    const bool two_sided = kind == SimilarityTestKind::welch_two_sided || comparison.alternative == Alternative::two_sided;
    const char* sign = two_sided ? "≠" : comparison.alternative == Alternative::less ? "<" : ">";
    return fmt::format("mean({}) {} mean({})", comparison.first, sign, comparison.second);
}

std::string test_note(const SimilarityComparison& comparison, SimilarityTestKind kind) {
    return fmt::format("Test: {}; alternative {}; Holm-adjusted over the {} pairs of tasks.", similarity_test_name(kind),
                       hypothesis(comparison, kind), comparison.tests.size());
}

const SimilarityTest* find_test(const SimilarityComparison& comparison, const std::string& a, const std::string& b) {
    for (const SimilarityTest& test : comparison.tests)
        if ((test.a == a && test.b == b) || (test.a == b && test.b == a)) return &test;
    return nullptr;
}

/// Every pair once, in the order in which the comparisons name them.
std::vector<std::pair<std::string, std::string>> pairs_of(std::span<const SimilarityComparison> comparisons) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const SimilarityComparison& comparison : comparisons)
        for (const SimilarityTest& test : comparison.tests)
            if (std::none_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
                    return (pair.first == test.a && pair.second == test.b) || (pair.first == test.b && pair.second == test.a);
                }))
                pairs.emplace_back(test.a, test.b);
    return pairs;
}

std::vector<std::string> tasks_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::vector<std::string> tasks;
    for (const auto& [a, b] : pairs)
        for (const std::string& name : {a, b})
            if (std::find(tasks.begin(), tasks.end(), name) == tasks.end()) tasks.push_back(name);
    return tasks;
}

std::vector<Cell> summary_cells(const SimilarityComparison& comparison, const SimilarityTest& test, SimilarityTestKind kind,
                                const std::string& pair, bool named) {
    const SimilarityOutcome outcome = similarity_outcome(test, kind);
    std::vector<Cell> cells = {Cell::of(pair)};
    if (named) cells.push_back(Cell::of(comparison.first));
    cells.push_back(Cell::of(test.mean_second));
    cells.push_back(Cell::of(test.mean_first));
    cells.push_back(Cell::of(test.mean_first - test.mean_second).with_stars(significance_stars(outcome.p_holm)));
    for (const double value : {outcome.t, outcome.df, outcome.p, outcome.p_holm, outcome.effect}) cells.push_back(Cell::of(value));
    return cells;
}

}  // namespace

std::string_view similarity_test_name(SimilarityTestKind kind) {
    switch (kind) {
        case SimilarityTestKind::paired:
            return "paired t over texts";
        case SimilarityTestKind::welch:
            return "Welch's t, one-sided, as published";
        case SimilarityTestKind::welch_two_sided:
            return "Welch's t, two-sided";
    }
    throw failure("unknown test");
}

SimilarityOutcome similarity_outcome(const SimilarityTest& test, SimilarityTestKind kind) {
    if (kind == SimilarityTestKind::paired) {
        if (!test.paired_is_possible) return {not_a_number, not_a_number, not_a_number, not_a_number, not_a_number};
        return {test.paired.t, test.paired.df, test.paired.p, test.paired_holm, test.d_z};
    }
    const bool one = kind == SimilarityTestKind::welch;
    const WelchResult& result = one ? test.one_sided : test.two_sided;
    return {result.t, result.df, result.p, one ? test.one_sided_holm : test.two_sided_holm, test.d};
}

Table similarity_summary(std::span<const SimilarityComparison> comparisons, SimilarityTestKind kind) {
    if (comparisons.empty()) throw usage_error("no comparison to summarise");
    const bool several = comparisons.size() > 1;
    Table table;
    table.name = "inter_task_similarity_summary";
    table.caption = fmt::format("Inter-task similarity against {}", comparisons.front().second);
    table.add_column("pair of tasks", ColumnKind::text);
    if (several) table.add_column("run", ColumnKind::text);
    table.add_column(comparisons.front().second + " mean", ColumnKind::number, 3);
    table.add_column(several ? "mean" : comparisons.front().first + " mean", ColumnKind::number, 3);
    table.add_column("difference", ColumnKind::delta, 4);
    table.add_column("t", ColumnKind::number, 1);
    table.add_column("df", ColumnKind::number, 1);
    table.add_column("p", ColumnKind::p_value);
    table.add_column("p Holm", ColumnKind::p_value);
    table.add_column(kind == SimilarityTestKind::paired ? "effect d_z" : "effect d", ColumnKind::number, 2);
    const auto pairs = pairs_of(comparisons);
    const std::vector<std::string> tasks = tasks_of(pairs);
    for (const auto& [a, b] : pairs) {
        const std::string pair = short_task_name(a, tasks) + " · " + short_task_name(b, tasks);
        bool first = true;
        for (const SimilarityComparison& comparison : comparisons) {
            const SimilarityTest* test = find_test(comparison, a, b);
            if (!test) continue;
            table.add_row(summary_cells(comparison, *test, kind, pair, several)).rule_above = several && first;
            first = false;
        }
    }
    for (const SimilarityComparison& comparison : comparisons) table.footnotes.push_back(test_note(comparison, kind));
    return table;
}

Table similarity_means(const std::string& name, const SimilaritySet& set) {
    Table table;
    table.name = "inter_task_similarity";
    table.caption = fmt::format("Inter-task similarity of {}", name);
    table.add_column("pair of tasks", ColumnKind::text);
    table.add_column(name + " mean", ColumnKind::number, 3);
    table.add_column("std", ColumnKind::number, 3);
    const std::vector<std::string> tasks = similarity_tasks(set);
    for (const SimilarityPair& pair : set.pairs)
        table.add_row({Cell::of(short_task_name(pair.a, tasks) + " · " + short_task_name(pair.b, tasks)), Cell::of(pair.mean),
                       Cell::of(standard_deviation(pair.values))});
    return table;
}

std::string export_similarity(std::span<const SimilarityComparison> comparisons, TableFormat format, const TextTableOptions& options) {
    if (format == TableFormat::json) {
        Json list = Json::array();
        for (const SimilarityComparison& comparison : comparisons) list.push_back(similarity_json(comparison));
        return json_text(list.size() == 1 ? list[0] : list, 1) + "\n";
    }
    std::string all;
    for (const SimilarityComparison& comparison : comparisons) {
        if (!all.empty()) all += "\n";
        all += export_table(similarity_table(comparison), format, options);
        if (!all.ends_with('\n')) all += "\n";
    }
    return all;
}

std::string similarity_words(const SimilarityComparison& comparison, SimilarityTestKind kind) {
    if (comparison.tests.empty()) return {};
    const SimilarityTest& any = comparison.tests.front();
    const std::string claim = hypothesis(comparison, kind);
    const std::string family = fmt::format("Holm over {} pair{}.", comparison.tests.size(), comparison.tests.size() == 1 ? "" : "s");
    if (kind == SimilarityTestKind::paired) {
        if (!any.paired_is_possible)
            return fmt::format("{} and {} embedded other texts, so their values cannot be paired.", comparison.first, comparison.second);
        return fmt::format("Paired t, HA: {}, n = {} texts per pair, {} Each text is compared with itself.", claim, any.texts, family);
    }
    const std::string shared = any.paired_is_possible ? " The texts are shared, so the paired test is stronger."
                                                      : " The texts differ, so no paired test is possible.";
    return fmt::format("{}, HA: {}, n = {} and {} per pair, {}{}",
                       kind == SimilarityTestKind::welch ? "Welch's t, as published" : "Welch's t, two-sided", claim, any.texts,
                       any.texts_second, family, shared);
}

}  // namespace faceter
