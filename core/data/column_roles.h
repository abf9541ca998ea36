#pragma once
#include <string>
#include <string_view>

#include "data/survey.h"

namespace faceter {

/// Which columns of a table are what: a query with the document that answers it (and perhaps one that does not), a text with its label, or
/// both, where the labelled text is the document.
struct ColumnRoles {
    std::string query, document, negative;  ///< empty: no pairs
    std::string text, label;                ///< empty: no labels
    bool has_pairs() const { return !query.empty(); }
    bool has_labels() const { return !label.empty(); }
    std::string words() const;  ///< "query=title, document=body"
};

/// "query", "answer", "Label" ...: it says what a column holds.
bool is_name_of_a_role(std::string_view name);
/// What the names of the columns say, else what is in them. Data error that says what was seen where neither
/// tells, or where a column grades or classes the pairs: not all of them belong together then.
ColumnRoles guess_roles(const Survey& survey);
/// "query=title, document=body, text=body, label=section"; a usage error for anything else, or a column that is not there.
ColumnRoles parse_roles(const Survey& survey, std::string_view words);

}  // namespace faceter
