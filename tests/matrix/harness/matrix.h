#pragma once
#include <set>
#include <string>
#include <vector>

#include "conform/cell.h"
#include "matrix/harness/columns.h"
#include "matrix/harness/rows.h"

namespace faceter::matrix {

using conform::CellResult;
using conform::Column;
using conform::Finding;

struct CellName {
    const Row* row;
    const Column* column;
    std::set<std::string> laws{};  ///< which are tried; empty: all
    std::string text() const { return row->name + " x " + column->name; }
};

/// Rows times columns, row by row.
std::vector<CellName> all_cells(const std::vector<Row>& rows, const std::vector<Column>& columns);

/// Few cells in which every column meets every trait that the rows have (rows.h), and which name every row: what continuous integration
/// runs.
/// In each the laws of every cell are tried, and of the others so many that every column meets every law.
std::vector<CellName> pairwise_cover(const std::vector<Row>& rows, const std::vector<Column>& columns);

/// The cells of one of `count` shards: about equally many, spread over rows and columns.
std::vector<CellName> shard_of(const std::vector<CellName>& cells, std::size_t index, std::size_t count);

/// A defect that stands: in cells whose names fit both patterns (of a shell), the law is broken.
struct KnownDefect {
    std::string row, column, law, why;
    bool concerns(const CellResult& result) const;
};
/// Lines of four fields between tabs; '#' begins a comment.
std::vector<KnownDefect> read_known_defects(const fs::path& file);

/// A cell against the known defects.
struct Verdict {
    std::vector<const Finding*> fresh;       ///< broken, and not known
    std::vector<const KnownDefect*> stands;  ///< known, and still so
    std::vector<const KnownDefect*> gone;    ///< known, but the law was tried and holds: the line must go
};
Verdict judge(const CellResult& result, const std::vector<KnownDefect>& known);

/// "N cells: n hold, r refused, w wrong", with ", k wrong (known)" in front of the last where there are any.
std::string summary(const std::vector<CellResult>& results, const std::vector<KnownDefect>& known);

/// Columns that every start model refused, where there were several: nothing of them was tried.
std::vector<std::string> never_tried(const std::vector<CellResult>& results);

}  // namespace faceter::matrix
