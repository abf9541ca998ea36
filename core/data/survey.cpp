#include "data/survey.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_set>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "data/column_roles.h"
#include "data/line_reader.h"
#include "data/record_reader.h"

namespace faceter {
namespace {

constexpr std::size_t longest_name = 40, language_sample = 2000, most_looked_at = 20'000;

/// The next code point of valid UTF-8.
char32_t next_letter(std::string_view text, std::size_t& at) {
    const auto byte = static_cast<unsigned char>(text[at++]);
    const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
    char32_t letter = more == 0 ? byte : byte & (0x3f >> more);
    for (int i = 0; i < more && at < text.size(); ++i) letter = letter << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
    return letter;
}

std::size_t parts_between_blanks(std::string_view text) {
    std::size_t words = 0;
    bool inside = false;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        words += !blank && !inside;
        inside = !blank;
    }
    return words;
}

/// Letters of scripts that put no blank between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese.
std::size_t letters_without_blanks(std::string_view text) {
    static constexpr std::array<std::pair<char32_t, char32_t>, 7> ranges{
        {{0xe00, 0xeff}, {0x1000, 0x109f}, {0x1780, 0x17ff}, {0x3040, 0x30ff}, {0x3400, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x3ffff}}};
    std::size_t letters = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t letter = next_letter(text, at);
        letters +=
            std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) { return letter >= range.first && letter <= range.second; });
    }
    return letters;
}

/// Two such letters are a word.
std::size_t count_words(std::string_view text) { return parts_between_blanks(text) + letters_without_blanks(text) / 2; }

/// About what the WordPiece of an English model makes of a text: a word of up to six letters is one token, a longer one a third of its
/// letters, a number half of its digits, a letter of another script or a mark one. At least 1.4 a word, for words that are rare.
std::size_t estimate_tokens(std::string_view text) {
    enum class Kind { blank, letter, digit, other };
    std::size_t tokens = 0, run = 0;
    Kind last = Kind::blank;
    const auto end_run = [&] {
        if (last == Kind::letter) tokens += run <= 6 ? 1 : (run + 2) / 3;
        if (last == Kind::digit) tokens += (run + 1) / 2;
        run = 0;
    };
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = next_letter(text, at);
        const bool latin = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c < 0x250);
        const Kind kind = c <= ' ' ? Kind::blank : latin ? Kind::letter : c >= '0' && c <= '9' ? Kind::digit : Kind::other;
        if (kind != last) end_run();
        last = kind;
        ++run;
        tokens += kind == Kind::other;
    }
    end_run();
    return std::max(tokens, count_words(text) * 7 / 5);
}

/// "Ticket-Nr.", "Tel. privat" and "urgent?" are names. Otherwise what ends sentences ends one, or stands in a number, a date, an address.
bool is_mark_of_a_name(std::string_view name, std::size_t at) {
    constexpr std::size_t longest_abbreviation = 5;
    const bool is_one_word = name.find(' ') == std::string_view::npos, is_last = at + 1 == name.size();
    const bool follows_a_letter = at > 0 && (name[at - 1] < '0' || name[at - 1] > '9');
    if (is_last) return is_one_word && follows_a_letter;
    return name[at] == '.' && name[at + 1] == ' ' && follows_a_letter && at <= longest_abbreviation;
}

bool reads_like_a_name(std::string_view cell) {
    const std::string_view name = trim(cell);
    if (name.empty() || name.size() > longest_name || parts_between_blanks(name) > 3 || parse_double(name)) return false;
    for (std::size_t at = name.find_first_of(".?"); at != std::string_view::npos; at = name.find_first_of(".?", at + 1))
        if (!is_mark_of_a_name(name, at)) return false;
    return name.find_first_of("!;") == std::string_view::npos;
}

/// Data error for a table that is no UTF-8, with what to do: spreadsheets write others.
void check_encoding(const fs::path& file) {
    LineReader lines(file);
    bool returns = false;
    for (auto line = lines.next(); line && lines.line_number() <= most_looked_at; line = lines.next()) {
        returns = lines.line_number() == 1 && line->find('\r') < line->size();
        if (!is_valid_utf8(*line))
            throw data_error("{}: not UTF-8; save it as 'CSV UTF-8', or: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW",
                             lines.position().text());
    }
    if (returns) throw data_error("{}: its lines end in a carriage return alone; write others: tr '\\r' '\\n' < FILE > NEW", file.string());
}

