#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "figure/format.h"
#include "figure/table_export.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

constexpr int gap = 2;              // blanks between columns
constexpr int narrowest_text = 20;  // a text column gets narrower only where nothing else helps
constexpr int narrowest = 8;
constexpr std::string_view best_mark = "▸";

/// A cell as two pieces that meet at the decimal point.
struct Pieces {
    std::string head, tail;
    bool best = false;
};

/// A column laid out: what stands in it and how wide each side of the decimal point is.
struct Layout {
    std::string heading, group;
    std::vector<Pieces> cells;
    Alignment alignment = Alignment::left;  // automatic: on the decimal point
    int head = 0, tail = 0;                 // widest pieces, only for decimal alignment
    int body = 0;                           // widest cell
    int word = 0;                           // longest word of a cell, only for texts
    int smallest = 0;                       // as narrow as it may become
    int width = 0;
};

bool is_decimal(const Column& column) {
    return column.alignment == Alignment::automatic && column.kind != ColumnKind::text && column.kind != ColumnKind::duration &&
           column.kind != ColumnKind::bytes;
}

Alignment resolved_alignment(const Column& column) {
    if (column.alignment != Alignment::automatic || is_decimal(column)) return column.alignment;
    return column.kind == ColumnKind::text ? Alignment::left : Alignment::right;
}

std::string after_value(const Column& column, const Cell& cell, bool with_n) {
    std::string text;
    if (!std::isnan(cell.spread)) text += " ± " + format_spread(column, cell);
    if (with_n && cell.n > 0) text += " (n = " + std::to_string(cell.n) + ")";
    return text + std::string(static_cast<std::size_t>(cell.stars), '*');
}

/// How the cells of a table are written.
struct CellStyle {
    bool with_n, mark;  // n behind every mean; a sign at the best values
};

Pieces cell_pieces(const Column& column, const Cell& cell, CellStyle style) {
    if (cell.kind == Cell::Kind::text) return {printable(cell.text), "", cell.best};
    if (cell.kind == Cell::Kind::empty) return {column.kind == ColumnKind::text ? "" : "–", "", false};
    std::string value = format_value(column, cell);
    if (style.mark && cell.best) value = std::string(best_mark) + value;
    const std::size_t point = is_decimal(column) ? std::min(value.find('.'), value.size()) : value.size();
    return {value.substr(0, point), value.substr(point) + after_value(column, cell, style.with_n), cell.best};
}

int longest_word(const std::string& text) {
    int longest = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        longest = std::max(longest, display_width(std::string_view(text).substr(at, end - at)));
        at = end + 1;
    }
    return longest;
}

/// Widths from the cells and the heading.
void measure(Layout& layout) {
    for (const Pieces& cell : layout.cells) {
        layout.head = std::max(layout.head, display_width(cell.head));
        layout.tail = std::max(layout.tail, display_width(cell.tail));
        layout.body = std::max(layout.body, display_width(cell.head) + display_width(cell.tail));
        if (layout.alignment == Alignment::left) layout.word = std::max(layout.word, longest_word(cell.head));
    }
    if (layout.alignment == Alignment::automatic) layout.body = layout.head + layout.tail;
    layout.width = std::max(layout.body, display_width(layout.heading));
    layout.smallest = std::max(layout.body, longest_word(layout.heading));
}

/// A table ready for blocks: what is written from left to right and from top to bottom, whichever way round the data is.
struct Page {
    std::vector<Layout> columns;
    std::vector<bool> rule_above;  // of each row
    bool turned = false;
};

Page upright_page(const Table& table, CellStyle style) {
    Page page;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        Layout layout;
        layout.heading = printable(column_heading(column));
        layout.group = column.group;
        layout.alignment = resolved_alignment(column);
        for (const Row& row : table.rows) layout.cells.push_back(cell_pieces(column, row.cells[c], style));
        measure(layout);
        page.columns.push_back(std::move(layout));
    }
    for (const Row& row : table.rows) page.rule_above.push_back(row.rule_above);
    return page;
}

