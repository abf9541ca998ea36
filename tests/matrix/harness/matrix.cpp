#include "matrix/harness/matrix.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"

namespace faceter::matrix {
namespace {

using Pairs = std::set<std::pair<std::string, std::string>>;

/// What a cell covers: its column with every trait of its row, and its row by itself.
Pairs pairs_of(const CellName& cell, const std::vector<std::string>& row_traits) {
    Pairs pairs = {{"row", cell.row->name}};
    for (const std::string& trait : row_traits) pairs.emplace(trait, cell.column->name);
    return pairs;
}

std::size_t fresh_pairs(const Pairs& of_cell, const Pairs& missing) {
    return static_cast<std::size_t>(
        std::count_if(of_cell.begin(), of_cell.end(), [&](const auto& pair) { return missing.contains(pair); }));
}

/// Laws that each cell of a cover is tried by, and those that its cells share out.
const std::set<std::string> always = {"check", "train", "embed", "export", "peers"};

void share_laws_out(std::vector<CellName>& cover) {
    std::vector<std::string> laws = conform::all_laws;
    std::erase_if(laws, [](const std::string& law) { return always.contains(law); });
    std::map<const Column*, std::size_t> cells;
    std::map<const Row*, std::map<std::string, int>> of_row;
    for (const CellName& cell : cover) ++cells[cell.column];
    std::map<const Column*, std::vector<std::string>> left;
    for (const CellName& cell : cover) left[cell.column] = laws;
    for (CellName& cell : cover) {
        cell.laws = always;
        auto& open = left[cell.column];
        const std::size_t share = (laws.size() + cells[cell.column] - 1) / cells[cell.column];
        for (std::size_t i = 0; i < share && !open.empty(); ++i) {  // of those that are left, what the row has met least often
            const auto next = std::min_element(open.begin(), open.end(), [&](const std::string& a, const std::string& b) {
                return of_row[cell.row][a] < of_row[cell.row][b];
            });
            ++of_row[cell.row][*next];
            cell.laws.insert(*next);
            open.erase(next);
        }
    }
}

bool fits(const std::string& pattern, const std::string& name) { return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0; }

/// A cell that is refused keeps no law and breaks none.
bool was_tried(const CellResult& result, const std::string& law) {
    return result.limits.contains(law) || std::find(result.held.begin(), result.held.end(), law) != result.held.end();
}

}  // namespace

std::vector<CellName> all_cells(const std::vector<Row>& rows, const std::vector<Column>& columns) {
    std::vector<CellName> cells;
    for (const Row& row : rows)
        for (const Column& column : columns) cells.push_back({&row, &column});
    return cells;
}

std::vector<CellName> pairwise_cover(const std::vector<Row>& rows, const std::vector<Column>& columns) {
    std::vector<CellName> cells = all_cells(rows, columns), cover;
    std::map<const Row*, std::vector<std::string>> of_row;
    std::map<const Row*, int> used;
    for (const Row& row : rows) of_row[&row] = traits(row);
    Pairs missing;
    for (const CellName& cell : cells) missing.merge(pairs_of(cell, of_row[cell.row]));
    while (!missing.empty()) {
        const auto best = std::max_element(cells.begin(), cells.end(), [&](const CellName& a, const CellName& b) {
            const auto worth = [&](const CellName& c) {  // of equal ones that whose row stands there least often
                return std::pair(fresh_pairs(pairs_of(c, of_row[c.row]), missing), -used[c.row]);
            };
            return worth(a) < worth(b);
        });
        for (const auto& pair : pairs_of(*best, of_row[best->row])) missing.erase(pair);
        ++used[best->row];
        cover.push_back(*best);
    }
    share_laws_out(cover);
    return cover;
}

std::vector<CellName> shard_of(const std::vector<CellName>& cells, std::size_t index, std::size_t count) {
    std::vector<CellName> sorted = cells, shard;
    std::sort(sorted.begin(), sorted.end(), [](const CellName& a, const CellName& b) { return hash64(a.text()) < hash64(b.text()); });
    for (std::size_t i = index; i < sorted.size(); i += count) shard.push_back(sorted[i]);
    return shard;
}

bool KnownDefect::concerns(const CellResult& result) const { return fits(row, result.start) && fits(column, result.column); }

std::vector<KnownDefect> read_known_defects(const fs::path& file) {
    std::vector<KnownDefect> known;
    const std::string content = read_file(file);
    for (const std::string_view line : split(content, '\n')) {
        if (line.empty() || line.starts_with('#')) continue;
        const auto fields = split(line, '\t');
        if (fields.size() != 4)
            throw data_error("{}: '{}' has {} fields, expected row, column, law and why between tabs", file.string(), line, fields.size());
        known.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2]), std::string(fields[3])});
    }
    return known;
}

Verdict judge(const CellResult& result, const std::vector<KnownDefect>& known) {
    Verdict verdict;
    const auto is_known = [&](const Finding& finding) {
        return std::any_of(known.begin(), known.end(),
                           [&](const KnownDefect& defect) { return defect.law == finding.law && defect.concerns(result); });
    };
    for (const Finding& finding : result.wrong)
        if (!is_known(finding)) verdict.fresh.push_back(&finding);
    for (const KnownDefect& defect : known) {
        if (!defect.concerns(result)) continue;
        const bool broken = std::any_of(result.wrong.begin(), result.wrong.end(), [&](const Finding& f) { return f.law == defect.law; });
        if (broken) verdict.stands.push_back(&defect);
        if (!broken && was_tried(result, defect.law)) verdict.gone.push_back(&defect);
    }
    return verdict;
}

std::string summary(const std::vector<CellResult>& results, const std::vector<KnownDefect>& known) {
    std::size_t hold = 0, refused = 0, wrong_known = 0, wrong = 0;
    for (const CellResult& result : results) {
        const Verdict verdict = judge(result, known);
        if (!verdict.fresh.empty() || !verdict.gone.empty())
            ++wrong;
        else if (!result.wrong.empty())
            ++wrong_known;
        else
            ++(result.refused.empty() ? hold : refused);
    }
    const std::string of_known = wrong_known > 0 ? fmt::format("{} wrong (known), ", wrong_known) : "";
    return fmt::format("{} cells: {} hold, {} refused, {}{} wrong", results.size(), hold, refused, of_known, wrong);
}

std::vector<std::string> never_tried(const std::vector<CellResult>& results) {
    std::map<std::string, int> cells, refused;
    for (const CellResult& result : results) {
        ++cells[result.column];
        refused[result.column] += result.refused.empty() ? 0 : 1;
    }
    std::vector<std::string> columns;
    for (const auto& [column, all] : cells)
        if (all > 1 && refused[column] == all) columns.push_back(column);
    return columns;
}

}  // namespace faceter::matrix
