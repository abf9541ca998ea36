#include "common/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "common/command.h"
#include "common/error.h"
#include "common/open_file.h"
#include "common/shown_place.h"
#include "common/user_folders.h"

namespace faceter {
namespace {

FileFaultHook& fault_hook() {
    static FileFaultHook hook;
    return hook;
}

/// The folder above `path` that is missing and lies in one that is there; empty where all are.
fs::path missing_folder(const fs::path& path) {
    fs::path missing;
    std::error_code ignored;
    for (fs::path folder = absolute_path(path).parent_path(); !fs::exists(folder, ignored); folder = folder.parent_path()) {
        missing = folder;
        if (folder == folder.parent_path()) break;
    }
    return missing;
}

/// Of a path that there is nothing at: what of it is missing.
std::string missing_of(const fs::path& path) {
    std::error_code none;
    if (fs::is_symlink(path, none)) return "; it is a link to " + fs::read_symlink(path, none).string() + ", which is missing";
    const fs::path folder = missing_folder(path);
    return folder.empty() ? "" : "; there is no folder " + folder.string();
}

/// Where what is made under another name will be, by that name (ShownPlace).
struct ShownPlaces {
    std::mutex guard;
    std::map<std::string, fs::path> by_name;
};

ShownPlaces& shown_places() {
    static auto* places = new ShownPlaces;  // never destroyed: files of other static objects may close later
    return *places;
}

/// `path` with the place of the nearest folder, or itself, that is made under another name.
fs::path once_shown(const fs::path& path) {
    ShownPlaces& places = shown_places();
    const std::lock_guard lock(places.guard);
    const std::string& name = path.native();
    for (std::size_t end = name.size(); end != std::string::npos && end > 0; end = name.rfind('/', end - 1))
        if (const auto found = places.by_name.find(name.substr(0, end)); found != places.by_name.end())
            return found->second.native() + name.substr(end);
    return path;
}

/// What was asked for, where `path` is or lies in something that is made in its place. A file may lie in such a folder.
fs::path wanted_place(const fs::path& path) { return once_shown(once_shown(path)); }

}  // namespace

int open_to_read(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (const int error = descriptor < 0 ? errno : 0)
        throw data_error("{}: cannot open: {}{}", path.string(), errno_text(error), error == ENOENT ? missing_of(path) : "");
    struct stat info {};
    const bool found = ::fstat(descriptor, &info) == 0;
    const bool stray = found && S_ISFIFO(info.st_mode) && !path.native().starts_with("/dev/") && !path.native().starts_with("/proc/");
    if (!found || S_ISDIR(info.st_mode) || stray) {
        ::close(descriptor);
        throw data_error("{}: is not a file that can be read", path.string());
    }
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

void read_pieces(const fs::path& path, const std::function<void(std::string_view piece)>& take) {
    struct Opened {
        int descriptor;
        ~Opened() { ::close(descriptor); }
    };
    const Opened file{open_to_read(path)};
    std::string buffer(std::size_t{1} << 20, '\0');
    for (std::size_t filled = buffer.size(); filled == buffer.size();) {
        ssize_t got = 1;
        for (filled = 0; filled < buffer.size() && got != 0; filled += static_cast<std::size_t>(got)) {
            while ((got = ::read(file.descriptor, buffer.data() + filled, buffer.size() - filled)) < 0 && errno == EINTR) {
            }
            if (got < 0) throw data_error("{}: cannot read: {}", path.string(), errno_text(errno));
        }
        take(std::string_view(buffer).substr(0, filled));
    }
}

void set_file_fault_hook(FileFaultHook hook) { fault_hook() = std::move(hook); }

int injected_fault(FileOperation operation, const fs::path& path) { return fault_hook() ? fault_hook()(operation, path) : 0; }

void throw_io(std::string_view what, const fs::path& place, int error) {
    const fs::path path = wanted_place(place);
    std::string hint = error == ENOSPC    ? "; free some space and try again"
                       : error == EDQUOT  ? "; your quota is used up: free some space and try again"
                       : error == EFBIG   ? "; files may not be larger here (ulimit -f): raise the limit and try again"
                       : error == EACCES  ? "; check the folder's permissions"
                       : error == ENOENT  ? missing_of(path)
                       : error == ENOTDIR ? "; a file stands where its path names a folder"
                       : error == EROFS   ? "; choose a folder on a writable file system"
                                          : "";
    if (error == ENOENT && !missing_folder(path).empty())
        hint += ", make it first: mkdir -p " + shell_word(absolute_path(path).parent_path().string());
    throw failure("{}: cannot {}: {}{}", path.string(), what, errno_text(error), hint);
}

ShownPlace::ShownPlace(const fs::path& made, const fs::path& place) : made_(made.native()) {
    const std::lock_guard lock(shown_places().guard);
    shown_places().by_name[made_] = place;
}

ShownPlace::~ShownPlace() {
    const std::lock_guard lock(shown_places().guard);
    shown_places().by_name.erase(made_);
}

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
    const int descriptor = open_to_read(path);
    struct stat info {};
    std::string content;
    if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode))
        content.reserve(std::min<std::uint64_t>(static_cast<std::uint64_t>(info.st_size), max_bytes));
    char buffer[1 << 16];
    for (;;) {
        const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            const int error = errno;
            ::close(descriptor);
            if (got < 0) throw data_error("{}: cannot read: {}", path.string(), errno_text(error));
            return content;
        }
        content.append(buffer, static_cast<std::size_t>(got));
        if (content.size() > max_bytes) {
            ::close(descriptor);
            throw data_error("{}: larger than the {} bytes expected of such a file", path.string(), max_bytes);
        }
    }
}

