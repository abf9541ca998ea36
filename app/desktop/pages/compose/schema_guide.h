#pragma once
#include <functional>
#include <optional>

#include "experiment/experiment_schema.h"
#include "settings/yaml_edit.h"

namespace faceter::desktop {

/// What may stand at a place of an experiment file, from the core's schema and the plugins' manifests alone: the form, the completion and
/// the hints ask here. Where a `method` decides, it is looked up.
class SchemaGuide {
  public:
    /// The method named at a path (the map that has the key `method`); empty: none yet.
    using MethodAt = std::function<std::string(const YamlPath&)>;

    explicit SchemaGuide(Catalogue catalogue);
    const Catalogue& catalogue() const { return m_catalogue; }
    /// The whole file as a section.
    const Field& root() const { return m_root; }
    /// The setting at `path`; nothing where the schema knows none.
    std::optional<Field> at(const YamlPath& path, const MethodAt& methodAt) const;
    /// Looks methods up in a file's tree.
    static MethodAt methodsIn(const YamlNode* root);

  private:
    Field resolved(const Field& field, const YamlPath& path, const MethodAt& methodAt) const;
    Field methodSection(ExtensionKind kind, const Field& like, const std::string& method, const std::string& fallback) const;
    Catalogue m_catalogue;
    Field m_root;
};

}  // namespace faceter::desktop
