#include "compare/compare_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "common/strings.h"
#include "compare/compare_tests.h"

namespace faceter {
namespace {

class ViewMaker {
  public:
    ViewMaker(const Comparison& comparison, const ExampleScores& examples, const CompareChoice& choice)
        : comparison_(comparison), examples_(examples), choice_(choice) {}

    ComparisonView make() {
        view_.choice = choice_;
        view_.baseline = comparison_.baseline;
        add_sets();
        add_type_means();
        add_overall_means();
        add_costs();
        add_columns();
        for (ComparedRow& row : view_.rows) finish(row);
        adjust();
        count_wins();
        say();
        return std::move(view_);
    }

  private:
    std::size_t groups() const { return comparison_.groups.size(); }

    /// The seeds' scores as the choice shows them.
    ComparedValue shown(const std::vector<double>& seeds, int direction = 1) const {
        ComparedValue value;
        value.seeds = seeds.size();
        if (seeds.empty()) return value;
        switch (direction == 0 && choice_.value == SeedValue::best ? SeedValue::mean : choice_.value) {
            case SeedValue::best:
                value.value = direction > 0 ? *std::max_element(seeds.begin(), seeds.end()) : *std::min_element(seeds.begin(), seeds.end());
                break;
            case SeedValue::last:
                value.value = seeds.back();
                break;
            default:
                value.value = mean(seeds);
                if (seeds.size() > 1) value.spread = standard_deviation(seeds);
        }
        return value;
    }

    /// Rows stand by task type in the papers' order, others after them as they first come.
    std::vector<std::string> task_types() const {
        std::vector<std::string> types;
        for (const char* usual : {"retrieval", "classification", "multilabel_classification", "clustering", "reranking",
                                  "pair_classification", "sts", "summarisation", "bitext_mining"})
            if (std::any_of(comparison_.sets.begin(), comparison_.sets.end(),
                            [&](const ComparedSet& set) { return set.task_type == usual; }))
                types.push_back(usual);
        for (const ComparedSet& set : comparison_.sets)
            if (std::find(types.begin(), types.end(), set.task_type) == types.end()) types.push_back(set.task_type);
        return types;
    }

    void add_sets() {
        for (const std::string& type : task_types())
            for (const ComparedSet& set : comparison_.sets)
                if (set.task_type == type) add_set(set);
    }

    void add_set(const ComparedSet& set) {
        ComparedRow row{ComparedRow::Kind::data_set, set.task_type, set.name, set.metric, 2, {}};
        for (std::size_t i = 0; i < groups(); ++i) {
            const auto found = comparison_.groups[i].scores.find(set.name);
            row.values.push_back(found == comparison_.groups[i].scores.end() ? ComparedValue{} : shown(found->second));
            row.values.back().outcome = test_on_set(choice_.test, comparison_, examples_, i, set.name, choice_.resampling);
        }
        view_.rows.push_back(std::move(row));
    }

    void add_type_means() {
        for (const std::string& type : task_types()) {
            std::vector<std::string> sets;
            for (const ComparedSet& set : common_sets(comparison_))
                if (set.task_type == type) sets.push_back(set.name);
            if (sets.size() < 2) continue;
            ComparedRow row{ComparedRow::Kind::type_mean, type, fmt::format("over {} data sets", sets.size()), "", 2, {}};
            for (const RunGroup& group : comparison_.groups) row.values.push_back(untested(shown(mean_of_sets(group, sets))));
            view_.rows.push_back(std::move(row));
        }
    }

    static std::vector<double> mean_of_sets(const RunGroup& group, const std::vector<std::string>& sets) {
        std::vector<double> means(group.runs.size(), 0);
        for (const std::string& set : sets)
            for (std::size_t run = 0; run < means.size(); ++run) means[run] += group.scores.at(set)[run] / static_cast<double>(sets.size());
        return means;
    }

