#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "common/atomic_file.h"

struct archive;

namespace faceter {

/// A .tar.gz of files, through libarchive, which is opened when first needed (failure where it is not installed). It appears whole or not
/// at all; the same content gives the same bytes.
class ArchiveWriter {
  public:
    explicit ArchiveWriter(const fs::path& file);
    ~ArchiveWriter();
    ArchiveWriter(const ArchiveWriter&) = delete;
    ArchiveWriter& operator=(const ArchiveWriter&) = delete;
    /// Errors: stopped (common/cancel.h).
    void add(const std::string& name, std::string_view content);
    void finish();

  private:
    struct Sink;
    [[noreturn]] void fail(const std::string& what) const;
    AtomicFile file_;
    std::unique_ptr<Sink> sink_;
    archive* archive_ = nullptr;
};

/// What an archive from outside may unpack to.
struct ArchiveLimits {
    std::size_t files = 200'000;  ///< and folders
    std::uint64_t bytes = std::uint64_t{64} << 30;
    std::uint64_t free_bytes = std::uint64_t{64} << 20;  ///< so much is taken whatever it is packed to
    std::uint64_t growth = 200;                          ///< times the archive's own size, beyond that
    std::size_t free_files = 1'000;                      ///< so many files and folders are taken whatever the archive's size
    std::uint64_t bytes_each = 16;                       ///< of the archive that there are at least for each, beyond that
};

/// Unpacks a .tar or .tar.gz into an empty folder and says how many files it had. Only plain files and the folders that they lie in are
/// taken. Data errors, after which the folder may hold a part: it is no such archive or torn, beyond the limits, or has more than 32
/// folders in each other, a link, a device, a name that leaves the folder or stands twice.
std::size_t extract_archive(const fs::path& file, const fs::path& folder, const ArchiveLimits& limits = {});

}  // namespace faceter
