#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/record.h"

namespace faceter {

/// How a table without a header line is read: the names of its columns in order. A first line that holds all of the `required` names is a
/// header.
struct TableColumns {
    std::vector<std::string_view> names;
    /// Each group needs one of its names in a header line.
    std::vector<std::vector<std::string_view>> required;
};

/// Reads every record of a file and hands it to `take`, which may throw BadRecord. The file's name says its form: .csv (RFC 4180 quoting),
/// .tsv (no quoting), anything else JSON lines; .gz or .zst may follow. Blank lines are passed over.
/// Texts must be valid UTF-8; a record has at most 256 members.
void read_records(const std::filesystem::path& file, RecordErrors& errors, const TableColumns& columns,
                  const std::function<void(const Record&)>& take);

/// The first usable record of a file, for telling a layout; false where there is none.
bool peek_record(const std::filesystem::path& file, const std::function<void(const Record&)>& take);

/// Of the first line of JSON lines that is bad: what the file is instead, where the line does not begin as a record does.
BadRecord bad_first_line(std::string_view line, const BadRecord& bad);

/// ',' unless the line has none outside of quotes, and a semicolon, a tab or a '|', in this order.
char likely_separator(std::string_view line);

enum class RecordForm { json_lines, csv, tsv };
RecordForm record_form(const std::filesystem::path& file);
/// Whether the first line of a table is a header with these columns; never of JSON lines.
bool has_header(const std::filesystem::path& file, const TableColumns& columns);
/// The cells of a table's first row, without the quotes of CSV; none where it is no row.
std::vector<std::string> first_row(const std::filesystem::path& file, RecordForm form, char separator);

/// Parses one line of JSON into records that point into it and into the parser. `line` is followed by LineReader::padding readable bytes.
class JsonLineParser {
  public:
    JsonLineParser();
    ~JsonLineParser();
    JsonLineParser(const JsonLineParser&) = delete;
    JsonLineParser& operator=(const JsonLineParser&) = delete;
    /// Throws BadRecord.
    void parse(std::string_view line, Record& record);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace faceter
