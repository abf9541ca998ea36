#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/hash.h"

namespace faceter {

/// Embeddings on disk, by 128-bit keys of everything that they depend on (weights, instruction, text ...). One SQLite file, so that two
/// processes may use it at once and one that is killed leaves it whole. Bounded: what was not used for longest goes first. It holds nothing
/// that cannot be computed again, so a damaged file is made new.
class EmbeddingFile {
  public:
    /// Opens or makes it. A usage error on a file system that several machines may write at once (NFS ...), where SQLite's locks do not
    /// hold.
    EmbeddingFile(const fs::path& file, std::uint64_t max_bytes);
    ~EmbeddingFile();
    EmbeddingFile(const EmbeddingFile&) = delete;
    EmbeddingFile& operator=(const EmbeddingFile&) = delete;

    /// Copies what is there into `rows` [keys, dim]; true for each key that was found with that width.
    std::vector<bool> read(std::span<const Hash128> keys, std::int64_t dim, float* rows);
    /// Keeps `rows` [keys, dim], all or nothing, then removes the least recently used until the file's content is within bounds.
    void write(std::span<const Hash128> keys, std::int64_t dim, const float* rows);
    /// Bytes of embeddings that are kept.
    std::uint64_t size() const;
    const fs::path& file() const;

    /// Where it lies unless the user says otherwise: embeddings.sqlite in the cache folder.
    static fs::path default_file();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace faceter
