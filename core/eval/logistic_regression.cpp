#include "eval/logistic_regression.h"

#include <ATen/ops/add.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "eval/lbfgs.h"
#include "eval/products.h"

namespace faceter {
namespace {

constexpr std::int64_t predict_chunk = 8192;

/// In place: logits of one example -> probabilities of K labels; one logit is that of label 1 against 0.
void to_probabilities(double* logits, std::int64_t k) {
    if (k == 1) {
        logits[0] = 1 / (1 + std::exp(-logits[0]));
        return;
    }
    const double largest = *std::max_element(logits, logits + k);
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j) sum += logits[j] = std::exp(logits[j] - largest);
    for (std::int64_t j = 0; j < k; ++j) logits[j] /= sum;
}

/// The problem as the minimiser sees it. Parameters: W [K, D], then the intercepts [K]. The loss is the mean one:
///   1/n sum_i log-loss(x_i W^T + b, y_i) + 1/(2 c n) |W|^2
/// Logits are linear in the parameters: moving along a direction needs one product for the whole line search, and the probabilities of the
/// step that is taken serve the next gradient.
class Problem : public ConvexProblem {
  public:
    Problem(const FeatureMatrix& features, std::vector<std::int32_t> classes, std::int64_t k, double c)
        : features_(view_of(features)),
          classes_(std::move(classes)),
          n_(features.rows),
          d_(features.dim),
          k_(k),
          strength_(1 / (c * static_cast<double>(n_))),
          logits_(at::zeros({n_, k}, at::kDouble)),
          line_(at::zeros({n_, k}, at::kDouble)) {}

    std::size_t size() const override { return static_cast<std::size_t>(k_ * (d_ + 1)); }

    void set_direction(const std::vector<double>& w, const std::vector<double>& direction) override {
        const std::vector<float> rows(direction.begin(), direction.begin() + k_ * d_);
        line_ = at::mm(features_, view_of({rows.data(), k_, d_}).t()).to(at::kDouble);  // [n, K]
        auto* line = line_.data_ptr<double>();
        truth_slope_ = penalty_slope_ = penalty_curvature_ = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            for (std::int64_t j = 0; j < k_; ++j) line[i * k_ + j] += direction[static_cast<std::size_t>(k_ * d_ + j)];
            const std::int32_t truth = classes_[static_cast<std::size_t>(i)];
            truth_slope_ += k_ == 1 ? truth * line[i] : line[i * k_ + truth];
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(k_ * d_); ++i) {
            penalty_slope_ += strength_ * w[i] * direction[i];
            penalty_curvature_ += strength_ * direction[i] * direction[i];
        }
    }

    /// d/da of the loss at w + a * direction: 1/n sum (p - y) . line + penalty.
    double slope(double step) override {
        evaluate(step);
        const double expected = at::dot(probabilities_.view(-1), line_.view(-1)).item<double>();
        return (expected - truth_slope_) / static_cast<double>(n_) + penalty_slope_ + step * penalty_curvature_;
    }

    void move(double step) override {
        if (step != evaluated_step_) evaluate(step);
        logits_.add_(line_, step);
    }

    void gradient(const std::vector<double>& w, std::vector<double>& g) override {
        if (!probabilities_.defined()) evaluate(0);
        at::Tensor residual = probabilities_.to(at::kFloat);  // p - y, [n, K]
        auto* r = residual.data_ptr<float>();
        for (std::int64_t i = 0; i < n_; ++i) {
            const std::int32_t truth = classes_[static_cast<std::size_t>(i)];
            r[k_ == 1 ? i : i * k_ + truth] -= k_ == 1 ? static_cast<float>(truth) : 1.0f;
        }
        const at::Tensor of_weights = at::mm(residual.t(), features_);  // [K, D]
        const at::Tensor of_intercepts = at::sum(residual, 0, false, at::kDouble);
        const double mean = 1 / static_cast<double>(n_);
        const float* from = of_weights.const_data_ptr<float>();
        for (std::size_t i = 0; i < static_cast<std::size_t>(k_ * d_); ++i) g[i] = static_cast<double>(from[i]) * mean + strength_ * w[i];
        for (std::int64_t j = 0; j < k_; ++j) g[static_cast<std::size_t>(k_ * d_ + j)] = of_intercepts.const_data_ptr<double>()[j] * mean;
    }

