#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace faceter {

/// How far compressed data may grow before it is taken for an attack: beyond `free_bytes`, at most `max_ratio` bytes for each compressed
/// one. Real text stays under 30; zeros reach 220 to 1,030 in gzip and far more in zstd.
struct ExpansionLimit {
    double max_ratio = 150;
    std::uint64_t free_bytes = std::uint64_t(64) << 20;
};

/// Bytes of a file in order, decompressed where its first bytes say gzip or zstd (several members or frames in a row, too); rows of Parquet
/// come as JSON lines.
class InputStream {
  public:
    virtual ~InputStream() = default;
    /// Up to `size` bytes; 0 at the end. Throws a data error naming the file where it is damaged, cut short or expands without measure.
    virtual std::size_t read(char* to, std::size_t size) = 0;

    /// Throws a data error where the file is missing, a folder or not readable.
    static std::unique_ptr<InputStream> open(const std::filesystem::path& path, ExpansionLimit limit = {});
};

}  // namespace faceter
