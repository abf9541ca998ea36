// MTEB's classification protocol (quality.md): 10 draws of 77 labels x 8 examples x 384 features, each predicting 3,080 texts.
// Peer: tests/bench/peer_classifier.py (scikit-learn's lbfgs on the same kind of data).
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <cmath>
#include <numeric>

#include "common/random.h"
#include "eval/classification_metrics.h"
#include "eval/kmeans.h"
#include "eval/logistic_regression.h"

namespace {

using namespace faceter;

constexpr int num_labels = 77, per_label = 8, num_test = 3080, num_draws = 10;
constexpr std::int64_t dim = 384;

struct Data {
    std::vector<float> x;
    std::vector<std::int32_t> y;
};

/// Unit vectors round a centre a label, as embeddings are: labels overlap.
Data unit_clouds(int count, const char* purpose) {
    RandomStream centres(1, "bench.centres"), random(2, purpose);
    std::vector<float> centre(static_cast<std::size_t>(num_labels * dim));
    for (float& c : centre) c = static_cast<float>(centres.normal());
    Data data;
    for (int i = 0; i < count; ++i) {
        const int label = i % num_labels;
        std::vector<float> row(static_cast<std::size_t>(dim));
        float squares = 0;
        for (std::size_t d = 0; d < row.size(); ++d) {
            row[d] = 0.5f * centre[static_cast<std::size_t>(label) * row.size() + d] + static_cast<float>(random.normal());
            squares += row[d] * row[d];
        }
        for (float& v : row) v /= std::sqrt(squares);
        data.x.insert(data.x.end(), row.begin(), row.end());
        data.y.push_back(label);
    }
    return data;
}

FeatureMatrix view(const Data& data) { return {data.x.data(), static_cast<std::int64_t>(data.y.size()), dim}; }

void ten_draws_of_a_classifier(benchmark::State& state) {
    std::vector<Data> draws;
    for (int d = 0; d < num_draws; ++d) draws.push_back(unit_clouds(num_labels * per_label, ("bench.draw" + std::to_string(d)).c_str()));
    const Data test = unit_clouds(num_test, "bench.test");
    double score = 0;
    int iterations = 0;
    for (auto _ : state) {
        double scores[num_draws];
        int steps[num_draws];
        // whole draws a thread, as the evaluation does
        at::parallel_for(0, num_draws, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t d = begin; d < end; ++d) {
                const Data& draw = draws[static_cast<std::size_t>(d)];
                const auto model = LogisticRegression::fit(view(draw), draw.y);
                scores[d] = accuracy(test.y, model.predict(view(test)));
                steps[d] = model.iterations();
            }
        });
        score = std::accumulate(scores, scores + num_draws, 0.0) / num_draws;
        iterations = steps[num_draws - 1];
    }
    state.counters["accuracy"] = score;
    state.counters["iterations"] = iterations;
}

void mini_batch_k_means(benchmark::State& state) {
    const Data data = unit_clouds(20000, "bench.cluster");
    double inertia = 0;
    for (auto _ : state) inertia = mini_batch_kmeans(view(data), {.num_clusters = num_labels, .seed = 1}).inertia;
    state.counters["inertia"] = inertia;
}

BENCHMARK(ten_draws_of_a_classifier)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(mini_batch_k_means)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
