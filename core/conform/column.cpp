#include "conform/column.h"

#include <fmt/format.h>

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

}  // namespace

std::vector<Column> columns_of(const Catalogue& catalogue, const std::vector<std::string>& methods) {
    const std::vector<std::string> known = catalogue.names(ExtensionKind::variant);
    std::vector<Column> columns;
    for (const std::string& method : methods.empty() ? known : methods) {
        const Catalogue::Entry* entry = catalogue.find(ExtensionKind::variant, method);
        if (!entry) throw usage_error("no variant '{}'{}", method, suggestion(method, known));
        columns.push_back({method, method, Json::object()});
        for (const Field& field : entry->extension.schema.fields)
            for (const Json& value : other_values(field)) {
                const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
                columns.push_back({fmt::format("{} {}: {}", method, field.key, text), method, {{field.key, value}}});
            }
    }
    return columns;
}

}  // namespace faceter::conform
