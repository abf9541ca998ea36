#include "eval/search.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <utility>

#include "common/error.h"
#include "eval/products.h"
#include "eval/score_filter.h"
#include "eval/score_kernel.h"

namespace faceter {
namespace {

/// Documents that go past all panels of queries before the next ones come: with 384 features they stay in the second-level cache.
constexpr std::int64_t document_block = 240;

/// A hit as one number, the larger the better: its score, whose bits are turned so that they grow with it, above its document, of which the
/// earlier one wins.
std::uint64_t rank_of(float score, std::uint32_t document) {
    const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);  // -0 ranks as 0 does
    const std::uint32_t growing = bits >> 31 ? ~bits : bits | 0x80000000u;
    return std::uint64_t{growing} << 32 | static_cast<std::uint32_t>(~document);
}

SearchHit hit_of(std::uint64_t rank) {
    const auto growing = static_cast<std::uint32_t>(rank >> 32);
    return {~static_cast<std::uint32_t>(rank), std::bit_cast<float>(growing >> 31 ? growing & 0x7fffffffu : ~growing)};
}

/// The best k of a stream of documents. Candidates above the k-th best are only appended; when there are twice as many, the best k are
/// kept and the threshold rises. A later document with the k-th best score loses to the earlier one, so "above" is strict.
class TopK {
  public:
    explicit TopK(std::size_t k) : k_(k), room_(std::max<std::size_t>(2 * k, 32)) {}

    float threshold() const { return threshold_; }

    void offer(float score, std::uint32_t document) {
        if (!(score > threshold_)) return;
        if (ranks_.capacity() == 0) ranks_.reserve(std::min<std::size_t>(room_, 4096));
        ranks_.push_back(rank_of(score, document));
        if (ranks_.size() < room_) return;
        keep_best(ranks_);
        threshold_ = hit_of(ranks_.back()).score;
    }
    std::vector<SearchHit> sorted() const {
        std::vector<std::uint64_t> ranks = ranks_;
        if (ranks.size() > k_) keep_best(ranks);
        std::sort(ranks.begin(), ranks.end(), std::greater<>());
        std::vector<SearchHit> hits(ranks.size());
        std::transform(ranks.begin(), ranks.end(), hits.begin(), hit_of);
        return hits;
    }

  private:
    /// The k-th best comes last.
    void keep_best(std::vector<std::uint64_t>& ranks) const {
        std::nth_element(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(k_ - 1), ranks.end(), std::greater<>());
        ranks.resize(k_);
    }

    std::size_t k_, room_;
    float threshold_ = -std::numeric_limits<float>::infinity();
    std::vector<std::uint64_t> ranks_;
};

/// Queries side by side as the kernel reads them, and the best documents of each so far.
struct Panel {
    std::vector<float> queries;     // [dim, lanes]
    std::vector<float> thresholds;  // [lanes]; +inf for a lane without a query
    std::vector<TopK> best;
    std::size_t first = 0;             // of all queries
    std::vector<std::uint32_t> pairs;  // [pairs, lanes]: the queries as the filter reads them
    std::vector<float> reaches;        // [lanes]
    bool few_hits = false;             // among the documents before, so that the filter leaves out most of the next ones
};

}  // namespace

struct ExactSearch::State {
    State(Similarity similarity, PassedOver passed)
        : kernel(score_kernel(similarity)), filter(score_filter(similarity)), passed_over(std::move(passed)) {}
    const ScoreKernel& kernel;
    const ScoreFilter* filter;  // null: none on this processor, or for this similarity
    PassedOver passed_over;
    std::int64_t dim = 0;
    std::size_t num_queries = 0, num_documents = 0;
    std::vector<Panel> panels;

