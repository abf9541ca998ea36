#include "compare/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "compare/agreement.h"
#include "compare/compare_tests.h"
#include "compare/counted_run.h"
#include "compare/rank_intervals.h"
#include "compare/settings_difference.h"
#include "compare/significance.h"
#include "experiment/experiment.h"
#include "figure/format.h"
#include "stats/descriptive.h"
#include "stats/multiple_testing.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr double million = 1e6;
constexpr std::size_t most_repeats = 40;  // that are named: nobody reads ten thousand notes

/// What the seeds of one configuration share: all settings but the seed and what does not change a score; of the untrained model what it
/// is scored by.
std::string configuration(const RunRow& run, Json settings) {
    return run.info.variant + (run.info.smoke ? " in small\n" : "\n") +
           (run.info.is_baseline() ? baseline_key(settings) : score_settings(std::move(settings)).dump());
}

/// The untrained model is scored once, whatever the seed.
std::uint64_t counted_seed(const RunRow& run) { return run.info.is_baseline() ? 0 : run.info.seed; }

class Grouping {
  public:
    Grouping(Store& store, const std::string& baseline) : store_(store), baseline_(baseline) {}

    Comparison group(const std::vector<RunRow>& runs) {
        std::vector<Scored> scored;
        for (const RunRow& run : runs) take(run, scored);
        for (const Scored& one : scored) add(one);
        for (const auto& [set, runs_without] : no_numbers_)
            comparison_.notes.push_back(fmt::format("the score of {} is not a number in {} run{} and counts as missing", set, runs_without,
                                                    runs_without == 1 ? "" : "s"));
        name_groups();
        if (repeats_ > most_repeats)
            comparison_.notes.push_back(
                fmt::format("{} more runs repeat another with the same seed and are left out", repeats_ - most_repeats));
        std::stable_partition(comparison_.groups.begin(), comparison_.groups.end(),
                              [](const RunGroup& group) { return group.method == "start"; });
        return std::move(comparison_);
    }

  private:
    struct Scored {
        const RunRow* run;
        std::size_t group;
        std::vector<ResultRow> results;
    };

    /// Of the runs of one configuration and seed the one that is named as the baseline counts, else as everywhere.
    void take(const RunRow& run, std::vector<Scored>& scored) {
        std::vector<ResultRow> results = store_.results(run.info.id);
        if (results.empty()) {
            comparison_.notes.push_back(fmt::format("{} has no results yet ({})", run.info.shown_name(), run_phase_name(run.state.phase)));
            return;
        }
        const std::string key = configuration(run, store_.settings(run.info.id));
        const auto [place, fresh] = index_.try_emplace(key, comparison_.groups.size());
        if (fresh) comparison_.groups.push_back({"", run.info.method, {}, {}, {}, {}, {}});
        const RunRow*& counted = counted_[{place->second, counted_seed(run)}];
        if (!counted || run.info.id == baseline_ || (counted->info.id != baseline_ && counts_before(run, *counted))) counted = &run;
        for (ResultRow& result : results) result.metrics = {};  // of thousands of runs
        scored.push_back({&run, place->second, std::move(results)});
    }

    void add(const Scored& one) {
        const RunRow& run = *one.run;
        const RunRow* counted = counted_.at({one.group, counted_seed(run)});
        if (counted != &run) {
            const std::string name = run.info.shown_name(), other = counted->info.shown_name();
            if (++repeats_ <= most_repeats)
                comparison_.notes.push_back(
                    run.info.is_baseline() ? fmt::format("{} repeats {} and is left out: an untrained model is scored once", name, other)
                                           : repeat_note(name, other));
            return;
        }
        if (run.state.phase != RunPhase::done)
            comparison_.notes.push_back(fmt::format("{} is {}", run.info.shown_name(), run_phase_name(run.state.phase)));
        RunGroup& group = comparison_.groups[one.group];
        group.runs.push_back(run);
        group.costs.push_back(store_.cost(run.info.id));
        for (const ResultRow& result : one.results) {
            note_data(run, result);
            note_measure(run, result);
            if (seen_.insert(result.name).second) comparison_.sets.push_back({result.name, result.task_type, result.metric});
            if (!std::isfinite(result.score)) {
                ++no_numbers_[result.name];
                continue;
            }
            group.scores[result.name].push_back(result.score);
            group.scored_runs[result.name].push_back(group.runs.size() - 1);
        }
    }

    /// Scores on data that changed meanwhile, or were sampled otherwise, say nothing of the models.
    void note_data(const RunRow& run, const ResultRow& result) {
        const std::string name = run.info.shown_name();
        if (const auto other = data_.differs(result.name, name, result.fingerprint))
            comparison_.notes.push_back(
                fmt::format("{} and {} were scored on different data of {} (faceter diff says more)", other->run, name, result.name));
    }

