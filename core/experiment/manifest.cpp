#include "experiment/manifest.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr int manifest_format = 1;
constexpr std::uint64_t max_manifest_bytes = 4 << 20;
constexpr std::size_t max_extensions = 1000;

constexpr std::array<std::pair<LearnsFrom, std::string_view>, 7> learns_from_words{{{LearnsFrom::anything, "anything"},
                                                                                    {LearnsFrom::positives, "positives"},
                                                                                    {LearnsFrom::negatives, "negatives"},
                                                                                    {LearnsFrom::scores, "scores"},
                                                                                    {LearnsFrom::order, "order"},
                                                                                    {LearnsFrom::scored_pairs, "scored_pairs"},
                                                                                    {LearnsFrom::verdicts, "verdicts"}}};

constexpr std::array<std::pair<Training::What, std::string_view>, 4> trained_words{{{Training::What::encoder, "encoder"},
                                                                                    {Training::What::encoder_a_task, "encoder_a_task"},
                                                                                    {Training::What::adapters, "adapters"},
                                                                                    {Training::What::nothing, "nothing"}}};

template <typename Words>
std::string_view word_of(const Words& words, typename Words::value_type::first_type what) {
    for (const auto& [value, word] : words)
        if (value == what) return word;
    return "";
}

/// The first of the words is meant where there is none.
template <typename Words>
typename Words::value_type::first_type word_at(const Json& item, std::string_view key, const Words& words, std::string_view name) {
    const auto said = json_or<std::string>(item, key, std::string(words.front().second), name);
    std::vector<std::string> known;
    for (const auto& [value, word] : words) {
        if (word == said) return value;
        known.emplace_back(word);
    }
    throw settings_error("{}: '{}' is {}{}", name, key, faceter::quoted(said), suggestion(said, known));
}

Training training_at(const Json& item, std::string_view name) {
    const Json training = json_or(item, "training", Json::object(), name);
    Training read{word_at(training, "what", trained_words, name), json_or<std::string>(training, "alone", "", name),
                  json_or<std::string>(training, "given", "", name)};
    for (const Json& one : json_or(training, "anyway", Json::array(), name))
        read.anyway.push_back({json_at<std::string>(one, "setting", name), json_or<std::string>(one, "tasks", "", name),
                               json_or(one, "of_them", false, name), json_or<std::size_t>(one, "several", 1, name)});
    read.validated = json_or(training, "validated", false, name);
    return read;
}

Json training_to_json(const Training& training) {
    Json json = {{"what", word_of(trained_words, training.what)},
                 {"alone", training.alone},
                 {"given", training.given},
                 {"validated", training.validated}};
    for (const TrainedAnyway& one : training.anyway)
        json["anyway"].push_back({{"setting", one.setting}, {"tasks", one.tasks}, {"of_them", one.of_them}, {"several", one.several}});
    return json;
}

bool is_identifier(std::string_view text) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return !text.empty() && text.size() <= 64 && text.front() != '-' && text.find_first_not_of(allowed) == std::string_view::npos;
}

Json extensions_to_json(const std::vector<Extension>& extensions) {
    Json list = Json::array();
    for (const Extension& one : extensions)
        list.push_back({{"name", one.name},
                        {"summary", one.summary},
                        {"schema", schema_to_json(one.schema)},
                        {"dense_start", one.dense_start},
                        {"two_blocks", one.two_blocks},
                        {"learns_from", word_of(learns_from_words, one.learns_from)},
                        {"on_tokens", one.on_tokens},
                        {"ignores", one.ignores},
                        {"embeds_texts", one.embeds_texts},
                        {"training", training_to_json(one.training)},
                        {"parts", {{"name", one.parts.name}, {"by_task", one.parts.by_task}, {"setting", one.parts.setting}}}});
    return list;
}

std::vector<Extension> extensions_at(const Json& json, std::string_view key, std::string_view name) {
    std::vector<Extension> extensions;
    const Json list = json_or(json, key, Json::array(), name);
    if (!list.is_array() || list.size() > max_extensions)
        throw settings_error("{}: '{}' must be a list of at most {} entries", name, key, max_extensions);
    for (const Json& item : list) {
        Extension one;
        one.name = json_at<std::string>(item, "name", name);
        if (!is_identifier(one.name))
            throw settings_error("{}: {} in '{}' is not a name (letters, digits, '_', '-')", name, faceter::quoted(one.name), key);
        one.summary = json_or<std::string>(item, "summary", "", name);
        one.dense_start = json_or<bool>(item, "dense_start", false, name);
        one.two_blocks = json_or<std::string>(item, "two_blocks", "", name);
        one.learns_from = word_at(item, "learns_from", learns_from_words, name);
        one.on_tokens = json_or<bool>(item, "on_tokens", false, name);
        one.ignores = json_or<std::vector<std::string>>(item, "ignores", {}, name);
        one.embeds_texts = json_or<bool>(item, "embeds_texts", false, name);
        one.training = training_at(item, name);
        const Json parts = json_or(item, "parts", Json::object(), name);
        one.parts = {json_or<std::string>(parts, "name", "", name), json_or<bool>(parts, "by_task", false, name),
                     json_or<std::string>(parts, "setting", "", name)};
        one.schema = schema_from_json(json_or(item, "schema", Json::object(), name), fmt::format("{}: {}", name, one.name));
        if (one.schema.find("method"))
            throw settings_error("{}: {} declares a setting 'method', which is the experiment file's own", name, one.name);
        extensions.push_back(std::move(one));
    }
    return extensions;
}

/// Who may change the program itself is trusted with its plugins: the bundle and the wheel belong to whoever unpacked them.
struct stat program_rights() {
    struct stat info {};
    ::stat("/proc/self/exe", &info);
    return info;
}

