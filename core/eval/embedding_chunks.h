#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "eval/embedder.h"

namespace faceter {

/// Embeddings of many texts as files of a folder, a chunk each, so that long work which was stopped goes on where it was. A file appears
/// whole or not at all. Rows are float32, of length 1 where `normalise`. The folder's owner says when the files belong to other texts or
/// another model.
class EmbeddingChunks {
  public:
    EmbeddingChunks(fs::path folder, std::string name, std::vector<std::string_view> texts, const EmbeddingModel& model, Route route,
                    bool normalise);

    /// Embeds what no file has yet. `progress` gets the number of texts done, first of those that have a file, and may throw to stop;
    /// finished chunks stay.
    void complete(const std::function<void(std::size_t done)>& progress) const;

    std::size_t num_texts() const { return texts_.size(); }
    std::size_t num_chunks() const { return (texts_.size() + chunk_rows - 1) / chunk_rows; }
    /// [rows, D], of texts chunk * chunk_rows and on. Errors (data): the file has another size.
    at::Tensor read(std::size_t chunk) const;
    /// Chosen rows [n, D] in the order of `rows`.
    at::Tensor gather(const std::vector<std::uint32_t>& rows) const;

    static constexpr std::size_t chunk_rows = 8192;

  private:
    fs::path file(std::size_t chunk) const;
    std::size_t rows_of(std::size_t chunk) const;
    fs::path folder_;
    std::string name_;
    std::vector<std::string_view> texts_;
    const EmbeddingModel& model_;
    Route route_;
    bool normalise_;
};

}  // namespace faceter
