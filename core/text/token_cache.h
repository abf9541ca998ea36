#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "text/encode_batch.h"
#include "text/tokenizer.h"

namespace faceter {

class MappedFile;

/// Token ids of a list of texts, memory-mapped from the cache folder when the same tokenizer, texts and settings were seen before.
/// Copies share the map.
class TokenCache {
  public:
    /// `prefix` is the instruction put in front of every text. A file that is torn, corrupt, of another kind or holds ids that are none of
    /// the tokenizer's is rebuilt; where the folder cannot be written (read-only, full), the ids are kept in memory instead: a cache is
    /// never a reason to fail.
    static TokenCache open_or_build(const std::filesystem::path& cache_folder, const Tokenizer& tokenizer,
                                    std::span<const std::string_view> texts, std::string_view prefix, std::size_t max_length,
                                    int threads = 0);

    std::span<const std::int32_t> operator[](std::size_t i) const { return ids_.subspan(offsets_[i], offsets_[i + 1] - offsets_[i]); }
    std::size_t size() const { return offsets_.size() - 1; }
    std::size_t num_tokens() const { return ids_.size(); }
    /// True where the ids came from an existing file.
    bool reused() const { return reused_; }

  private:
    bool map(const std::filesystem::path& path, std::string_view key, std::size_t num_texts, std::size_t vocab_size);
    std::shared_ptr<MappedFile> file_;
    std::shared_ptr<TokenBatch> memory_;
    std::span<const std::uint64_t> offsets_;
    std::span<const std::int32_t> ids_;
    bool reused_ = false;
};

}  // namespace faceter
