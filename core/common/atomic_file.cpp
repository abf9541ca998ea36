#include "common/atomic_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

namespace faceter {
namespace {

/// Of this process and no other file of it: several threads may write the same path, and the last one wins.
fs::path temporary_name(const fs::path& path) {
    static std::atomic<unsigned> counter{0};
    return path.string() + fmt::format(".tmp-{}-{}", ::getpid(), counter++);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
    file_.emplace(temporary_, OutputFile::Mode::truncate);
}

AtomicFile::~AtomicFile() {
    if (file_) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
    file_->sync();
    file_->close();
    rename_synced(temporary_, path_);
    file_.reset();
}

void write_file_atomic(const fs::path& path, std::string_view content) {
    AtomicFile file(path);
    file.write(content);
    file.commit();
}

}  // namespace faceter
