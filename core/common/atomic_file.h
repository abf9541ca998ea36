#pragma once
#include <optional>

#include "common/file.h"
#include "common/shown_place.h"

namespace faceter {

/// A file written piece by piece that appears whole or not at all: until commit() the path holds what it held before. The pieces go into a
/// temporary file in the same folder, which is removed where commit() was not reached. It gets the permissions of the file that it
/// replaces. A device, a pipe or another thing that is no file
/// (/dev/null, /dev/stdout) is written to as it is. Errors as those of OutputFile.
class AtomicFile {
  public:
    explicit AtomicFile(fs::path path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::string_view bytes) { file_->write(bytes); }
    void write(const void* data, std::size_t size) { file_->write(data, size); }
    /// For code that writes to any file; it must not close it.
    OutputFile& file() { return *file_; }
    /// fsync, rename to the path, fsync of the folder.
    void commit();

  private:
    fs::path path_, temporary_;  ///< the same where the path is no file that could be replaced
    ShownPlace shown_;           ///< errors name the path
    std::optional<OutputFile> file_;
};

/// Puts a folder that is made and synced in the place of another, whose content goes, or where there is none. In one step where the file
/// system can exchange two names: then one of the two is there whole at every instant. Error (failed) naming path and reason.
void replace_folder(const fs::path& made, const fs::path& place);

/// rename_synced(), but false where the two places are on different disks (mounts), between which nothing can be renamed.
bool rename_on_one_disk(const fs::path& from, const fs::path& to);

}  // namespace faceter
