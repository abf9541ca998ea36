#include "data/files_read.h"

namespace faceter {
namespace {

thread_local FilesRead* noting = nullptr;  // of this thread

/// Paths in a folder are told from it on: the same data elsewhere have the same hash.
std::string name_below(const fs::path& base, const fs::path& file) {
    const fs::path relative = base.empty() ? fs::path() : file.lexically_relative(base);
    const bool is_below = !relative.empty() && relative != "." && *relative.begin() != "..";
    return (is_below ? relative : file.filename()).string();
}

}  // namespace

FilesRead::FilesRead() : outer_(noting) { noting = this; }
FilesRead::~FilesRead() { noting = outer_; }

Json FilesRead::card(const fs::path& base) const {
    if (files_.empty()) return nullptr;
    std::map<std::string, const File*> named;
    for (const auto& [path, file] : files_) named.emplace(name_below(base, path), &file);
    Json list = Json::array();
    std::string lines;
    std::uint64_t bytes = 0;
    for (const auto& [name, file] : named) {
        lines += file->sha256 + "  " + name + "\n";
        bytes += file->bytes;
        if (list.size() < most_listed) list.push_back({{"name", name}, {"bytes", file->bytes}, {"sha256", file->sha256}});
    }
    return {{"count", named.size()},
            {"bytes", bytes},
            {"sha256", named.size() == 1 ? named.begin()->second->sha256 : sha256_hex(lines)},
            {"list", std::move(list)}};
}

void note_origin(Json& card, const std::string& fingerprint, Json files) {
    card["fingerprint"] = fingerprint;
    if (!files.is_null()) card["files"] = std::move(files);
}

HashedFile::HashedFile(const fs::path& path) : path_(path) {
    if (noting) hash_.emplace();
}

void HashedFile::add(std::string_view bytes) {
    if (!hash_) return;
    hash_->update(bytes);
    bytes_ += bytes.size();
}

void HashedFile::finish() {
    if (!hash_) return;
    if (noting) noting->files_[path_.string()] = {bytes_, hash_->finish()};
    hash_.reset();
}

void note_file_read(const fs::path& file) {
    std::error_code ignored;
    if (!noting || noting->files_.contains(file.string()) || !fs::is_regular_file(file, ignored)) return;
    const std::uint64_t bytes = fs::file_size(file, ignored);
    noting->files_[file.string()] = {bytes, sha256_file(file)};
}

}  // namespace faceter