/// Rows become columns, headed by their first cell; a row is named by the heading and the group of its column. A line stands where columns
/// of a group, of a direction (higher is better) or neither meet.
Page turned_page(const Table& table, CellStyle style) {
    Page page;
    page.turned = true;
    Layout names;
    names.heading = printable(column_heading(table.columns.front()));
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
        const Column &column = table.columns[c], &above = table.columns[c - 1];
        names.cells.push_back(
            {printable(column.group.empty() ? column_heading(column) : column.group + ": " + column_heading(column)), "", false});
        page.rule_above.push_back(column.better != above.better || column.group.empty() != above.group.empty());
    }
    measure(names);
    page.columns.push_back(std::move(names));
    for (const Row& row : table.rows) {
        Layout layout;
        layout.heading = cell_pieces(table.columns.front(), row.cells.front(), style).head;
        layout.alignment = Alignment::automatic;
        for (std::size_t c = 1; c < table.columns.size(); ++c) {
            Pieces cell = cell_pieces(table.columns[c], row.cells[c], style);
            // 1.40 GiB meets the other numbers at its point, 921 MiB in front of its unit.
            if (const auto point = cell.head.find_first_of(". ");
                table.columns[c].kind == ColumnKind::bytes && point != std::string::npos) {
                cell.tail = cell.head.substr(point) + cell.tail;
                cell.head.resize(point);
            }
            layout.cells.push_back(std::move(cell));
        }
        measure(layout);
        page.columns.push_back(std::move(layout));
    }
    return page;
}

int total_width(const std::vector<Layout>& columns) {
    int total = 0;
    for (const Layout& column : columns) total += column.width + gap;
    return std::max(0, total - gap);
}

/// Narrows the columns, the one with most to spare first, until they fit or none has anything left.
void narrow(std::vector<Layout>& columns, int width) {
    while (total_width(columns) > width) {
        const auto widest = std::max_element(columns.begin(), columns.end(),
                                             [](const Layout& a, const Layout& b) { return a.width - a.smallest < b.width - b.smallest; });
        if (widest == columns.end() || widest->width <= widest->smallest) return;
        --widest->width;
    }
}

/// First headings are wrapped, then texts, but no word (a run's name, say) that half a line has room for.
void fit(std::vector<Layout>& columns, int width) {
    narrow(columns, width);
    for (Layout& column : columns)
        if (column.alignment == Alignment::left)
            column.smallest =
                std::min(column.smallest, std::max({narrowest_text, longest_word(column.heading), std::min(column.word, width / 2)}));
    narrow(columns, width);
}

/// Where even two columns are too wide: texts and headings are wrapped as far as they can be read.
void squeeze(std::vector<Layout>& columns, int width) {
    for (Layout& column : columns) {
        const bool can_be_cut = column.alignment == Alignment::left;
        column.smallest = std::min(column.smallest, can_be_cut ? narrowest : std::max(column.body, narrowest));
    }
    narrow(columns, width);
}

/// Columns next to one another that are of one group; one that is of none stands by itself.
struct Span {
    std::size_t begin, end;
    int width;
};

std::vector<Span> spans_of(const std::vector<Layout>& columns) {
    std::vector<Span> spans;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0 && !columns[i].group.empty() && columns[i].group == columns[i - 1].group) {
            spans.back().end = i + 1;
            spans.back().width += gap + columns[i].width;
        } else {
            spans.push_back({i, i + 1, columns[i].width});
        }
    }
    return spans;
}

/// No word of a group's name is wider than its columns, within reason: the last of them gets what they lack.
void make_room_for_groups(std::vector<Layout>& columns, int width) {
    for (const Span& span : spans_of(columns)) {
        int lacking = std::min(longest_word(printable(columns[span.begin].group)), width / 3) + gap;
        for (std::size_t i = span.begin; i < span.end; ++i) lacking -= columns[i].smallest + gap;
        Layout& last = columns[span.end - 1];
        last.smallest += std::max(0, lacking);
        last.width = std::max(last.width, last.smallest);
    }
}

std::string aligned(const std::string& text, int width, Alignment alignment) {
    const int room = std::max(0, width - display_width(text));
    if (alignment == Alignment::left) return text + blanks(room);
    if (alignment == Alignment::centre) return blanks(room / 2) + text + blanks(room - room / 2);
    return blanks(room) + text;
}

