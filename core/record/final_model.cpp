#include "record/final_model.h"

#include <sys/stat.h>

#include <algorithm>

#include "common/error.h"
#include "common/hash.h"
#include "common/inner_path.h"
#include "record/journal.h"

namespace faceter {
namespace {

constexpr std::uint64_t quickly_read = std::uint64_t{256} << 20;

struct NotedFile {
    std::string path, sha256;
    std::uint64_t bytes = 0;
};

/// A note that is none tells nothing.
std::vector<NotedFile> files_of(const Json& noted) {
    std::vector<NotedFile> files;
    try {
        if (!noted.is_object() || !noted.contains("files")) return {};
        for (const Json& file : noted.at("files"))
            files.push_back(
                {file.at("path").get<std::string>(), file.at("sha256").get<std::string>(), file.at("bytes").get<std::uint64_t>()});
    } catch (const Json::exception&) {
        return {};
    }
    std::erase_if(files, [](const NotedFile& file) { return !is_inner_path(file.path); });
    return files;
}

bool was_written_after(const fs::path& file, double time) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return true;
    return static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec) > time;
}

/// Empty: it is as it was noted.
std::string change_of(const fs::path& file, const NotedFile& noted, double time, ModelLook look) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return "is gone";
    const std::uint64_t bytes = fs::file_size(file, ignored);
    if (bytes != noted.bytes) return fmt::format("has {} bytes, and had {}", bytes, noted.bytes);
    if (look == ModelLook::quick && (bytes > quickly_read || !was_written_after(file, time))) return "";
    try {
        return sha256_file(file) == noted.sha256 ? "" : "its SHA-256 is another";
    } catch (const Error&) {
        return "cannot be read";
    }
}

/// What adding and removing a gate writes.
bool is_of_router(const std::string& path) { return path == "router.json" || path.starts_with("gates/") || path.starts_with("library-"); }

}  // namespace

Json final_model_files(const fs::path& model) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(model))
        if (entry.is_regular_file()) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    Json files = Json::array();
    for (const fs::path& path : paths)
        files.push_back({{"path", path.lexically_relative(model).string()}, {"bytes", fs::file_size(path)}, {"sha256", sha256_file(path)}});
    return {{"files", files}};
}

Json noted_final_model(const RunDirectory& run) {
    for (std::vector<int> attempts = run.attempts(); !attempts.empty(); attempts.pop_back()) {
        Json noted;
        for (JournalReader journal(run.attempt_journal(attempts.back())); auto event = journal.next();)
            if (event->type == "final_model") noted = std::move(event->fields);
        if (!noted.is_null()) return noted;
    }
    return nullptr;
}

std::vector<std::string> changes_of_final_model(const RunDirectory& run, const Json& noted, ModelLook look) {
    const fs::path model = run.folder() / "model";
    std::error_code ignored;
    const std::vector<NotedFile> files = files_of(noted);
    if (files.empty() || !fs::is_directory(model, ignored)) return {};
    const auto time = noted.contains("t") && noted["t"].is_number() ? noted["t"].get<double>() : 0.0;
    const auto change = [&](const NotedFile& file) { return change_of(model / file.path, file, time, look); };
    const bool other_router =
        std::any_of(files.begin(), files.end(), [&](const NotedFile& file) { return file.path == "router.json" && !change(file).empty(); });
    std::vector<std::string> changes;
    for (const NotedFile& file : files) {
        if (other_router && is_of_router(file.path)) continue;
        if (const std::string what = change(file); !what.empty()) changes.push_back(fmt::format("model/{}: {}", file.path, what));
    }
    return changes;
}

}  // namespace faceter
