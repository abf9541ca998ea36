#include "cli/field_words.h"

#include "common/strings.h"

namespace faceter::cli {

std::string default_of(const Field& field) {
    if (field.required) return "(required)";
    return field.default_value.is_string() ? field.default_value.get<std::string>() : field.default_value.dump();
}

std::string range_of(const Field& field) {
    if (field.type == FieldType::choice) return join(field.choices, " | ");
    if (field.type == FieldType::boolean) return "true | false";
    std::string range;
    if (field.minimum) range = (field.exclusive_minimum ? "> " : ">= ") + format_double(*field.minimum);
    if (field.maximum) range += (range.empty() ? "" : ", ") + ("<= " + format_double(*field.maximum));
    return field.unit.empty() ? range : range + (range.empty() ? "" : " ") + field.unit;
}

}  // namespace faceter::cli