    void add_panel(const FeatureMatrix& queries, std::size_t k) {
        Panel panel;
        panel.first = panels.size() * kernel.lanes;
        panel.queries.resize(static_cast<std::size_t>(dim) * kernel.lanes);
        panel.thresholds.assign(kernel.lanes, std::numeric_limits<float>::infinity());
        panel.best.assign(static_cast<std::size_t>(queries.rows), TopK(k));
        for (std::size_t q = 0; q < panel.best.size(); ++q) {
            panel.thresholds[q] = panel.best[q].threshold();
            for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d)
                panel.queries[d * kernel.lanes + q] = queries.data[q * static_cast<std::size_t>(dim) + d];
        }
        if (filter != nullptr) add_pairs(panel, queries);
        panels.push_back(std::move(panel));
    }

    void add_pairs(Panel& panel, const FeatureMatrix& queries) const {
        FilterRows rows;
        rows.assign(*filter, queries);
        const std::size_t width = rows.pairs.size() / rows.lengths.size();
        panel.pairs.assign(width * kernel.lanes, 0);
        panel.reaches.assign(kernel.lanes, 0);
        for (std::size_t q = 0; q < rows.lengths.size(); ++q) {
            panel.reaches[q] = reach_of(rows.lengths[q], dim);
            for (std::size_t p = 0; p < width; ++p) panel.pairs[p * kernel.lanes + q] = rows.pairs[q * width + p];
        }
    }

    /// `filtered`: the documents as the filter reads them, made where the first panel asks for them.
    void score_block(Panel& panel, const FeatureMatrix& documents, std::size_t first_document, FilterRows& filtered) const {
        std::size_t hits = 0;
        if (filter != nullptr && panel.few_hits) {
            if (filtered.lengths.empty()) filtered.assign(*filter, documents);
            const std::vector<std::uint32_t> rows = rows_that_may_hit(panel, filtered);
            hits = rows.size();
            std::vector<float> gathered(rows.size() * static_cast<std::size_t>(dim));
            for (std::size_t r = 0; r < rows.size(); ++r)
                std::copy_n(documents.data + rows[r] * dim, dim, gathered.data() + static_cast<std::int64_t>(r) * dim);
            score_rows(panel, {gathered.data(), static_cast<std::int64_t>(rows.size()), dim},
                       [&](std::size_t r) { return first_document + rows[r]; });
        } else {
            hits = score_rows(panel, documents, [&](std::size_t r) { return first_document + r; });
        }
        panel.few_hits = hits * 4 < static_cast<std::size_t>(documents.rows);
    }

    /// All rows, as many at a time as the kernel or the filter takes: `look(tile, first row, rows)`.
    template <typename Tiles, typename Look>
    static void each_tile(const Tiles& by, std::size_t num_rows, Look look) {
        for (std::size_t row = 0; row < num_rows;) {
            const bool is_full = row + by.rows <= num_rows;
            const std::size_t count = is_full ? by.rows : 1;
            look(is_full ? by.full : by.single, row, count);
            row += count;
        }
    }

    std::vector<std::uint32_t> rows_that_may_hit(const Panel& panel, const FilterRows& documents) const {
        const std::size_t num_rows = documents.lengths.size(), width = documents.pairs.size() / num_rows;
        std::uint32_t maybe[ScoreKernel::largest_rows];
        std::vector<std::uint32_t> rows;
        each_tile(*filter, num_rows, [&](ScoreFilter::Tile tile, std::size_t row, std::size_t count) {
            tile(panel.pairs.data(), documents.pairs.data() + row * width, width, panel.thresholds.data(), panel.reaches.data(),
                 documents.lengths.data() + row, maybe);
            for (std::size_t r = 0; r < count; ++r)
                if (maybe[r] != 0) rows.push_back(static_cast<std::uint32_t>(row + r));
        });
        return rows;
    }

    /// How many of the rows hit. `document_of`: a row's place in the corpus, which grows with the row.
    template <typename DocumentOf>
    std::size_t score_rows(Panel& panel, const FeatureMatrix& documents, DocumentOf document_of) const {
        float scores[ScoreKernel::largest_rows * 32];
        std::uint32_t above[ScoreKernel::largest_rows];
        const auto width = static_cast<std::size_t>(dim);
        std::size_t hits = 0;
        each_tile(kernel, static_cast<std::size_t>(documents.rows), [&](ScoreKernel::Tile tile, std::size_t row, std::size_t count) {
            tile(panel.queries.data(), documents.data + row * width, width, panel.thresholds.data(), scores, above);
            for (std::size_t r = 0; r < count; ++r) {
                hits += above[r] != 0;
                take(panel, above[r], scores + r * kernel.lanes, document_of(row + r));
            }
        });
        return hits;
    }

    void take(Panel& panel, std::uint32_t above, const float* scores, std::size_t document) const {
        for (; above != 0; above &= above - 1) {
            const auto q = static_cast<std::size_t>(__builtin_ctz(above));
            if (passed_over && passed_over(panel.first + q, document)) continue;
            panel.best[q].offer(scores[q], static_cast<std::uint32_t>(document));
            panel.thresholds[q] = panel.best[q].threshold();
        }
    }
};