    /// Two experiments may call data of different tasks alike.
    void note_measure(const RunRow& run, const ResultRow& result) {
        const std::string name = run.info.shown_name(), measure = result.metric + ", " + result.task_type;
        if (const auto other = measures_.differs(result.name, name, measure))
            comparison_.notes.push_back(fmt::format("{} was scored otherwise by {} ({}) than by {} ({}), which cannot be compared",
                                                    result.name, other->run, other->content, name, measure));
    }

    /// The shortest names that tell the rows apart.
    void name_groups() {
        const auto ambiguous = [&](const std::string& name) {
            return std::count_if(comparison_.groups.begin(), comparison_.groups.end(),
                                 [&](const RunGroup& other) { return other.name == name; }) > 1;
        };
        for (RunGroup& group : comparison_.groups) {
            const RunInfo& info = group.runs.front().info;
            group.name = info.point.empty() ? info.variant : info.variant + " " + info.point;
        }
        for (int round = 0; round < 2; ++round) {
            std::vector<std::string> longer;
            for (const RunGroup& group : comparison_.groups) {
                const RunInfo& info = group.runs.front().info;
                const std::string& extra = round == 0 ? info.experiment : info.shown_name();
                longer.push_back(ambiguous(group.name) ? fmt::format("{} ({})", group.name, extra) : group.name);
            }
            for (std::size_t i = 0; i < longer.size(); ++i) comparison_.groups[i].name = longer[i];
        }
    }

    Store& store_;
    const std::string& baseline_;  ///< a run's id; empty: none is named
    Comparison comparison_;
    std::map<std::string, std::size_t> index_;
    std::map<std::pair<std::size_t, std::uint64_t>, const RunRow*> counted_;  ///< by group and seed
    std::set<std::string> seen_;
    Agreement data_, measures_;                      ///< by data set: fingerprints; "accuracy, classification"
    std::map<std::string, std::size_t> no_numbers_;  ///< data set -> runs whose score of it is none: a correlation of constants
    std::size_t repeats_ = 0;
};

Cell cell_of(const std::vector<double>& values) {
    if (values.empty()) return {};
    return values.size() == 1 ? Cell::of(values.front())
                              : Cell::of(mean(values), standard_deviation(values), static_cast<std::int64_t>(values.size()));
}

template <typename Member>
Cell cost_cell(const RunGroup& group, Member member, double unit) {
    std::vector<double> values;
    for (const ModelCost& cost : group.costs)
        if (const auto value = cost.*member) values.push_back(static_cast<double>(*value) / unit);
    return values.empty() ? Cell{} : Cell::of(mean(values));
}

std::optional<std::size_t> find_baseline(const Comparison& comparison, const std::string& run) {
    for (std::size_t i = 0; i < comparison.groups.size(); ++i)
        for (const RunRow& row : comparison.groups[i].runs)
            if (!run.empty() ? row.info.id == run : row.info.is_baseline()) return i;
    if (!run.empty()) throw usage_error("the baseline {} is not among the compared runs, or has no results", run);
    return comparison.groups.size() > 1 ? std::optional<std::size_t>(0) : std::nullopt;
}

Json summary_json(const std::vector<double>& values) {
    if (values.empty()) return nullptr;
    return {{"mean", number_to_json(mean(values))},
            {"std", number_to_json(standard_deviation(values))},
            {"n", values.size()},
            {"values", values}};
}

Json cost_json(const RunGroup& group) {
    const auto value = [&](auto member) {
        const Cell cell = cost_cell(group, member, 1);
        return cell.kind == Cell::Kind::number ? number_to_json(cell.value) : Json();
    };
    return {{"total_parameters", value(&ModelCost::total_parameters)},
            {"active_parameters", value(&ModelCost::active_parameters)},
            {"multiply_adds_per_token", value(&ModelCost::multiply_adds_per_token)},
            {"encode_latency_ms", value(&ModelCost::encode_latency_ms)},
            {"peak_memory_bytes", value(&ModelCost::peak_memory_bytes)}};
}

void add_columns(const Comparison& comparison, Table& table) {
    table.add_column("run", ColumnKind::text);
    for (const ComparedSet& set : comparison.sets) {
        Column& column = table.add_column(set.name, ColumnKind::number, 2, Better::higher);
        column.group = set.task_type;
        column.unit = set.metric;
    }
    table.add_column("mean over data sets", ColumnKind::number, 2, Better::higher);
    table.add_column("mean over task types", ColumnKind::number, 2, Better::higher);
    for (const char* name : {"parameters", "active parameters", "multiply-adds a token"})
        table.add_column(name, ColumnKind::number, 1).unit = "M";
    table.add_column("peak memory", ColumnKind::bytes);
    table.columns.insert(table.columns.end(), comparison.columns.begin(), comparison.columns.end());
}

