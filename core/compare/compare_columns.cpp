#include "compare/compare_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/error.h"
#include "common/strings.h"
#include "stats/descriptive.h"
#include "store/list_columns.h"

namespace faceter {
namespace {

std::vector<RunRow> rows_of(const Comparison& comparison) {
    std::vector<RunRow> rows;
    for (const RunGroup& group : comparison.groups) rows.insert(rows.end(), group.runs.begin(), group.runs.end());
    return rows;
}

/// Settings are texts that may be numbers.
double number_of(const Cell& cell) {
    if (cell.kind == Cell::Kind::number) return cell.value;
    return cell.kind == Cell::Kind::text ? parse_double(cell.text).value_or(not_a_number) : not_a_number;
}

bool has_numbers(const ListColumn& column) {
    return std::all_of(column.cells.begin(), column.cells.end(),
                       [](const Cell& cell) { return cell.kind != Cell::Kind::text || cell.text.empty() || !std::isnan(number_of(cell)); });
}

/// [groups][runs], as the cells of rows_of() stand.
std::vector<std::vector<double>> by_group(const ListColumn& column, const Comparison& comparison) {
    std::vector<std::vector<double>> numbers;
    std::size_t row = 0;
    for (const RunGroup& group : comparison.groups) {
        numbers.emplace_back();
        for (std::size_t run = 0; run < group.runs.size(); ++run) numbers.back().push_back(number_of(column.cells[row++]));
    }
    return numbers;
}

double mean_of_known(std::vector<double> values) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    return values.empty() ? not_a_number : mean(values);
}

}  // namespace

void add_columns(Store& store, const std::vector<std::string>& names, Comparison& comparison) {
    const std::vector<ListColumn> columns = list_columns(store, names, rows_of(comparison));
    for (const ListColumn& one : columns) {
        if (!has_numbers(one))
            throw settings_error("column {}: a comparison shows numbers beside the scores, and this is text; faceter list shows it",
                                 faceter::quoted(one.column.name));
        comparison.columns.push_back(one.column);
        const auto numbers = by_group(one, comparison);
        for (std::size_t i = 0; i < numbers.size(); ++i) comparison.groups[i].numbers[one.column.name] = numbers[i];
    }
}

void sort_groups(Store& store, const std::string& name, bool descending, Comparison& comparison) {
    std::vector<double> keys;
    for (const std::vector<double>& numbers : by_group(list_columns(store, {name}, rows_of(comparison)).front(), comparison))
        keys.push_back(mean_of_known(numbers));
    std::vector<std::size_t> order(comparison.groups.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (std::isnan(keys[a]) || std::isnan(keys[b])) return !std::isnan(keys[a]) && std::isnan(keys[b]);
        return keys[a] != keys[b] && (keys[a] < keys[b]) != descending;
    });
    std::vector<RunGroup> sorted;
    std::optional<std::size_t> baseline;
    for (const std::size_t place : order) {
        if (place == comparison.baseline) baseline = sorted.size();
        sorted.push_back(std::move(comparison.groups[place]));
    }
    comparison.groups = std::move(sorted);
    comparison.baseline = baseline;
}

}  // namespace faceter
