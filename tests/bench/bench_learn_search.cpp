// Exact top-10 of 1,000 queries in 50,000 x 384 (quality.md), documents whole in memory and streamed in pieces of 4,096.
// Peer: tests/bench/peer_search.py (faiss IndexFlatIP).
#include <benchmark/benchmark.h>

#include <cmath>

#include "common/random.h"
#include "eval/search.h"

namespace {

using namespace faceter;

constexpr std::int64_t num_queries = 1000, num_documents = 50000, dim = 384;

std::vector<float> unit_rows(std::int64_t rows, const char* purpose) {
    RandomStream random(1, purpose);
    std::vector<float> values(static_cast<std::size_t>(rows * dim));
    for (std::int64_t r = 0; r < rows; ++r) {
        float* row = values.data() + r * dim;
        float squares = 0;
        for (std::int64_t d = 0; d < dim; ++d) {
            row[d] = static_cast<float>(random.normal());
            squares += row[d] * row[d];
        }
        for (std::int64_t d = 0; d < dim; ++d) row[d] /= std::sqrt(squares);
    }
    return values;
}

const std::vector<float>& queries() {
    static const std::vector<float> values = unit_rows(num_queries, "bench.queries");
    return values;
}

const std::vector<float>& documents() {
    static const std::vector<float> values = unit_rows(num_documents, "bench.documents");
    return values;
}

void top_k_of_a_corpus_in_memory(benchmark::State& state) {
    const auto k = static_cast<std::size_t>(state.range(0));
    documents(), queries();  // made before the clock starts
    for (auto _ : state)
        benchmark::DoNotOptimize(exact_search({queries().data(), num_queries, dim}, {documents().data(), num_documents, dim}, k));
}

void top_10_of_a_streamed_corpus(benchmark::State& state) {
    documents(), queries();
    for (auto _ : state) {
        ExactSearch search({queries().data(), num_queries, dim}, 10);
        for (std::int64_t at = 0; at < num_documents; at += 4096)
            search.add_documents({documents().data() + at * dim, std::min<std::int64_t>(4096, num_documents - at), dim});
        benchmark::DoNotOptimize(search.results());
    }
}

BENCHMARK(top_k_of_a_corpus_in_memory)->Arg(10)->Arg(100)->Arg(1000)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(top_10_of_a_streamed_corpus)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
