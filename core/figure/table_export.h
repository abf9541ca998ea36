#pragma once
#include <span>
#include <string>
#include <string_view>

#include "figure/table.h"

namespace faceter {

enum class TableFormat { text, csv, tsv, md, latex, json };

/// "text", "csv", "tsv", "md", "latex", "json".
std::span<const std::string_view> table_format_names();
/// A usage error for any other word.
TableFormat parse_table_format(std::string_view name);

struct TextTableOptions {
    int width = 100;        ///< columns of the terminal; a wider table wraps its headers and texts, then goes on in further blocks
    bool styled = false;    ///< bold and dim escape sequences; only for a terminal
    bool may_turn = false;  ///< a table that would need several blocks is written with rows as columns
};

/// For a terminal: columns on their decimal point, width counted in terminal cells, control characters of cells made visible.
std::string table_to_text(const Table& table, const TextTableOptions& options = {});
/// RFC 4180 (but lines end in a line feed alone) with full-precision numbers; spread, n and stars in columns of their own ("NAME std",
/// "NAME n", "NAME stars") where any cell has them. A cell that a spreadsheet would take for a formula gets an apostrophe in front.
std::string table_to_csv(const Table& table);
/// The same columns, separated by tabs; tabs and line breaks inside a cell become spaces.
std::string table_to_tsv(const Table& table);
/// GitHub-flavoured Markdown; best values in bold.
std::string table_to_markdown(const Table& table);
/// A complete `table` environment; needs booktabs only. Best values in bold, stars as superscripts.
std::string table_to_latex(const Table& table);
/// The fragments of `tables` in a document that compiles on its own (article, booktabs, UTF-8).
std::string latex_document(std::span<const Table> tables);
/// A `table` element and its notes as paragraphs of class "note"; no style of its own, nothing that a script could do. For pages that hold
/// other things too (core/compare/report.h), so it is none of the formats below.
std::string table_to_html(const Table& table);
/// Any of them.
std::string export_table(const Table& table, TableFormat format, const TextTableOptions& options = {});

}  // namespace faceter