bool in_quotes(std::string_view cell) { return cell.size() >= 2 && cell.front() == '"' && cell.back() == '"'; }

/// In quotes, and those within are doubled: one at least, since a text may well be a quotation.
bool is_quoted_as_csv(std::string_view cell) {
    if (!in_quotes(cell)) return false;
    cell = cell.substr(1, cell.size() - 2);
    bool doubled = false;
    for (std::size_t at = cell.find('"'); at != std::string_view::npos; at = cell.find('"', at + 2)) {
        if (at + 1 == cell.size() || cell[at + 1] != '"') return false;
        doubled = true;
    }
    return doubled;
}

/// Cells that a quote opens and a later one closes, with tabs or line ends between: CSV with tabs.
class SpannedQuotes {
  public:
    /// Whether the cell closes what an earlier one opened, at most a few lines above: else both are quotes of texts.
    bool close(std::string_view cell, std::size_t line) {
        if (std::count(cell.begin(), cell.end(), '"') % 2 == 0) return false;
        const bool closes = opened_at_ > 0 && line - opened_at_ <= most_lines && cell.ends_with('"');
        opened_at_ = !closes && cell.starts_with('"') ? line : 0;
        return closes;
    }

  private:
    static constexpr std::size_t most_lines = 20;
    std::size_t opened_at_ = 0;
};

/// Data error for tabs between cells that are quoted: what writes CSV with tabs does that, and a quote of a .tsv is part of the text.
void check_quotes(const fs::path& file) {
    LineReader lines(file);
    SpannedQuotes spans;
    bool first = true;
    for (auto line = lines.next(); line && lines.line_number() <= most_looked_at; line = lines.next()) {
        if (trim(*line).empty()) continue;
        const std::vector<std::string_view> cells = split(*line, '\t');
        const auto as_csv = [&](std::string_view cell) { return is_quoted_as_csv(cell) || spans.close(cell, lines.line_number()); };
        if (std::any_of(cells.begin(), cells.end(), as_csv) || (first && std::all_of(cells.begin(), cells.end(), in_quotes)))
            throw data_error("{}: cells in quotes, as in CSV: those of a .tsv are part of the texts; name the file .csv, tabs and all",
                             lines.position().text());
        first = false;
    }
}

/// Where a line of a table reads like names of columns, the first of them, else empty. Some columns may have none. Data error for two
/// columns of one name where any says what is in a column: a header all the same.
std::string first_name(const std::vector<std::string>& cells, const std::string& place) {
    std::set<std::string> names;
    std::string first, twice;
    bool says_a_role = false;
    for (const std::string& cell : cells) {
        const std::string_view name = trim(cell);
        if (name.empty()) continue;
        if (!reads_like_a_name(name)) return "";
        if (!names.insert(lowercase_ascii(name)).second) twice = name;
        says_a_role |= is_name_of_a_role(name);
        if (first.empty()) first = lowercase_ascii(name);
    }
    if (twice.empty()) return first;
    if (!says_a_role) return "";
    throw data_error("{}: two columns are called {}; give each a name of its own", place, faceter::quoted(twice));
}

/// No column says what it holds, and one's name stands in it as one of its labels, in rows that are no copies of the header: the first line
/// is a row like the others.
bool names_are_a_row(const Survey& survey) {
    const auto says_a_role = [](const SurveyedColumn& column) { return is_name_of_a_role(column.name); };
    if (std::any_of(survey.columns.begin(), survey.columns.end(), says_a_role)) return false;
    for (std::size_t c = 0; c < survey.columns.size(); ++c) {
        const SurveyedColumn& column = survey.columns[c];
        if (!column.is_label()) continue;
        for (const auto& row : survey.rows) {
            std::size_t same = 0;
            for (std::size_t other = 0; other < row.size(); ++other) same += lowercase_ascii(row[other]) == survey.columns[other].name;
            if (lowercase_ascii(row[c]) == column.name && same < row.size()) return true;
        }
    }
    return false;
}

struct Header {
    std::string first;         ///< name of the first column that has one; empty: the first line is a row
    bool tells_cells = false;  ///< the separator is known by it alone
};

