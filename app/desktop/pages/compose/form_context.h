#pragma once
#include "pages/compose/experiment_document.h"
#include "project/runs_snapshot.h"

namespace faceter::desktop {

/// What every part of the form looks at.
struct FormContext {
    ExperimentDocument& document;
    std::vector<Problem> problems;  ///< of the newest look

    const YamlNode* node(const YamlPath& path) const { return document.tree() ? yaml_at(*document.tree(), path) : nullptr; }
    std::optional<Field> field(const YamlPath& path) const {
        return document.guide() ? document.guide()->at(path, SchemaGuide::methodsIn(document.tree())) : std::nullopt;
    }
    /// The first problem of a setting; with `below` also of what is in it.
    const Problem* problemAt(const YamlPath& path, bool below) const;
};

inline bool isBelow(const YamlPath& inner, const YamlPath& outer) {
    return inner.size() >= outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

inline const Problem* FormContext::problemAt(const YamlPath& path, bool below) const {
    for (const Problem& problem : problems)
        if (!problem.path.empty() && (below ? isBelow(problem.path, path) : problem.path == path)) return &problem;
    return nullptr;
}

/// The path with one more step.
inline YamlPath deeper(YamlPath path, YamlStep step) {
    path.push_back(std::move(step));
    return path;
}

/// "field:training.batch_size": by which a test finds a widget.
inline QString fieldObjectName(const YamlPath& path) { return QStringLiteral("field:") + QString::fromStdString(yaml_path_text(path)); }

}  // namespace faceter::desktop