    static ComparedValue untested(ComparedValue value) {
        value.outcome.reason = "tests speak of single data sets and of the mean over them";
        return value;
    }

    void add_overall_means() {
        const std::size_t sets = common_sets(comparison_).size();
        std::set<std::string> types;
        for (const ComparedSet& set : common_sets(comparison_)) types.insert(set.task_type);
        if (sets < 2) return add_gains();
        if (types.size() > 1) {
            ComparedRow row{ComparedRow::Kind::mean_over_types, "", fmt::format("over {} task types", types.size()), "", 2, {}};
            for (const RunGroup& group : comparison_.groups) row.values.push_back(untested(shown(means_over_types(comparison_, group))));
            view_.rows.push_back(std::move(row));
        }
        add_gains();
        ComparedRow row{ComparedRow::Kind::mean_over_sets, "", fmt::format("over {} data sets", sets), "", 2, {}};
        for (std::size_t i = 0; i < groups(); ++i) {
            row.values.push_back(shown(means_over_sets(comparison_, comparison_.groups[i])));
            row.values.back().outcome = view_.gains[i].outcome;
        }
        view_.rows.push_back(std::move(row));
    }

    void add_gains() {
        std::vector<TestOutcome*> family;
        view_.gains.resize(groups());
        for (std::size_t i = 0; i < groups(); ++i) {
            view_.gains[i].outcome = test_on_mean(choice_.test, comparison_, examples_, i, choice_.resampling);
            family.push_back(&view_.gains[i].outcome);
        }
        faceter::adjust(family, choice_.correction);
    }

    template <typename Member>
    void add_cost(std::string name, std::string unit, Member member, double scale, int decimals) {
        ComparedRow row{ComparedRow::Kind::cost, "", std::move(name), std::move(unit), decimals, {}};
        bool any = false;
        for (const RunGroup& group : comparison_.groups) {
            std::vector<double> costs;
            for (const ModelCost& cost : group.costs)
                if (const auto value = cost.*member) costs.push_back(static_cast<double>(*value) / scale);
            ComparedValue value;
            if (!costs.empty()) value.value = mean(costs), any = true;
            row.values.push_back(untested(value));
        }
        if (any) view_.rows.push_back(std::move(row));
    }

    void add_costs() {
        constexpr double million = 1e6, gib = 1073741824.0;
        add_cost("parameters", "M", &ModelCost::total_parameters, million, 1);
        add_cost("active parameters", "M", &ModelCost::active_parameters, million, 1);
        add_cost("multiply-adds a token", "M", &ModelCost::multiply_adds_per_token, million, 1);
        add_cost("peak memory", "GiB", &ModelCost::peak_memory_bytes, gib, 2);
    }

    void add_columns() {
        for (const Column& column : comparison_.columns) {
            ComparedRow row{ComparedRow::Kind::column, "", column.name, column.unit, column.decimals, {}};
            row.direction = column.better == Better::neither ? 0 : column.better == Better::higher ? 1 : -1;
            if (column.kind == ColumnKind::duration) row.metric = "s", row.decimals = 0;
            for (const RunGroup& group : comparison_.groups) {
                std::vector<double> seeds = group.numbers.at(column.name);
                std::erase_if(seeds, [](double value) { return std::isnan(value); });
                row.values.push_back(untested(shown(seeds, row.direction)));
            }
            view_.rows.push_back(std::move(row));
        }
    }

    void finish(ComparedRow& row) const {
        if (row.kind == ComparedRow::Kind::cost) return;
        const double scale = row.direction * std::pow(10.0, row.decimals);  // what prints equal is equally good
        double best = -INFINITY;
        std::size_t with_value = 0;
        for (ComparedValue& value : row.values) {
            if (std::isnan(value.value)) continue;
            if (comparison_.baseline) value.delta = value.value - row.values[*comparison_.baseline].value;
            best = std::max(best, std::round(value.value * scale));
            ++with_value;
        }
        for (ComparedValue& value : row.values)
            value.best = row.direction != 0 && with_value > 1 && std::round(value.value * scale) == best;
    }

