#include "common/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "common/open_file.h"

namespace faceter {
namespace {

/// Of this process and no other file of it: several threads may write the same path, and the last one wins.
fs::path temporary_name(const fs::path& path) {
    static std::atomic<unsigned> counter{0};
    return path.string() + fmt::format(".tmp-{}-{}", ::getpid(), counter++);
}

/// Something that a rename would replace although it is no file: /dev/stdout may lead to one, which is not ours to take the place of.
bool is_stream(const fs::path& path) {
    const std::string name = absolute_path(path).string();
    if ((name.starts_with("/dev/") && !name.starts_with("/dev/shm/")) || name.starts_with("/proc/")) return true;
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Whom the old file was kept from shall not read the new one, not even while it is written.
void take_over_permissions(const fs::path& from, const fs::path& to) {
    struct stat old {};
    if (::stat(from.c_str(), &old) == 0 && S_ISREG(old.st_mode)) ::chmod(to.c_str(), old.st_mode & 0777);  // where they mean something
}

}  // namespace

AtomicFile::AtomicFile(fs::path path)
    : path_(std::move(path)), temporary_(is_stream(path_) ? path_ : temporary_name(path_)), shown_(temporary_, path_) {
    file_.emplace(temporary_, OutputFile::Mode::truncate);
    if (temporary_ != path_) take_over_permissions(path_, temporary_);
}

AtomicFile::~AtomicFile() {
    if (file_ && temporary_ != path_) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
    file_->sync();
    file_->close();
    if (temporary_ != path_) rename_synced(temporary_, path_);
    file_.reset();
}

void write_file_atomic(const fs::path& path, std::string_view content) {
    AtomicFile file(path);
    file.write(content);
    file.commit();
}

void copy_file_atomic(const fs::path& from, const fs::path& to) {
    std::optional<AtomicFile> file;
    read_pieces(from, [&](std::string_view piece) {
        if (!file) file.emplace(to);  // not for a source that cannot be opened
        file->write(piece);
    });
    file->commit();
}

namespace {

/// False where the file system cannot.
bool exchange(const fs::path& a, const fs::path& b) {
    if (const int fault = injected_fault(FileOperation::rename, b)) throw_io("rename to", b, fault);
    if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) throw_io("rename to", b, errno);
    return false;
}

}  // namespace

bool rename_on_one_disk(const fs::path& from, const fs::path& to) {
    int error = injected_fault(FileOperation::rename, to);
    if (!error && ::rename(from.c_str(), to.c_str()) != 0) error = errno;
    if (error == EXDEV) return false;
    if (error) throw_io("rename to", to, error);
    sync_directory(to.parent_path());
    return true;
}

void replace_folder(const fs::path& made, const fs::path& place) {
    if (!fs::exists(fs::symlink_status(place))) return rename_synced(made, place);
    fs::path old = made;
    if (!exchange(made, place)) {
        old += ".old";
        remove_tree(old);
        rename_synced(place, old);
        rename_synced(made, place);
    }
    sync_directory(place.parent_path());
    remove_tree(old);
}

}  // namespace faceter
