#include "eval/kmeans.h"

#include <cmath>
#include <set>

#include "common/random.h"
#include "eval/clustering_metrics.h"
#include "eval/numpy_random.h"
#include "support/test.h"

using namespace faceter;

namespace {

struct Clouds {
    std::vector<float> x;
    std::vector<std::int32_t> truth;
    std::int64_t dim;
    FeatureMatrix view() const { return {x.data(), static_cast<std::int64_t>(truth.size()), dim}; }
};

Clouds clouds(int num_clusters, int num_points, std::int64_t dim, double spread) {
    RandomStream random(9, "clouds");
    std::vector<double> centres(static_cast<std::size_t>(num_clusters * dim));
    for (double& c : centres) c = random.normal();
    Clouds result{{}, {}, dim};
    for (int i = 0; i < num_points; ++i) {
        const auto k = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(num_clusters)));
        result.truth.push_back(k);
        for (std::int64_t d = 0; d < dim; ++d)
            result.x.push_back(static_cast<float>(centres[static_cast<std::size_t>(k * dim + d)] + spread * random.normal()));
    }
    return result;
}

double inertia_of(const Clouds& data, const KMeansResult& result) {
    double sum = 0;
    for (std::size_t i = 0; i < data.truth.size(); ++i)
        for (std::int64_t d = 0; d < data.dim; ++d) {
            const double difference = data.x[i * static_cast<std::size_t>(data.dim) + static_cast<std::size_t>(d)] -
                                      result.centres[static_cast<std::size_t>(result.labels[i] * data.dim + d)];
            sum += difference * difference;
        }
    return sum;
}

/// Clouds of very different sizes that overlap, in numpy:
///   r = RandomState(5); c = r.random_sample((30, 6))
///   per row: k = int(30 * u * u * u) of u = r.random_sample(); row = c[k] + 0.4 * r.random_sample(6)
/// The truth is not asked for.
Clouds uneven_clouds(int num_rows) {
    NumpyRandom random(5);
    std::vector<double> centres(30 * 6);
    for (double& c : centres) c = random.uniform();
    Clouds data{{}, std::vector<std::int32_t>(static_cast<std::size_t>(num_rows)), 6};
    for (int i = 0; i < num_rows; ++i) {
        const double u = random.uniform();
        const auto k = static_cast<std::size_t>(30 * u * u * u);
        for (std::size_t d = 0; d < 6; ++d) data.x.push_back(static_cast<float>(centres[k * 6 + d] + 0.4 * random.uniform()));
    }
    return data;
}

}  // namespace

class TestKMeans : public QObject {
    Q_OBJECT
    using Algorithm = KMeansResult (*)(const FeatureMatrix&, const KMeansOptions&);
    static constexpr Algorithm algorithms[] = {kmeans, mini_batch_kmeans};

