#include "eval/projection.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "eval/inter_task_similarity.h"
#include "support/test.h"

using namespace faceter;

namespace {

/// Deterministic points whose spread differs by direction: [N, D].
at::Tensor cloud(std::int64_t n, std::int64_t dim) {
    at::Tensor points = at::zeros({n, dim}, at::kDouble);
    auto at = points.accessor<double, 2>();
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < dim; ++j)
            at[i][j] = std::sin(1.0 + 12.9898 * static_cast<double>(i) + 78.233 * static_cast<double>(j)) / static_cast<double>(j + 1) + 5;
    return points;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double variance_of(const std::vector<float>& values) {
    double sum = 0;
    for (const float v : values) sum += static_cast<double>(v) * v;  // centred already
    return sum;
}

std::vector<at::Tensor> unit_embeddings(int facets, std::int64_t texts) {
    std::vector<at::Tensor> all;
    for (int f = 0; f < facets; ++f) {
        const at::Tensor points = cloud(texts, 6) + 0.3 * f * at::cos(cloud(texts, 6) * (f + 1.0));
        all.push_back(points / points.norm(2, 1, true));
    }
    return all;
}

}  // namespace

class TestProjection : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_axes_are_orthogonal_and_of_length_one() {
        const Projection plane = project_to_plane(cloud(60, 8));
        QVERIFY(std::abs(product(plane.axes[0], plane.axes[0]) - 1) < 1e-12);
        QVERIFY(std::abs(product(plane.axes[1], plane.axes[1]) - 1) < 1e-12);
        QVERIFY(std::abs(product(plane.axes[0], plane.axes[1])) < 1e-12);
    }
    void what_it_explains_is_the_points_own_variance_and_the_first_has_most() {
        const at::Tensor points = cloud(60, 8);
        const Projection plane = project_to_plane(points);
        const double total = (points - points.mean(0, true)).square().sum().item<double>();
        QVERIFY(std::abs(variance_of(plane.x) / total - plane.explained[0]) < 1e-6);
        QVERIFY(std::abs(variance_of(plane.y) / total - plane.explained[1]) < 1e-6);
        QVERIFY(plane.explained[0] >= plane.explained[1] && plane.explained[0] + plane.explained[1] <= 1 + 1e-12);
        double across = 0;
        for (std::size_t i = 0; i < plane.x.size(); ++i) across += static_cast<double>(plane.x[i]) * plane.y[i];
        QVERIFY(std::abs(across) < 1e-5 * total);
    }
    void the_same_points_give_the_same_bits_and_mirrored_ones_the_same_axes() {
        const at::Tensor points = cloud(40, 5);
        const Projection once = project_to_plane(points), again = project_to_plane(points), mirrored = project_to_plane(-points);
        QCOMPARE(once.x, again.x);
        QCOMPARE(once.y, again.y);
        for (int c = 0; c < 2; ++c) {
            const auto largest =
                std::max_element(once.axes[c].begin(), once.axes[c].end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
            QVERIFY(*largest > 0);
            for (std::size_t i = 0; i < 5; ++i) QVERIFY(std::abs(once.axes[c][i] - mirrored.axes[c][i]) < 1e-9);
        }
    }
    void points_on_a_line_have_no_second_direction() {
        const at::Tensor line = at::arange(10, at::kDouble).unsqueeze(1) * at::ones({1, 4}, at::kDouble);
        const Projection plane = project_to_plane(line);
        QVERIFY(std::abs(plane.explained[0] - 1) < 1e-12);
        QCOMPARE(plane.explained[1], 0.0);
        for (const float y : plane.y) QCOMPARE(y, 0.0F);
        const Projection single = project_to_plane(at::ones({1, 4}, at::kDouble));
        QCOMPARE(single.x, std::vector<float>{0});
    }
    void a_figure_has_a_series_a_task_with_the_texts_in_their_order() {
        const std::vector<Facet> facets = {{"a", "a", Role::query}, {"b", "b", Role::query}, {"c", "c", Role::query}};
        const std::vector<std::string> texts = {"one", "two", "three", "four", "five", "six", "seven"};
        const auto similarity = compare_facets(facets, unit_embeddings(3, 7), texts);
        const Figure figure = similarity.plane("run");
        figure.validate();
        QCOMPARE(figure.series.size(), std::size_t{3});
        for (std::size_t f = 0; f < 3; ++f) {
            QCOMPARE(figure.series[f].name, facets[f].name);
            QCOMPARE(figure.series[f].x.size(), std::size_t{7});
            QCOMPARE(figure.series[f].labels[6], std::string("7"));
            QCOMPARE(static_cast<float>(figure.series[f].x[3]), similarity.projection.x[f * 7 + 3]);
        }
    }
    void a_result_keeps_the_texts_and_knows_them_again() {
        const std::vector<Facet> facets = {{"a", "a", Role::query}, {"b", "b", Role::query}};
        const std::string many(399, 'x'), much = fmt::format("{}äöü and more", many), more = fmt::format("{}!", much);
        const Json first = compare_facets(facets, unit_embeddings(2, 2), {"one", much}).to_json();
        QCOMPARE(first["samples"].size(), std::size_t{2});
        QCOMPARE(first["samples"][1].get<std::string>(), fmt::format("{}…", many));
        QCOMPARE(first["fingerprint"], compare_facets(facets, unit_embeddings(2, 2), {"one", much}).to_json()["fingerprint"]);
        QVERIFY(first["fingerprint"] != compare_facets(facets, unit_embeddings(2, 2), {"one", more}).to_json()["fingerprint"]);
        QVERIFY(compare_facets(facets, unit_embeddings(2, 2), {"ab", "c"}).to_json()["fingerprint"] !=
                compare_facets(facets, unit_embeddings(2, 2), {"a", "bc"}).to_json()["fingerprint"]);
    }
};

FACETER_TEST(TestProjection)
#include "test_projection.moc"
