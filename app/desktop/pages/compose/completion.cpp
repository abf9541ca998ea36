#include "pages/compose/completion.h"

#include <algorithm>

#include "common/strings.h"
#include "pages/compose/yaml_context.h"

namespace faceter::desktop {
namespace {

std::string typeText(const Field& field) {
    switch (field.type) {
        case FieldType::boolean:
            return "true or false";
        case FieldType::integer:
            return "whole number";
        case FieldType::real:
            return "number";
        case FieldType::text:
            return "text";
        case FieldType::choice:
            return "one of " + join(field.choices, ", ");
        case FieldType::path:
            return "file or folder, relative to the experiment file";
        case FieldType::list:
            return "list";
        case FieldType::map:
            return "map of names";
        case FieldType::section:
            return "section";
        case FieldType::any:
            return "value";
    }
    return {};
}

std::string rangeText(const Field& field) {
    std::string text;
    if (field.minimum) text = (field.exclusive_minimum ? "above " : "at least ") + format_double(*field.minimum);
    if (field.maximum) text += (text.empty() ? "at most " : ", at most ") + format_double(*field.maximum);
    return text;
}

bool matches(const std::string& candidate, const std::string& prefix) {
    return lowercase_ascii(candidate).starts_with(lowercase_ascii(prefix));
}

bool isContainer(const Field& field) {
    return field.type == FieldType::section || field.type == FieldType::map || field.type == FieldType::list ||
           field.type == FieldType::any;
}

void addKeys(const Schema& schema, const YamlContext& context, Completions& out) {
    for (const Field& field : schema.fields)
        if (!context.seen.contains(field.key) && matches(field.key, context.prefix))
            out.items.push_back({field.key + (isContainer(field) ? ":" : ": "), field.description});
}

std::vector<std::string> keysOf(const YamlNode* node) {
    std::vector<std::string> keys;
    if (node && node->kind == YamlNode::Kind::map)
        for (const auto& entry : node->entries) keys.push_back(entry.key);
    return keys;
}

/// Names that the file itself gives: of its tasks and of its evaluation's data sets.
std::vector<std::string> ownNames(const YamlPath& path, const YamlNode* tree) {
    if (!tree || path.empty()) return {};
    const std::string& key = path.back().is_item && path.size() > 1 ? path[path.size() - 2].key : path.back().key;
    if (key == "task") return keysOf(tree->find("tasks"));
    if (key != "dataset" && key != "evaluate_datasets") return {};
    std::vector<std::string> names;
    if (const YamlNode* sets = yaml_at(*tree, {"evaluation", "datasets"}))
        for (const YamlNode& set : sets->items)
            if (const YamlNode* name = set.kind == YamlNode::Kind::map ? set.find("name") : nullptr) names.push_back(name->text);
    return names;
}

void addValues(const Field& field, const YamlContext& context, const YamlNode* tree, Completions& out) {
    std::vector<std::string> values = field.choices;
    if (field.type == FieldType::boolean) values = {"true", "false"};
    for (const std::string& name : ownNames(context.path, tree)) values.push_back(name);
    for (const std::string& value : values)
        if (matches(value, context.prefix)) out.items.push_back({value, field.default_value == Json(value) ? "default" : ""});
    if (out.items.empty() && context.prefix.empty() && !field.default_value.is_null() && !isContainer(field))
        if (const std::string value = yaml_inline(field.default_value); value != "\"\"") out.items.push_back({value, "default"});
}

/// By name or by their first letters.
void addPrompts(const Prompts& prompts, const YamlContext& context, Completions& out) {
    if (!takesPrompt(context.path)) return;
    for (const auto& [name, text] : prompts)
        if (matches(name, context.prefix) || matches(text, context.prefix)) out.items.push_back({yaml_text(text, "\""), name});
}

/// Dotted settings that a sweep may name.
void addSweepKeys(const SchemaGuide& guide, const YamlContext& context, const YamlNode* tree, Completions& out) {
    const auto methods = SchemaGuide::methodsIn(tree);
    const auto add = [&](const YamlPath& path) {
        const auto field = guide.at(path, methods);
        if (!field || field->type != FieldType::section) return;
        for (const Field& inner : field->section->fields)
            if (const std::string key = yaml_path_text(path) + "." + inner.key;
                !isContainer(inner) && inner.key != "method" && matches(key, context.prefix))
                out.items.push_back({key + ": [", inner.description});
    };
    for (const char* name : {"training", "objective", "curriculum"}) add({name});
    for (const std::string& variant : keysOf(tree ? tree->find("variants") : nullptr)) add({"variants", variant});
    for (const std::string& task : keysOf(tree ? tree->find("tasks") : nullptr)) add({"tasks", task});
}

}  // namespace

Completions completeAt(std::string_view text, std::size_t byte, const SchemaGuide& guide, const YamlNode* tree, const Prompts& prompts) {
    const YamlContext context = yamlContext(text, byte);
    Completions out;
    out.begin = context.prefixBegin;
    if (context.inComment || context.inQuotes) return out;
    const auto inFile = SchemaGuide::methodsIn(tree);
    const SchemaGuide::MethodAt methods = [&](const YamlPath& path) {
        const auto seen = context.seen.find("method");
        const YamlPath holder =
            context.inValue && !context.path.empty() ? YamlPath(context.path.begin(), context.path.end() - 1) : context.path;
        return path == holder && seen != context.seen.end() && !seen->second.empty() ? seen->second : inFile(path);
    };
    const auto field = guide.at(context.path, methods);
    if (!field) return out;
    const bool isItem = !context.path.empty() && context.path.back().is_item;
    if (!context.inValue && context.path.size() == 1 && context.path.front().key == "sweep")
        addSweepKeys(guide, context, tree, out);
    else if (!context.inValue && field->type == FieldType::section)
        addKeys(*field->section, context, out);
    else if (context.inValue && isItem && field->type == FieldType::section)
        addKeys(*field->section, context, out);
    else if (context.inValue || isItem)  // "- lin" could become a key or a value; of a list of plain values it is one
        addValues(*field, context, tree, out);
    if (context.inValue) addPrompts(prompts, context, out);
    return out;
}

std::string defaultText(const Field& field) {
    if (field.required) return "required";
    const Json& value = field.default_value;
    if (value.is_null() || value == "") return field.type == FieldType::list || field.type == FieldType::map ? "none" : "not set";
    std::string text = value.is_string() ? value.get<std::string>() : yaml_inline(value);
    return text;
}

std::string describeField(const Field& field) {
    std::string text = field.description;
    std::string facts = typeText(field);
    if (const std::string range = rangeText(field); !range.empty()) facts += ", " + range;
    if (!field.unit.empty()) facts += " (" + field.unit + ")";
    text += "\n\n" + field.key + ": " + facts;
    if (field.type != FieldType::section) text += "\nDefault: " + defaultText(field);
    if (!field.source.empty()) text += "\nSource: " + field.source;
    return text;
}

}  // namespace faceter::desktop