/// Of the runs that have a value.
std::vector<double> known_numbers(const RunGroup& group, const std::string& column) {
    std::vector<double> values = group.numbers.at(column);
    std::erase_if(values, [](double value) { return std::isnan(value); });
    return values;
}

Row row_of(const Comparison& comparison, const RunGroup& group) {
    Row row;
    row.cells.push_back(Cell::of(group.name));
    for (const ComparedSet& set : comparison.sets) {
        const auto scores = group.scores.find(set.name);
        row.cells.push_back(scores == group.scores.end() ? Cell{} : cell_of(scores->second));
    }
    row.cells.push_back(cell_of(means_over_sets(comparison, group)));
    row.cells.push_back(cell_of(means_over_types(comparison, group)));
    row.cells.push_back(cost_cell(group, &ModelCost::total_parameters, million));
    row.cells.push_back(cost_cell(group, &ModelCost::active_parameters, million));
    row.cells.push_back(cost_cell(group, &ModelCost::multiply_adds_per_token, million));
    row.cells.push_back(cost_cell(group, &ModelCost::peak_memory_bytes, 1));
    for (const Column& column : comparison.columns) row.cells.push_back(cell_of(known_numbers(group, column.name)));
    return row;
}

void add_footnotes(const Comparison& comparison, const std::vector<GroupTest>& tests, Table& table) {
    const bool seeds =
        std::any_of(comparison.groups.begin(), comparison.groups.end(), [](const RunGroup& group) { return group.runs.size() > 1; });
    if (seeds) table.footnotes.push_back("Where a row has several seeds: mean +- standard deviation over seeds, with their number.");
    const std::size_t common = common_sets(comparison).size();
    if (common < comparison.sets.size())
        table.footnotes.push_back(
            fmt::format("Means are over the {} of {} data sets that every run of every row has.", common, comparison.sets.size()));
    if (!tests.empty())
        table.footnotes.push_back(
            fmt::format("Stars at the mean over data sets: paired t-test over the {} data sets against {} (two-sided, Holm-adjusted over "
                        "the rows; * p < 0.05, ** p < 0.01, *** p < 0.001).",
                        common, comparison.groups[*comparison.baseline].name));
    if (tests.empty() && comparison.baseline && comparison.groups.size() > 1)
        table.footnotes.push_back(
            fmt::format("No test against {}: a paired t-test over data sets needs two that every run of every row has, here are {}.",
                        comparison.groups[*comparison.baseline].name, common));
    for (const GroupTest& test : tests) {
        const std::string names =
            fmt::format("{} against {}", comparison.groups[test.group].name, comparison.groups[*comparison.baseline].name);
        const PairedTResult& result = test.result;
        const std::string difference = format_delta(result.mean_difference, 2);
        table.footnotes.push_back(
            std::isnan(result.p)
                ? fmt::format("{}: mean difference {}, no test: {}.", names, difference, result.note)
                : fmt::format(
                      "{}: mean difference {} [{:.2f}, {:.2f}], t = {:.2f}, df = {:.0f}, p = {:.3g}, adjusted {:.3g}, d_z = {:.2f}.", names,
                      difference, result.interval.low, result.interval.high, result.t, result.df, result.p, test.p_holm, test.effect()));
    }
    if (const std::string warning = small_sample_warning(CompareTest::paired_sets, common); !tests.empty() && !warning.empty())
        table.footnotes.push_back("Note that " + warning + ".");
    if (const std::string ranks = rank_intervals(comparison).sentence(comparison); !ranks.empty()) table.footnotes.push_back(ranks);
    for (const std::string& note : comparison.notes) table.footnotes.push_back(note + ".");
}

}  // namespace

std::vector<ComparedSet> common_sets(const Comparison& comparison) {
    std::vector<ComparedSet> common;
    for (const ComparedSet& set : comparison.sets)
        if (std::all_of(comparison.groups.begin(), comparison.groups.end(), [&](const RunGroup& group) {
                const auto found = group.scores.find(set.name);
                return found != group.scores.end() && found->second.size() == group.runs.size();
            }))
            common.push_back(set);
    return common;
}

std::vector<double> means_over_sets(const Comparison& comparison, const RunGroup& group) {
    const std::vector<ComparedSet> sets = common_sets(comparison);
    std::vector<double> means;
    for (std::size_t run = 0; run < group.runs.size() && !sets.empty(); ++run) {
        double sum = 0;
        for (const ComparedSet& set : sets) sum += group.scores.at(set.name)[run];
        means.push_back(sum / static_cast<double>(sets.size()));
    }
    return means;
}

