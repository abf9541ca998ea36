#include "eval/corpus_search.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "eval/comparable_rows.h"
#include "eval/search.h"

namespace faceter {
namespace {

constexpr std::int64_t questions_at_a_time = 1024;

FeatureMatrix view(const at::Tensor& rows) { return {rows.const_data_ptr<float>(), rows.size(0), rows.size(1)}; }

/// Neighbours of documents [begin, end) without themselves, ascending by number.
std::vector<std::vector<std::uint32_t>> neighbours_of(const CorpusRows& corpus, std::int64_t begin, std::int64_t end, std::size_t count) {
    const at::Tensor asked = corpus.rows.slice(0, begin, end).contiguous();
    std::vector<std::vector<std::uint32_t>> lists;
    for (const auto& hits : exact_search(view(asked), view(corpus.rows), count + 1, corpus.similarity)) {
        const auto self = static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(lists.size());
        std::vector<std::uint32_t>& list = lists.emplace_back();
        for (const SearchHit& hit : hits)
            if (hit.document != self && list.size() < count) list.push_back(hit.document);
        std::sort(list.begin(), list.end());
    }
    return lists;
}

float shared_part(const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& second) {
    std::vector<std::uint32_t> both;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
    return first.empty() ? 1.0F : static_cast<float>(both.size()) / static_cast<float>(first.size());
}

}  // namespace

CorpusRows embed_corpus(const EmbeddingModel& model, const Corpus& corpus, const Route& route, const EmbedOptions& options) {
    const Similarity similarity = model.folder.similarity;
    return {comparable_rows(embed_texts(model, corpus.documents.views(), route, options), similarity), similarity};
}

std::vector<float> similarities(const CorpusRows& corpus, const EmbeddingModel& model, std::string_view text, const Route& route) {
    const at::Tensor query = comparable_rows(embed_texts(model, {&text, 1}, route), corpus.similarity)[0];  // [D]
    at::Tensor values;                                                                                      // [N]
    if (corpus.similarity == Similarity::euclidean)
        values = -(corpus.rows - query).square().sum(1);
    else if (corpus.similarity == Similarity::manhattan)
        values = -(corpus.rows - query).abs().sum(1);
    else
        values = at::mv(corpus.rows, query);
    values = values.contiguous();
    return {values.const_data_ptr<float>(), values.const_data_ptr<float>() + values.numel()};
}

std::vector<std::uint32_t> nearest(std::span<const float> similarities, std::size_t count) {
    std::vector<std::uint32_t> order(similarities.size());
    std::iota(order.begin(), order.end(), 0U);
    count = std::min(count, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [&](std::uint32_t a, std::uint32_t b) { return similarities[a] != similarities[b] ? similarities[a] > similarities[b] : a < b; });
    order.resize(count);
    return order;
}

std::size_t rank_of(std::span<const float> similarities, std::uint32_t document) {
    const float own = similarities[document];
    std::size_t before = 0;
    for (std::uint32_t i = 0; i < similarities.size(); ++i) before += similarities[i] > own || (similarities[i] == own && i < document);
    return before + 1;
}

std::vector<float> kept_neighbours(const CorpusRows& first, const CorpusRows& second, std::size_t count,
                                   const std::function<void(std::size_t done)>& progress) {
    std::vector<float> kept;
    const std::int64_t documents = first.rows.size(0);
    for (std::int64_t begin = 0; begin < documents; begin += questions_at_a_time) {
        const std::int64_t end = std::min(documents, begin + questions_at_a_time);
        const auto mine = neighbours_of(first, begin, end, count), theirs = neighbours_of(second, begin, end, count);
        for (std::size_t i = 0; i < mine.size(); ++i) kept.push_back(shared_part(mine[i], theirs[i]));
        if (progress) progress(static_cast<std::size_t>(end));
    }
    return kept;
}

}  // namespace faceter
