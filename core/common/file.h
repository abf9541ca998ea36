#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace faceter {

namespace fs = std::filesystem;

/// The whole file. Throws a data error that names the path and the reason when it is missing, unreadable or larger than `max_bytes`.
std::string read_file(const fs::path& path, std::uint64_t max_bytes = std::uint64_t(1) << 32);

/// Writes `content` so that at every instant the path holds either the old content or the whole new one:
/// temporary file in the same folder, fsync, rename, fsync of the folder. Throws an Error (failed) naming path and reason.
void write_file_atomic(const fs::path& path, std::string_view content);

/// Creates the folder and its parents; an error names the path and the reason.
void make_directories(const fs::path& path);
/// Makes one folder for the caller alone: false where something of that name is there already.
bool make_directory(const fs::path& path);
/// Nothing where it is not there.
void remove_file(const fs::path& path);
/// A folder with all that it holds, or a file; a link itself, not what it leads to. Nothing where it is not there.
void remove_tree(const fs::path& path);
/// A synced copy that appears whole or not at all.
void copy_file_atomic(const fs::path& from, const fs::path& to);
/// Flushes a folder's entries to disk (after a rename).
void sync_directory(const fs::path& path);
/// rename(2) with an error that names both paths; the folder of `to` is synced.
void rename_synced(const fs::path& from, const fs::path& to);
/// The folder that per-user caches live in: FACETER_CACHE, else XDG_CACHE_HOME/faceter, else ~/.cache/faceter.
fs::path cache_directory();
/// A path for a message or a record: absolute and normalised, without following links.
fs::path absolute_path(const fs::path& path);

/// A file opened for writing through the file layer below. Not buffered: every write reaches the kernel.
class OutputFile {
  public:
    enum class Mode { truncate, exclusive, append };
    /// `append` refuses a link.
    OutputFile(const fs::path& path, Mode mode);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    void write(std::string_view bytes);
    void write(const void* data, std::size_t size) { write({static_cast<const char*>(data), size}); }
    void sync();
    void close();
    std::uint64_t size() const;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
    int descriptor_ = -1;
};

/// A read-only memory map. Only for files that this program wrote itself: a file from outside may be truncated while mapped (SIGBUS).
class MappedFile {
  public:
    explicit MappedFile(const fs::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    std::span<const std::byte> bytes() const { return {data_, size_}; }

  private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A folder of its own under the system's temporary folder, removed with everything in it at the end.
class TemporaryDirectory {
  public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

/// Everything that changes a file or a folder asks this hook first (tests inject faults: it returns an errno to fail with, or
/// `short_write`, or does not return at all). Null in production.
enum class FileOperation { open, write, sync, rename, make_directory, remove, lock };
using FileFaultHook = std::function<int(FileOperation, const fs::path&)>;
void set_file_fault_hook(FileFaultHook hook);
/// In place of an errno: half of the bytes are written, and the hook is asked again for the rest.
constexpr int short_write = -1;
/// 0, or what the hook answers: for code in this folder that calls the system itself.
int injected_fault(FileOperation operation, const fs::path& path);
/// "PATH: cannot WHAT: why; what to do".
[[noreturn]] void throw_io(std::string_view what, const fs::path& path, int error);

}  // namespace faceter
