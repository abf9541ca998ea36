#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "eval/embedder.h"

namespace faceter {

/// A corpus as one model has it, held in memory to be asked again and again.
struct CorpusRows {
    at::Tensor rows;  ///< [N, D] float32; of length 1 where the model's similarity is the cosine
    Similarity similarity = Similarity::cosine;
};
CorpusRows embed_corpus(const EmbeddingModel& model, const Corpus& corpus, const Route& route, const EmbedOptions& options = {});

/// The similarity of a text, embedded under `route`, with every document: [N], the higher the nearer (distances with a minus).
std::vector<float> similarities(const CorpusRows& corpus, const EmbeddingModel& model, std::string_view text, const Route& route);

/// Places of the `count` highest values, descending; of equal ones the first.
std::vector<std::uint32_t> nearest(std::span<const float> similarities, std::size_t count);
/// From 1: how many come before a document in the whole order, plus itself.
std::size_t rank_of(std::span<const float> similarities, std::uint32_t document);

/// For each document, which share of its `count` nearest others in `first` is among those in `second`, 0 to 1: [N]. `progress` may throw to
/// stop.
std::vector<float> kept_neighbours(const CorpusRows& first, const CorpusRows& second, std::size_t count,
                                   const std::function<void(std::size_t done)>& progress = {});

}  // namespace faceter
