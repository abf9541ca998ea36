#include "data/record_reader.h"

#include <algorithm>
#include <optional>
#include <set>

#include "common/strings.h"
#include "data/column_roles.h"
#include "data/file_ending.h"
#include "data/files_read.h"
#include "data/line_reader.h"

namespace faceter {
namespace {

namespace fs = std::filesystem;

/// The cells of one row. `line` of a CSV row that goes on (a quoted cell with a line end) is joined with the lines after it.
class TableReader {
  public:
    TableReader(const fs::path& file, RecordForm form, char separator = ',')
        : lines_(file), form_(form), separator_(separator), file_(file.string()) {}

    bool next(std::vector<std::string>& cells) {
        cells.clear();
        std::optional<std::string_view> line = lines_.next();
        while (line && trim(*line).empty()) line = lines_.next();
        if (!line) return false;
        start_ = lines_.position();
        if (form_ == RecordForm::tsv)
            read_tsv_row(*line, cells);
        else
            read_csv_row(*line, cells);
        return true;
    }
    const SourcePosition& position() const { return start_; }

  private:
    static void add_cell(std::string cell, std::vector<std::string>& cells) {
        if (cells.size() == Record::max_members) throw BadRecord{fmt::format("more than {} cells in one record", Record::max_members), ""};
        cells.push_back(std::move(cell));
    }

    static void read_tsv_row(std::string_view line, std::vector<std::string>& cells) {
        for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
            end = line.find('\t', at);
            add_cell(std::string(line.substr(at, end - at)), cells);
        }
    }

    /// RFC 4180: a cell in quotes may hold separators, line ends and doubled quotes.
    void read_csv_row(std::string_view line, std::vector<std::string>& cells) {
        std::size_t at = 0;
        for (;;) {
            std::string cell;
            if (at < line.size() && line[at] == '"') {
                at = read_quoted_cell(line, at + 1, cell);
            } else {
                const std::size_t end = std::min(line.find(separator_, at), line.size());
                cell = line.substr(at, end - at);
                at = end;
            }
            add_cell(std::move(cell), cells);
            if (at >= line.size()) return;
            if (line[at] != separator_) throw BadRecord{"text behind a closing quote", fmt::format("cell {}", cells.size())};
            ++at;
        }
    }

    std::size_t read_quoted_cell(std::string_view& line, std::size_t at, std::string& cell) {
        for (;;) {
            const std::size_t quote = line.find('"', at);
            cell += line.substr(at, quote == std::string_view::npos ? quote : quote - at);
            if (quote == std::string_view::npos) {
                const auto more = lines_.next();
                if (!more || cell.size() > LineReader::max_line_bytes)
                    throw data_error(
                        "{}: a quoted cell that begins in this record is never closed; close the quote or double it inside a cell",
                        start_.text());
                line = *more;
                cell += '\n';
                at = 0;
            } else if (quote + 1 < line.size() && line[quote + 1] == '"') {
                cell += '"';
                at = quote + 2;
            } else {
                return quote + 1;
            }
        }
    }

    LineReader lines_;
    RecordForm form_;
    char separator_;  ///< of CSV
    std::string file_;
    SourcePosition start_;
};

bool has_one_of(const std::vector<std::string>& cells, const std::vector<std::string_view>& names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return std::any_of(cells.begin(), cells.end(), [&](const std::string& cell) { return lowercase_ascii(trim(cell)) == name; });
    });
}

bool is_header(const std::vector<std::string>& cells, const TableColumns& columns) {
    return !columns.required.empty() &&
           std::all_of(columns.required.begin(), columns.required.end(), [&](const auto& names) { return has_one_of(cells, names); });
}

/// "question,answer" of a table that is read as labelled texts: the header of another format, where the columns have roles.
bool is_header_of_others(const std::vector<std::string>& cells, const TableColumns& columns) {
    return !columns.required.empty() && cells.size() > 1 && !columns.names.empty() && is_name_of_a_role(columns.names.front()) &&
           std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return is_name_of_a_role(trim(cell)); });
}

/// Data error for names of columns without one that is needed: as a row they would be a text among the others.
void refuse_half_header(const std::vector<std::string>& cells, const TableColumns& columns, const SourcePosition& place) {
    const auto found = [&](const auto& names) { return has_one_of(cells, names); };
    if (!is_header_of_others(cells, columns) && std::none_of(columns.required.begin(), columns.required.end(), found)) return;
    const auto missing = std::find_if_not(columns.required.begin(), columns.required.end(), found);
    if (missing == columns.required.end()) return;
    throw data_error("{}: names of columns, and none of them is {}; rename one, or write names above if this line is a row", place.text(),
                     fmt::join(*missing, ", "));
}

std::string_view without_quotes(std::string_view cell) {
    const bool quoted = cell.size() >= 2 && cell.starts_with('"') && cell.ends_with('"');
    return quoted ? cell.substr(1, cell.size() - 2) : cell;
}

/// Data error for a header of a .tsv whose names are in quotes: what writes those, quotes the texts below as well.
void refuse_quoted_header(const std::vector<std::string>& cells, const TableColumns& columns, const SourcePosition& place) {
    std::vector<std::string> bare;
    for (const std::string& cell : cells) bare.emplace_back(without_quotes(trim(cell)));
    if (!is_header(cells, columns) && is_header(bare, columns))
        throw data_error(
            "{}: names of columns in quotes, as in CSV: quotes of a .tsv are part of its texts; name the file .csv, tabs and all",
            place.text());
}

