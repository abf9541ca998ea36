#include "eval/kmeans.h"

#include <cmath>
#include <set>

#include "common/random.h"
#include "eval/clustering_metrics.h"
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
