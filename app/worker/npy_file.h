#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "common/atomic_file.h"

namespace faceter::worker {

/// A NumPy file (format 1.0) that is written as its rows come and appears whole or not at all. What it holds in memory does not grow.
class NpyFile {
  public:
    /// `type`: NumPy's, such as "<f4"; `width`: elements of a row, 0 for an array of one dimension; `rows`: how many there will be. Where
    /// that turns out otherwise the beginning is written anew, which a pipe does not allow. Errors as those of AtomicFile.
    NpyFile(const fs::path& path, std::string type, std::int64_t width, std::int64_t rows);
    /// Rows of the file's type and width, in the host's memory.
    void append(const at::Tensor& rows);
    std::int64_t rows() const { return rows_; }
    /// Puts the file in its place.
    void commit();

  private:
    std::string header(std::int64_t rows) const;
    AtomicFile file_;
    std::string type_;
    std::int64_t width_, announced_, rows_ = 0;
};

}  // namespace faceter::worker
