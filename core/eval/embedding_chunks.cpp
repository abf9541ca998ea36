#include "eval/embedding_chunks.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "common/error.h"

namespace faceter {

EmbeddingChunks::EmbeddingChunks(fs::path folder, std::string name, std::vector<std::string_view> texts, const EmbeddingModel& model,
                                 Route route, bool normalise)
    : folder_(std::move(folder)),
      name_(std::move(name)),
      texts_(std::move(texts)),
      model_(model),
      route_(std::move(route)),
      normalise_(normalise) {}

fs::path EmbeddingChunks::file(std::size_t chunk) const { return folder_ / fmt::format("{}-{:06}.f32", name_, chunk); }

std::size_t EmbeddingChunks::rows_of(std::size_t chunk) const { return std::min(chunk_rows, texts_.size() - chunk * chunk_rows); }

void EmbeddingChunks::complete(const std::function<void(std::size_t)>& progress) const {
    std::vector<std::size_t> missing;
    std::size_t done = 0;
    for (std::size_t chunk = 0; chunk < num_chunks(); ++chunk) {
        if (fs::exists(file(chunk)))
            done += rows_of(chunk);
        else
            missing.push_back(chunk);
    }
    progress(done);
    for (const std::size_t chunk : missing) {
        const std::size_t rows = rows_of(chunk);
        EmbedOptions options;
        options.progress = [&](std::size_t part) { progress(done + part); };
        at::Tensor embedded = embed_texts(model_, std::span(texts_).subspan(chunk * chunk_rows, rows), route_, options);
        if (normalise_) embedded = normalize_rows(embedded);
        embedded = embedded.contiguous();
        write_file_atomic(file(chunk), {static_cast<const char*>(embedded.data_ptr()), embedded.nbytes()});
        done += rows;
        progress(done);
    }
}

at::Tensor EmbeddingChunks::read(std::size_t chunk) const {
    const at::Tensor rows = at::empty({static_cast<std::int64_t>(rows_of(chunk)), model_.dim()}, at::kFloat);
    const std::string bytes = read_file(file(chunk));
    if (bytes.size() != rows.nbytes())
        throw data_error("{}: has {} bytes, {} were expected; delete {} to embed anew", file(chunk).string(), bytes.size(), rows.nbytes(),
                         folder_.string());
    std::memcpy(rows.data_ptr(), bytes.data(), bytes.size());
    return rows;
}

at::Tensor EmbeddingChunks::gather(const std::vector<std::uint32_t>& rows) const {
    const at::Tensor out = at::empty({static_cast<std::int64_t>(rows.size()), model_.dim()}, at::kFloat);
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rows[a] < rows[b]; });
    const auto width = static_cast<std::size_t>(model_.dim());
    at::Tensor chunk;
    std::size_t loaded = ~std::size_t{0};
    for (const std::size_t i : order) {
        if (rows[i] / chunk_rows != loaded) chunk = read(loaded = rows[i] / chunk_rows);
        std::memcpy(out.data_ptr<float>() + i * width, chunk.data_ptr<float>() + rows[i] % chunk_rows * width, width * sizeof(float));
    }
    return out;
}

}  // namespace faceter