  private Q_SLOTS:
    void clouds_far_apart_are_found() {
        const Clouds data = clouds(12, 3000, 32, 0.1);
        for (const Algorithm run : algorithms) {
            const auto result = run(data.view(), {.num_clusters = 12, .seed = 3});
            QVERIFY(cluster_agreement(data.truth, result.labels).v_measure > 0.97);
        }
    }
    /// MiniBatchKMeans(clusters, batch_size=batch, n_init=starts, random_state=seed).fit(rows) of scikit-learn 1.9: n_steps_, inertia_,
    /// labels_[:12]. Many clusters in small batches are reassigned again and again.
    void mini_batches_equal_scikit_learn() {
        struct Case {
            int rows, clusters, batch, starts, seed, batches;
            double inertia;
            std::vector<std::int32_t> labels;
        };
        const std::vector<Case> cases{{900, 12, 60, 1, 0, 34, 136.002441, {9, 7, 10, 9, 6, 1, 10, 8, 7, 8, 10, 1}},
                                      {900, 12, 60, 1, 7, 15, 128.372772, {10, 8, 4, 0, 11, 0, 4, 9, 8, 9, 4, 10}},
                                      {900, 60, 100, 1, 0, 65, 50.880478, {25, 2, 56, 25, 9, 51, 21, 32, 43, 17, 21, 29}},
                                      {900, 60, 100, 1, 7, 36, 54.028492, {29, 11, 47, 13, 8, 26, 23, 2, 53, 46, 12, 54}},
                                      {400, 5, 500, 1, 0, 30, 99.717804, {0, 2, 1, 0, 0, 0, 1, 2, 2, 4, 1, 0}},
                                      {900, 12, 60, 3, 7, 35, 122.340439, {1, 10, 4, 1, 3, 1, 4, 2, 10, 11, 4, 1}}};
        for (const Case& c : cases) {
            const Clouds data = uneven_clouds(c.rows);
            const auto result = mini_batch_kmeans(
                data.view(),
                {.num_clusters = c.clusters, .num_starts = c.starts, .seed = static_cast<std::uint32_t>(c.seed), .batch_size = c.batch});
            QCOMPARE(result.iterations, c.batches);
            QVERIFY2(std::abs(result.inertia / c.inertia - 1) < 1e-5, std::to_string(result.inertia).c_str());
            QCOMPARE(std::vector<std::int32_t>(result.labels.begin(), result.labels.begin() + 12), c.labels);
        }
    }
    void inertia_is_the_sum_of_squared_distances() {
        const Clouds data = clouds(5, 700, 9, 0.7);
        for (const Algorithm run : algorithms) {
            const auto result = run(data.view(), {.num_clusters = 7, .seed = 1});
            QVERIFY(std::abs(inertia_of(data, result) / result.inertia - 1) < 1e-5);
        }
    }
    void every_row_has_its_nearest_centre() {
        const Clouds data = clouds(5, 500, 4, 1.0);
        const auto result = mini_batch_kmeans(data.view(), {.num_clusters = 6, .seed = 2});
        KMeansResult other = result;
        for (std::size_t i = 0; i < data.truth.size(); i += 7)
            for (std::int32_t k = 0; k < 6; ++k) {
                other.labels[i] = k;
                QVERIFY(inertia_of(data, other) >= inertia_of(data, result) * (1 - 1e-6));
                other.labels[i] = result.labels[i];
            }
    }
    /// At a fixed point of Lloyd's algorithm a centre is the mean of its points.
    void lloyd_ends_where_centres_are_means() {
        const Clouds data = clouds(4, 400, 3, 0.8);
        const auto result = kmeans(data.view(), {.num_clusters = 4, .max_iterations = 1000, .tolerance = 0, .seed = 4});
        for (std::int32_t k = 0; k < 4; ++k)
            for (std::int64_t d = 0; d < 3; ++d) {
                double sum = 0, count = 0;
                for (std::size_t i = 0; i < data.truth.size(); ++i) {
                    if (result.labels[i] != k) continue;
                    sum += data.x[i * 3 + static_cast<std::size_t>(d)];
                    count += 1;
                }
                QVERIFY(std::abs(sum / count - result.centres[static_cast<std::size_t>(k * 3 + d)]) < 1e-5);
            }
    }
    void more_starts_are_never_worse() {
        const Clouds data = clouds(15, 600, 5, 0.5);
        const auto one = kmeans(data.view(), {.num_clusters = 15, .seed = 8}),
                   many = kmeans(data.view(), {.num_clusters = 15, .num_starts = 8, .seed = 8});
        QVERIFY(many.inertia <= one.inertia * (1 + 1e-9));
    }
    void the_same_seed_gives_the_same_clusters() {
        const Clouds data = clouds(6, 900, 8, 1.0);
        for (const Algorithm run : algorithms) {
            const auto a = run(data.view(), {.num_clusters = 6, .seed = 1}), b = run(data.view(), {.num_clusters = 6, .seed = 1});
            QCOMPARE(a.labels, b.labels);
            QCOMPARE(a.centres, b.centres);
        }
    }
    void equal_points_and_as_many_clusters_as_points_are_no_trouble() {
        const std::vector<float> same(20, 0.5f);
        for (const Algorithm run : algorithms) {
            const auto result = run({same.data(), 10, 2}, {.num_clusters = 3, .seed = 1});
            QVERIFY(result.inertia < 1e-9);
            for (const auto label : result.labels) QVERIFY(label >= 0 && label < 3);
        }
        const Clouds data = clouds(3, 8, 2, 1.0);
        const auto own = kmeans(data.view(), {.num_clusters = 8, .seed = 1});
        QCOMPARE(std::set<std::int32_t>(own.labels.begin(), own.labels.end()).size(), std::size_t{8});
        QVERIFY(mini_batch_kmeans(data.view(), {.num_clusters = 1, .seed = 1}).labels.size() == 8);
    }
    void input_that_cannot_be_clustered_is_an_error() {
        const std::vector<float> x{1.0f, std::nanf("")};
        for (const Algorithm run : algorithms) {
            EXPECT_ERROR(run({x.data(), 1, 1}, {.num_clusters = 2}), "2 clusters", "found 1");
            EXPECT_ERROR(run({x.data(), 2, 1}, {.num_clusters = 2}), "row 2", "not finite");
            EXPECT_ERROR(run({x.data(), 1, 1}, {.num_clusters = 0}), "at least one cluster");
        }
    }
};

FACETER_TEST(TestKMeans)
#include "test_kmeans.moc"