Header header_of(const fs::path& file, RecordForm form) {
    check_encoding(file);
    if (form == RecordForm::tsv) check_quotes(file);
    LineReader lines(file);
    auto line = lines.next();
    while (line && trim(*line).empty()) line = lines.next();
    if (!line) return {};
    const std::string place = lines.position().text();
    if (const std::string_view whole = trim(*line); whole.size() <= 5 && lowercase_ascii(whole).starts_with("sep="))
        throw data_error("{}: {} is for spreadsheets alone; take this line out: sed {}d FILE > NEW", place, faceter::quoted(whole),
                         lines.line_number());
    if (form == RecordForm::tsv) return {first_name(first_row(file, form, '\t'), place)};
    const char separator = likely_separator(*line);
    std::string first = first_name(first_row(file, form, separator), place);
    if (separator != ',' && first.empty())
        throw data_error("{}: its cells are separated by {} and no names of columns stand above them; write such a line, of short names",
                         place, separator == '\t' ? "tabs" : fmt::format("'{}'", separator));
    return {first, separator != ','};
}

std::vector<std::string> numbered_columns() {
    std::vector<std::string> names;
    for (int i = 1; i <= 64; ++i) names.push_back(fmt::format("column_{}", i));
    return names;
}

std::string value_of(const Record::Member& member) {
    if (member.kind == Record::Kind::boolean) return std::string(label_text(member));
    const bool plain = member.kind == Record::Kind::text || member.kind == Record::Kind::number;
    return plain ? std::string(trim(member.text)) : std::string();
}

class Reader {
  public:
    explicit Reader(Survey& survey) : survey_(survey) {}

    void take(const Record& record) {
        if (survey_.rows.size() == most_surveyed_rows) {
            survey_.cut = true;
            return;
        }
        std::vector<std::string> row(survey_.columns.size());
        std::string whole;
        for (const Record::Member& member : record.members()) {
            if (member.in_table && member.kind == Record::Kind::null) continue;  // an empty cell; a column may be all of these
            const std::size_t place = place_of(member.key);
            row.resize(survey_.columns.size());
            row[place] = value_of(member);
            survey_.columns[place].lists += member.kind == Record::Kind::list;
            survey_.columns[place].nested += member.kind == Record::Kind::other;
        }
        for (const std::string& cell : row) whole += cell + '\0';
        const bool blank = std::all_of(row.begin(), row.end(), [](const std::string& cell) { return cell.empty(); });
        if (!blank && !seen_.insert(hash64(whole)).second) ++survey_.repeated_rows;
        if (!blank) survey_.rows.push_back(std::move(row));
    }

  private:
    std::size_t place_of(std::string_view key) {
        for (std::size_t i = 0; i < survey_.columns.size(); ++i)
            if (survey_.columns[i].name == key) return i;
        survey_.columns.push_back({std::string(key)});
        return survey_.columns.size() - 1;
    }
    Survey& survey_;
    std::unordered_set<std::uint64_t> seen_;
};

void measure(Survey& survey, std::size_t column) {
    SurveyedColumn& measured = survey.columns[column];
    std::unordered_set<std::string_view> values;
    std::vector<std::size_t> tokens;
    std::size_t words = 0;
    for (const auto& row : survey.rows) {
        if (row[column].empty()) continue;
        values.insert(row[column]);
        words += count_words(row[column]);
        tokens.push_back(estimate_tokens(row[column]));
    }
    measured.filled = tokens.size();
    measured.distinct = values.size();
    if (tokens.empty()) return;
    measured.mean_words = static_cast<double>(words) / static_cast<double>(tokens.size());
    const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(tokens.size() * 95 / 100);
    std::nth_element(tokens.begin(), place, tokens.end());
    measured.tokens_95 = *place;
}

void measure_languages(Survey& survey) {
    std::size_t told = 0;
    for (std::size_t i = 0; i < survey.rows.size() && told < language_sample; ++i)
        for (std::size_t column = 0; column < survey.columns.size(); ++column)
            if (survey.columns[column].is_text())
                if (const std::string language = language_of(survey.rows[i][column]); !language.empty())
                    ++survey.languages[language], ++told;
    for (auto& [language, share] : survey.languages) share /= static_cast<double>(told);
}

