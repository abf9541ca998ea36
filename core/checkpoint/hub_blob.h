#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace faceter {

/// A file that is written in several attempts, perhaps by several processes one after the other; what is there stays when the program ends.
class PartialFile {
  public:
    explicit PartialFile(const std::filesystem::path& path);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;
    std::uint64_t size() const;
    void write_at(std::uint64_t offset, std::string_view bytes);
    void truncate(std::uint64_t size);
    void sync();

  private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// Puts a relative symbolic link to `target` at `path`, atomically; a copy where the file system has no links.
void link_to(const std::filesystem::path& target, const std::filesystem::path& path);

}  // namespace faceter
