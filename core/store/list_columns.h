#pragma once
#include <string>
#include <vector>

#include "figure/table.h"
#include "store/store.h"

namespace faceter {

/// A column of a list of runs, one cell a row.
struct ListColumn {
    Column column;
    std::vector<Cell> cells;
    bool is_mean = false;  ///< of several data sets
};

/// One flag a row: the run lacks data sets that others of its experiment have, or is not done and has fewer than it is to be scored on. A
/// mean of it stands beside none of theirs: it leaves out what is hard, or easy.
std::vector<bool> partly_scored(Store& store, const std::vector<RunRow>& rows);

/// Columns by the names that filters know (filter.h): "seed", "scifact", "retrieval", "training.learning_rate", "loss:best", "loss:100".
/// Errors (settings): a name that stands for nothing, with the nearest; a series that no run of the store has.
/// Means of runs that are partly scored are left out.
std::vector<ListColumn> list_columns(Store& store, const std::vector<std::string>& names, const std::vector<RunRow>& rows);
/// By one of these columns; rows without a value stand last whatever the order, equal ones stay as they were.
void sort_rows(Store& store, const std::string& name, bool descending, std::vector<RunRow>& rows);

}  // namespace faceter
