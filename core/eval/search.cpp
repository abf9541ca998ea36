#include "eval/search.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <immintrin.h>

#include <algorithm>
#include <limits>

#include "common/error.h"
#include "eval/products.h"

namespace faceter {
namespace {

// A block of scores, [query_block, document_block], stays in the second-level cache between the product and the scan.
constexpr std::int64_t query_block = 512;
constexpr std::int64_t document_block = 1024;

bool better(const SearchHit& a, const SearchHit& b) { return a.score != b.score ? a.score > b.score : a.document < b.document; }

/// Writes the places of `scores` above the threshold to `found` (room for n) and returns how many there are.
using Scan = std::size_t (*)(const float* scores, std::size_t n, float threshold, std::uint32_t* found);

std::size_t scan_plain(const float* scores, std::size_t n, float threshold, std::uint32_t* found) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i)
        if (scores[i] > threshold) found[count++] = static_cast<std::uint32_t>(i);
    return count;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::size_t scan_avx2(const float* scores, std::size_t n, float threshold, std::uint32_t* found) {
    const __m256 limit = _mm256_set1_ps(threshold);
    std::size_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(scores + i), limit, _CMP_GT_OQ)));
        for (; mask != 0; mask &= mask - 1) found[count++] = static_cast<std::uint32_t>(i) + static_cast<unsigned>(__builtin_ctz(mask));
    }
    for (; i < n; ++i)
        if (scores[i] > threshold) found[count++] = static_cast<std::uint32_t>(i);
    return count;
}

__attribute__((target("avx512f"))) std::size_t scan_avx512(const float* scores, std::size_t n, float threshold, std::uint32_t* found) {
    const __m512 limit = _mm512_set1_ps(threshold);
    std::size_t count = 0, i = 0;
    for (; i + 32 <= n; i += 32) {
        const unsigned low = _mm512_cmp_ps_mask(_mm512_loadu_ps(scores + i), limit, _CMP_GT_OQ);
        const unsigned high = _mm512_cmp_ps_mask(_mm512_loadu_ps(scores + i + 16), limit, _CMP_GT_OQ);
        for (unsigned mask = low | high << 16; mask != 0; mask &= mask - 1)
            found[count++] = static_cast<std::uint32_t>(i) + static_cast<unsigned>(__builtin_ctz(mask));
    }
    for (; i < n; ++i)
        if (scores[i] > threshold) found[count++] = static_cast<std::uint32_t>(i);
    return count;
}
#endif

Scan best_scan() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return scan_avx512;
    if (__builtin_cpu_supports("avx2")) return scan_avx2;
#endif
    return scan_plain;
}

/// The best k of a stream of documents. Candidates above the k-th best are only appended; when there are several times k, the best k are
/// kept and the threshold rises. A later document with the k-th best score loses to the earlier one, so "above" is strict.
class TopK {
  public:
    explicit TopK(std::size_t k) : k_(k), room_(std::max<std::size_t>(4 * k, 64)) {}

    float threshold() const { return threshold_; }

    void offer(SearchHit hit) {
        if (!(hit.score > threshold_)) return;
        if (hits_.capacity() == 0) hits_.reserve(std::min<std::size_t>(room_, 4096));
        hits_.push_back(hit);
        if (hits_.size() >= room_) keep_best();
    }
    /// Once more than k were seen, the threshold is that of the k-th best: called after each block.
    void settle() {
        if (hits_.size() > k_) keep_best();
    }
    std::vector<SearchHit> sorted() const {
        std::vector<SearchHit> hits = hits_;
        std::sort(hits.begin(), hits.end(), better);
        hits.resize(std::min(hits.size(), k_));
        return hits;
    }

  private:
    void keep_best() {
        std::nth_element(hits_.begin(), hits_.begin() + static_cast<std::ptrdiff_t>(k_ - 1), hits_.end(), better);
        hits_.resize(k_);
        threshold_ = hits_.back().score;
    }

    std::size_t k_, room_;
    float threshold_ = -std::numeric_limits<float>::infinity();
    std::vector<SearchHit> hits_;
};

}  // namespace

struct ExactSearch::State {
    FeatureMatrix queries;
    std::vector<TopK> best;
    std::size_t num_documents = 0;
    at::Tensor scores;  // [at most query_block, at most document_block]
    Scan scan = best_scan();

    void score_block(const FeatureMatrix& query_rows, std::int64_t first_query, const FeatureMatrix& documents) {
        auto block = scores.narrow(0, 0, query_rows.rows * documents.rows).view({query_rows.rows, documents.rows});
        at::mm_out(block, view_of(query_rows), view_of(documents).t());  // [queries, documents]
        const float* data = block.const_data_ptr<float>();
        const auto first_document = static_cast<std::uint32_t>(num_documents);
        at::parallel_for(0, query_rows.rows, 32, [&](std::int64_t begin, std::int64_t end) {
            std::uint32_t found[document_block];
            for (std::int64_t q = begin; q < end; ++q) {
                TopK& best_of_query = best[static_cast<std::size_t>(first_query + q)];
                const float* row = data + q * documents.rows;
                const std::size_t count = scan(row, static_cast<std::size_t>(documents.rows), best_of_query.threshold(), found);
                for (std::size_t i = 0; i < count; ++i) best_of_query.offer({first_document + found[i], row[found[i]]});
                if (count > 0) best_of_query.settle();
            }
        });
    }
};

ExactSearch::ExactSearch(const FeatureMatrix& queries, std::size_t k) : state_(std::make_unique<State>()) {
    if (k == 0) throw usage_error("a search returns at least one document; k is 0");
    check_features(queries, "queries");
    state_->queries = queries;
    state_->best.assign(static_cast<std::size_t>(queries.rows), TopK(k));
    state_->scores = at::empty({std::min(queries.rows, query_block) * document_block}, at::kFloat);
}

ExactSearch::~ExactSearch() = default;

void ExactSearch::add_documents(const FeatureMatrix& documents) {
    const FeatureMatrix& queries = state_->queries;
    if (documents.dim != queries.dim)
        throw usage_error("documents of {} numbers cannot be searched with queries of {}; both must come from one model", documents.dim,
                          queries.dim);
    if (state_->num_documents + static_cast<std::size_t>(documents.rows) > std::numeric_limits<std::uint32_t>::max())
        throw usage_error("a search takes at most {} documents", std::numeric_limits<std::uint32_t>::max());
    for (std::int64_t d = 0; d < documents.rows; d += document_block) {
        const FeatureMatrix block = rows_of(documents, d, std::min(document_block, documents.rows - d));
        for (std::int64_t q = 0; q < queries.rows; q += query_block)
            state_->score_block(rows_of(queries, q, std::min(query_block, queries.rows - q)), q, block);
        state_->num_documents += static_cast<std::size_t>(block.rows);
    }
}

std::vector<std::vector<SearchHit>> ExactSearch::results() const {
    std::vector<std::vector<SearchHit>> results;
    results.reserve(state_->best.size());
    for (const TopK& best : state_->best) results.push_back(best.sorted());
    return results;
}

std::size_t ExactSearch::num_documents() const { return state_->num_documents; }

std::vector<std::vector<SearchHit>> exact_search(const FeatureMatrix& queries, const FeatureMatrix& documents, std::size_t k) {
    ExactSearch search(queries, k);
    search.add_documents(documents);
    return search.results();
}

}  // namespace faceter
