#include <fmt/format.h>

#include <cmath>

#include "figure/escape.h"
#include "figure/format.h"
#include "figure/table_export.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

/// For characters that the document's fonts lack; XeLaTeX and LuaLaTeX users may define it as #2.
constexpr std::string_view unicode_macro = "\\providecommand{\\faceterunicode}[2]{\\texttt{U+#1}}\n";

/// A formatted number in text mode: signs of mathematics, nothing of it taken as markup.
std::string number_text(const Column& column, const Cell& cell) {
    std::string text = format_value(column, cell);
    if (text == "inf" || text == "-inf") return text.front() == '-' ? "$-\\infty$" : "$\\infty$";
    std::string sign;
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
        sign = fmt::format("${}$", text.front());
        text.erase(0, 1);
    }
    return sign + escape_latex(text);
}

std::string cell_text(const Column& column, const Cell& cell, bool with_n) {
    if (cell.kind == Cell::Kind::empty) return column.kind == ColumnKind::text ? "" : "--";
    std::string text = cell.kind == Cell::Kind::text ? escape_latex(cell.text) : number_text(column, cell);
    if (cell.best) text = fmt::format("\\textbf{{{}}}", text);
    if (!std::isnan(cell.spread)) text += fmt::format(" {{\\footnotesize$\\pm$\\,{}}}", escape_latex(format_spread(column, cell)));
    if (with_n && cell.n > 0) text += fmt::format(" {{\\footnotesize($n = {}$)}}", cell.n);
    if (cell.stars > 0) text += fmt::format("\\rlap{{$^{{{}}}$}}", std::string(static_cast<std::size_t>(cell.stars), '*'));
    return text;
}

char alignment_letter(const Column& column) {
    if (column.alignment == Alignment::left) return 'l';
    if (column.alignment == Alignment::centre) return 'c';
    return column.kind == ColumnKind::text && column.alignment == Alignment::automatic ? 'l' : 'r';
}

std::string group_rows(const Table& table) {
    const auto groups = table.groups();
    if (groups.empty()) return {};
    std::string names, rules;
    std::size_t next = 0;
    for (const auto& group : groups) {
        for (; next < group.first; ++next) names += " &";
        names += fmt::format(" \\multicolumn{{{}}}{{c}}{{{}}}", group.count, escape_latex(group.name));
        rules += fmt::format("\\cmidrule(lr){{{}-{}}}", group.first + 1, group.first + group.count);
        next = group.first + group.count;
        if (next < table.columns.size()) names += " &";
    }
    for (std::size_t c = next + 1; c < table.columns.size(); ++c) names += " &";
    return names + " \\\\\n" + rules + "\n";
}

/// Letters, digits and dashes of the name: a label takes nothing else safely.
std::string label_of(const std::string& name) {
    std::string label;
    for (const char c : name) label += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '-';
    return label;
}

/// Long headings are stacked word by word, so that numbers set the width of a column.
std::string heading_text(const Column& column) {
    constexpr int widest = 14;
    std::string stacked;
    const auto lines = wrap(column_heading(column), widest);
    for (const std::string& line : lines) stacked += (stacked.empty() ? "" : "\\\\") + escape_latex(line);
    if (lines.size() > 1) stacked = fmt::format("\\shortstack[{}]{{{}}}", alignment_letter(column), stacked);
    return fmt::format("\\multicolumn{{1}}{{{}}}{{{}}}", alignment_letter(column), stacked);
}

std::string tabular(const Table& table) {
    std::string out = "\\begin{tabular}{@{}";
    for (const Column& column : table.columns) out += alignment_letter(column);
    out += "@{\\hspace{1.5em}}}\n\\toprule\n" + group_rows(table);
    for (std::size_t c = 0; c < table.columns.size(); ++c) out += (c ? " & " : "") + heading_text(table.columns[c]);
    out += " \\\\\n\\midrule\n";
    const bool with_n = table.common_n() == 0;
    for (const Row& row : table.rows) {
        if (row.rule_above && &row != &table.rows.front()) out += "\\midrule\n";
        for (std::size_t c = 0; c < row.cells.size(); ++c) out += (c ? " & " : "") + cell_text(table.columns[c], row.cells[c], with_n);
        out += " \\\\\n";
    }
    return out + "\\bottomrule\n\\end{tabular}\n";
}

std::string notes_of(const Table& table) {
    std::string out;
    for (const std::string& note : table_notes(table)) out += fmt::format("\\par\\smallskip{{\\footnotesize {}}}\n", escape_latex(note));
    return out;
}

}  // namespace

std::string table_to_latex(const Table& table) {
    table.validate();
    const std::string body = tabular(table) + notes_of(table), caption = escape_latex(table.caption);
    std::string out = "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}\n";
    if ((body + caption).find("\\faceterunicode") != std::string::npos) out += unicode_macro;
    out += "\\begin{table}[htbp]\n\\centering\\small\\setlength{\\tabcolsep}{4pt}\n";
    if (!caption.empty()) out += fmt::format("\\caption{{{}}}\n\\label{{tab:{}}}\n", caption, label_of(table.name));
    return out + body + "\\end{table}\n";
}

std::string latex_document(std::span<const Table> tables) {
    std::string out =
        "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage[T1]{fontenc}\n\\usepackage{textcomp}\n"
        "\\usepackage{booktabs}\n\\usepackage[margin=2cm]{geometry}\n\\begin{document}\n";
    for (const Table& table : tables) out += "\n" + table_to_latex(table);
    return out + "\n\\end{document}\n";
}

}  // namespace faceter
