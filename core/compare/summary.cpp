#include "compare/summary.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/strings.h"
#include "figure/format.h"

namespace faceter {
namespace {

constexpr std::size_t most_set_columns = 5, most_named = 4;  // data sets

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& words) {
    if (words.size() < 2) return words.empty() ? "" : words.front();
    return join(std::span(words).first(words.size() - 1), ", ") + " and " + words.back();
}

std::string number_of(std::size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

/// Of all of a group's runs, each.
double mean_seconds(const RunGroup& group) {
    double sum = 0;
    for (const RunRow& run : group.runs) sum += run.state.active_s;
    return sum / static_cast<double>(group.runs.size());
}

class Summariser {
  public:
    Summariser(const Comparison& comparison, const ComparisonView& view) : comparison_(comparison), view_(view) {
        for (const ComparedRow& row : view.rows) {
            if (row.kind == ComparedRow::Kind::data_set) sets_.push_back(&row);
            if (row.kind == ComparedRow::Kind::type_mean) types_.push_back(&row);
            if (row.kind == ComparedRow::Kind::mean_over_sets) mean_ = &row;
        }
    }

    ComparisonSummary make() const {
        ComparisonSummary summary{table(), {compared()}, ""};
        for (std::string sentence : {won(), chance(), cost(), trial()})
            if (!sentence.empty()) summary.sentences.push_back(std::move(sentence));
        if (trial().empty()) summary.next = next();
        return summary;
    }

  private:
    const RunGroup& group(std::size_t i) const { return comparison_.groups[i]; }
    std::size_t groups() const { return comparison_.groups.size(); }
    bool is_baseline(std::size_t i) const { return comparison_.baseline == i; }

    Table table() const {
        Table table;
        table.name = "summary";
        table.caption = "Scores in percent, higher is better";
        std::vector<const ComparedRow*> columns = sets_.size() <= most_set_columns ? sets_ : types_;
        if (mean_) columns.push_back(mean_);
        table.add_column("run", ColumnKind::text);
        for (const ComparedRow* column : columns)
            table.add_column(column == mean_                    ? "mean"
                             : sets_.size() <= most_set_columns ? column->name
                                                                : column->task_type,
                             ColumnKind::number, 2, Better::higher);
        table.add_column("time", ColumnKind::duration);
        for (std::size_t i = 0; i < groups(); ++i) {
            std::vector<Cell> cells{Cell::of(label(i))};
            for (const ComparedRow* column : columns) cells.push_back(cell(column->values[i]));
            cells.push_back(Cell::of(mean_seconds(group(i))));
            table.add_row(std::move(cells));
        }
        table.mark_best();
        return table;
    }

    /// By the name that commands take where it is one run.
    std::string label(std::size_t i) const {
        const RunGroup& one = group(i);
        return one.runs.size() == 1 ? one.runs.front().info.shown_name() : fmt::format("{} ({} seeds)", one.name, one.runs.size());
    }

    static Cell cell(const ComparedValue& value) {
        if (std::isnan(value.spread)) return Cell::of(value.value);
        return Cell::of(value.value, value.spread, static_cast<std::int64_t>(value.seeds));
    }

    /// With several start models each run began from one of them.
    bool is_start_of_all(std::size_t i) const {
        const auto& all = comparison_.groups;
        return group(i).method == "start" &&
               std::count_if(all.begin(), all.end(), [](const RunGroup& one) { return one.method == "start"; }) == 1;
    }

    std::string compared() const {
        std::vector<std::string> names;
        std::size_t runs = 0;
        for (std::size_t i = 0; i < groups(); ++i) {
            runs += group(i).runs.size();
            if (!is_baseline(i) || (groups() == 1 && group(i).method != "start")) names.push_back(group(i).name);
        }
        const std::string where = fmt::format("on {}, in {}", number_of(sets_.size(), "data set"), number_of(runs, "run"));
        if (names.empty()) return fmt::format("Nothing to compare yet: {} alone, {}.", group(0).name, where);
        const std::string against =
            comparison_.baseline && groups() > 1
                ? fmt::format(" with {}{}", group(*comparison_.baseline).name,
                              is_start_of_all(*comparison_.baseline) ? ", the model that they began from untrained" : "")
                : "";
        return fmt::format("Compared: {}{}, {}.", listed(names), against, where);
    }

    /// Nothing with one group alone.
    std::string won() const {
        if (groups() < 2 || sets_.empty()) return "";
        std::vector<std::string> wins;
        for (std::size_t i = 0; i < groups(); ++i) {
            std::vector<std::string> where;
            for (const ComparedRow* set : sets_)
                if (set->values[i].best) where.push_back(set->name);
            if (where.size() > most_named) where = {number_of(where.size(), "data set")};
            if (!where.empty()) wins.push_back(fmt::format("{} on {}", group(i).name, listed(where)));
        }
        std::string text = wins.empty() ? "No data set was scored by two." : "Highest: " + join(wins, "; ") + ".";
        if (const std::vector<std::size_t> best = best_on_average(); !best.empty()) {
            const ComparedValue& value = mean_->values[best.front()];
            const std::string gain =
                std::any_of(best.begin(), best.end(), [this](std::size_t i) { return is_baseline(i); }) || std::isnan(value.delta)
                    ? std::string()
                    : fmt::format(", {} points against {}", format_delta(value.delta, 2), group(*comparison_.baseline).name);
            std::vector<std::string> names;
            for (const std::size_t i : best) names.push_back(group(i).name);
            text += fmt::format(" On average over the data sets {} ({:.2f}{}).", listed(names), value.value, gain);
        }
        return text;
    }

    /// Several where they are equal.
    std::vector<std::size_t> best_on_average() const {
        std::vector<std::size_t> best;
        for (std::size_t i = 0; mean_ && i < groups(); ++i)
            if (mean_->values[i].best) best.push_back(i);
        return best;
    }

    bool is_over_sets() const { return observations_of(view_.choice.test) == "data sets"; }

    /// What the chosen test speaks of: each data set, or their mean alone.
    std::vector<const ComparedRow*> tested_rows() const {
        if (!is_over_sets()) return sets_;
        return mean_ ? std::vector{mean_} : std::vector<const ComparedRow*>();
    }

    std::string chance() const {
        if (!comparison_.baseline || groups() < 2) return "";
        std::vector<std::string> certain;
        std::set<std::string> reasons;
        std::size_t tested = 0, untested = 0;
        for (std::size_t i = 0; i < groups(); ++i) {
            std::vector<std::string> where;
            std::vector<double> differences;
            for (const ComparedRow* row : tested_rows()) {
                if (is_baseline(i) || std::isnan(row->values[i].delta)) continue;
                const TestOutcome& outcome = row->values[i].outcome;
                ++(outcome.has_p() ? tested : untested);
                if (!outcome.has_p()) reasons.insert(outcome.reason);
                if (!outcome.is_significant()) continue;
                where.push_back(fmt::format("{} ({})", row == mean_ ? "average" : row->name, format_delta(outcome.difference, 2)));
                differences.push_back(outcome.difference);
            }
            if (where.size() > most_named) {
                const auto [least, most] = std::minmax_element(differences.begin(), differences.end());
                const std::string low = format_delta(*least, 2), high = format_delta(*most, 2);
                where = {fmt::format("{} ({})", number_of(where.size(), "data set"), low == high ? "each " + low : low + " to " + high)};
            }
            if (!where.empty()) certain.push_back(fmt::format("{} on {}", group(i).name, listed(where)));
        }
        if (tested == 0)
            return fmt::format(
                "Whether that is more than chance cannot be said: {}.",
                reasons.size() == 1 ? *reasons.begin() : "of no data set is there a test, and 'faceter compare' has the reasons");
        const std::string left = untested > 0 ? fmt::format(" {} could not be tested.", number_of(untested, "difference")) : "";
        const std::string among = fmt::format("among these {}", observations_of(view_.choice.test));
        const std::string rest = certain.empty()
                                     ? fmt::format("No difference to {} is more than chance {}", group(*comparison_.baseline).name, among)
                                     : fmt::format("More than chance {}: {}", among, join(certain, "; "));
        return fmt::format("{} ({}, {} over the {}, p < 0.05).{}{}", rest, compare_test_info(view_.choice.test).title,
                           correction_name(view_.choice.correction), is_over_sets() ? "groups" : "data sets", left, one_seed());
    }

    std::string one_seed() const {
        const bool several = std::any_of(comparison_.groups.begin(), comparison_.groups.end(),
                                         [](const RunGroup& one) { return one.method != "start" && one.runs.size() > 1; });
        return several ? "" : " What another seed would give, one seed does not tell.";
    }

    std::string cost() const {
        std::vector<std::string> costs;
        for (std::size_t i = 0; i < groups(); ++i) {
            if (group(i).method == "start") continue;
            std::string text = fmt::format("{} {}", group(i).name, format_duration(mean_seconds(group(i))));
            if (!group(i).costs.empty() && group(i).costs.front().total_parameters) {
                const ModelCost& cost = group(i).costs.front();
                text += fmt::format(" and {:.1f} M parameters", static_cast<double>(*cost.total_parameters) / 1e6);
                if (cost.active_parameters && *cost.active_parameters != *cost.total_parameters)
                    text += fmt::format(" ({:.1f} M in use for a text)", static_cast<double>(*cost.active_parameters) / 1e6);
            }
            costs.push_back(std::move(text));
        }
        return costs.empty() ? "" : "Cost a run: " + join(costs, "; ") + ".";
    }

    std::string trial() const {
        const bool smoke = std::any_of(comparison_.groups.begin(), comparison_.groups.end(),
                                       [](const RunGroup& one) { return one.runs.front().info.smoke; });
        return smoke ? "These were trials of a few steps, so the scores mean nothing: made without --smoke, they train for real." : "";
    }

    std::string next() const {
        bool several = false, trained = false;
        for (const RunGroup& one : comparison_.groups) {
            several |= one.runs.size() > 1;
            trained |= one.method != "start";
        }
        return fmt::format("Next: {}'faceter compare' has every test, 'faceter report --output report.html' everything on one page{}.",
                           several || !trained ? "" : "'faceter run' with --seeds 1,2,3 says what a seed changes; ", similar());
    }

    /// Where two trained groups have the analysis, most likely: the plugin's own words are with the figures.
    std::string similar() const {
        std::vector<std::string> trained;
        for (std::size_t i = 0; i < groups(); ++i)
            if (group(i).method != "start" && group(i).method != "imported") trained.push_back(group(i).runs.front().info.shown_name());
        if (trained.size() < 2) return "";
        return fmt::format(", 'faceter examples {} {}' the queries that changed", trained.front(), trained.back());
    }

    const Comparison& comparison_;
    const ComparisonView& view_;
    std::vector<const ComparedRow*> sets_, types_;
    const ComparedRow* mean_ = nullptr;
};

}  // namespace

ComparisonSummary summarise(const Comparison& comparison, const ComparisonView& view) { return Summariser(comparison, view).make(); }

}  // namespace faceter
