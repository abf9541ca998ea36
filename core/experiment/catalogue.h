#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "experiment/manifest.h"

namespace faceter {

enum class ExtensionKind { variant, curriculum, objective, analysis };
/// All of them, in the order that tables list them.
inline constexpr std::array extension_kinds{ExtensionKind::variant, ExtensionKind::curriculum, ExtensionKind::objective,
                                            ExtensionKind::analysis};
std::string_view extension_kind_name(ExtensionKind kind);

/// Everything that an experiment file may name, from core (builtin_extensions.cpp) and from the plugins' manifests.
class Catalogue {
  public:
    struct Entry {
        Extension extension;
        std::string plugin;  ///< plugin's id; "core" for core's own
    };
    /// Core's own and those of the plugins. Of two with the same name the first wins, the other is reported in plugins().rejected.
    static Catalogue load(const std::vector<fs::path>& plugin_folders);

    const Entry* find(ExtensionKind kind, std::string_view name) const;
    std::vector<std::string> names(ExtensionKind kind) const;
    const PluginList& plugins() const { return plugins_; }
    const Manifest* plugin(std::string_view id) const;
    void add(ExtensionKind kind, Extension extension, std::string plugin);

  private:
    std::map<ExtensionKind, std::vector<Entry>> entries_;
    PluginList plugins_;
};

/// Core's own extensions: curricula task_aware and static, objective infonce and analysis inter_task_similarity.
void add_builtin_extensions(Catalogue& catalogue);

}  // namespace faceter
