#include "eval/logistic_regression.h"

#include <algorithm>

#include "common/random.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

struct Data {
    std::vector<float> x;
    std::vector<std::int32_t> y;
    std::int64_t dim;
    FeatureMatrix view() const { return {x.data(), static_cast<std::int64_t>(y.size()), dim}; }
};

/// Noisy points round a centre a label; labels are 3, 10, 17 ...
Data clouds(int num_labels, int per_label, std::int64_t dim) {
    RandomStream random(5, "clouds");
    std::vector<double> centres(static_cast<std::size_t>(num_labels * dim));
    for (double& c : centres) c = random.normal();
    Data data{{}, {}, dim};
    for (int i = 0; i < num_labels * per_label; ++i) {
        const int label = i % num_labels;
        for (std::int64_t d = 0; d < dim; ++d)
            data.x.push_back(static_cast<float>(centres[static_cast<std::size_t>(label * dim + d)] + random.normal()));
        data.y.push_back(3 + 7 * label);
    }
    return data;
}

/// Gradient of sum of log losses + |W|^2 / (2 c) in float64, straight from its definition; the largest entry over n.
double reference_gradient(const LogisticRegression& model, const Data& data, double c) {
    const auto& labels = model.labels();
    const std::size_t k = model.intercepts().size(), dim = static_cast<std::size_t>(data.dim), n = data.y.size();
    std::vector<double> g_w(k * dim), g_b(k);
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> z(k);
        for (std::size_t j = 0; j < k; ++j) {
            z[j] = model.intercepts()[j];
            for (std::size_t d = 0; d < dim; ++d) z[j] += model.coefficients()[j * dim + d] * static_cast<double>(data.x[i * dim + d]);
        }
        double sum = k == 1 ? 1 : 0;
        for (const double v : z) sum += std::exp(v);
        for (std::size_t j = 0; j < k; ++j) {
            const bool is_truth = data.y[i] == labels[k == 1 ? 1 : j];
            const double residual = std::exp(z[j]) / sum - is_truth;
            g_b[j] += residual;
            for (std::size_t d = 0; d < dim; ++d) g_w[j * dim + d] += residual * static_cast<double>(data.x[i * dim + d]);
        }
    }
    double largest = 0;
    for (const double b : g_b) largest = std::max(largest, std::abs(b));
    for (std::size_t i = 0; i < g_w.size(); ++i) largest = std::max(largest, std::abs(g_w[i] + model.coefficients()[i] / c));
    return largest / static_cast<double>(n);
}

std::vector<float> matrix_of(const Json& rows) {
    std::vector<float> values;
    for (const Json& row : rows)
        for (const Json& v : row) values.push_back(v.get<float>());
    return values;
}

}  // namespace

