#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/file.h"
#include "fuzz.h"

/// A folder in which every file is right; the input takes the place of one of them, which its first byte chooses.
template <std::size_t count>
class FolderWithOneWrongFile {
  public:
    struct File {
        const char* name;
        std::string right;
    };
    FolderWithOneWrongFile(faceter::fs::path folder, std::array<File, count> files) : folder_(std::move(folder)), files_(std::move(files)) {
        for (const File& file : files_) put(file, file.right);
    }
    const faceter::fs::path& path() const { return folder_; }

    template <typename Reader>
    int run(const std::uint8_t* data, std::size_t size, const Reader& read) {
        if (size == 0) return 0;
        const File& file = files_[data[0] % count];
        put(file, {reinterpret_cast<const char*>(data) + 1, size - 1});
        const int result = fuzz_one(data, size, [&](std::string_view) { read(); });
        put(file, file.right);
        return result;
    }

  private:
    void put(const File& file, std::string_view content) const {
        const faceter::fs::path path = folder_ / file.name;
        faceter::make_directories(path.parent_path());
        faceter::OutputFile(path, faceter::OutputFile::Mode::truncate).write(content);
    }
    faceter::fs::path folder_;
    std::array<File, count> files_;
};