  private:
    void evaluate(double step) {
        const at::Tensor z = at::add(logits_, line_, step);
        probabilities_ = k_ == 1 ? at::sigmoid(z) : at::softmax(z, 1);
        evaluated_step_ = step;
    }

    at::Tensor features_;
    std::vector<std::int32_t> classes_;
    std::int64_t n_, d_, k_;
    double strength_, truth_slope_ = 0, penalty_slope_ = 0, penalty_curvature_ = 0;
    at::Tensor logits_, line_;  // [n, K], float64
    at::Tensor probabilities_;  // [n, K] at `evaluated_step_` along the line
    double evaluated_step_ = 0;
};

/// The labels that occur, ascending, and each example's place among them.
std::vector<std::int32_t> places_of(std::span<const std::int32_t> labels, std::vector<std::int32_t>& known) {
    known.assign(labels.begin(), labels.end());
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    std::vector<std::int32_t> places;
    for (const std::int32_t label : labels)
        places.push_back(static_cast<std::int32_t>(std::lower_bound(known.begin(), known.end(), label) - known.begin()));
    return places;
}

}  // namespace

LogisticRegression LogisticRegression::fit(const FeatureMatrix& features, std::span<const std::int32_t> labels,
                                           const LogisticRegressionOptions& options) {
    check_features(features, "logistic regression");
    if (static_cast<std::size_t>(features.rows) != labels.size())
        throw usage_error("logistic regression needs a label for each of {} examples, found {}", features.rows, labels.size());
    if (!(options.c > 0)) throw usage_error("logistic regression needs C > 0, found {}", options.c);
    LogisticRegression model;
    model.dim_ = features.dim;
    auto places = places_of(labels, model.labels_);
    const auto num_labels = static_cast<std::int64_t>(model.labels_.size());
    if (num_labels < 2) throw data_error("logistic regression needs at least two different labels, found {}", num_labels);
    const std::int64_t k = num_labels == 2 ? 1 : num_labels;
    Problem problem(features, std::move(places), k, options.c);
    const LbfgsResult result = minimise(problem, {.max_iterations = options.max_iterations, .gradient_tolerance = options.tolerance});
    model.coefficients_.assign(result.parameters.begin(), result.parameters.begin() + k * features.dim);
    model.intercepts_.assign(result.parameters.begin() + k * features.dim, result.parameters.end());
    model.iterations_ = result.iterations;
    model.gradient_norm_ = result.gradient_norm;
    model.converged_ = result.converged;
    return model;
}

std::vector<double> LogisticRegression::logits(const FeatureMatrix& features) const {
    if (features.dim != dim_) throw usage_error("a classifier of {} features was given examples of {}", dim_, features.dim);
    const auto k = static_cast<std::int64_t>(intercepts_.size());
    const std::vector<float> rows(coefficients_.begin(), coefficients_.end());
    std::vector<double> logits(static_cast<std::size_t>(features.rows * k));
    for (std::int64_t first = 0; first < features.rows; first += predict_chunk) {
        const auto chunk = rows_of(features, first, std::min(predict_chunk, features.rows - first));
        const at::Tensor product = at::mm(view_of(chunk), view_of({rows.data(), k, dim_}).t());
        const float* from = product.const_data_ptr<float>();
        double* to = logits.data() + first * k;
        for (std::int64_t i = 0; i < chunk.rows; ++i)
            for (std::int64_t j = 0; j < k; ++j)
                to[i * k + j] = static_cast<double>(from[i * k + j]) + intercepts_[static_cast<std::size_t>(j)];
    }
    return logits;
}

std::vector<std::int32_t> LogisticRegression::predict(const FeatureMatrix& features) const {
    const auto z = logits(features);
    const std::size_t k = intercepts_.size();
    std::vector<std::int32_t> predicted(static_cast<std::size_t>(features.rows));
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        const double* row = z.data() + i * k;
        const std::size_t place = k == 1 ? row[0] > 0 : static_cast<std::size_t>(std::max_element(row, row + k) - row);
        predicted[i] = labels_[place];
    }
    return predicted;
}

std::vector<double> LogisticRegression::probabilities(const FeatureMatrix& features) const {
    auto z = logits(features);
    const auto k = static_cast<std::int64_t>(intercepts_.size());
    for (std::int64_t i = 0; i < features.rows; ++i) to_probabilities(z.data() + i * k, k);
    if (k > 1) return z;
    std::vector<double> both;
    for (const double p : z) {
        both.push_back(1 - p);
        both.push_back(p);
    }
    return both;
}

}  // namespace faceter