/// `first`: the name of a column that the first line has; empty: it is a row.
Survey read_survey(const fs::path& file, const std::string& first) {
    Survey survey;
    survey.file = file;
    RecordErrors errors(RecordErrors::Policy::fail);
    Reader reader(survey);
    const std::vector<std::string> numbered = numbered_columns();
    TableColumns columns{{numbered.begin(), numbered.end()}, {}};
    if (!first.empty()) columns.required = {{first}};
    read_records(file, errors, columns, [&](const Record& record) { reader.take(record); });
    if (survey.rows.empty()) throw data_error("{}: it holds no rows with texts", file.string());
    for (auto& row : survey.rows) row.resize(survey.columns.size());
    for (std::size_t column = 0; column < survey.columns.size(); ++column) measure(survey, column);
    return survey;
}

struct Script {
    std::string_view name;
    char32_t first, last;
};
constexpr std::array<Script, 8> scripts{{{"Cyrillic", 0x400, 0x52f},
                                         {"Greek", 0x370, 0x3ff},
                                         {"Hebrew", 0x590, 0x5ff},
                                         {"Arabic", 0x600, 0x6ff},
                                         {"Devanagari", 0x900, 0x97f},
                                         {"Japanese", 0x3040, 0x30ff},
                                         {"Korean", 0xac00, 0xd7af},
                                         {"Chinese", 0x4e00, 0x9fff}}};

struct CommonWords {
    std::string_view language;
    std::array<std::string_view, 10> words;
};
constexpr std::array<CommonWords, 7> common_words{{{"en", {"the", "of", "and", "to", "is", "for", "with", "that", "are", "this"}},
                                                   {"de", {"der", "die", "und", "das", "nicht", "ist", "mit", "ein", "für", "eine"}},
                                                   {"fr", {"le", "les", "des", "et", "est", "une", "pour", "dans", "que", "du"}},
                                                   {"es", {"el", "los", "las", "y", "es", "una", "para", "del", "con", "por"}},
                                                   {"it", {"il", "di", "che", "e", "è", "una", "per", "della", "con", "sono"}},
                                                   {"pt", {"o", "os", "das", "e", "é", "uma", "para", "dos", "com", "não"}},
                                                   {"nl", {"het", "een", "en", "van", "niet", "voor", "zijn", "met", "dat", "op"}}}};

std::string script_of(std::string_view text) {
    std::array<std::size_t, scripts.size()> counts{};
    std::size_t letters = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t letter = next_letter(text, at);
        letters += letter > 0x2ff || (letter < 0x80 && std::isalpha(static_cast<int>(letter)));
        for (std::size_t i = 0; i < scripts.size(); ++i) counts[i] += letter >= scripts[i].first && letter <= scripts[i].last;
    }
    const auto most = std::max_element(counts.begin(), counts.end());
    return letters > 0 && *most * 3 > letters ? std::string(scripts[static_cast<std::size_t>(most - counts.begin())].name) : "";
}

}  // namespace

std::size_t Survey::column(std::string_view name) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == name) return i;
        names.push_back(columns[i].name);
    }
    throw usage_error("{}: no column {}; there are {}", file.string(), faceter::quoted(name), join(names, ", "));
}

namespace {

Survey survey_of(const fs::path& file) {
    const RecordForm form = record_form(file);
    const Header header = form == RecordForm::json_lines ? Header{} : header_of(file, form);
    Survey survey = read_survey(file, header.first);
    if (!header.first.empty() && !header.tells_cells && names_are_a_row(survey)) survey = read_survey(file, "");
    measure_languages(survey);
    return survey;
}

}  // namespace

Survey survey_file(const fs::path& file) {
    try {
        return survey_of(file);
    } catch (const Error& error) {
        throw with_advice(error, "or take it out of the file");
    }
}

std::string language_of(std::string_view text) {
    if (const std::string script = script_of(text); !script.empty()) return script;
    std::array<int, common_words.size()> hits{};
    const std::string lower = lowercase_ascii(text);
    for (const std::string_view word : split(lower, ' '))
        for (std::size_t i = 0; i < common_words.size(); ++i)
            hits[i] += std::find(common_words[i].words.begin(), common_words[i].words.end(), word) != common_words[i].words.end();
    const auto most = std::max_element(hits.begin(), hits.end());
    if (*most < 2 || std::count(hits.begin(), hits.end(), *most) > 1) return "";
    return std::string(common_words[static_cast<std::size_t>(most - hits.begin())].language);
}

}  // namespace faceter
