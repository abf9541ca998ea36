#include "figure/table.h"

#include <fmt/format.h>

#include "figure/escape.h"
#include "figure/format.h"
#include "figure/table_export.h"
#include "figure/text_width.h"
#include "support/test.h"

using namespace faceter;

namespace {

Table small_table() {
    Table table;
    table.name = "scores";
    table.caption = "Scores of two variants";
    table.add_column("variant", ColumnKind::text);
    table.add_column("nDCG@10", ColumnKind::number, 2, Better::higher).group = "retrieval";
    table.add_column("change", ColumnKind::delta).group = "retrieval";
    table.add_column("p", ColumnKind::p_value);
    table.add_column("documents", ColumnKind::count);
    table.add_row({Cell::of("EM"), Cell::of(42.314, 0.221, 3), Cell(), Cell(), Cell::of(4096.0)});
    table.add_row({Cell::of("MoTE"), Cell::of(7.5, 0.1, 3), Cell::of(5.21).with_stars(2), Cell::of(0.0004), Cell::of(62431.0)});
    table.footnotes = {"Stars: paired t-test."};
    table.mark_best();
    return table;
}

constexpr const char* hostile[] = {"a_b%c$d&e#f{g}h^i~j\\k",
                                   "\\input{/etc/passwd}",
                                   "=cmd|' /C calc'!A1",
                                   "x\ty\nz\r",
                                   "\x1b[31mred\x1b[0m",
                                   "<script>alert(\"1\")</script>",
                                   "a|b`c*d",
                                   "检索 模型",
                                   "\u202Eevil",
                                   "[optional]",
                                   "--dashes,,''",
                                   "",
                                   "\"quoted\", with a comma",
                                   "e\u0301 👩",
                                   "a\\\\*b",
                                   "$$ \\end{tabular}"};

Table hostile_table() {
    Table table;
    table.name = "../../etc_passwd}%";
    table.caption = "100% of R&D_x";
    for (const char* text : hostile) {
        table.columns.push_back(Column{});
        table.columns.back().name = text;
        table.columns.back().unit = text;
    }
    std::vector<Cell> cells;
    for (const char* text : hostile) cells.push_back(Cell::of(std::string(text)));
    table.add_row(cells);
    table.footnotes = {hostile[0], hostile[4]};
    return table;
}

std::size_t count(std::string_view text, std::string_view piece) {
    std::size_t found = 0;
    for (std::size_t at = text.find(piece); at != std::string_view::npos; at = text.find(piece, at + piece.size())) ++found;
    return found;
}

int widest_line(const std::string& text) {
    int widest = 0;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        widest = std::max(widest, display_width(std::string_view(text).substr(at, text.find('\n', at) - at)));
    return widest;
}

std::string line_with(const std::string& text, std::string_view piece) {
    const std::size_t at = text.find(piece), begin = at == std::string::npos ? at : text.rfind('\n', at) + 1;
    return at == std::string::npos ? "" : text.substr(begin, text.find('\n', at) - begin);
}

/// Fields of one CSV document, quotes resolved.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
            rows.back().back() += text[++i];
        else if (c == '"')
            inside = !inside;
        else if (!inside && c == ',')
            rows.back().emplace_back();
        else if (!inside && c == '\n')
            rows.emplace_back(1);
        else
            rows.back().back() += c;
    }
    rows.pop_back();
    return rows;
}

}  // namespace

