#pragma once
#include <map>
#include <string>
#include <vector>

#include "common/file.h"

namespace faceter {

/// One column of a file (a member of its records), over the rows that were read.
struct SurveyedColumn {
    std::string name;
    std::size_t filled = 0;    ///< rows with a text, a number, true or false that is not blank
    std::size_t distinct = 0;  ///< values among them
    double mean_words = 0;
    std::size_t tokens_95 = 0;  ///< 95 of 100 values have at most about so many, by the WordPiece of an English model
    std::size_t lists = 0;      ///< rows with a list, which is not taken apart
    std::size_t nested = 0;     ///< rows with an object, which is not taken apart either
    bool is_text() const { return mean_words >= 1.5 && 2 * distinct >= filled && distinct >= 2; }
    /// Few values, each short and standing in several rows.
    bool is_label() const { return distinct >= 2 && distinct <= 500 && 3 * distinct <= filled && mean_words <= 6; }
};

/// What a table of texts holds: CSV, TSV, JSON lines or Parquet, also packed.
struct Survey {
    fs::path file;
    std::vector<SurveyedColumn> columns;
    std::vector<std::vector<std::string>> rows;  ///< [row][column], trimmed; blank where there is none
    std::size_t repeated_rows = 0;
    bool cut = false;                                 ///< there were more rows than were read
    std::map<std::string, double> languages;          ///< share of texts by language or script, of those that could be told
    std::size_t column(std::string_view name) const;  ///< its place; a usage error that lists what is there
};

constexpr std::size_t most_surveyed_rows = 300'000;

/// Data error for a file without a row, or that cannot be read. A first line of a CSV or TSV file is taken as its header where it reads
/// like names of columns; else columns are called column_1, column_2 ...
Survey survey_file(const fs::path& file);

/// "en", "de" ... by the commonest words of a language in Latin letters, "Cyrillic", "Chinese" ... by letters; empty where neither tells.
std::string language_of(std::string_view text);

}  // namespace faceter