/// Data error for two columns of one name, of which the first alone would be read.
void refuse_repeated_names(const std::vector<std::string>& header, const SourcePosition& place) {
    std::set<std::string> seen;
    for (const std::string& cell : header)
        if (const std::string_view name = trim(cell); !name.empty() && !seen.insert(lowercase_ascii(name)).second)
            throw data_error("{}: two columns are called {}; give each a name of its own", place.text(), faceter::quoted(name));
}

/// Spreadsheets of many countries write CSV with semicolons, databases with tabs or bars. Such a separator is taken only where it makes a
/// header of the first line; nothing where none does.
std::optional<char> separator_of_header(const fs::path& file, RecordForm form, const TableColumns& columns) {
    const auto header = [&](char separator) {
        std::vector<std::string> cells;
        try {
            return TableReader(file, form, separator).next(cells) && cells.size() > 1 && is_header(cells, columns);
        } catch (const BadRecord&) {
            return false;
        }
    };
    for (const char separator : {',', ';', '\t', '|'})
        if (header(separator)) return separator;
    return std::nullopt;
}

char separator_of(const fs::path& file, RecordForm form, const TableColumns& columns) {
    if (form != RecordForm::csv || !fs::is_regular_file(file)) return ',';
    return separator_of_header(file, form, columns).value_or(',');
}

/// A column without a name is called by its number.
std::vector<std::string> names_of(const std::vector<std::string>& header) {
    std::vector<std::string> names;
    for (const std::string& cell : header) {
        const std::string_view name = trim(cell);
        names.push_back(name.empty() ? fmt::format("column_{}", names.size() + 1) : lowercase_ascii(name));
    }
    return names;
}

void fill(Record& record, const std::vector<std::string>& names, const std::vector<std::string>& cells) {
    record.clear();
    if (cells.size() > names.size())
        throw BadRecord{"more cells than columns", fmt::format("{} cells, {} columns", cells.size(), names.size())};
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!is_valid_utf8(cells[i])) throw BadRecord{"not valid UTF-8", ""};
        record.add({names[i], cells[i].empty() ? Record::Kind::null : Record::Kind::text, cells[i], 0, 0, 0, /*in_table=*/true});
    }
}

void read_table(const fs::path& file, RecordForm form, RecordErrors& errors, const TableColumns& columns,
                const std::function<void(const Record&)>& take) {
    TableReader table(file, form, separator_of(file, form, columns));
    std::vector<std::string> cells, names(columns.names.begin(), columns.names.end());
    Record record;
    for (bool first = true;; first = false) {
        try {
            if (!table.next(cells)) return;
            if (first && form == RecordForm::tsv) refuse_quoted_header(cells, columns, table.position());
            if (first && is_header(cells, columns)) {
                refuse_repeated_names(cells, table.position());
                names = names_of(cells);
                continue;
            }
            if (first) refuse_half_header(cells, columns, table.position());
            fill(record, names, cells);
            take(record);
        } catch (const BadRecord& bad) {
            errors.bad(table.position(), bad);
        }
    }
}

void read_json_lines(const fs::path& file, RecordErrors& errors, const std::function<void(const Record&)>& take) {
    LineReader lines(file);
    JsonLineParser parser;
    Record record;
    while (const auto line = lines.next()) {
        if (trim(*line).empty()) continue;
        try {
            parser.parse(*line, record);
            take(record);
        } catch (const BadRecord& bad) {
            errors.bad(lines.position(), lines.line_number() == 1 ? bad_first_line(*line, bad) : bad);
        }
    }
}

}  // namespace

BadRecord bad_first_line(std::string_view line, const BadRecord& bad) {
    line = trim(line);
    if (line.starts_with('{')) return bad;
    if (line.starts_with("PK\x03\x04")) return {"a spreadsheet or an archive; save it as 'CSV UTF-8'", ""};
    if (line.starts_with('[')) return {"not a JSON object but an array; a record a line is read: jq -c '.[]' FILE > NEW.jsonl", ""};
    return {"not a JSON object; a table is one whose name ends in .csv or .tsv", ""};
}

char likely_separator(std::string_view line) {
    std::string between;
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (!quoted) between += c;
    }
    for (const char separator : {',', ';', '\t', '|'})
        if (between.find(separator) != std::string::npos) return separator;
    return ',';
}

bool has_header(const fs::path& file, const TableColumns& columns) {
    const RecordForm form = record_form(file);
    return form != RecordForm::json_lines && separator_of_header(file, form, columns);
}

std::vector<std::string> first_row(const fs::path& file, RecordForm form, char separator) {
    std::vector<std::string> cells;
    try {
        TableReader(file, form, separator).next(cells);
    } catch (const BadRecord&) {
        return {};
    }
    return cells;
}

RecordForm record_form(const fs::path& file) {
    const std::string ending = data_ending(file);
    if (ending == ".csv") return RecordForm::csv;
    return ending == ".tsv" ? RecordForm::tsv : RecordForm::json_lines;
}

void read_records(const fs::path& file, RecordErrors& errors, const TableColumns& columns, const std::function<void(const Record&)>& take) {
    const RecordForm form = record_form(file);
    if (form == RecordForm::json_lines) return read_json_lines(file, errors, take);
    read_table(file, form, errors, columns, take);
}

bool peek_record(const fs::path& file, const std::function<void(const Record&)>& take) {
    std::optional<FilesRead> apart;                        // no data come of a look, whether it gets to the end of the file or not
    if (data_ending(file) != ".parquet") apart.emplace();  // whose module reads a file once more to note it
    LineReader lines(file);
    JsonLineParser parser;
    Record record;
    for (int tries = 0; tries < 100; ++tries) {
        const auto line = lines.next();
        if (!line) return false;
        try {
            parser.parse(*line, record);
            take(record);
            return true;
        } catch (const BadRecord&) {
        }
    }
    return false;
}

}  // namespace faceter
