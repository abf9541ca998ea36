#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/survey.h"

namespace faceter {

/// Which columns of a table are what: a query with the document that answers it (and perhaps some that do not), a text with its label, or
/// both, where the labelled text is the document.
struct ColumnRoles {
    std::string query, document;         ///< empty: no pairs
    std::vector<std::string> negatives;  ///< of pairs, and none where there are no such columns
    std::string text, label;             ///< empty: no labels
    std::string score;                   ///< of pairs: how well they go together; empty: all do
    bool has_pairs() const { return !query.empty(); }
    bool has_labels() const { return !label.empty(); }
    bool has_scores() const { return !score.empty(); }
    std::string words() const;  ///< "query=title, document=body"
};

/// The data entry that reads records with lists of texts, which no table of columns holds.
std::string entry_of_lists(const std::filesystem::path& file);
/// "query", "answer", "Label" ...: it says what a column holds.
bool is_name_of_a_role(std::string_view name);
/// What the names of the columns say, scores left out, else what is in them. Data error that says what was seen where neither
/// tells, or where a column grades or classes the pairs: not all of them belong together then.
ColumnRoles guess_roles(const Survey& survey);
/// "query=title, document=body, text=body, label=section", negative= once or several times, score= of a pair; a usage error for anything
/// else, or a column that is not there.
ColumnRoles parse_roles(const Survey& survey, std::string_view words);

}  // namespace faceter
