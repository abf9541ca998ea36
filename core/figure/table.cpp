#include "figure/table.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/strings.h"
#include "figure/format.h"

namespace faceter {

Cell Cell::of(std::string text) {
    Cell cell;
    cell.kind = Kind::text;
    cell.text = std::move(text);
    return cell;
}

Cell Cell::of(double value) {
    Cell cell;
    cell.kind = std::isnan(value) ? Kind::empty : Kind::number;
    cell.value = std::isnan(value) ? 0 : value;
    return cell;
}

Cell Cell::of(double value, double spread, std::int64_t n) {
    Cell cell = of(value);
    cell.spread = spread;
    cell.n = n;
    return cell;
}

Cell Cell::with_stars(int stars) const {
    Cell cell = *this;
    cell.stars = std::clamp(stars, 0, 3);
    return cell;
}

Column& Table::add_column(std::string name, ColumnKind kind, int decimals, Better better) {
    Column column;
    column.name = std::move(name);
    column.kind = kind;
    column.decimals = decimals;
    column.better = better;
    return columns.emplace_back(std::move(column));
}

Row& Table::add_row(std::vector<Cell> cells) { return rows.emplace_back(Row{std::move(cells), false}); }

void Table::mark_best() {
    for (std::size_t c = 0; c < columns.size(); ++c) {
        std::vector<Cell*> cells;
        for (Row& row : rows) {
            if (c >= row.cells.size() || row.cells[c].kind != Cell::Kind::number) continue;
            row.cells[c].best = false;
            cells.push_back(&row.cells[c]);
        }
        if (columns[c].better == Better::neither || cells.size() < 2) continue;
        const auto by_value = [](const Cell* a, const Cell* b) { return a->value < b->value; };
        const Cell* best = columns[c].better == Better::higher ? *std::max_element(cells.begin(), cells.end(), by_value)
                                                               : *std::min_element(cells.begin(), cells.end(), by_value);
        const std::string printed = format_value(columns[c], *best);
        for (Cell* cell : cells) cell->best = format_value(columns[c], *cell) == printed;
    }
}

namespace {

void check_text(const std::string& text, const std::string& table, std::string_view what) {
    if (!is_valid_utf8(text)) throw data_error("table {}: {} {} is not valid UTF-8", faceter::quoted(table), what, faceter::quoted(text));
}

void check_cell(const Cell& cell, const std::string& table) {
    check_text(cell.text, table, "the cell");
    if (cell.stars < 0 || cell.stars > 3)
        throw data_error("table {}: a cell has {} stars; expected 0 to 3", faceter::quoted(table), cell.stars);
    if (cell.n < 0) throw data_error("table {}: a cell has n = {}; expected 0 or more", faceter::quoted(table), cell.n);
    if (cell.decimals < -1 || cell.decimals > 15)
        throw data_error("table {}: a cell has {} decimals; expected 0 to 15", faceter::quoted(table), cell.decimals);
}

}  // namespace

void Table::validate() const {
    check_text(name, name, "the name");
    check_text(caption, name, "the caption");
    for (const Column& column : columns) {
        for (const auto* text : {&column.name, &column.unit, &column.group}) check_text(*text, name, "the heading");
        if (column.decimals < 0 || column.decimals > 15)
            throw data_error("table {}: column {} has {} decimals; expected 0 to 15", faceter::quoted(name), faceter::quoted(column.name),
                             column.decimals);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].cells.size() != columns.size())
            throw data_error("table {}: row {} has {} cells; expected {}, one for each column", faceter::quoted(name), r + 1,
                             rows[r].cells.size(), columns.size());
        for (const Cell& cell : rows[r].cells) check_cell(cell, name);
    }
    for (const std::string& note : footnotes) check_text(note, name, "the footnote");
}

std::int64_t Table::common_n() const {
    std::int64_t n = 0;
    for (const Row& row : rows)
        for (const Cell& cell : row.cells) {
            if (cell.kind != Cell::Kind::number || std::isnan(cell.spread)) continue;
            if (n != 0 && cell.n != n) return 0;
            n = cell.n;
        }
    return n;
}

namespace {

template <typename Predicate>
bool any_cell(const Table& table, Predicate holds) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const Row& row) { return std::any_of(row.cells.begin(), row.cells.end(), holds); });
}

}  // namespace

bool Table::has_stars() const {
    return any_cell(*this, [](const Cell& cell) { return cell.stars > 0; });
}

bool Table::has_best() const {
    return any_cell(*this, [](const Cell& cell) { return cell.best; });
}

std::vector<Table::Group> Table::groups() const {
    std::vector<Group> groups;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::string& name = columns[c].group;
        if (name.empty()) continue;
        if (!groups.empty() && groups.back().name == name && groups.back().first + groups.back().count == c)
            ++groups.back().count;
        else
            groups.push_back({name, c, 1});
    }
    return groups;
}

}  // namespace faceter