ExactSearch::ExactSearch(const FeatureMatrix& queries, std::size_t k, Similarity similarity, PassedOver passed_over)
    : state_(std::make_unique<State>(similarity, std::move(passed_over))) {
    if (k == 0) throw usage_error("a search returns at least one document; k is 0");
    check_features(queries, "queries");
    state_->dim = queries.dim;
    state_->num_queries = static_cast<std::size_t>(queries.rows);
    const auto lanes = static_cast<std::int64_t>(state_->kernel.lanes);
    for (std::int64_t q = 0; q < queries.rows; q += lanes) state_->add_panel(rows_of(queries, q, std::min(lanes, queries.rows - q)), k);
}

ExactSearch::~ExactSearch() = default;

void ExactSearch::add_documents(const FeatureMatrix& documents) {
    if (documents.dim != state_->dim)
        throw usage_error("documents of {} numbers cannot be searched with queries of {}; both must come from one model", documents.dim,
                          state_->dim);
    if (state_->num_documents + static_cast<std::size_t>(documents.rows) > std::numeric_limits<std::uint32_t>::max())
        throw usage_error("a search takes at most {} documents", std::numeric_limits<std::uint32_t>::max());
    at::parallel_for(0, static_cast<std::int64_t>(state_->panels.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t d = 0; d < documents.rows; d += document_block) {
            const FeatureMatrix block = rows_of(documents, d, std::min(document_block, documents.rows - d));
            FilterRows filtered;
            for (std::int64_t p = begin; p < end; ++p)
                state_->score_block(state_->panels[static_cast<std::size_t>(p)], block, state_->num_documents + static_cast<std::size_t>(d),
                                    filtered);
        }
    });
    state_->num_documents += static_cast<std::size_t>(documents.rows);
}

std::vector<std::vector<SearchHit>> ExactSearch::results() const {
    const std::size_t lanes = state_->kernel.lanes;
    std::vector<std::vector<SearchHit>> results(state_->num_queries);
    at::parallel_for(0, static_cast<std::int64_t>(state_->panels.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto p = static_cast<std::size_t>(begin); p < static_cast<std::size_t>(end); ++p) {
            const std::vector<TopK>& best = state_->panels[p].best;
            for (std::size_t q = 0; q < best.size(); ++q) results[p * lanes + q] = best[q].sorted();
        }
    });
    return results;
}

std::size_t ExactSearch::num_documents() const { return state_->num_documents; }

std::vector<std::vector<SearchHit>> exact_search(const FeatureMatrix& queries, const FeatureMatrix& documents, std::size_t k,
                                                 Similarity similarity, PassedOver passed_over) {
    ExactSearch search(queries, k, similarity, std::move(passed_over));
    search.add_documents(documents);
    return search.results();
}

}  // namespace faceter