/// Writes a block of columns; those that tell the rows apart stand in front of every block.
class Writer {
  public:
    Writer(const Table& table, const TextTableOptions& options) : table_(table), options_(options) {
        const CellStyle style{table.common_n() == 0, !options.styled};
        page_ = upright_page(table, style);
        keys_ = num_keys();
        blocks_ = blocks();
        if (!options.may_turn || blocks_.size() == 1 || table.columns.empty()) return;
        page_ = turned_page(table, style);
        keys_ = 1;
        blocks_ = blocks();
    }

    std::string run() {
        for (const std::string& line : wrap(printable(table_.caption), options_.width))
            if (!line.empty()) out_ += styled(line, "1") + "\n";
        for (const auto& block : blocks_) {
            if (&block != &blocks_.front()) out_ += "\n";
            write_block(block);
        }
        if (!options_.styled && table_.has_best())
            write_note(std::string(best_mark) + (page_.turned != table_.best_of_row ? " best of the row" : " best of the column"));
        for (const std::string& note : table_notes(table_)) write_note(note);
        return std::move(out_);
    }

  private:
    /// As many of the first columns, texts, as tell the rows apart, where they leave room to the others.
    std::size_t num_keys() const {
        std::vector<std::string> rows(table_.rows.size());
        std::size_t keys = 0;
        bool apart = false;
        while (!apart && keys + 1 < table_.columns.size() && table_.columns[keys].kind == ColumnKind::text) {
            const std::vector<Pieces>& cells = page_.columns[keys++].cells;
            for (std::size_t r = 0; r < rows.size(); ++r) rows[r] += cells[r].head + '\n';
            apart = std::set<std::string>(rows.begin(), rows.end()).size() == rows.size();
        }
        if (keys < 2) return 1;
        const bool half = total_width(laid_out(first_columns(keys))) <= options_.width / 2;
        return half || (apart && have_room_as_words(keys)) ? keys : 1;
    }

    /// Whether these columns, wrapped between words, leave a third of the width to the others, and each of those has room there.
    bool have_room_as_words(std::size_t keys) const {
        int width = -gap;
        for (std::size_t c = 0; c < keys; ++c) width += gap + std::max(page_.columns[c].word, longest_word(page_.columns[c].heading));
        if (width > 2 * options_.width / 3) return false;
        for (std::size_t c = keys; c < page_.columns.size(); ++c) {
            auto block = first_columns(keys);
            block.push_back(c);
            if (total_width(laid_out(block)) > options_.width) return false;
        }
        return true;
    }

    static std::vector<std::size_t> first_columns(std::size_t count) {
        std::vector<std::size_t> columns(count);
        std::iota(columns.begin(), columns.end(), std::size_t{0});
        return columns;
    }

    /// Whether a block has keys alone, or one column that they have no room beside: what comes next stands without them as well.
    bool is_begun(const std::vector<std::size_t>& block) const {
        return block.size() == 1 || (block.front() == 0 && block.size() <= keys_);
    }

    /// Indices of the columns of each block: as many as fit.
    std::vector<std::vector<std::size_t>> blocks() const {
        std::vector<std::vector<std::size_t>> blocks;
        for (std::size_t c = 0; c < page_.columns.size(); ++c) {
            if (!blocks.empty()) {
                auto candidate = blocks.back();
                candidate.push_back(c);
                if (total_width(laid_out(candidate)) <= options_.width) {
                    blocks.back() = std::move(candidate);
                    continue;
                }
            }
            blocks.push_back(blocks.empty() || is_begun(blocks.back()) ? std::vector<std::size_t>{} : first_columns(keys_));
            blocks.back().push_back(c);
        }
        return blocks;
    }

    std::vector<Layout> laid_out(const std::vector<std::size_t>& block) const {
        std::vector<Layout> columns;
        for (const std::size_t c : block) columns.push_back(page_.columns[c]);
        make_room_for_groups(columns, options_.width);
        fit(columns, options_.width);
        return columns;
    }

    void write_block(const std::vector<std::size_t>& block) {
        auto columns = laid_out(block);
        squeeze(columns, options_.width);
        write_groups(columns);
        write_headings(columns);
        write_rule(columns);
        for (std::size_t r = 0; r < page_.rule_above.size(); ++r) {
            if (page_.rule_above[r] && r > 0) write_rule(columns);
            write_row(columns, r);
        }
    }

