#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/file.h"

/// One file in memory, rewritten for each input; its path ends in the given name, since readers go by a file's ending.
class MemoryFile {
  public:
    explicit MemoryFile(const char* name) : descriptor_(::memfd_create(name, 0)), path_(folder_.path() / name) {
        if (descriptor_ < 0 || ::symlink(("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), path_.c_str()) != 0) std::abort();
    }
    const faceter::fs::path& put(const std::uint8_t* data, std::size_t size) {
        if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
        return path_;
    }

  private:
    faceter::TemporaryDirectory folder_;
    int descriptor_;
    faceter::fs::path path_;
};
