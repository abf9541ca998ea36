#include "compare/compare_view_table.h"

#include <algorithm>
#include <cmath>

#include "common/json_text.h"
#include "compare/rank_intervals.h"
#include "figure/format.h"

namespace faceter {
namespace {

bool is_default(const CompareChoice& choice) {
    return choice.test == CompareTest::paired_sets && choice.value == SeedValue::mean && choice.correction == Correction::holm;
}

Cell cell_of(const ComparedValue& value) {
    Cell cell =
        std::isnan(value.spread) ? Cell::of(value.value) : Cell::of(value.value, value.spread, static_cast<std::int64_t>(value.seeds));
    cell.best = value.best && cell.kind == Cell::Kind::number;
    return cell;
}

/// Columns of scores have two decimals, which say nothing of a learning rate.
Cell with_decimals_of(const ComparedRow& row, Cell cell) {
    if (row.decimals > 2 && cell.kind == Cell::Kind::number) cell.decimals = row.decimals;
    return cell;
}

Cell delta_cell(const ComparedValue& value) { return Cell::of(value.delta).with_stars(value.outcome.stars()); }

std::string row_label(const ComparedRow& row) {
    switch (row.kind) {
        case ComparedRow::Kind::data_set:
            return row.task_type;
        case ComparedRow::Kind::type_mean:
            return "mean, " + row.task_type;
        case ComparedRow::Kind::cost:
            return "cost";
        case ComparedRow::Kind::column:
            return "run";
        default:
            return "mean";
    }
}

/// The test, why some cells have none, which seed is shown.
void add_test_notes(const Comparison& comparison, const ComparisonView& view, Table& table) {
    if (view.choice.value != SeedValue::mean)
        table.footnotes.push_back(
            fmt::format("Where a row has several seeds: the {}; tests take all seeds.", seed_value_name(view.choice.value)));
    if (!view.baseline) return;
    const CompareTestInfo& info = compare_test_info(view.choice.test);
    table.footnotes.push_back(fmt::format("Stars against {}: {}.", comparison.groups[*view.baseline].name, view.test_sentence));
    table.footnotes.push_back(fmt::format("{} {}", info.speaks_for, info.assumption));
    for (std::size_t i = 0; i < comparison.groups.size(); ++i)
        if (i != *view.baseline && view.gains[i].outcome.has_p())
            table.footnotes.push_back(
                fmt::format("{}: {}.", comparison.groups[i].name, describe_outcome(view.choice.test, view.gains[i].outcome)));
    for (const std::string& reason : view.reasons) table.footnotes.push_back("No test on " + reason + ".");
}

void add_group_columns(const Comparison& comparison, const ComparisonView& view, Table& table) {
    table.add_column("task", ColumnKind::text);
    table.add_column("data set", ColumnKind::text);
    table.add_column("metric", ColumnKind::text);
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
        table.add_column(comparison.groups[i].name, ColumnKind::number, 2, Better::higher);
        if (!view.baseline || i == *view.baseline) continue;
        Column& delta = table.add_column(fmt::format("{} - {}", comparison.groups[i].name, comparison.groups[*view.baseline].name),
                                         ColumnKind::delta, 2);
        delta.group = "";
    }
}

Cell published_cell(const PublishedColumn& column, const ComparedRow& row) {
    const PublishedRow* line = published_row(column.table, row);
    return line ? Cell::of(line->values.at(column.model)) : Cell{};
}

/// A paper's mean is over all its data sets, whichever the row's is over.
void add_published_means(const ComparisonView& view, const std::vector<PublishedColumn>& published, Table& table) {
    for (const PublishedColumn& column : published)
        for (const ComparedRow& row : view.rows) {
            const PublishedRow* line = published_row(column.table, row);
            if (!line || !line->dataset.empty() || line->sets == 0) continue;
            std::string note = fmt::format("{}, {}: over {} data set{}; the row's mean is {}.", column.table.heading(), line->label,
                                           line->sets, line->sets == 1 ? "" : "s", row.name);
            if (std::find(table.footnotes.begin(), table.footnotes.end(), note) == table.footnotes.end())
                table.footnotes.push_back(std::move(note));
        }
}

void add_published(const ComparisonView& view, const std::vector<PublishedColumn>& published, Table& table) {
    add_published_means(view, published, table);
    for (const PublishedColumn& column : published) {
        table.add_column(column.heading(), column.table.is_gain(column.model) ? ColumnKind::delta : ColumnKind::number, 2).group =
            column.table.heading();
        for (std::size_t i = 0; i < view.rows.size(); ++i) {
            table.rows[i].cells.push_back(published_cell(column, view.rows[i]));
            const PublishedRow* line = published_row(column.table, view.rows[i]);
            const std::string slip = line ? column.table.slip_of(column.model, *line) : "";
            if (!slip.empty())
                table.footnotes.push_back(fmt::format("{}, {}, {}: {}.", column.table.heading(), column.heading(), line->label, slip));
        }
    }
    std::vector<std::string> sources;
    for (const PublishedColumn& column : published) {
        const std::string source =
            column.table.source() + (column.table.gains_over.empty() ? "" : ", gains over its " + column.table.gains_over);
        if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
    }
    for (const std::string& source : sources) table.footnotes.push_back("Published: " + source + ".");
}

Json outcome_json(const TestOutcome& outcome, Correction correction) {
    if (!outcome.has_p()) return {{"p", nullptr}, {"reason", outcome.reason}};
    Json json = {{"p", number_to_json(outcome.p)},
                 {correction == Correction::holm ? "p_holm" : "p_bh", number_to_json(outcome.p_adjusted)},
                 {"difference", number_to_json(outcome.difference)},
                 {"interval", outcome.interval.to_json()},
                 {"n", outcome.n}};
    if (!outcome.effect_name.empty()) json["effect"] = {{"name", outcome.effect_name}, {"value", number_to_json(outcome.effect)}};
    if (!outcome.method.empty()) json["method"] = outcome.method;
    if (!outcome.warning.empty()) json["warning"] = outcome.warning;
    return json;
}

}  // namespace