class TestLogisticRegression : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// The features are float32 here and float64 in the fixture: 1e-7 relative in the data, 1e-5 of the largest coefficient in the result.
    void coefficients_probabilities_and_predictions_equal_scikit_learn() {
        NEED_SHARED();
        for (const Json& c : stats_fixture()["logistic_regression"]["cases"]) {
            const Data data{matrix_of(c["x"]), c["y"].get<std::vector<std::int32_t>>(), static_cast<std::int64_t>(c["x"][0].size())};
            const auto model = LogisticRegression::fit(data.view(), data.y, {.max_iterations = 200, .tolerance = 1e-9});
            std::vector<double> expected;
            for (const Json& row : c["coef"]) {
                const auto numbers_of_row = numbers(row);
                expected.insert(expected.end(), numbers_of_row.begin(), numbers_of_row.end());
            }
            QCOMPARE(model.coefficients().size(), expected.size());
            const double scale =
                std::abs(*std::max_element(expected.begin(), expected.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
            for (std::size_t i = 0; i < expected.size(); ++i) QVERIFY(std::abs(model.coefficients()[i] - expected[i]) < 1e-5 * scale);
            const auto intercepts = numbers(c["intercept"]);
            for (std::size_t i = 0; i < intercepts.size(); ++i) QVERIFY(std::abs(model.intercepts()[i] - intercepts[i]) < 1e-5 * scale);
            const auto test = matrix_of(c["x_test"]);
            const FeatureMatrix test_view{test.data(), static_cast<std::int64_t>(c["x_test"].size()), data.dim};
            QCOMPARE(model.predict(test_view), c["predicted"].get<std::vector<std::int32_t>>());
            const auto probabilities = model.probabilities(test_view);
            for (std::size_t i = 0; i < probabilities.size(); ++i) {
                const std::size_t k = model.labels().size();
                QVERIFY(std::abs(probabilities[i] - number(c["probabilities"][i / k][i % k])) < 1e-5);
            }
        }
    }
    void the_gradient_vanishes_at_the_optimum() {
        for (const int num_labels : {2, 3, 20})
            for (const double strength : {1.0, 100.0}) {
                const Data data = clouds(num_labels, 12, 30);
                const auto model = LogisticRegression::fit(data.view(), data.y, {.c = strength, .max_iterations = 500, .tolerance = 1e-8});
                QVERIFY2(model.converged(), std::to_string(model.gradient_norm()).c_str());
                const double gradient = reference_gradient(model, data, strength);
                QVERIFY2(gradient < 5e-8, std::to_string(gradient * 1e9).c_str());
            }
    }
    void the_defaults_reach_the_optimum_of_a_typical_task_in_few_steps() {
        const Data data = clouds(20, 8, 64);
        const auto model = LogisticRegression::fit(data.view(), data.y);
        QVERIFY(model.converged() && model.iterations() < 60);
        QVERIFY(reference_gradient(model, data, 1.0) < 2e-6);
    }
    void labels_come_back_as_they_were_given() {
        const Data data = clouds(3, 30, 10);
        const auto model = LogisticRegression::fit(data.view(), data.y);
        const std::vector<std::int32_t> expected{3, 10, 17};
        QCOMPARE(model.labels(), expected);
        const auto predicted = model.predict(data.view());
        std::size_t right = 0;
        for (std::size_t i = 0; i < predicted.size(); ++i) right += predicted[i] == data.y[i];
        QVERIFY(right > 80);
    }
    void order_of_the_examples_does_not_matter() {
        const Data data = clouds(4, 20, 8);
        Data reversed{{}, {data.y.rbegin(), data.y.rend()}, 8};
        for (std::size_t i = data.y.size(); i-- > 0;)
            reversed.x.insert(reversed.x.end(), data.x.begin() + static_cast<std::ptrdiff_t>(8 * i),
                              data.x.begin() + static_cast<std::ptrdiff_t>(8 * i + 8));
        const auto a = LogisticRegression::fit(data.view(), data.y), b = LogisticRegression::fit(reversed.view(), reversed.y);
        for (std::size_t i = 0; i < a.coefficients().size(); ++i) QVERIFY(std::abs(a.coefficients()[i] - b.coefficients()[i]) < 1e-4);
    }
    void input_that_cannot_be_fitted_is_an_error() {
        const std::vector<float> x{1.0f, 2.0f, std::numeric_limits<float>::infinity()};
        EXPECT_ERROR(LogisticRegression::fit({x.data(), 2, 1}, std::vector<std::int32_t>{4, 4}), "at least two different labels");
        EXPECT_ERROR(LogisticRegression::fit({x.data(), 2, 1}, std::vector<std::int32_t>{4}), "label for each of 2");
        EXPECT_ERROR(LogisticRegression::fit({x.data(), 3, 1}, std::vector<std::int32_t>{1, 2, 3}), "row 3", "not finite");
        const auto model = LogisticRegression::fit({x.data(), 2, 1}, std::vector<std::int32_t>{0, 1});
        EXPECT_ERROR(model.predict({x.data(), 1, 2}), "1 features", "examples of 2");
    }
    /// A separable problem with hardly any penalty: long lines to search, no overflow.
    void a_separable_problem_ends() {
        const std::vector<float> x{-1.0f, 1.0f, 2.0f};
        const auto model = LogisticRegression::fit({x.data(), 3, 1}, std::vector<std::int32_t>{0, 1, 1}, {.c = 1e6, .max_iterations = 200});
        QVERIFY(std::isfinite(model.coefficients()[0]) && model.coefficients()[0] > 5);
    }
};

FACETER_TEST(TestLogisticRegression)
#include "test_logistic_regression.moc"