class TestTable : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void numbers_are_written_as_their_column_says() {
        const auto written = [](ColumnKind kind, double value, int decimals = 2) {
            Column column;
            column.kind = kind;
            column.decimals = decimals;
            return format_value(column, value);
        };
        QCOMPARE(written(ColumnKind::number, 45.314), std::string("45.31"));
        QCOMPARE(written(ColumnKind::number, -0.001), std::string("0.00"));
        QCOMPARE(written(ColumnKind::number, 1e308), std::string("1e+308"));
        QCOMPARE(written(ColumnKind::delta, 1e308), std::string("+1e+308"));
        QCOMPARE(written(ColumnKind::delta, 1.2), std::string("+1.20"));
        QCOMPARE(written(ColumnKind::delta, -1.2), std::string("-1.20"));
        QCOMPARE(written(ColumnKind::delta, 0.0), std::string("0.00"));
        QCOMPARE(written(ColumnKind::p_value, 0.0314), std::string("0.031"));
        QCOMPARE(written(ColumnKind::p_value, 1e-300), std::string("< 0.001"));
        QCOMPARE(written(ColumnKind::count, 4096), std::string("4096"));
        QCOMPARE(written(ColumnKind::count, 1234567), std::string("1\u2009234\u2009567"));
        QCOMPARE(written(ColumnKind::duration, 134), std::string("2 min 14 s"));
        QCOMPARE(written(ColumnKind::bytes, 1.5 * 1024 * 1024 * 1024), std::string("1.50 GiB"));
        QCOMPARE(written(ColumnKind::number, std::numeric_limits<double>::infinity()), std::string("inf"));
        QCOMPARE(written(ColumnKind::number, std::nan("")), std::string());
    }
    void a_difference_too_small_for_its_decimals_is_not_written_as_none() {
        QCOMPARE(format_delta(3.1e-5, 4), std::string("+3.1e-05"));
        QCOMPARE(format_delta(-3.14e-5, 4), std::string("-3.1e-05"));
        QCOMPARE(format_delta(5.1e-5, 4), std::string("+0.0001"));
        QCOMPARE(format_delta(0.001, 2), std::string("+0.001"));
        QCOMPARE(format_delta(0, 4), std::string("0.0000"));
        QCOMPARE(format_delta(-1.4e-14, 2), std::string("0.00"));  // what is left of 0.1 + 0.2 - 0.3
        Table table;
        table.add_column("difference", ColumnKind::delta, 4);
        table.add_row({Cell::of(3.1e-5).with_stars(3)});
        QVERIFY(export_table(table, TableFormat::md).find("+3.1e-05") != std::string::npos);
    }
    void a_table_survives_json() {
        for (const Table& table : {small_table(), hostile_table()}) {
            const Json json = table.to_json();
            const Table back = Table::from_json(parse_json(json.dump(), "table.json"), "table.json");
            QCOMPARE(back.to_json().dump(), json.dump());
            QCOMPARE(table_to_text(back), table_to_text(table));
        }
        Table infinite;
        infinite.name = "x";
        infinite.add_column("t", ColumnKind::number);
        infinite.add_row({Cell::of(-std::numeric_limits<double>::infinity())});
        QCOMPARE(Table::from_json(infinite.to_json(), "x").rows[0].cells[0].value, -std::numeric_limits<double>::infinity());
    }
    void a_broken_document_is_one_clear_error() {
        Json json = small_table().to_json();
        EXPECT_ERROR(Table::from_json(Json::array(), "t.json"), "t.json", "name");
        Json no_columns = json;
        no_columns["columns"] = 3;
        EXPECT_ERROR(Table::from_json(no_columns, "t.json"), "t.json", "columns", "array");
        Json kind = json;
        kind["columns"][0]["kind"] = "numbr";
        EXPECT_ERROR(Table::from_json(kind, "t.json"), "t.json", "numbr", "did you mean 'number'");
        Json row = json;
        row["rows"][0]["cells"].erase(1);
        EXPECT_ERROR(Table::from_json(row, "t.json"), "row 1 has 4 cells", "expected 5");
        Json cell = json;
        cell["rows"][0]["cells"][0] = Json::array();
        EXPECT_ERROR(Table::from_json(cell, "t.json"), "a cell must be");
        Json stars = json;
        stars["rows"][1]["cells"][2]["stars"] = 1000000;
        EXPECT_ERROR(Table::from_json(stars, "t.json"), "1000000 stars");
        Json decimals = json;
        decimals["columns"][1]["decimals"] = 100000;
        EXPECT_ERROR(Table::from_json(decimals, "t.json"), "100000 decimals");
    }
    void the_best_of_a_column_is_what_prints_best() {
        Table table;
        table.add_column("score", ColumnKind::number, 1, Better::higher);
        table.add_column("loss", ColumnKind::number, 1, Better::lower);
        for (const auto& [score, loss] : {std::pair{1.04, 3.0}, {1.01, 2.0}, {0.5, 2.5}}) table.add_row({Cell::of(score), Cell::of(loss)});
        table.mark_best();
        QVERIFY(table.rows[0].cells[0].best && table.rows[1].cells[0].best && !table.rows[2].cells[0].best);
        QVERIFY(!table.rows[0].cells[1].best && table.rows[1].cells[1].best);
    }
    void text_is_aligned_on_the_decimal_point() {
        const std::string text = table_to_text(small_table());
        std::vector<std::string> lines;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            lines.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        const auto place = [&](std::string_view number) {
            for (const std::string& line : lines)
                if (const auto at = line.find(number); at != std::string::npos) return display_width(line.substr(0, at + number.find('.')));
            return -1;
        };
        QVERIFY(place("42.31") > 0);
        QCOMPARE(place("42.31"), place("7.50"));
        QVERIFY(text.find("mean ± standard deviation, n = 3") != std::string::npos);
        QVERIFY(text.find("▸42.31") != std::string::npos);
        QVERIFY(text.find('\x1b') == std::string::npos);
    }
    void n_stands_in_the_cell_where_it_differs() {
        Table table = small_table();
        table.rows[1].cells[1].n = 5;
        const std::string text = table_to_text(table);
        QVERIFY(text.find("7.50 ± 0.10 (n = 5)") != std::string::npos);
        QVERIFY(text.find("standard deviation\n") != std::string::npos);
        QVERIFY(table_to_markdown(table).find("(n = 3)") != std::string::npos);
        QVERIFY(table_to_latex(table).find("$n = 3$") != std::string::npos);
    }
    void every_line_fits_the_terminal() {
        Table wide = small_table();
        for (int i = 0; i < 12; ++i) {
            wide.add_column("a rather long heading of column " + std::to_string(i), ColumnKind::number);
            for (Row& row : wide.rows) row.cells.push_back(Cell::of(1000.0 * i, 10.5, 3));
        }
        wide.rows[0].cells[0] = Cell::of(std::string(300, 'x'));
        wide.rows[1].cells[0] = Cell::of("检索模型检索模型检索模型检索模型检索模型检索模型检索模型检索模型检索模型");
        for (const int width : {60, 80, 100}) {
            const std::string text = table_to_text(wide, {.width = width});
            for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
                QVERIFY2(display_width(text.substr(at, text.find('\n', at) - at)) <= width, text.c_str());
            QCOMPARE(count(text, "heading"), std::size_t{12});
        }
    }
    void a_group_over_few_columns_keeps_all_of_its_name() {
        Table table;
        table.add_column("tasks", ColumnKind::text);
        table.add_row({Cell::of("retrieval / clustering")});
        for (const char* group : {"mean similarity", "paired over texts", "Welch (as published)"})
            for (int i = 0; i < 5; ++i) {
                table.add_column("t", ColumnKind::number).group = group;
                table.rows[0].cells.push_back(Cell::of(1.5));
            }
        for (const int width : {40, 50, 60, 70, 80, 100}) {
            const std::string text = table_to_text(table, {.width = width});
            QVERIFY2(count(text, "…") == 0, text.c_str());
            QVERIFY2(widest_line(text) <= width, text.c_str());
            QCOMPARE(count(text, "1.50"), std::size_t{15});
            for (const char* word : {"similarity", "paired", "texts", "Welch", "published)"}) QVERIFY2(count(text, word) > 0, text.c_str());
        }
    }
    void a_long_text_goes_on_below_and_none_of_it_is_lost() {
        Table table;
        for (const char* name : {"setting", "what it is"}) table.add_column(name, ColumnKind::text);
        std::string description;
        for (int i = 0; i < 40; ++i) description += fmt::format("word{:02d} ", i);
        table.add_row({Cell::of("temperature"), Cell::of(description)});
        const std::string text = table_to_text(table, {.width = 60});
        QCOMPARE(count(text, "word"), std::size_t{40});
        QCOMPARE(count(text, "temperature"), std::size_t{1});
        QCOMPARE(count(text, "…"), std::size_t{0});
        QCOMPARE(widest_line(text), 60);
    }
    void every_part_of_a_folded_table_tells_its_rows_apart() {
        Table table;
        for (const char* name : {"task", "set", "metric"}) table.add_column(name, ColumnKind::text);
        for (int i = 0; i < 12; ++i) table.add_column("variant " + std::to_string(i), ColumnKind::number);
        for (const auto& [task, set] :
             {std::pair("retrieval", "scifact"), std::pair("retrieval", "fiqa"), std::pair("reranking", "fiqa")}) {
            table.add_row({Cell::of(task), Cell::of(set), Cell::of("nDCG@10")});
            for (int i = 0; i < 12; ++i) table.rows.back().cells.push_back(Cell::of(40.0 + i));
        }
        const std::string text = table_to_text(table, {.width = 60});
        const std::size_t parts = count(text, "task");
        QVERIFY2(parts > 1, text.c_str());
        QCOMPARE(count(text, "fiqa"), 2 * parts);
        QCOMPARE(count(text, "set"), parts);
        QCOMPARE(count(text, "reranking"), parts);
        QCOMPARE(count(text, "nDCG@10"), std::size_t{3});  // not needed to tell them apart
        QVERIFY(widest_line(text) <= 60);
        table.rows[1].cells[1] = Cell::of(std::string(40, 'x'));  // leaves too little room beside it
        QCOMPARE(count(table_to_text(table, {.width = 60}), "set"), std::size_t{1});
    }
    /// As task and data set of MTEB do in a terminal of 80 columns: what came behind the first part stood in rows without a name.
    void names_that_take_more_than_half_of_the_width_stand_in_every_part() {
        Table table;
        for (const char* name : {"task", "set"}) table.add_column(name, ColumnKind::text);
        for (int i = 0; i < 6; ++i) table.add_column("variant " + std::to_string(i), ColumnKind::number);
        for (const auto& [task, set] :
             {std::pair("multilabel_classification", "amazon_counterfactual"), std::pair("multilabel_classification", "massive_intent"),
              std::pair("mean, multilabel_classification", "over 2 data sets")}) {
            table.add_row({Cell::of(task), Cell::of(set)});
            for (int i = 0; i < 6; ++i) table.rows.back().cells.push_back(Cell::of(40.0 + i));
        }
        const std::string text = table_to_text(table, {.width = 80});
        const std::size_t parts = count(text, "task");
        QVERIFY2(parts > 1, text.c_str());
        for (const char* set : {"amazon_counterfactual", "massive_intent", "over 2 data sets"}) QCOMPARE(count(text, set), parts);
        QVERIFY(widest_line(text) <= 80);
    }
    void a_table_that_is_too_wide_may_turn_its_rows_into_columns() {
        Table table;
        table.add_column("run", ColumnKind::text);
        for (int i = 0; i < 9; ++i) {
            Column& column = table.add_column("data set " + std::to_string(i), ColumnKind::number, 2, Better::higher);
            column.group = "retrieval";
            column.unit = "nDCG@10";
        }
        table.add_column("peak memory", ColumnKind::bytes);
        for (const char* name : {"start", "EM"}) {
            table.add_row({Cell::of(name)});
            for (int i = 0; i < 9; ++i) table.rows.back().cells.push_back(Cell::of(60 + i + 0.25 * static_cast<double>(table.rows.size())));
            table.rows.back().cells.push_back(Cell::of(1'288'490'189.0));
        }
        table.mark_best();
        const std::string turned = table_to_text(table, {.width = 80, .may_turn = true});
        QVERIFY(widest_line(turned) <= 80);
        QCOMPARE(count(turned, "EM"), std::size_t{1});
        const std::string scores = line_with(turned, "retrieval: data set 8 (nDCG@10)"), memory = line_with(turned, "peak memory");
        QVERIFY2(scores.find("68.25 ") < scores.find("▸68.50"), turned.c_str());
        QCOMPARE(scores.find(".25"), memory.find(".20 GiB"));
        QVERIFY(turned.find("best of the row") != std::string::npos);
        QVERIFY(table_to_text(table, {.width = 80}).find("best of the column") != std::string::npos);
        QCOMPARE(table_to_text(table, {.width = 300, .may_turn = true}), table_to_text(table, {.width = 300}));
    }
    void a_turned_table_of_many_rows_goes_on_in_blocks() {
        Table table;
        table.add_column("run", ColumnKind::text);
        for (int i = 0; i < 9; ++i) table.add_column("data set " + std::to_string(i), ColumnKind::number);
        for (int r = 0; r < 30; ++r) {
            table.add_row({Cell::of(fmt::format("variant {:02d}", r))});
            for (int i = 0; i < 9; ++i) table.rows.back().cells.push_back(Cell::of(1000.0 * r + i));
        }
        const std::string text = table_to_text(table, {.width = 60, .may_turn = true});
        QVERIFY(widest_line(text) <= 60);
        QVERIFY(count(text, "data set 8") > 1);
        for (int r = 0; r < 30; ++r) QVERIFY(text.find(fmt::format(" {}.00", 1000 * r + 8)) != std::string::npos);
    }
    void styled_text_differs_in_escape_sequences_only() {
        std::string styled = table_to_text(small_table(), {.styled = true});
        QVERIFY(styled.find("\x1b[1m42.31 ± 0.22\x1b[0m") != std::string::npos);
        QVERIFY(styled.find("▸") == std::string::npos);
    }
    void csv_quotes_and_defuses() {
        QCOMPARE(escape_csv("plain"), std::string("plain"));
        QCOMPARE(escape_csv("a,\"b\"\n"), std::string("\"a,\"\"b\"\"\n\""));
        QCOMPARE(escape_csv("=1+1"), std::string("'=1+1"));
        QCOMPARE(escape_csv("-5.5"), std::string("-5.5"));
        QCOMPARE(escape_tsv("\"=1+1\""), std::string("'\"=1+1\""));  // a spreadsheet takes the quotes away
        QCOMPARE(escape_tsv("\"\"@x\"\""), std::string("'\"\"@x\"\""));
        QCOMPARE(escape_tsv("\"quoted\""), std::string("\"quoted\""));
        for (const auto& escape : {escape_csv, escape_tsv}) {
            QCOMPARE(escape("\x1b]0;x\x07"), std::string("\uFFFD]0;x\uFFFD"));
            QCOMPARE(escape("\u009B"
                            "2J\u00E9"),
                     std::string("\uFFFD"
                                 "2J\u00E9"));
        }
        const auto rows = parse_csv(table_to_csv(hostile_table()));
        QCOMPARE(rows.size(), std::size_t{2});
        for (std::size_t i = 0; i < std::size(hostile); ++i) {
            const std::string field = rows[1][i];
            std::string expected = hostile[i];
            for (std::size_t at = 0; (at = expected.find('\x1b')) != std::string::npos;) expected.replace(at, 1, "\uFFFD");
            QCOMPARE(field.front() == '\'' ? field.substr(1) : field, expected);
        }
    }
    void csv_has_full_precision_and_columns_of_their_own_for_spread_n_and_stars() {
        const auto rows = parse_csv(table_to_csv(small_table()));
        const std::vector<std::string> header{
            "variant", "retrieval nDCG@10", "retrieval nDCG@10 std", "retrieval nDCG@10 n", "retrieval change", "retrieval change stars",
            "p",       "documents"};
        QCOMPARE(rows[0], header);
        const std::vector<std::string> row{"MoTE", "7.5", "0.1", "3", "5.21", "2", "4e-04", "62431"};
        QCOMPARE(rows[2], row);
    }
    void tsv_has_one_line_a_row_whatever_a_cell_holds() {
        const std::string tsv = table_to_tsv(hostile_table());
        QCOMPARE(count(tsv, "\n"), std::size_t{2});
        QCOMPARE(count(tsv, "\t"), 2 * (std::size(hostile) - 1));
    }
    void markdown_has_one_line_a_row_and_no_markup_from_cells() {
        const std::string md = table_to_markdown(hostile_table());
        QVERIFY(md.find("<script>") == std::string::npos);
        QVERIFY(md.find("a\\|b\\`c\\*d") != std::string::npos);
        QVERIFY(table_to_markdown(small_table()).find("| **42.31 ± 0.22** |") != std::string::npos);
    }
    void latex_escapes_every_special_character() {
        QCOMPARE(escape_latex("a_b%c$d&e#f{g}h^i~j\\k"),
                 std::string("a\\_b\\%c\\$d\\&e\\#f\\{g\\}h\\textasciicircum{}i\\textasciitilde{}j\\textbackslash{}k"));
        QCOMPARE(escape_latex("--,,''"), std::string("-{}-,{},'{}'"));
        QCOMPARE(escape_latex("ä × 检"), std::string("ä $\\times$ \\faceterunicode{68C0}{检}"));
        QCOMPARE(escape_latex("[x]*"), std::string("{[}x{]}{*}"));
        QCOMPARE(escape_latex("\x1b"), std::string("\\faceterunicode{FFFD}{\uFFFD}"));
    }
    void latex_is_balanced_whatever_a_cell_holds() {
        for (const Table& table : {small_table(), hostile_table()}) {
            const std::string latex = table_to_latex(table);
            int depth = 0;
            for (std::size_t i = 0; i < latex.size(); ++i) {
                if (latex[i] == '\\')
                    ++i;
                else
                    depth += (latex[i] == '{') - (latex[i] == '}');
                QVERIFY(depth >= 0);
            }
            QCOMPARE(depth, 0);
            for (const char* environment : {"table", "tabular"})
                QCOMPARE(count(latex, std::string("\\end{") + environment + "}"), std::size_t{1});
            QVERIFY(latex.find("\\input") == std::string::npos);
            QVERIFY(latex_document({&table, 1}).find("\\end{document}") != std::string::npos);
        }
        const std::string latex = table_to_latex(small_table());
        QVERIFY(latex.find("\\textbf{42.31} {\\footnotesize$\\pm$\\,0.22}") != std::string::npos);
        QVERIFY(latex.find("$+$5.21\\rlap{$^{**}$}") != std::string::npos);
        QVERIFY(latex.find("\\cmidrule(lr){2-3}") != std::string::npos);
    }
    void a_name_cannot_take_over_the_terminal() {
        const std::string text = table_to_text(hostile_table());
        QVERIFY(text.find('\x1b') == std::string::npos && text.find("\u202E") == std::string::npos);
        QCOMPARE(printable("a\xFFz\n"), std::string("a\uFFFDz "));
    }
    void width_is_counted_in_terminal_cells() {
        QCOMPARE(display_width("检索"), 4);
        QCOMPARE(display_width("e\u0301"), 1);
        QCOMPARE(shorten("检索模型", 5), std::string("检索…"));
        QCOMPARE(shorten("abc", 3), std::string("abc"));
        const std::vector<std::string> lines{"abc", "defgh", "ij"};
        QCOMPARE(wrap("abc defghij", 5), lines);
    }
    void text_that_is_no_utf8_is_refused() {
        Table table = small_table();
        table.rows[0].cells[0].text = "\xFF\xFE";
        EXPECT_ERROR(table_to_csv(table), "not valid UTF-8", "scores");
    }
    void formats_have_names() {
        QVERIFY(parse_table_format("latex") == TableFormat::latex);
        EXPECT_ERROR(parse_table_format("markdwn"), "markdwn", "known: text, csv");
        QVERIFY(export_table(small_table(), TableFormat::json).starts_with("{"));
    }
};

FACETER_TEST(TestTable)
#include "test_table.moc"
