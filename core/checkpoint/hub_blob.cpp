#include "checkpoint/hub_blob.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"

namespace faceter {
namespace {

int open_or_throw(const fs::path& path) {
    if (const int fault = injected_fault(FileOperation::open, path)) throw_io("open", path, fault);
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) throw_io("open", path, errno);
    return descriptor;
}

}  // namespace

PartialFile::PartialFile(const std::filesystem::path& path) : path_(path), descriptor_(open_or_throw(path)) {}
PartialFile::~PartialFile() { ::close(descriptor_); }

std::uint64_t PartialFile::size() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void PartialFile::write_at(std::uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const int fault = injected_fault(FileOperation::write, path_);
        if (fault > 0) throw_io("write", path_, fault);
        const std::size_t size = fault == short_write ? (bytes.size() + 1) / 2 : bytes.size();
        const ssize_t written = ::pwrite(descriptor_, bytes.data(), size, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_io("write", path_, errno);
        offset += static_cast<std::uint64_t>(written);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void PartialFile::truncate(std::uint64_t size) {
    if (const int fault = injected_fault(FileOperation::write, path_)) throw_io("truncate", path_, fault);
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) throw_io("truncate", path_, errno);
}

void PartialFile::sync() {
    if (const int fault = injected_fault(FileOperation::sync, path_)) throw_io("sync", path_, fault);
    if (::fsync(descriptor_) != 0) throw_io("sync", path_, errno);
}

void link_to(const std::filesystem::path& target, const std::filesystem::path& path) {
    std::error_code error;
    if (fs::exists(path, error)) return;
    const fs::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
    fs::remove(temporary, error);
    fs::create_symlink(fs::relative(target, path.parent_path()), temporary, error);
    if (error) return copy_file_atomic(target, path);  // a file system without links
    rename_synced(temporary, path);
}

}  // namespace faceter