bool owner_is_trusted(uid_t owner) { return owner == 0 || owner == ::geteuid() || owner == program_rights().st_uid; }

bool group_is_trusted(gid_t group) {
    const struct stat program = program_rights();
    return group == 0 || group == ::getegid() || (group == program.st_gid && (program.st_mode & S_IWGRP));
}

/// Why code from this file or folder must not be trusted, or nothing. A plugin runs with the user's rights, so nobody else may write it.
std::string writable_by_others(const fs::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return errno_text(errno);
    if (info.st_mode & S_IWOTH) return path.string() + " may be written by everyone; remove that permission (chmod o-w)";
    if (!owner_is_trusted(info.st_uid)) return path.string() + " belongs to another user";
    if ((info.st_mode & S_IWGRP) && !group_is_trusted(info.st_gid))
        return path.string() + " may be written by another group; remove that permission (chmod g-w)";
    return "";
}

std::string refusal(const fs::path& file) {
    if (std::string reason = writable_by_others(file); !reason.empty()) return reason;
    const fs::path library = fs::path(file).replace_extension(".so");
    return fs::exists(library) ? writable_by_others(library) : "";
}

void read_folder(const fs::path& folder, PluginList& list) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == ".json") files.push_back(it->path());
    std::sort(files.begin(), files.end());
    if (files.empty()) return;
    const std::string unsafe = writable_by_others(folder);
    for (const fs::path& file : files) {
        std::string reason = unsafe.empty() ? refusal(file) : unsafe;
        try {
            if (reason.empty()) {
                Manifest manifest = read_manifest(file);
                const auto same =
                    std::find_if(list.manifests.begin(), list.manifests.end(), [&](const Manifest& m) { return m.id == manifest.id; });
                if (same == list.manifests.end())
                    list.manifests.push_back(std::move(manifest));
                else if (!fs::equivalent(same->file, file, error))
                    reason = fmt::format("plugin '{}' was found before in {}", manifest.id, same->file.string());
            }
        } catch (const std::exception& problem) {
            reason = problem.what();
        }
        if (const std::string name = file.string() + ":"; reason.starts_with(name))  // lists say it first
            reason.erase(0, reason.find_first_not_of(' ', name.size()));
        if (!reason.empty()) list.rejected.push_back({file, reason});
    }
}

}  // namespace

Json manifest_to_json(const Manifest& manifest) {
    return {{"faceter_plugin", manifest_format},
            {"id", manifest.id},
            {"version", manifest.version},
            {"summary", manifest.summary},
            {"citation", manifest.citation},
            {"abi", manifest.abi},
            {"fingerprint", manifest.fingerprint},
            {"variants", extensions_to_json(manifest.variants)},
            {"curricula", extensions_to_json(manifest.curricula)},
            {"objectives", extensions_to_json(manifest.objectives)},
            {"analyses", extensions_to_json(manifest.analyses)}};
}

Manifest manifest_from_json(const Json& json, std::string_view name) {
    if (json_at<int>(json, "faceter_plugin", name) != manifest_format)
        throw settings_error("{}: this is a plugin manifest of another form ({}); {} is expected", name, json["faceter_plugin"].dump(),
                             manifest_format);
    Manifest manifest;
    manifest.id = json_at<std::string>(json, "id", name);
    if (!is_identifier(manifest.id))
        throw settings_error("{}: {} is not a plugin's id (letters, digits, '_', '-')", name, faceter::quoted(manifest.id));
    manifest.version = json_or<std::string>(json, "version", "", name);
    manifest.summary = json_or<std::string>(json, "summary", "", name);
    manifest.citation = json_or<std::string>(json, "citation", "", name);
    manifest.abi = json_at<std::uint32_t>(json, "abi", name);
    manifest.fingerprint = json_at<std::string>(json, "fingerprint", name);
    manifest.variants = extensions_at(json, "variants", name);
    manifest.curricula = extensions_at(json, "curricula", name);
    manifest.objectives = extensions_at(json, "objectives", name);
    manifest.analyses = extensions_at(json, "analyses", name);
    return manifest;
}

Manifest read_manifest(const fs::path& file) {
    Manifest manifest = manifest_from_json(read_json(file, max_manifest_bytes), file.string());
    if (manifest.id != file.stem().string())
        throw settings_error("{}: says it is plugin '{}'; the file's name must be {}.json", file.string(), manifest.id, manifest.id);
    manifest.file = absolute_path(file);
    return manifest;
}

int write_manifest(const Manifest& manifest, const fs::path& file) {
    try {
        const Json json = manifest_to_json(manifest);
        manifest_from_json(json, manifest.id);
        write_file_atomic(file, json.dump(1) + "\n");
        return 0;
    } catch (...) {
        const auto [code, message] = describe_current_exception();
        say(stderr, "{}: {}\n", file.string(), message);
        return static_cast<int>(code);
    }
}

fs::path program_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path(".") : program.parent_path();
}

std::vector<fs::path> plugin_folders(const std::vector<fs::path>& extra) {
    std::vector<fs::path> folders = {(program_folder() / ".." / "lib" / "faceter" / "plugins").lexically_normal()};
    if (const char* named = std::getenv("FACETER_PLUGIN_DIR"))
        for (const std::string_view folder : split(named, ':'))
            if (!folder.empty()) folders.push_back(absolute_path(folder));
    for (const fs::path& folder : extra) folders.push_back(absolute_path(folder));
    return folders;
}

PluginList find_plugins(const std::vector<fs::path>& folders) {
    PluginList list;
    for (const fs::path& folder : folders) read_folder(folder, list);
    std::sort(list.manifests.begin(), list.manifests.end(), [](const Manifest& a, const Manifest& b) { return a.id < b.id; });
    return list;
}

}  // namespace faceter