const PublishedRow* published_row(const PublishedTable& table, const ComparedRow& row) {
    switch (row.kind) {
        case ComparedRow::Kind::data_set:
            return table.dataset_row(row.name);
        case ComparedRow::Kind::type_mean:
            return table.type_row(row.task_type);
        case ComparedRow::Kind::mean_over_sets:
            return table.mean_row();
        default:
            return nullptr;
    }
}

Table comparison_table(const Comparison& comparison, const ComparisonView& view) {
    if (is_default(view.choice)) return comparison_table(comparison);
    Comparison untested = comparison;
    untested.baseline.reset();
    Table table = comparison_table(untested);
    for (const ComparedRow& row : view.rows) {
        std::size_t column = 0;
        if (row.kind == ComparedRow::Kind::mean_over_sets) column = 1 + comparison.sets.size();
        if (row.kind == ComparedRow::Kind::mean_over_types) column = 2 + comparison.sets.size();
        for (std::size_t s = 0; row.kind == ComparedRow::Kind::data_set && s < comparison.sets.size(); ++s)
            if (comparison.sets[s].name == row.name) column = 1 + s;
        for (std::size_t i = 0; column > 0 && i < row.values.size(); ++i)
            table.rows[i].cells[column] = cell_of(row.values[i]).with_stars(row.values[i].outcome.stars());
    }
    table.mark_best();
    std::vector<std::string> notes = std::move(table.footnotes);
    table.footnotes.clear();
    const bool several = view.choice.value == SeedValue::mean;
    for (const std::string& note : notes)
        if (several || note.find("mean +- standard deviation over seeds") == std::string::npos) table.footnotes.push_back(note);
    add_test_notes(comparison, view, table);
    return table;
}

Table comparison_by_set_table(const Comparison& comparison, const ComparisonView& view, const std::vector<PublishedColumn>& published) {
    Table table;
    table.name = "comparison";
    table.caption = "Scores in percent, higher is better";
    table.best_of_row = true;
    add_group_columns(comparison, view, table);
    const ComparedRow* above = nullptr;
    for (const ComparedRow& row : view.rows) {
        std::vector<Cell> cells{Cell::of(row_label(row)), Cell::of(row.name), Cell::of(row.metric)};
        for (std::size_t i = 0; i < row.values.size(); ++i) {
            cells.push_back(with_decimals_of(row, cell_of(row.values[i])));
            if (!view.baseline || i == *view.baseline) continue;
            cells.push_back(with_decimals_of(row, delta_cell(row.values[i])));
        }
        table.add_row(std::move(cells)).rule_above = above && above->kind != row.kind;
        above = &row;
    }
    add_test_notes(comparison, view, table);
    if (const std::string ranks = rank_intervals(comparison).sentence(comparison); !ranks.empty()) table.footnotes.push_back(ranks);
    add_published(view, published, table);
    for (const std::string& note : comparison.notes) table.footnotes.push_back(note + ".");
    return table;
}

Json comparison_json(const Comparison& comparison, const ComparisonView& view) {
    Json json = comparison_json(comparison);
    if (is_default(view.choice)) return json;
    Json means = Json::object(), sets = Json::object();
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
        if (!view.baseline || i == *view.baseline) continue;
        means[comparison.groups[i].name] = outcome_json(view.gains[i].outcome, view.choice.correction);
        for (const ComparedRow& row : view.rows)
            if (row.kind == ComparedRow::Kind::data_set)
                sets[row.name][comparison.groups[i].name] = outcome_json(row.values[i].outcome, view.choice.correction);
    }
    const CompareTestInfo& info = compare_test_info(view.choice.test);
    json["test"] = {{"name", info.name},
                    {"assumption", info.assumption},
                    {"correction", view.choice.correction == Correction::holm ? "holm" : "benjamini-hochberg"},
                    {"means", means},
                    {"data_sets", sets}};
    return json;
}

std::string export_comparison(const Comparison& comparison, const ComparisonView& view, const std::vector<PublishedColumn>& published,
                              ComparisonLayout layout, TableFormat format) {
    if (layout == ComparisonLayout::sets_down) return export_table(comparison_by_set_table(comparison, view, published), format);
    if (format == TableFormat::json) return json_text(comparison_json(comparison, view), 2) + "\n";
    return export_table(comparison_table(comparison, view), format);
}

}  // namespace faceter
