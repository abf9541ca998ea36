#pragma once
#include <string>
#include <vector>

#include "store/filter.h"

namespace faceter {

enum class FilterColumn {
    run,
    experiment,
    variant,
    method,
    plugin,
    point,
    note,
    state,  // texts
    seed,
    step,
    steps,
    loss,
    score,
    time,
    attempts,
    series,  // numbers
    archived,
    pinned,
    smoke,  // flags
    created,
    tag,
    set,
    task_type,
    setting,
};
/// Null where no column has this name.
const FilterColumn* find_filter_column(std::string_view name);

/// What a name stands for.
struct NamedColumn {
    FilterColumn column = FilterColumn::run;
    std::string name;     ///< of the data set, setting (its whole key) or value of a series; of others as it was written
    std::string problem;  ///< empty: none
};
NamedColumn find_named_column(const std::string& text, const FilterNames& names);

constexpr bool is_text_column(FilterColumn column) {
    return column <= FilterColumn::state || column == FilterColumn::created || column == FilterColumn::tag;
}
/// NaN where the run has none, and of columns of texts.
double number_of_column(FilterColumn column, const RunRow& row);
/// Of a column of texts, as it is shown.
std::string text_of_column(FilterColumn column, const RunRow& row);

enum class FilterOperator { equal, unequal, less, less_equal, greater, greater_equal, contains, contains_not };

struct FilterNode {
    enum class Kind { all, any, negation, comparison } kind = Kind::comparison;
    std::vector<FilterNode> parts;  ///< of all, any, negation

    FilterColumn column = FilterColumn::run;  ///< of a comparison
    std::string name;                         ///< of the data set, task type, setting or value of a series
    FilterOperator op = FilterOperator::equal;
    std::vector<std::string> texts;  ///< lower case; several: `in`
    std::vector<double> numbers;     ///< the same as numbers (NaN: none); scores in percent
    bool matches(const FilterData& data, std::size_t row) const;
};

}  // namespace faceter
