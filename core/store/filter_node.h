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