void make_directories(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return;
    if (const int fault = injected_fault(FileOperation::make_directory, path)) throw_io("create folder", path, fault);
    fs::create_directories(path, error);
    if (error) throw_io("create folder", path, error.value());
}

bool make_directory(const fs::path& path) {
    if (const int fault = injected_fault(FileOperation::make_directory, path)) throw_io("create folder", path, fault);
    if (::mkdir(path.c_str(), 0777) == 0) return true;
    if (errno != EEXIST) throw_io("create folder", path, errno);
    return false;
}

void remove_file(const fs::path& path) {
    if (const int fault = injected_fault(FileOperation::remove, path)) throw_io("remove", path, fault);
    std::error_code error;
    fs::remove(path, error);
    if (error) throw_io("remove", path, error.value());
}

void remove_tree(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(path, error))) {
        fs::directory_iterator it(path, error), end;
        for (; !error && it != end; it.increment(error)) remove_tree(it->path());
        if (error && error != std::errc::no_such_file_or_directory) throw_io("remove", path, error.value());  // another removes it too
    }
    remove_file(path);
}

void sync_directory(const fs::path& path) {
    if (const int fault = injected_fault(FileOperation::sync, path)) throw_io("sync folder", path, fault);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) throw_io("open folder", path, errno);
    const int failed = ::fsync(descriptor) != 0 ? errno : 0;
    ::close(descriptor);
    if (failed && failed != EINVAL) throw_io("sync folder", path, failed);  // some network file systems refuse fsync of a folder
}

void rename_synced(const fs::path& from, const fs::path& to) {
    if (const int fault = injected_fault(FileOperation::rename, to)) throw_io("rename to", to, fault);
    if (::rename(from.c_str(), to.c_str()) != 0) throw_io("rename to", to, errno);
    sync_directory(to.parent_path().empty() ? fs::path(".") : to.parent_path());
}

OutputFile::OutputFile(const fs::path& path, Mode mode) : path_(path) {
    if (const int fault = injected_fault(FileOperation::open, path)) throw_io("create", path, fault);
    const int kind = mode == Mode::exclusive ? O_EXCL : mode == Mode::append ? O_APPEND | O_NOFOLLOW : O_TRUNC;
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | kind;
    descriptor_ = ::open(path.c_str(), flags, 0666);
    if (descriptor_ < 0) throw_io("create", path, errno);
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const int fault = injected_fault(FileOperation::write, path_);
        if (fault > 0) throw_io("write", path_, fault);
        const ssize_t written = ::write(descriptor_, bytes.data(), fault == short_write ? (bytes.size() + 1) / 2 : bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_io("write", path_, errno);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void OutputFile::sync() {
    if (const int fault = injected_fault(FileOperation::sync, path_)) throw_io("sync", path_, fault);
    if (::fdatasync(descriptor_) != 0 && errno != EINVAL) throw_io("sync", path_, errno);
}

void OutputFile::close() {
    if (descriptor_ < 0) return;
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    if (result != 0 && errno != EINTR) throw_io("close", path_, errno);
}

std::uint64_t OutputFile::size() const {
    struct stat info {};
    return ::fstat(descriptor_, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

fs::path cache_directory() {
    if (const char* own = std::getenv("FACETER_CACHE"); own && *own) return own;
    if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "faceter";
    if (const fs::path home = home_folder(); !home.empty()) return home / ".cache" / "faceter";
    throw failure("no folder for caches: set HOME or FACETER_CACHE");
}

fs::path absolute_path(const fs::path& path) {
    if (path.empty()) throw usage_error("an empty path was given; name a file or folder");  // "$UNSET"
    return fs::absolute(path).lexically_normal();
}

MappedFile::MappedFile(const fs::path& path) {
    const int descriptor = open_to_read(path);
    struct stat info {};
    ::fstat(descriptor, &info);
    size_ = static_cast<std::size_t>(info.st_size);
    void* address = size_ ? ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0) : nullptr;
    const int error = errno;
    ::close(descriptor);
    if (address == MAP_FAILED) throw data_error("{}: cannot map: {}", path.string(), errno_text(error));
    data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
    if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

TemporaryDirectory::TemporaryDirectory() {
    std::string pattern = (temporary_folder() / "faceter-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw_io("create temporary folder", pattern, errno);
    path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

}  // namespace faceter
