#include "conform/column.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"

namespace faceter::conform {
namespace {

std::vector<Json> other_values(const Field& field) {
    std::vector<Json> values;
    if (field.type == FieldType::boolean) values.push_back(!field.default_value.get<bool>());
    for (const std::string& choice : field.choices)
        if (field.type == FieldType::choice && field.default_value != choice) values.push_back(choice);
    return values;
}

/// `plain` with each setting's other values, under names that say so.
void add_columns(const Column& plain, const Schema& schema, Json Column::*settings, std::vector<Column>& columns) {
    columns.push_back(plain);
    for (const Field& field : schema.fields)
        for (const Json& value : other_values(field)) {
            Column& other = columns.emplace_back(plain);
            other.name += fmt::format(" {}: {}", field.key, value.is_string() ? value.get<std::string>() : value.dump());
            (other.*settings)[field.key] = value;
        }
}

Column with_objective(const std::string& variant, const std::string& method, const Extension& objective) {
    Column column{method, variant, Json::object(), {{"method", method}}, objective.learns_from == LearnsFrom::verdicts};
    const auto& fields = objective.schema.fields;
    const bool taught = std::any_of(fields.begin(), fields.end(), [](const Field& field) { return field.key == "teacher"; });
    if (taught) column.objective["teacher"] = "";  // Cell names the start model
    return column;
}

}  // namespace

std::vector<Column> columns_of(const Catalogue& catalogue, const std::vector<std::string>& methods) {
    const std::vector<std::string> variants = catalogue.names(ExtensionKind::variant);
    std::vector<std::string> known = variants;
    for (const std::string& objective : catalogue.names(ExtensionKind::objective)) known.push_back(objective);
    std::vector<Column> columns;
    for (const std::string& method : methods.empty() ? variants : methods) {
        const Catalogue::Entry* variant = catalogue.find(ExtensionKind::variant, method);
        const Catalogue::Entry* objective = catalogue.find(ExtensionKind::objective, method);
        if (variant)
            add_columns({method, method}, variant->extension.schema, &Column::settings, columns);
        else if (objective && !variants.empty())
            add_columns(with_objective(variants.front(), method, objective->extension), objective->extension.schema, &Column::objective,
                        columns);
        else
            throw usage_error("no variant or objective '{}'{}", method, suggestion(method, known));
    }
    return columns;
}

}  // namespace faceter::conform
