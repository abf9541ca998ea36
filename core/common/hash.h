#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // of libcrypto

namespace faceter {

/// A fast 64-bit hash of bytes (XXH64), the same on every machine. Not for adversaries.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);
/// Two independent 64-bit hashes: a key for content (collisions are out of reach by chance).
struct Hash128 {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Hash128&) const = default;
    std::string hex() const;
};
Hash128 hash128(std::string_view bytes);
struct Hash128Hasher {
    std::size_t operator()(const Hash128& key) const { return key.low; }
};

/// CRC32C (Castagnoli), as journal lines carry it.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0);

/// SHA-256 of libcrypto, streaming.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;
    void update(std::string_view bytes);
    /// 64 hexadecimal digits. Call once.
    std::string finish();

  private:
    evp_md_ctx_st* context_;
};
std::string sha256_hex(std::string_view bytes);
std::string sha256_file(const std::filesystem::path& path);
/// What git calls a file's content by (40 hexadecimal digits, SHA-1 of a header and the content). Not for adversaries.
std::string git_blob_id(std::string_view content);

}  // namespace faceter
