#include "plugin/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "plugin/abi.h"

namespace faceter {
namespace {

/// Empty where the two fingerprints agree, else the fields that do not.
std::string fingerprint_difference(const std::string& plugin, const std::string& own) {
    if (plugin == own) return {};
    const auto ours = split(own, ';'), theirs = split(plugin, ';');
    for (std::size_t i = 0; i < ours.size(); ++i)
        if (i >= theirs.size() || theirs[i] != ours[i])
            return fmt::format("it was built with {}, this program with {}; build it again", i < theirs.size() ? theirs[i] : "nothing",
                               ours[i]);
    return "its build fingerprint has more fields than this program's; build it again";
}

std::string abi_difference(std::uint32_t abi) {
    return abi == plugin_abi ? std::string() : fmt::format("it has plugin interface {}, this program {}; build it again", abi, plugin_abi);
}

/// Why the plugin cannot be used; empty after it was registered.
std::string load_one(const Manifest& manifest, Registry& registry) {
    if (auto difference = abi_difference(manifest.abi); !difference.empty()) return difference;
    if (auto difference = fingerprint_difference(manifest.fingerprint, build_fingerprint()); !difference.empty()) return difference;
    std::error_code none;
    if (const fs::file_status there = fs::status(manifest.library(), none); fs::exists(there) && !fs::is_regular_file(there))
        return "it is not a file that can be read";  // a pipe would be waited for without end
    void* library = ::dlopen(manifest.library().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return ::dlerror();
    using Entry = const faceter_plugin* (*)();
    const auto entry = reinterpret_cast<Entry>(::dlsym(library, "faceter_plugin_entry"));
    if (!entry) return "it has no function faceter_plugin_entry";
    const faceter_plugin* plugin = entry();
    if (plugin->size != sizeof(faceter_plugin))
        return fmt::format("its entry is {} bytes, expected {}; build it again", plugin->size, sizeof(faceter_plugin));
    if (auto difference = abi_difference(plugin->abi); !difference.empty()) return difference;
    if (auto difference = fingerprint_difference(plugin->fingerprint, build_fingerprint()); !difference.empty()) return difference;
    if (plugin->id != manifest.id) return fmt::format("the library calls itself '{}'", plugin->id);
    plugin->register_extensions(registry);
    return {};
}

/// A name that another plugin offers, or that this one registered before it failed, stays as it is.
template <typename Add>
void leave_out(const std::vector<Extension>& extensions, const RejectedPlugin& plugin, const Add& add) {
    for (const Extension& extension : extensions) {
        const std::string why =
            fmt::format("'{}' is of a plugin that was left out: {}: {}", extension.name, plugin.file.string(), plugin.reason);
        try {
            add(extension.name, [why](const auto&) -> std::nullptr_t { throw settings_error("{}", why); });
        } catch (const Error&) {
        }
    }
}

/// What it would have offered says why it is not there: else the log of a run that names it would be alone to know.
void leave_out(const Manifest& manifest, const RejectedPlugin& plugin, Registry& registry) {
    leave_out(manifest.variants, plugin, [&](const std::string& name, const auto& refuse) { registry.add_variant(name, refuse); });
    leave_out(manifest.curricula, plugin, [&](const std::string& name, const auto& refuse) { registry.add_curriculum(name, refuse); });
    leave_out(manifest.objectives, plugin, [&](const std::string& name, const auto& refuse) { registry.add_objective(name, refuse); });
    leave_out(manifest.analyses, plugin, [&](const std::string& name, const auto& refuse) { registry.add_analysis(name, refuse); });
}

}  // namespace

std::vector<RejectedPlugin> load_plugins(const std::vector<Manifest>& manifests, Registry& registry) {
    std::vector<RejectedPlugin> rejected;
    std::vector<const Manifest*> left_out;
    for (const Manifest& manifest : manifests) {
        std::string reason;
        try {
            reason = load_one(manifest, registry);
        } catch (const std::exception& error) {
            reason = error.what();
        }
        if (reason.empty()) continue;
        rejected.push_back({manifest.library(), reason});
        left_out.push_back(&manifest);
    }
    for (std::size_t i = 0; i < left_out.size(); ++i) leave_out(*left_out[i], rejected[i], registry);  // another may have its names
    return rejected;
}

const Registry& registry() {
    static const Registry loaded = [] {
        Registry made;
        register_builtins(made);
        const PluginList found = find_plugins(plugin_folders());
        auto rejected = found.rejected;
        for (RejectedPlugin& plugin : load_plugins(found.manifests, made)) rejected.push_back(std::move(plugin));
        for (const RejectedPlugin& plugin : rejected) say(stderr, "plugin {} is left out: {}\n", plugin.file.string(), plugin.reason);
        return made;
    }();
    return loaded;
}

}  // namespace faceter
