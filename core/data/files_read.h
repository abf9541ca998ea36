#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/file.h"
#include "common/hash.h"
#include "common/json.h"

namespace faceter {

/// Notes, while it lives, which files this thread reads as data, and what was in them: the bytes are hashed as they pass, so that no file
/// is read for this alone (but Parquet, whose module reads by itself). An inner one takes what is read while it lives.
class FilesRead {
  public:
    FilesRead();
    ~FilesRead();
    FilesRead(const FilesRead&) = delete;
    FilesRead& operator=(const FilesRead&) = delete;

    /// {"count", "bytes", "sha256", "list": [{"name", "bytes", "sha256"}]}. Names are relative to `base` (a folder, or the one file).
    /// sha256 of one file is its own; of several that of the lines "<sha256>  <name>", as sha256sum prints them, in the order of the names.
    /// The list has at most `most_listed`. Null where no file was read to its end.
    Json card(const fs::path& base) const;
    static constexpr std::size_t most_listed = 32;

  private:
    friend class HashedFile;
    friend void note_file_read(const fs::path& file);
    struct File {
        std::uint64_t bytes = 0;
        std::string sha256;
    };
    std::map<std::string, File> files_;  // by path
    FilesRead* outer_;
};

/// What a card says of which data a set is, beside where they lie: "fingerprint" (the set's, of what training or a score sees) and "files"
/// (FilesRead::card; null: there were none, as with package lists, whose own card has a hash).
void note_origin(Json& card, const std::string& fingerprint, Json files);

/// One file on its way to a reader; does nothing where nobody notes.
class HashedFile {
  public:
    explicit HashedFile(const fs::path& path);
    bool is_noted() const { return hash_.has_value(); }
    void add(std::string_view bytes);
    /// The end of the file was reached: what was added is all of it.
    void finish();

  private:
    fs::path path_;
    std::optional<Sha256> hash_;
    std::uint64_t bytes_ = 0;
};

/// A file that was read by other means, whole: it is read once more, where somebody notes.
void note_file_read(const fs::path& file);

}  // namespace faceter
