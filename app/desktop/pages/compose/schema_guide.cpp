#include "pages/compose/schema_guide.h"

namespace faceter::desktop {
namespace {

constexpr const char* sweep_key = "sweep";

/// Sections that the schema leaves open because a method decides what is in them (core/experiment/experiment_schema.h).
std::optional<ExtensionKind> kindOf(const std::string& key) {
    if (key == "variants") return ExtensionKind::variant;
    if (key == "curriculum") return ExtensionKind::curriculum;
    if (key == "objective") return ExtensionKind::objective;
    if (key == "analyses") return ExtensionKind::analysis;
    return std::nullopt;
}

}  // namespace

SchemaGuide::SchemaGuide(Catalogue catalogue)
    : m_catalogue(std::move(catalogue)), m_root(section("", experiment_schema(), "An experiment.")) {}

SchemaGuide::MethodAt SchemaGuide::methodsIn(const YamlNode* root) {
    return [root](const YamlPath& path) {
        const YamlNode* node = root ? yaml_at(*root, path) : nullptr;
        const YamlNode* method = node && node->kind == YamlNode::Kind::map ? node->find("method") : nullptr;
        return method ? method->text : std::string();
    };
}

/// `method` as a choice of what the catalogue has, then the method's own settings.
Field SchemaGuide::methodSection(ExtensionKind kind, const Field& like, const std::string& method, const std::string& fallback) const {
    const Catalogue::Entry* entry = m_catalogue.find(kind, method.empty() ? fallback : method);
    Schema schema;
    if (entry) schema = kind == ExtensionKind::analysis ? analysis_schema(*entry) : method_schema(*entry);
    Field chosen = choice("method", m_catalogue.names(kind), fallback, "Name of the method; each has settings of its own.");
    chosen.required = fallback.empty();
    if (entry && !entry->extension.summary.empty()) chosen.description = entry->extension.summary;
    if (schema.fields.empty())
        schema.fields.push_back(chosen);
    else
        schema.fields.front() = chosen;
    Field made = section(like.key, std::move(schema), like.description);
    return made;
}

Field SchemaGuide::resolved(const Field& field, const YamlPath& path, const MethodAt& methodAt) const {
    if (field.type != FieldType::any || path.empty()) return field;
    const auto kind = kindOf(path.front().key);
    if (path.size() == 1 && (kind == ExtensionKind::curriculum || kind == ExtensionKind::objective))
        return methodSection(*kind, field, methodAt(path), kind == ExtensionKind::curriculum ? "task_aware" : "infonce");
    if (!kind && path.front().key != sweep_key) return field;
    if (path.size() == 2 && (kind == ExtensionKind::variant || kind == ExtensionKind::analysis))
        return methodSection(*kind, field, methodAt(path), "");
    if (path.size() != 1) return field;
    if (!kind) {
        Field axes = map(field.key, list("", text("", "", "A value."), "The values of one setting; one run for each."), field.description);
        return axes;
    }
    return kind == ExtensionKind::analysis ? list(field.key, any("", "An analysis."), field.description)
                                           : map(field.key, any("", "A variant."), field.description);
}

std::optional<Field> SchemaGuide::at(const YamlPath& path, const MethodAt& methodAt) const {
    Field field = m_root;
    YamlPath so_far;
    for (const YamlStep& step : path) {
        so_far.push_back(step);
        const Field* inner = nullptr;
        if (field.type == FieldType::section && !step.is_item)
            inner = field.section->find(step.key);
        else if ((field.type == FieldType::list && step.is_item) || (field.type == FieldType::map && !step.is_item))
            inner = field.item.get();
        if (!inner) return std::nullopt;
        Field next = resolved(*inner, so_far, methodAt);
        field = std::move(next);
    }
    return field;
}

}  // namespace faceter::desktop
