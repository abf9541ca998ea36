#include "experiment/catalogue.h"

#include <experiment/public_headers.h>  // made by the build

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"

namespace faceter {

std::string_view extension_kind_name(ExtensionKind kind) {
    switch (kind) {
        case ExtensionKind::variant:
            return "variant";
        case ExtensionKind::curriculum:
            return "curriculum";
        case ExtensionKind::objective:
            return "objective";
        case ExtensionKind::analysis:
            return "analysis";
    }
    return "";
}

namespace {

/// That the plugin was built for another Faceter, which is known without libtorch; the worker compares the whole fingerprint.
std::string version_difference(const Manifest& manifest) {
    const auto fields = split(manifest.fingerprint, ';');
    const auto said = [&](std::string_view name) {
        const auto at = std::find_if(fields.begin(), fields.end(), [&](std::string_view field) { return field.starts_with(name); });
        return at == fields.end() ? std::string_view() : *at;
    };
    for (const std::string_view own : {"faceter=" FACETER_VERSION, "headers=" FACETER_PUBLIC_HEADERS}) {
        const std::string_view name = own.substr(0, own.find('=') + 1), field = said(name);
        if (field == own || (field.empty() && said("faceter=").empty()))
            continue;  // what says nothing of its build is compared by the worker
        return fmt::format("it was built with {}, this program with {}; build it again", field.empty() ? "no headers=" : field, own);
    }
    return {};
}

}  // namespace

Catalogue Catalogue::load(const std::vector<fs::path>& plugin_folders) {
    Catalogue catalogue;
    add_builtin_extensions(catalogue);
    PluginList found = find_plugins(plugin_folders);
    catalogue.plugins_.rejected = std::move(found.rejected);
    for (Manifest& manifest : found.manifests) {
        const std::pair<ExtensionKind, const std::vector<Extension>*> offers[] = {{ExtensionKind::variant, &manifest.variants},
                                                                                  {ExtensionKind::curriculum, &manifest.curricula},
                                                                                  {ExtensionKind::objective, &manifest.objectives},
                                                                                  {ExtensionKind::analysis, &manifest.analyses}};
        std::string refusal = version_difference(manifest);
        for (const auto& [kind, extensions] : offers)
            for (const Extension& one : *extensions)
                if (const Entry* other = refusal.empty() ? catalogue.find(kind, one.name) : nullptr)
                    refusal = fmt::format("{} '{}' is offered by '{}' already", extension_kind_name(kind), one.name, other->plugin);
        if (!refusal.empty()) {
            catalogue.plugins_.rejected.push_back({manifest.file, refusal});
            continue;
        }
        for (const auto& [kind, extensions] : offers)
            for (const Extension& one : *extensions) catalogue.add(kind, one, manifest.id);
        catalogue.plugins_.manifests.push_back(std::move(manifest));
    }
    return catalogue;
}

namespace {

/// What core does around any objective.
void add_objective_settings(Schema& schema) {
    schema.fields.push_back(
        list("matryoshka_dims", integer("", 0, "Elements of the embedding.").at_least(1),
             "Sum the loss over these prefixes of the embedding, each normalised anew (Matryoshka); none: the whole embedding alone.")
            .from("Nomic Embed v2, section 4.4: 768 and 256"));
    schema.fields.push_back(list("matryoshka_weights", real("", 1, "Weight.").above(0), "Weight of each prefix; none: 1 each."));
}

}  // namespace

void Catalogue::add(ExtensionKind kind, Extension extension, std::string plugin) {
    if (kind == ExtensionKind::objective) add_objective_settings(extension.schema);
    entries_[kind].push_back({std::move(extension), std::move(plugin)});
}

const Catalogue::Entry* Catalogue::find(ExtensionKind kind, std::string_view name) const {
    const auto list = entries_.find(kind);
    if (list == entries_.end()) return nullptr;
    for (const Entry& entry : list->second)
        if (entry.extension.name == name) return &entry;
    return nullptr;
}

std::vector<std::string> Catalogue::names(ExtensionKind kind) const {
    std::vector<std::string> names;
    if (const auto list = entries_.find(kind); list != entries_.end())
        for (const Entry& entry : list->second) names.push_back(entry.extension.name);
    return names;
}

const Manifest* Catalogue::plugin(std::string_view id) const {
    for (const Manifest& manifest : plugins_.manifests)
        if (manifest.id == id) return &manifest;
    return nullptr;
}

}  // namespace faceter