std::vector<double> means_over_types(const Comparison& comparison, const RunGroup& group) {
    std::map<std::string, std::vector<std::string>> types;
    for (const ComparedSet& set : common_sets(comparison)) types[set.task_type].push_back(set.name);
    std::vector<double> means;
    for (std::size_t run = 0; run < group.runs.size() && !types.empty(); ++run) {
        double sum = 0;
        for (const auto& [type, names] : types) {
            double of_type = 0;
            for (const std::string& name : names) of_type += group.scores.at(name)[run];
            sum += of_type / static_cast<double>(names.size());
        }
        means.push_back(sum / static_cast<double>(types.size()));
    }
    return means;
}

PairedTResult paired_t_of_scores(std::span<const double> a, std::span<const double> b) {
    PairedTResult result = paired_t(a, b);
    if (result.std_difference < no_spread && !std::isnan(result.p)) {
        result.p = not_a_number;
        result.note = "all differences are equal, which does not say how others would vary";
    }
    return result;
}

std::vector<GroupTest> tests_against_baseline(const Comparison& comparison) {
    std::vector<GroupTest> tests;
    const std::vector<ComparedSet> sets = common_sets(comparison);
    if (!comparison.baseline || sets.size() < 2) return tests;
    const auto scores = [&](const RunGroup& group) {
        std::vector<double> means;
        for (const ComparedSet& set : sets) means.push_back(mean(group.scores.at(set.name)));
        return means;
    };
    const std::vector<double> base = scores(comparison.groups[*comparison.baseline]);
    std::vector<double> p;
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
        if (i == *comparison.baseline) continue;
        tests.push_back({i, paired_t_of_scores(scores(comparison.groups[i]), base), 0});
        p.push_back(tests.back().result.p);
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < tests.size(); ++i) tests[i].p_holm = adjusted[i];
    return tests;
}

Comparison compare_runs(Store& store, const std::vector<RunRow>& runs, const std::string& baseline) {
    Comparison comparison = Grouping(store, baseline).group(runs);
    comparison.baseline = find_baseline(comparison, baseline);
    return comparison;
}

Table comparison_table(const Comparison& comparison) {
    Table table;
    table.name = "comparison";
    table.caption = "Scores in percent, higher is better";
    add_columns(comparison, table);
    for (const RunGroup& group : comparison.groups) table.add_row(row_of(comparison, group).cells);
    const std::vector<GroupTest> tests = tests_against_baseline(comparison);
    const std::size_t mean_column = 1 + comparison.sets.size();
    for (const GroupTest& test : tests) {
        Cell& cell = table.rows[test.group].cells[mean_column];
        cell = cell.with_stars(significance_stars(test.p_holm));
    }
    table.mark_best();
    add_footnotes(comparison, tests, table);
    return table;
}

Json comparison_json(const Comparison& comparison) {
    Json sets = Json::array(), rows = Json::array(), tests = Json::array();
    for (const ComparedSet& set : comparison.sets)
        sets.push_back({{"name", set.name}, {"task_type", set.task_type}, {"metric", set.metric}});
    for (const RunGroup& group : comparison.groups) {
        Json ids = Json::array(), seeds = Json::array(), scores = Json::object();
        for (const RunRow& run : group.runs) ids.push_back(run.info.id), seeds.push_back(run.info.seed);
        for (const ComparedSet& set : comparison.sets)
            if (const auto found = group.scores.find(set.name); found != group.scores.end()) scores[set.name] = summary_json(found->second);
        rows.push_back({{"name", group.name},
                        {"method", group.method},
                        {"runs", ids},
                        {"seeds", seeds},
                        {"scores", scores},
                        {"mean_over_datasets", summary_json(means_over_sets(comparison, group))},
                        {"mean_over_task_types", summary_json(means_over_types(comparison, group))},
                        {"costs", cost_json(group)}});
        for (const Column& column : comparison.columns)
            rows.back()["columns"][column.name] = summary_json(known_numbers(group, column.name));
    }
    for (const GroupTest& test : tests_against_baseline(comparison)) {
        Json json = {{"run", comparison.groups[test.group].name}, {"test", "paired t over data sets"}};
        json.update(test.result.to_json());
        json["p_holm"] = number_to_json(test.p_holm);
        json["effect"] = {{"name", "d_z"}, {"value", number_to_json(test.effect())}};
        if (const std::string warning = small_sample_warning(CompareTest::paired_sets, test.result.n); !warning.empty())
            json["warning"] = warning;
        tests.push_back(std::move(json));
    }
    return {{"datasets", sets},
            {"runs", rows},
            {"baseline", comparison.baseline ? Json(comparison.groups[*comparison.baseline].name) : Json()},
            {"tests", tests},
            {"ranks", rank_intervals(comparison).to_json(comparison)},
            {"notes", comparison.notes}};
}

}  // namespace faceter
