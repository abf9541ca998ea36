#include <fmt/format.h>

#include "cli/field_words.h"
#include "cli/reference.h"
#include "experiment/experiment_schema.h"
#include "settings/core_settings.h"

namespace faceter::cli {
namespace {

/// Text as the cell of a Markdown table.
std::string cell(const std::string& text) {
    std::string escaped;
    for (const char c : text) escaped += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
    return escaped;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

void add_rows(const Schema& schema, const std::string& above, std::string& text);

void add_row(const Field& field, const std::string& above, std::string& text) {
    const std::string key = above + field.key;
    const bool is_group = field.section || (field.item && field.item->section);
    text += fmt::format("| {} | {} | {} | {}{} |\n", code(key), is_group || field.default_value.is_null() ? "" : code(default_of(field)),
                        cell(range_of(field)), cell(field.description), field.source.empty() ? "" : cell(" (" + field.source + ")"));
    if (field.section) add_rows(*field.section, key + ".", text);
    if (field.item && field.item->section) add_rows(*field.item->section, key + (field.type == FieldType::map ? ".NAME." : "[]."), text);
    if (key == "stages") add_rows(stage_schema(), "stages[].", text);  // of a form that its schema leaves open
}

void add_rows(const Schema& schema, const std::string& above, std::string& text) {
    for (const Field& field : schema.fields) add_row(field, above, text);
}

std::string table_of(const Schema& schema) {
    std::string text = "| setting | default | range | what it is |\n| --- | --- | --- | --- |\n";
    add_rows(schema, "", text);
    return text;
}

}  // namespace

std::string settings_reference(const Catalogue& catalogue) {
    std::string text =
        "# Settings\n\nOf an experiment file. What is left out has its default; where a paper sets the value, it is named.\n\n" +
        table_of(experiment_schema());
    for (const ExtensionKind kind : extension_kinds)
        for (const std::string& name : catalogue.names(kind)) {
            const Catalogue::Entry& entry = *catalogue.find(kind, name);
            text += fmt::format("\n## {} {}\n\n{} (plugin {})\n\n", extension_kind_name(kind), name, entry.extension.summary, entry.plugin);
            text += entry.extension.schema.fields.empty() ? "It has no settings of its own.\n" : table_of(entry.extension.schema);
        }
    return text;
}

}  // namespace faceter::cli
