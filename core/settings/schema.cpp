#include "settings/schema.h"

#include <array>

#include "common/error.h"

namespace faceter {
namespace {

Field make(std::string key, FieldType type, std::string description) {
    Field field;
    field.key = std::move(key);
    field.type = type;
    field.description = std::move(description);
    return field;
}

}  // namespace

Field boolean(std::string key, bool fallback, std::string description) {
    Field field = make(std::move(key), FieldType::boolean, std::move(description));
    field.default_value = fallback;
    return field;
}

Field integer(std::string key, std::int64_t fallback, std::string description) {
    Field field = make(std::move(key), FieldType::integer, std::move(description));
    field.default_value = fallback;
    return field;
}

Field real(std::string key, double fallback, std::string description) {
    Field field = make(std::move(key), FieldType::real, std::move(description));
    field.default_value = fallback;
    return field;
}

Field text(std::string key, std::string fallback, std::string description) {
    Field field = make(std::move(key), FieldType::text, std::move(description));
    field.default_value = std::move(fallback);
    return field;
}

Field path(std::string key, std::string fallback, std::string description) {
    Field field = make(std::move(key), FieldType::path, std::move(description));
    field.default_value = std::move(fallback);
    return field;
}

Field choice(std::string key, std::vector<std::string> choices, std::string fallback, std::string description) {
    Field field = make(std::move(key), FieldType::choice, std::move(description));
    field.choices = std::move(choices);
    field.default_value = std::move(fallback);
    return field;
}

Field list(std::string key, Field item, std::string description) {
    Field field = make(std::move(key), FieldType::list, std::move(description));
    field.item = std::make_shared<const Field>(std::move(item));
    field.default_value = Json::array();
    return field;
}

Field map(std::string key, Field item, std::string description) {
    Field field = make(std::move(key), FieldType::map, std::move(description));
    field.item = std::make_shared<const Field>(std::move(item));
    field.default_value = Json::object();
    return field;
}

Field section(std::string key, Schema schema, std::string description) {
    Field field = make(std::move(key), FieldType::section, std::move(description));
    field.section = std::make_shared<const Schema>(std::move(schema));
    return field;
}

Field any(std::string key, std::string description) { return make(std::move(key), FieldType::any, std::move(description)); }

const Field* Schema::find(std::string_view key) const {
    for (const Field& field : fields)
        if (field.key == key) return &field;
    return nullptr;
}

std::vector<std::string> Schema::keys() const {
    std::vector<std::string> names;
    for (const Field& field : fields) names.push_back(field.key);
    return names;
}

}  // namespace faceter
