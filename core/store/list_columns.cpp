#include "store/list_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "common/error.h"
#include "common/strings.h"
#include "experiment/result_names.h"
#include "store/filter_node.h"
#include "store/series_value.h"

namespace faceter {
namespace {

bool is_flag(FilterColumn column) { return column >= FilterColumn::archived && column <= FilterColumn::smoke; }

Column heading_of(const NamedColumn& named) {
    Column column;
    column.name = named.name;
    column.kind = ColumnKind::number;
    switch (named.column) {
        case FilterColumn::set:
        case FilterColumn::task_type:
        case FilterColumn::score:
            column.better = Better::higher;
            return column;
        case FilterColumn::series:
            if (const int direction = SeriesValue::parse(named.name).value().direction(); direction != 0)
                column.better = direction < 0 ? Better::lower : Better::higher;
            return column;
        case FilterColumn::loss:
            column.decimals = 4;
            column.better = Better::lower;
            return column;
        case FilterColumn::time:
            column.kind = ColumnKind::duration;
            return column;
        case FilterColumn::setting:
            column.kind = ColumnKind::text;
            return column;
        default:
            column.decimals = 0;
            if (is_text_column(named.column) || is_flag(named.column)) column.kind = ColumnKind::text;
            return column;
    }
}

Cell cell_of(const FilterData& data, const NamedColumn& named, std::size_t row) {
    switch (named.column) {
        case FilterColumn::set:
            return Cell::of(data.score(row, named.name));
        case FilterColumn::task_type:
            return Cell::of(data.type_mean(row, named.name));
        case FilterColumn::series:
            return Cell::of(data.series(row, named.name));
        case FilterColumn::setting: {
            const std::string* value = data.setting(row, named.name);
            return value ? Cell::of(*value) : Cell{};
        }
        default:
            break;
    }
    const RunRow& run = data.rows()[row];
    if (is_text_column(named.column)) return Cell::of(text_of_column(named.column, run));
    const double number = number_of_column(named.column, run);
    return is_flag(named.column) ? Cell::of(std::string(number != 0 ? "yes" : "no")) : Cell::of(number);
}

/// Trials of an experiment are scored by themselves; what is archived may be of an older form of its file.
std::string experiment_of(const RunInfo& info) { return info.experiment + (info.smoke ? "\nin small" : ""); }

/// 0 where the run's settings cannot be read here.
std::size_t planned_sets(Store& store, const RunRow& run) try {
    const std::vector<ResultOwner> owners = result_owners(store.settings(run.info.id));
    return static_cast<std::size_t>(
        std::count_if(owners.begin(), owners.end(), [](const ResultOwner& owner) { return owner.where.starts_with("evaluation."); }));
} catch (const Error&) {
    return 0;
}

/// Of no experiment of this project: each has the sets that it came with.
bool is_imported(const RunRow& run) { return run.info.method == "imported"; }

bool is_mean(const NamedColumn& named) { return named.column == FilterColumn::score || named.column == FilterColumn::task_type; }

ListColumn make_column(const FilterData& data, const NamedColumn& named, const std::vector<bool>& partly) {
    ListColumn made{heading_of(named), {}, is_mean(named)};
    std::vector<double> numbers;
    for (std::size_t row = 0; row < data.rows().size(); ++row) {
        made.cells.push_back(made.is_mean && partly[row] ? Cell{} : cell_of(data, named, row));
        numbers.push_back(made.cells.back().value);
    }
    if (named.column == FilterColumn::series) made.column.decimals = series_decimals(numbers);
    return made;
}

/// Numbers before texts, texts without regard to case; what is missing, and an empty text, after all.
struct SortKey {
    int place = 2;
    double number = 0;
    std::string text;

    explicit SortKey(const Cell& cell) {
        if (cell.kind == Cell::Kind::empty || (cell.kind == Cell::Kind::text && cell.text.empty())) return;
        const std::optional<double> read = cell.kind == Cell::Kind::number ? cell.value : parse_double(cell.text);
        place = read && std::isfinite(*read) ? 0 : 1;
        if (place == 0)
            number = *read;
        else
            text = lowercase_ascii(cell.text);
    }
};

bool before(const SortKey& a, const SortKey& b, bool descending) {
    if (a.place != b.place) return a.place < b.place;
    if (a.number != b.number) return (a.number < b.number) != descending;
    const int compared = a.text.compare(b.text);
    return compared != 0 && (compared < 0) != descending;
}

}  // namespace

std::vector<bool> partly_scored(Store& store, const std::vector<RunRow>& rows) {
    const RunScores scores = store.run_scores();
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < scores.runs.size(); ++i) places.emplace(scores.runs[i], i);
    std::map<std::string, std::set<std::size_t>> of_experiments;
    for (const RunRow& run : store.runs())
        if (const auto place = places.find(run.info.id); place != places.end() && !run.archived && !is_imported(run))
            for (std::size_t set = 0; set < scores.sets.size(); ++set)
                if (!std::isnan(scores.at(place->second, set))) of_experiments[experiment_of(run.info)].insert(set);
    std::vector<bool> partly;
    for (const RunRow& run : rows) {
        const auto place = places.find(run.info.id);
        const auto lacks = [&](std::size_t set) { return place == places.end() || std::isnan(scores.at(place->second, set)); };
        const std::set<std::size_t>& sets = of_experiments[experiment_of(run.info)];
        partly.push_back(run.num_scores > 0 && !is_imported(run) &&
                         (std::any_of(sets.begin(), sets.end(), lacks) ||
                          (run.state.phase != RunPhase::done && static_cast<std::size_t>(run.num_scores) < planned_sets(store, run))));
    }
    return partly;
}

std::vector<ListColumn> list_columns(Store& store, const std::vector<std::string>& names, const std::vector<RunRow>& rows) {
    const FilterNames known = filter_names(store);
    std::vector<NamedColumn> named;
    std::vector<std::string> settings, series;
    for (const std::string& name : names) {
        named.push_back(find_named_column(name, known));
        if (!named.back().problem.empty()) throw settings_error("column: {}", named.back().problem);
        if (named.back().column == FilterColumn::setting) settings.push_back(named.back().name);
        if (named.back().column == FilterColumn::series) series.push_back(named.back().name);
    }
    const FilterData data(store, settings, series, rows);
    std::vector<ListColumn> columns;
    const bool means = std::any_of(named.begin(), named.end(), is_mean);
    const std::vector<bool> partly = means ? partly_scored(store, rows) : std::vector<bool>(rows.size());
    for (const NamedColumn& one : named) columns.push_back(make_column(data, one, partly));
    return columns;
}

void sort_rows(Store& store, const std::string& name, bool descending, std::vector<RunRow>& rows) {
    const std::vector<ListColumn> columns = list_columns(store, {name}, rows);
    std::vector<SortKey> keys;
    for (const Cell& cell : columns.front().cells) keys.emplace_back(cell);
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return before(keys[a], keys[b], descending); });
    std::vector<RunRow> sorted;
    sorted.reserve(rows.size());
    for (const std::size_t place : order) sorted.push_back(std::move(rows[place]));
    rows = std::move(sorted);
}

}  // namespace faceter
