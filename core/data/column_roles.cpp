#include "data/column_roles.h"

#include <algorithm>
#include <array>
#include <map>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::array<std::string_view, 8> query_names{"query", "anchor", "question", "title", "sentence1", "text1", "source", "premise"};
constexpr std::array<std::string_view, 11> document_names{"document", "positive",  "answer", "passage", "body",      "description",
                                                          "abstract", "sentence2", "text2",  "target",  "hypothesis"};
constexpr std::array<std::string_view, 3> negative_names{"negative", "hard_negative", "neg"};
constexpr std::array<std::string_view, 7> label_names{"label", "label_text", "category", "class", "topic", "section", "intent"};

constexpr std::array<std::string_view, 8> grade_names{"score",  "similarity", "similarity_score", "relatedness", "relatedness_score",
                                                      "rating", "grade",      "is_duplicate"};
/// Of pairs that a label may class: entailed or not, a paraphrase or none.
constexpr std::array<std::string_view, 3> classed_names{"sentence1", "text1", "premise"};

template <std::size_t N>
std::string named(const Survey& survey, const std::array<std::string_view, N>& names) {
    for (const std::string_view name : names)
        for (const SurveyedColumn& column : survey.columns)
            if (lowercase_ascii(column.name) == name && column.filled * 2 > survey.rows.size()) return column.name;
    return "";
}

std::vector<std::string> text_columns(const Survey& survey) {
    std::vector<const SurveyedColumn*> texts;
    for (const SurveyedColumn& column : survey.columns)
        if (column.is_text() && column.filled * 2 > survey.rows.size()) texts.push_back(&column);
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
    throw data_error(
        "{}: nothing says which texts belong together: a column of texts with one of labels, or two columns of texts, is wanted, and there "
        "are {}{}. "
        "Name them: --columns 'text=COLUMN, label=COLUMN' or --columns 'query=COLUMN, document=COLUMN'",
        survey.file.string(), printable(seen.substr(0, 1000)), printable(alone.substr(0, 500)));
}

/// The column that says of each pair how well it goes together; empty where none does.
std::string grading_column(const Survey& survey, const ColumnRoles& roles) {
    if (const std::string grade = named(survey, grade_names); !grade.empty()) {
        const std::size_t place = survey.column(grade);
        if (std::all_of(survey.rows.begin(), survey.rows.end(),
                        [&](const auto& row) { return row[place].empty() || parse_double(row[place]); }))
            return grade;
    }
    const bool classed = lowercase_ascii(roles.query) == named(survey, classed_names);
    return classed ? named(survey, label_names) : "";
}

void refuse_graded(const Survey& survey, const ColumnRoles& roles) {
    const std::string grade = grading_column(survey, roles);
    if (grade.empty()) return;
    throw data_error(
        "{}: {} says how well {} and {} go together, and pairs that are trained on all do. Keep the rows that do and drop the column, or "
        "name "
        "columns that say otherwise: --columns '{}'",
        survey.file.string(), printable(grade), printable(roles.query), printable(roles.document), printable(roles.words()));
}

}  // namespace

bool is_name_of_a_role(std::string_view as_written) {
    const std::string name = lowercase_ascii(as_written);
    const auto is_among = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
    return name == "text" || is_among(query_names) || is_among(document_names) || is_among(negative_names) || is_among(label_names);
}

std::string ColumnRoles::words() const {
    std::vector<std::string> words;
    for (const auto& [role, column] : {std::pair<const char*, const std::string*>{"query", &query},
                                       {"document", &document},
                                       {"negative", &negative},
                                       {"text", &text},
                                       {"label", &label}})
        if (!column->empty()) words.push_back(fmt::format("{}={}", role, *column));
    return join(words, ", ");
}

ColumnRoles guess_roles(const Survey& survey) {
    ColumnRoles roles{named(survey, query_names), named(survey, document_names), named(survey, negative_names), "", ""};
    roles.label = named(survey, label_names);
    if (!roles.label.empty() && !survey.columns[survey.column(roles.label)].is_label()) roles.label.clear();
    const std::vector<std::string> texts = text_columns(survey);
    if ((roles.query.empty() || roles.document.empty()) && texts.size() == 2) {  // the shorter asks for the longer
        const bool in_order = words_in(survey, texts[0]) <= words_in(survey, texts[1]);
        roles.query = texts[in_order ? 0 : 1];
        roles.document = texts[in_order ? 1 : 0];
    }
    if (roles.query.empty() || roles.document.empty()) roles.query = roles.document = roles.negative = "";
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
    const std::map<std::string, std::string*, std::less<>> places{{"query", &roles.query},
                                                                  {"document", &roles.document},
                                                                  {"negative", &roles.negative},
                                                                  {"text", &roles.text},
                                                                  {"label", &roles.label}};
    for (const std::string_view word : split(words, ',')) {
        if (trim(word).empty()) continue;
        const std::size_t equals = word.find('=');
        const auto place = places.find(trim(word.substr(0, equals)));
        if (equals == std::string_view::npos || place == places.end())
            throw usage_error("{}: roles of columns are query=, document=, negative=, text= and label=, as in 'text=body, label=topic'",
                              faceter::quoted(word));
        *place->second = trim(word.substr(equals + 1));
        survey.column(*place->second);
    }
    if (roles.query.empty() != roles.document.empty() || roles.text.empty() != roles.label.empty() ||
        (roles.query.empty() && roles.text.empty()) || (!roles.negative.empty() && roles.query.empty()))
        throw usage_error("{}: query= and document= belong together, and so do text= and label=; negative= only beside a query",
                          faceter::quoted(words));
    if (roles.has_pairs() && roles.has_labels() && roles.text != roles.document)
        throw usage_error("{}: with pairs and labels, the labelled text is the document: text={}", faceter::quoted(words), roles.document);
    return roles;
}

}  // namespace faceter