    /// Each column's data sets are one family; the groups' means another (add_gains).
    void adjust() {
        for (std::size_t i = 0; i < groups(); ++i) {
            std::vector<TestOutcome*> family;
            for (ComparedRow& row : view_.rows)
                if (row.kind == ComparedRow::Kind::data_set) family.push_back(&row.values[i].outcome);
            faceter::adjust(family, choice_.correction);
        }
    }

    void count_wins() {
        for (const ComparedRow& row : view_.rows)
            for (std::size_t i = 0; row.kind == ComparedRow::Kind::data_set && i < groups(); ++i) {
                const ComparedValue& value = row.values[i];
                if (i == comparison_.baseline || std::isnan(value.delta)) continue;
                const bool tie = value.outcome.has_p() ? !value.outcome.is_significant() : std::abs(value.delta) <= choice_.tolerance;
                ++(tie ? view_.gains[i].ties : value.delta > 0 ? view_.gains[i].wins : view_.gains[i].losses);
            }
    }

    void say() {
        const CompareTestInfo& info = compare_test_info(choice_.test);
        const bool on_sets = observations_of(choice_.test) != "data sets";
        view_.test_sentence = fmt::format(
            "{} (two-sided; {} over {}): * p < 0.05, ** p < 0.01, *** p < 0.001", info.title, correction_name(choice_.correction),
            on_sets ? "the data sets of a column, and over the groups for the mean" : "the groups, for the mean over data sets");
        std::map<std::pair<std::string, std::string>, std::vector<std::string>> without_test;  // groups by row and reason
        bool any_p = false;
        for (const ComparedRow& row : view_.rows)
            for (std::size_t i = 0; i < row.values.size(); ++i) {
                const TestOutcome& outcome = row.values[i].outcome;
                if (row.kind == ComparedRow::Kind::data_set) any_p |= outcome.has_p();
                if (i == comparison_.baseline || outcome.has_p() || !comparison_.baseline) continue;
                if (row.kind == ComparedRow::Kind::data_set && on_sets)
                    without_test[{row.name, outcome.reason}].push_back(comparison_.groups[i].name);
                if (row.kind == ComparedRow::Kind::mean_over_sets)
                    without_test[{"mean over data sets", outcome.reason}].push_back(comparison_.groups[i].name);
            }
        for (const auto& [place, names] : without_test)  // of what no group has a test of none is named
            view_.reasons.push_back(fmt::format("{}{}: {}", place.first,
                                                names.size() + 1 < groups() ? fmt::format(" of {}", join(names, ", ")) : "", place.second));
        const std::string near = fmt::format("a difference of at most {:.2f} points", choice_.tolerance);
        view_.ties_rule = any_p
                              ? "A tie is a difference that is not significant (adjusted p of 0.05 or more); without a test, " + near + "."
                              : "A tie is " + near + ".";
    }

    const Comparison& comparison_;
    const ExampleScores& examples_;
    const CompareChoice& choice_;
    ComparisonView view_;
};

}  // namespace

std::string_view seed_value_name(SeedValue value) {
    switch (value) {
        case SeedValue::best:
            return "best seed";
        case SeedValue::last:
            return "last seed";
        default:
            return "mean over seeds";
    }
}

ComparisonView view_comparison(const Comparison& comparison, const ExampleScores& examples, const CompareChoice& choice) {
    return ViewMaker(comparison, examples, choice).make();
}

std::optional<std::size_t> group_of_run(const Comparison& comparison, std::string_view run) {
    for (std::size_t i = 0; i < comparison.groups.size(); ++i)
        for (const RunRow& row : comparison.groups[i].runs)
            if (row.info.id == run) return i;
    return std::nullopt;
}

}  // namespace faceter
