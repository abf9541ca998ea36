#include "data/column_roles.h"

#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "data/pair_texts.h"

namespace faceter {
namespace {

constexpr std::array<std::string_view, 8> query_names{"query", "anchor", "question", "title", "sentence1", "text1", "source", "premise"};
constexpr std::array<std::string_view, 11> document_names{"document", "positive",  "answer", "passage", "body",      "description",
                                                          "abstract", "sentence2", "text2",  "target",  "hypothesis"};
constexpr std::array<std::string_view, 7> label_names{"label", "label_text", "category", "class", "topic", "section", "intent"};

constexpr std::array<std::string_view, 13> grade_names{
    "score",        "similarity", "similarity_score", "relatedness", "relatedness_score", "rating",     "grade",
    "is_duplicate", "gold",       "gold_score",       "relevance",   "relevance_score",   "is_relevant"};

constexpr std::array<std::string_view, 22> count_names{"year",  "month", "day",  "date",   "time",  "timestamp", "length", "len",
                                                       "count", "num",   "word", "words",  "chars", "tokens",    "id",     "idx",
                                                       "index", "page",  "row",  "number", "split", "fold"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

template <std::size_t N>
std::string named(const Survey& survey, const std::array<std::string_view, N>& names) {
    for (const std::string_view name : names)
        for (const SurveyedColumn& column : survey.columns)
            if (lowercase_ascii(column.name) == name && column.filled * 2 > survey.rows.size()) return column.name;
    return "";
}

std::vector<std::string> negative_columns(const Survey& survey) {
    std::vector<std::string> names;
    for (const SurveyedColumn& column : survey.columns)
        if (is_name_of_negatives(lowercase_ascii(column.name)) && column.filled * 2 > survey.rows.size()) names.push_back(column.name);
    return names;
}

std::vector<std::string> text_columns(const Survey& survey) {
    std::vector<const SurveyedColumn*> texts;
    for (const SurveyedColumn& column : survey.columns)
        if (column.is_text() && column.filled * 2 > survey.rows.size() && !is_name_of_negatives(lowercase_ascii(column.name)))
            texts.push_back(&column);
    std::vector<std::string> names;
    for (const SurveyedColumn* column : texts) names.push_back(column->name);
    return names;
}

double words_in(const Survey& survey, const std::string& column) { return survey.columns[survey.column(column)].mean_words; }

/// 2026-11-23, 23.11.2026 08:15: digits with two separators or more.
bool is_date(std::string_view value) {
    const auto separators =
        std::count_if(value.begin(), value.end(), [](char c) { return std::string_view("-./:").find(c) != std::string_view::npos; });
    return separators >= 2 && value.find_first_not_of("0123456789-./: TZ+") == std::string_view::npos;
}

bool holds_dates(const Survey& survey, const std::string& column) {
    const std::size_t place = survey.column(column);
    return std::all_of(survey.rows.begin(), survey.rows.end(), [&](const auto& row) { return row[place].empty() || is_date(row[place]); });
}

/// A column that repeats few short values, of those that are not taken already. Days repeat as well, and say nothing of a text.
std::string label_column(const Survey& survey, const ColumnRoles& roles) {
    for (const SurveyedColumn& column : survey.columns)
        if (column.is_label() && column.name != roles.query && column.name != roles.document && column.filled * 2 > survey.rows.size() &&
            !holds_dates(survey, column.name))
            return column.name;
    return "";
}

[[noreturn]] void refuse(const Survey& survey) {
    std::string seen;
    for (const SurveyedColumn& column : survey.columns)
        seen += fmt::format("{}{} ({} values, {:.1f} words on average)", seen.empty() ? "" : ", ", column.name, column.distinct,
                            column.mean_words);
    std::string alone;
    for (const SurveyedColumn& column : survey.columns)
        if (column.distinct == 1 && column.filled * 2 > survey.rows.size())
            alone += fmt::format(". {} has one value alone, and labels are two or more", column.name);
    for (const SurveyedColumn& column : survey.columns)
        if (column.lists > 0) alone += fmt::format(". {} holds lists, and a text or a label a row is wanted", column.name);
    if (!named(survey, query_names).empty() &&
        std::any_of(survey.columns.begin(), survey.columns.end(), [](const SurveyedColumn& column) { return column.lists > 0; }))
        alone += fmt::format(" (lists of positives or negatives are trained on as they are: {})", entry_of_lists(survey.file));
    for (const SurveyedColumn& column : survey.columns)
        if (column.nested > 0)
            alone += fmt::format(". {0} holds members of its own; to have these beside the others: jq -c '. + .[\"{0}\"]' FILE > NEW.jsonl",
                                 column.name);
    throw data_error(
        "{}: nothing says which texts belong together: a column of texts with one of labels, or two columns of texts, is wanted, and there "
        "are {}{}. "
        "Name them: --columns 'text=COLUMN, label=COLUMN' or --columns 'query=COLUMN, document=COLUMN'",
        survey.file.string(), printable(seen.substr(0, 1000)), printable(alone.substr(0, 500)));
}

/// Nor is what no file of data may say: nan and inf.
bool is_number(std::string_view word) {
    const auto number = parse_double(word);
    return number && std::isfinite(*number);
}

/// The first value that is no number; empty where all are.
std::string first_word(const Survey& survey, const std::string& column) {
    const std::size_t place = survey.column(column);
    const auto found = std::find_if(survey.rows.begin(), survey.rows.end(),
                                    [&](const auto& row) { return !row[place].empty() && !is_number(row[place]); });
    return found == survey.rows.end() ? "" : (*found)[place];
}

bool holds_numbers(const Survey& survey, const std::string& column) { return first_word(survey, column).empty(); }

/// What to do with numbers as spreadsheets write them in much of the world; empty where there are none.
std::string advice_on_commas(const Survey& survey, const std::string& column) {
    const std::string word = first_word(survey, column);
    const std::size_t comma = word.find(',');
    if (comma + 4 == word.size() && !word.starts_with("0,") && !word.starts_with("-0,")) return "";  // 1,000 may be a thousand
    std::string number = word;
    std::replace(number.begin(), number.end(), ',', '.');
    return number == word || !parse_double(number) ? ""
                                                   : fmt::format(": {} is no number here; write it as {}", faceter::quoted(word), number);
}

std::string advice_on_words(const Survey& survey, const std::string& column) {
    const std::string commas = advice_on_commas(survey, column), word = first_word(survey, column);
    return commas.empty() && !word.empty() ? fmt::format(": {} is none", faceter::quoted(word, 40)) : commas;
}

bool holds_fractions(const Survey& survey, const std::string& column) {
    const std::size_t place = survey.column(column);
    return std::any_of(survey.rows.begin(), survey.rows.end(), [&](const auto& row) { return row[place].find('.') < row[place].size(); });
}

/// Two texts of a kind, sentence1 and sentence2, text_a and text_b: what is beside them judges them.
bool are_of_a_kind(const ColumnRoles& roles) {
    const std::string a = lowercase_ascii(roles.query), b = lowercase_ascii(roles.document);
    const std::string_view ends("12ab");
    return a == "premise" || (a.size() == b.size() && a.substr(0, a.size() - 1) == b.substr(0, b.size() - 1) &&
                              ends.find(a.back()) != ends.npos && ends.find(b.back()) != ends.npos);
}

/// Numbers that count or place a pair: "year", "num_words", "page-2".
bool is_name_of_a_count(std::string_view name) {
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of("_- ."), name.size());
        if (is_among(count_names, name.substr(0, end))) return true;
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return false;
}

/// Whether a column says of each pair how well it goes together: by its name, beside texts of a kind it may by its numbers as well.
enum class Grading { none, by_numbers, by_name };
Grading grading(const Survey& survey, const SurveyedColumn& column, bool of_a_kind) {
    const std::string name = lowercase_ascii(column.name);
    const bool named = is_among(grade_names, name), numbers = holds_numbers(survey, column.name);
    if (named && (numbers || of_a_kind)) return Grading::by_name;
    if (!of_a_kind) return Grading::none;
    if (is_among(label_names, name) || name.ends_with("label")) return Grading::by_name;
    const bool graded = numbers && !is_name_of_a_count(name) && (column.is_label() || holds_fractions(survey, column.name));
    return graded ? Grading::by_numbers : Grading::none;
}

/// The first column that grades the pairs; empty where none does.
std::string grading_column(const Survey& survey, const ColumnRoles& roles) {
    const bool of_a_kind = are_of_a_kind(roles);
    for (const SurveyedColumn& column : survey.columns) {
        if (column.name == roles.query || column.name == roles.document || column.filled * 2 <= survey.rows.size()) continue;
        if (grading(survey, column, of_a_kind) != Grading::none) return column.name;
    }
    return "";
}

/// What that column does to them.
std::string grading_words(const Survey& survey, const ColumnRoles& roles) {
    const std::string column = grading_column(survey, roles);
    if (column.empty()) return "";
    const Grading how = grading(survey, survey.columns[survey.column(column)], are_of_a_kind(roles));
    return printable(column) + (how == Grading::by_name ? " says" : " may say");
}

/// Numbers with an order to learn.
bool column_holds_scores(const Survey& survey, const std::string& column) {
    return holds_numbers(survey, column) && survey.columns[survey.column(column)].distinct > 1;
}

void refuse_graded(const Survey& survey, const ColumnRoles& roles) {
    const std::string grade_says = grading_words(survey, roles);
    if (grade_says.empty()) return;
    ColumnRoles pairs = roles;
    pairs.label.clear();  // its text is not chosen yet
    const std::string column = grading_column(survey, roles);
    std::string scored;
    if (column_holds_scores(survey, column) && roles.negatives.empty())
        scored = fmt::format(". To train on the scores themselves: --columns '{}, score={}'", printable(pairs.words()), printable(column));
    else if (const std::string advice = advice_on_commas(survey, column); !advice.empty())
        scored = ". To train on the scores themselves" + advice;
    throw data_error(
        "{}: {} how well {} and {} go together, and pairs that are trained on all do. Keep the rows that do and drop the column, or "
        "name "
        "columns that say otherwise: --columns '{}'{}",
        survey.file.string(), grade_says, printable(roles.query), printable(roles.document), printable(pairs.words()), scored);
}

/// Without regard to case, of letters beyond ASCII too.
bool is_same_word(std::string_view a, std::string_view b) {
    const auto folded = [](std::string_view word) {
        return icu::UnicodeString::fromUTF8({word.data(), static_cast<std::int32_t>(word.size())}).foldCase();
    };
    return folded(a) == folded(b);
}

/// As the survey calls the column: names of a table are in small letters there, and people type what stands in their file.
std::string column_called(const Survey& survey, const std::string& as_typed) {
    const auto is_it = [&](const SurveyedColumn& column) { return column.name == as_typed; };
    if (std::any_of(survey.columns.begin(), survey.columns.end(), is_it)) return as_typed;
    std::vector<std::string> found;
    for (const SurveyedColumn& column : survey.columns)
        if (is_same_word(column.name, as_typed)) found.push_back(column.name);
    return found.size() == 1 ? found.front() : survey.columns[survey.column(as_typed)].name;
}

/// "role=name, role=name" at its commas, but for those within the name of a column.
std::vector<std::string_view> split_roles(const Survey& survey, std::string_view words) {
    const auto is_there = [&](std::string_view as_typed) {
        const auto is_it = [&](const SurveyedColumn& column) { return is_same_word(column.name, as_typed); };
        return std::any_of(survey.columns.begin(), survey.columns.end(), is_it);
    };
    std::vector<std::string_view> found;
    while (!words.empty()) {
        const std::size_t first = std::min(words.find(','), words.size()), equals = words.find('=');
        std::size_t end = first;
        for (std::size_t comma = first; equals < first && comma < words.size();) {
            comma = std::min(words.find(',', comma + 1), words.size());
            if (is_there(trim(words.substr(equals + 1, comma - equals - 1)))) end = comma;
        }
        found.push_back(words.substr(0, end));
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return found;
}

/// Of a column's texts at least every other one ends as questions do.
bool asks(const Survey& survey, const std::string& column) {
    const std::size_t place = survey.column(column);
    std::size_t questions = 0;
    for (const std::vector<std::string>& row : survey.rows) questions += row[place].ends_with('?') || row[place].ends_with("\uff1f");
    return 2 * questions >= survey.columns[place].filled;
}

/// Whether the first of two columns is the query: by the name of one of them, by what asks, else as the shorter asks for the longer.
bool is_in_order(const Survey& survey, const std::vector<std::string>& texts, const ColumnRoles& named) {
    if (named.query == texts[0] || named.document == texts[1]) return true;
    if (named.query == texts[1] || named.document == texts[0]) return false;
    const bool first_asks = asks(survey, texts[0]), second_asks = asks(survey, texts[1]);
    return first_asks != second_asks ? first_asks : words_in(survey, texts[0]) <= words_in(survey, texts[1]);
}

}  // namespace

std::string entry_of_lists(const std::filesystem::path& file) {
    return fmt::format("{{source: file, format: pairs, path: {}}}", printable(file.filename().string()));
}

bool is_name_of_a_role(std::string_view as_written) {
    const std::string name = lowercase_ascii(as_written);
    return name == "text" || is_among(query_names, name) || is_among(document_names, name) || is_name_of_negatives(name) ||
           is_among(label_names, name);
}

std::string ColumnRoles::words() const {
    std::vector<std::string> words;
    const auto add = [&](const char* role, const std::string& column) {
        if (!column.empty()) words.push_back(fmt::format("{}={}", role, column));
    };
    add("query", query);
    add("document", document);
    for (const std::string& column : negatives) add("negative", column);
    add("text", text);
    add("label", label);
    add("score", score);
    return join(words, ", ");
}

ColumnRoles guess_roles(const Survey& survey) {
    ColumnRoles roles{named(survey, query_names), named(survey, document_names), negative_columns(survey), "", "", ""};
    roles.label = named(survey, label_names);
    if (!roles.label.empty() && !survey.columns[survey.column(roles.label)].is_label()) roles.label.clear();
    const std::vector<std::string> texts = text_columns(survey);
    if ((roles.query.empty() || roles.document.empty()) && texts.size() == 2) {
        const bool in_order = is_in_order(survey, texts, roles);
        roles.query = texts[in_order ? 0 : 1];
        roles.document = texts[in_order ? 1 : 0];
    }
    if (roles.query.empty() || roles.document.empty()) {
        roles.query = roles.document = "";
        roles.negatives.clear();
    }
    if (roles.has_pairs()) refuse_graded(survey, roles);
    if (roles.label.empty()) roles.label = label_column(survey, roles);
    if (!roles.label.empty()) roles.text = roles.has_pairs() ? roles.document : named(survey, std::array<std::string_view, 1>{"text"});
    if (!roles.label.empty() && roles.text.empty() && !texts.empty())
        roles.text = *std::max_element(texts.begin(), texts.end(), [&](const std::string& a, const std::string& b) {
            return words_in(survey, a) < words_in(survey, b);
        });
    if (roles.text.empty()) roles.label.clear();
    if (!roles.has_pairs() && !roles.has_labels()) refuse(survey);
    return roles;
}

ColumnRoles parse_roles(const Survey& survey, std::string_view words) {
    ColumnRoles roles;
    const std::map<std::string, std::string*, std::less<>> places{
        {"query", &roles.query}, {"document", &roles.document}, {"text", &roles.text}, {"label", &roles.label}, {"score", &roles.score}};
    for (const std::string_view word : split_roles(survey, words)) {
        if (trim(word).empty()) continue;
        const std::size_t equals = word.find('=');
        const std::string_view role = trim(word.substr(0, equals));
        const auto place = places.find(role);
        if (equals == std::string_view::npos || (place == places.end() && role != "negative"))
            throw usage_error(
                "{}: roles of columns are query=, document=, negative=, text=, label= and score=, as in 'text=body, label=topic'",
                faceter::quoted(word));
        const std::string column = column_called(survey, std::string(trim(word.substr(equals + 1))));
        if (role == "negative") {
            roles.negatives.push_back(column);
            continue;
        }
        if (!place->second->empty())
            throw usage_error("{}: {}= stands there twice, and one column has that role; negative= alone may be several",
                              faceter::quoted(words), role);
        *place->second = column;
    }
    if (roles.query.empty() != roles.document.empty() || roles.text.empty() != roles.label.empty() ||
        (roles.query.empty() && roles.text.empty()) || (!roles.negatives.empty() && roles.query.empty()))
        throw usage_error("{}: query= and document= belong together, and so do text= and label=; negative= only beside a query",
                          faceter::quoted(words));
    const auto is_negative = [&](const std::string& column) {
        return std::find(roles.negatives.begin(), roles.negatives.end(), column) != roles.negatives.end();
    };
    if (roles.has_pairs() && (roles.query == roles.document || is_negative(roles.query) || is_negative(roles.document)))
        throw usage_error("{}: one column cannot be two of query, document and negative: each text would be its own answer",
                          faceter::quoted(words));
    if (roles.has_scores() && (!roles.has_pairs() || roles.has_labels() || !roles.negatives.empty()))
        throw usage_error("{}: score= is that of a pair: it stands beside query= and document=, without a label or negatives",
                          faceter::quoted(words));
    if (roles.has_scores() && !column_holds_scores(survey, roles.score))
        throw usage_error("{}: column {} is to hold numbers, two different ones at least{}", faceter::quoted(words),
                          faceter::quoted(roles.score), advice_on_words(survey, roles.score));
    if (roles.has_pairs() && roles.has_labels() && roles.text != roles.document)
        throw usage_error("{}: with pairs and labels, the labelled text is the document: text={}", faceter::quoted(words), roles.document);
    return roles;
}

}  // namespace faceter