    /// A text over one or several columns, in as many lines as it takes there.
    struct Heading {
        std::vector<std::string> lines;
        int width;
        Alignment side;
    };

    /// The name of each group over its columns, and a line below it.
    void write_groups(const std::vector<Layout>& columns) {
        std::vector<Heading> names;
        std::string rules;
        for (const Span& span : spans_of(columns)) {
            const std::string& group = columns[span.begin].group;
            const bool named = !group.empty();
            names.push_back({named ? wrap(printable(group), span.width) : std::vector<std::string>{}, span.width, Alignment::centre});
            rules += (named ? rule(span.width) : blanks(span.width)) + blanks(gap);
        }
        if (write_stacked(names)) write_line(rules, "2");
    }

    void write_headings(const std::vector<Layout>& columns) {
        std::vector<Heading> headings;
        for (const Layout& column : columns)
            headings.push_back({wrap(column.heading, column.width), column.width,
                                column.alignment == Alignment::automatic ? Alignment::right : column.alignment});
        write_stacked(headings);
    }

    /// Side by side; they stand on what comes below. False where none has a line.
    bool write_stacked(const std::vector<Heading>& headings) {
        std::size_t height = 0;
        for (const Heading& heading : headings) height = std::max(height, heading.lines.size());
        for (std::size_t h = 0; h < height; ++h) {
            std::string line;
            for (const auto& [lines, width, side] : headings) {
                const std::size_t above = height - lines.size();
                line += aligned(h < above ? "" : lines[h - above], width, side) + blanks(gap);
            }
            write_line(line, "");
        }
        return height > 0;
    }

    /// Texts that are longer than their column go on below.
    void write_row(const std::vector<Layout>& columns, std::size_t r) {
        std::vector<std::vector<std::string>> lines;
        std::size_t height = 1;
        for (const Layout& column : columns) {
            lines.push_back(cell_lines(column, column.cells[r]));
            height = std::max(height, lines.back().size());
        }
        for (std::size_t h = 0; h < height; ++h) {
            std::string line;
            for (std::size_t i = 0; i < columns.size(); ++i)
                line += (h < lines[i].size() ? lines[i][h] : blanks(columns[i].width)) + blanks(gap);
            write_line(line, "");
        }
    }

    std::vector<std::string> cell_lines(const Layout& column, const Pieces& cell) const {
        std::vector<std::string> lines;
        if (column.alignment == Alignment::automatic) {
            const std::string left = blanks(column.width - column.tail - display_width(cell.head));
            return {left + styled_cell(cell.head + cell.tail, cell.best) + blanks(column.tail - display_width(cell.tail))};
        }
        for (const std::string& line : wrap(cell.head + cell.tail, column.width))
            lines.push_back(styled_cell(aligned(line, column.width, column.alignment), cell.best));
        return lines;
    }

    void write_rule(const std::vector<Layout>& columns) { write_line(rule(total_width(columns)), "2"); }

    void write_note(const std::string& note) {
        for (const std::string& line : wrap(printable(note), options_.width)) write_line(line, "2");
    }

    void write_line(std::string line, std::string_view style) {
        line.erase(line.find_last_not_of(' ') + 1);
        out_ += styled(line, style) + "\n";
    }

    static std::string rule(int width) {
        std::string line;
        for (int i = 0; i < width; ++i) line += "─";
        return line;
    }
    std::string styled_cell(const std::string& text, bool best) const { return best ? styled(text, "1") : text; }
    std::string styled(const std::string& text, std::string_view style) const {
        if (!options_.styled || style.empty() || text.empty()) return text;
        return "\x1b[" + std::string(style) + "m" + text + "\x1b[0m";
    }

    const Table& table_;
    const TextTableOptions& options_;
    Page page_;
    std::size_t keys_ = 1;  ///< columns in front of every block
    std::vector<std::vector<std::size_t>> blocks_;
    std::string out_;
};

}  // namespace

std::string table_to_text(const Table& table, const TextTableOptions& options) {
    table.validate();
    return Writer(table, options).run();
}

}  // namespace faceter
