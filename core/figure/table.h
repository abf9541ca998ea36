#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "stats/number.h"

namespace faceter {

/// How the numbers of a column are written (see format.h).
enum class ColumnKind {
    text,
    number,    ///< fixed decimals
    delta,     ///< fixed decimals, always with its sign
    p_value,   ///< 0.031, < 0.001
    count,     ///< whole, thousands set apart
    duration,  ///< seconds, written 2 min 14 s
    bytes      ///< written 1.40 GiB
};
enum class Alignment { automatic, left, right, centre };  ///< automatic: text left, numbers on the decimal point
enum class Better { neither, higher, lower };

struct Column {
    std::string name;
    std::string unit;
    std::string group;  ///< a heading over neighbouring columns of the same group; empty: none
    ColumnKind kind = ColumnKind::text;
    int decimals = 2;
    Alignment alignment = Alignment::automatic;
    Better better = Better::neither;  ///< which values `mark_best` marks
};

struct Cell {
    enum class Kind { empty, text, number };
    Kind kind = Kind::empty;
    std::string text;
    double value = 0;
    double spread = not_a_number;  ///< standard deviation; NaN: none
    std::int64_t n = 0;            ///< observations behind value and spread; 0: not said
    int stars = 0;                 ///< 0 to 3, significance of the difference the footnote names
    bool best = false;
    int decimals = -1;  ///< of this number alone, such as a learning rate among scores; -1: its column's

    static Cell of(std::string text);
    static Cell of(double value);  ///< NaN: an empty cell
    static Cell of(double value, double spread, std::int64_t n);
    Cell with_stars(int stars) const;
};

struct Row {
    std::vector<Cell> cells;
    bool rule_above = false;  ///< a line between groups of rows
};

/// A table as plain data. Exporters: table_text.h (terminal), table_export.h (csv, tsv, md, latex, json).
struct Table {
    std::string name;  ///< identifier; file name of tables/NAME.json
    std::string caption;
    std::vector<Column> columns;
    std::vector<Row> rows;
    bool best_of_row = false;            ///< what is marked as best is so among its row, not its column
    std::vector<std::string> footnotes;  ///< such as the test behind the stars, one sentence each

    Column& add_column(std::string name, ColumnKind kind, int decimals = 2, Better better = Better::neither);
    Row& add_row(std::vector<Cell> cells);
    /// Marks in each column with a `better` side the values that print equal to the best one; none where fewer than two rows have a value.
    void mark_best();
    /// Every row has a cell for each column, valid UTF-8; a data error otherwise.
    void validate() const;
    Json to_json() const;
    static Table from_json(const Json& json, std::string_view name);

    /// n of every mean with a spread where it is one and the same: then a note says it once; 0 otherwise.
    std::int64_t common_n() const;
    bool has_stars() const;
    bool has_best() const;
    /// Runs of neighbouring columns with one group name: (first, count); a column without a group is no part of any.
    struct Group {
        std::string name;
        std::size_t first = 0, count = 0;
    };
    std::vector<Group> groups() const;
};

}  // namespace faceter
