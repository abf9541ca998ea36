#include "compare/references.h"

#include <set>

#include "common/error.h"
#include "common/strings.h"
#include "experiment/machine.h"

namespace faceter {
namespace {

void add_plugin_of(const Catalogue& catalogue, ExtensionKind kind, const Json& method, std::set<std::string>& plugins) {
    if (!method.is_object()) return;
    const auto* entry = catalogue.find(kind, json_or<std::string>(method, "method", "", "method"));
    if (entry) plugins.insert(entry->plugin);
}

void add_recipe(const Catalogue& catalogue, const Json& recipe, std::set<std::string>& plugins) {
    add_plugin_of(catalogue, ExtensionKind::curriculum, json_or<Json>(recipe, "curriculum", {}, "settings"), plugins);
    add_plugin_of(catalogue, ExtensionKind::objective, json_or<Json>(recipe, "objective", {}, "settings"), plugins);
}

std::set<std::string> plugins_of(const std::vector<RunDirectory>& runs, const Catalogue& catalogue) {
    std::set<std::string> plugins;
    for (const RunDirectory& run : runs) {
        const Json& settings = run.settings();
        add_plugin_of(catalogue, ExtensionKind::variant, json_or<Json>(settings, "variant", {}, "settings"), plugins);
        add_recipe(catalogue, settings, plugins);
        for (const Json& stage : json_or<Json>(settings, "stages", Json::array(), "settings")) add_recipe(catalogue, stage, plugins);
        for (const Json& analysis : json_or<Json>(settings, "analyses", Json::array(), "settings"))
            add_plugin_of(catalogue, ExtensionKind::analysis, analysis, plugins);
    }
    return plugins;
}

/// "@article{key," -> "key"
std::string key_of(std::string_view entry) {
    const std::size_t open = entry.find('{'), comma = entry.find(',');
    return open == entry.npos || comma == entry.npos ? std::string(entry) : std::string(trim(entry.substr(open + 1, comma - open - 1)));
}

/// A line that is "}" alone ends an entry.
std::vector<std::string> entries_of(const std::string& text) {
    std::vector<std::string> entries(1);
    for (const std::string_view line : split(text, '\n')) {
        if (entries.back().empty() && trim(line).empty()) continue;
        entries.back() += std::string(line) + "\n";
        if (line == "}") entries.emplace_back();
    }
    entries.pop_back();
    return entries;
}

std::string braces_left_out(std::string text) {
    std::erase_if(text, [](char c) { return c == '{' || c == '}' || c == '\\'; });
    return text;
}

std::string text_of(const std::string& plugin, const Catalogue& catalogue) {
    try {
        return read_file(shared_resource("resources/references/" + plugin + ".bib"), 1 << 20);
    } catch (const Error&) {
        const Manifest* manifest = catalogue.plugin(plugin);
        if (!manifest || manifest->citation.empty()) return "";
        return fmt::format("@misc{{{},\n  title = {{{}}}\n}}\n", plugin, braces_left_out(manifest->citation));
    }
}

}  // namespace

std::string references_of(const std::vector<RunDirectory>& runs, const Catalogue& catalogue) {
    std::string text;
    std::set<std::string> seen;
    for (const std::string& plugin : plugins_of(runs, catalogue))
        for (const std::string& entry : entries_of(text_of(plugin, catalogue)))
            if (seen.insert(key_of(entry)).second) text += (text.empty() ? "" : "\n") + entry;
    return text;
}

}  // namespace faceter
