#include <algorithm>
#include <cstdlib>
#include <set>

#include "checkpoint/hub.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/strings.h"
#include "common/user_folders.h"

namespace faceter {
namespace {

constexpr const char* default_endpoint = "https://huggingface.co";
constexpr std::string_view name_chars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// Of $NAME or ${NAME} at the beginning of `text`, `length` bytes long: its value, or itself where it has none.
std::string variable_at(std::string_view text, std::size_t& length) {
    static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const bool braced = text.substr(1).starts_with('{');
    const std::size_t begin = braced ? 2 : 1, end = std::min(text.size(), text.find_first_not_of(letters, begin));
    const bool closed = !braced || text.substr(end).starts_with('}');
    length = closed ? end + (braced ? 1 : 0) : end;
    const char* value = closed ? std::getenv(std::string(text.substr(begin, end - begin)).c_str()) : nullptr;
    return value ? value : std::string(text.substr(0, length));
}

/// With the home folder for a ~ in front, and the values of variables.
fs::path expanded(const std::string& path) {
    std::string text = path == "~" || path.starts_with("~/") ? home_folder().string() + path.substr(1) : path;
    for (std::size_t at = text.find('$'); at != text.npos; at = text.find('$', at)) {
        std::size_t length = 0;
        const std::string value = variable_at(std::string_view(text).substr(at), length);
        text.replace(at, length, value);
        at += value.size();
    }
    return text;
}

fs::path hub_home() {
    if (const std::string home = environment("HF_HOME"); !home.empty()) return expanded(home);
    if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return expanded(cache) / "huggingface";
    return home_folder() / ".cache/huggingface";
}

fs::path hub_cache() {
    for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
        if (const std::string folder = environment(name); !folder.empty()) return expanded(folder);
    return hub_home() / "hub";
}

/// Empty where there is none that can be read: what needs no token goes on without.
std::string token_in(const fs::path& file) try {
    std::error_code error;
    return fs::is_regular_file(file, error) ? std::string(trim(read_file(file, 1 << 16))) : std::string();
} catch (const Error&) {
    return "";
}

std::string hub_token() {
    for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
        if (const std::string token(trim(environment(name))); !token.empty()) return token;
    const std::string set = environment("HF_TOKEN_PATH");
    return token_in(set.empty() ? hub_home() / "token" : expanded(set));
}

bool is_true(const std::string& value) {
    const std::string lower = lowercase_ascii(value);
    return lower == "1" || lower == "on" || lower == "yes" || lower == "true";
}

/// Letters, digits, '-', '_' and '.', not beginning with a dot: so neither "." nor "..".
bool is_plain(std::string_view part) { return !part.empty() && part[0] != '.' && part.find_first_not_of(name_chars) == part.npos; }

bool is_commit(std::string_view text) {
    return text.size() >= 4 && text.size() <= 64 && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

/// Empty where the file is none that can be read, or names no commit.
std::string commit_in(const fs::path& ref) try {
    std::error_code error;
    const std::string commit = fs::is_regular_file(ref, error) ? std::string(trim(read_file(ref, 4096))) : std::string();
    return is_commit(commit) ? commit : std::string();
} catch (const Error&) {
    return "";
}

std::set<std::string> named_commits(const fs::path& refs) {
    std::set<std::string> commits;
    std::error_code error;
    for (fs::recursive_directory_iterator at(refs, error), end; at != end; at.increment(error)) commits.insert(commit_in(at->path()));
    return commits;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.is_directory(error)) folders.push_back(entry.path());
    return folders;
}

/// Of a model's folder: the snapshot changed last of those that no ref names, or the only one.
fs::path newest_snapshot(const fs::path& folder) {
    std::vector<fs::path> snapshots = folders_in(folder / "snapshots");
    if (snapshots.size() > 1)
        std::erase_if(snapshots,
                      [named = named_commits(folder / "refs")](const fs::path& one) { return named.contains(one.filename().string()); });
    std::error_code error;
    const auto newest = std::max_element(snapshots.begin(), snapshots.end(), [&](const fs::path& a, const fs::path& b) {
        return fs::last_write_time(a, error) < fs::last_write_time(b, error);
    });
    return newest == snapshots.end() ? fs::path() : *newest;
}

bool is_tokenizer_file(std::string_view name) {
    static constexpr std::string_view names[] = {"tokenizer.json",          "vocab.txt",       "spiece.model", "spm.model",
                                                 "sentencepiece.bpe.model", "tokenizer.model", "vocab.json"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// The weights, whole: one file, or all that the index names.
bool has_weights(const fs::path& folder) {
    if (fs::exists(folder / "model.safetensors")) return true;
    const fs::path index = folder / "model.safetensors.index.json";
    if (!fs::exists(index)) return false;
    const Json json = read_json(index, 64u << 20);
    if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) return false;
    return std::all_of(json["weight_map"].begin(), json["weight_map"].end(), [&](const Json& file) {
        return file.is_string() && is_plain(file.get<std::string>()) && fs::exists(folder / file.get<std::string>());
    });
}

bool has_encoder(const fs::path& folder) {
    std::error_code error;
    bool tokenizer = false;
    for (const auto& entry : fs::directory_iterator(folder, error))
        tokenizer = tokenizer || is_tokenizer_file(entry.path().filename().string());
    return tokenizer && fs::exists(folder / "config.json") && has_weights(folder);
}

/// The folder of each module that modules.json names, but for those of Normalize, which have no files.
bool has_modules(const fs::path& snapshot) {
    const Json modules = read_json(snapshot / "modules.json", 1u << 20);
    if (!modules.is_array()) return true;  // broken: opening the folder says so
    bool encoder = false;
    for (const Json& module : modules) {
        const std::string path = json_or<std::string>(module, "path", "", "modules.json"),
                          type = json_or<std::string>(module, "type", "", "modules.json");
        if (type.ends_with("Transformer")) {
            encoder = true;
            if (!has_encoder(path.empty() ? snapshot : snapshot / path)) return false;
        } else if (!type.ends_with("Normalize") && !path.empty() && !fs::exists(snapshot / path / "config.json")) {
            return false;
        }
    }
    return encoder || has_encoder(snapshot);
}

bool is_needed(std::string_view name) {
    const auto parts = split(name, '/');
    if (parts.size() > 2 || !std::all_of(parts.begin(), parts.end(), is_plain)) return false;
    const std::string_view file = parts.back();
    const bool of_adapter = file == "adapter_config.json" || file == "adapter_model.safetensors";  // of a task, in a folder of any name
    const bool numbered = parts[0][0] >= '0' && parts[0][0] <= '9' && parts[0].find('_') != std::string_view::npos;
    if (parts.size() == 2 && !numbered && !of_adapter) return false;
    static constexpr std::string_view names[] = {
        "config.json",        "tokenizer_config.json", "special_tokens_map.json",           "added_tokens.json",
        "merges.txt",         "modules.json",          "config_sentence_transformers.json", "model.safetensors.index.json",
        "adapter_config.json"};
    const bool card = name == "README.md";  // whose licence is told
    const bool weights = file.ends_with(".safetensors") && (file.starts_with("model") || file.starts_with("adapter_model"));
    const bool lengths = file.starts_with("sentence_") && file.ends_with("_config.json");  // bert, distilbert, xlm-roberta ...
    return card || weights || lengths || is_tokenizer_file(file) || std::find(std::begin(names), std::end(names), file) != std::end(names);
}

}  // namespace

HubSettings HubSettings::from_environment() {
    HubSettings settings;
    settings.endpoint = environment("HF_ENDPOINT");
    if (settings.endpoint.empty()) settings.endpoint = default_endpoint;
    while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
    settings.token = hub_token();
    settings.cache = hub_cache();
    settings.offline = is_true(environment("HF_HUB_OFFLINE")) || is_true(environment("TRANSFORMERS_OFFLINE"));
    return settings;
}

std::optional<HubModel> HubModel::parse(const std::string& text) {
    HubModel model;
    const std::size_t at = text.find('@');
    model.name = text.substr(0, at);
    if (at != std::string::npos) model.revision = text.substr(at + 1);
    const auto parts = split(model.name, '/'), revision = split(model.revision, '/');
    const bool good =
        parts.size() == 2 && std::all_of(parts.begin(), parts.end(), is_plain) && std::all_of(revision.begin(), revision.end(), is_plain);
    return good && model.name.find("--") == std::string::npos ? std::optional(model) : std::nullopt;
}

std::filesystem::path HubModel::folder(const HubSettings& settings) const {
    std::string folder = "models--" + name;
    folder.replace(folder.find('/'), 1, "--");
    return settings.cache / folder;
}

std::string HubModel::name_of(const std::filesystem::path& snapshot) {
    constexpr std::string_view prefix = "models--", between = "--";
    const fs::path folder = (snapshot.has_filename() ? snapshot : snapshot.parent_path()).parent_path();
    const std::string name = folder.parent_path().filename().string();
    const std::size_t end = name.find(between, prefix.size());
    if (folder.filename() != "snapshots" || !name.starts_with(prefix) || end == std::string::npos) return "";
    return name.substr(prefix.size(), end - prefix.size()) + "/" + name.substr(end + between.size());
}

std::filesystem::path find_snapshot(const HubModel& model, const HubSettings& settings) {
    const fs::path folder = model.folder(settings), snapshots = folder / "snapshots";
    std::error_code error;
    for (const std::string& commit : {commit_in(folder / "refs" / model.revision), model.revision})
        if (is_commit(commit) && fs::is_directory(snapshots / commit, error)) return snapshots / commit;
    return {};
}

std::filesystem::path guess_snapshot(const HubModel& model, const HubSettings& settings) {
    return model.revision == "main" ? newest_snapshot(model.folder(settings)) : fs::path();
}

/// A folder without modules.json may be a plain transformers model, or one of which another tool has fetched a part: the cache's note that
/// the hub has no such file tells them apart.
bool is_complete(const std::filesystem::path& snapshot) try {
    if (fs::exists(snapshot / "modules.json")) return has_modules(snapshot);
    const fs::path note = snapshot.parent_path().parent_path() / ".no_exist" / snapshot.filename() / "modules.json";
    return fs::exists(note) && has_encoder(snapshot);
} catch (const Error&) {
    return true;  // broken files: opening the folder says which
}

std::vector<std::string> needed_files(const std::vector<std::string>& names) {
    std::vector<std::string> needed;
    std::copy_if(names.begin(), names.end(), std::back_inserter(needed), is_needed);
    return needed;
}

}  // namespace faceter
