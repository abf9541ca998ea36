#include "eval/logistic_regression.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/error.h"
#include "eval/lbfgs.h"
#include "eval/products.h"

namespace faceter {
namespace {

constexpr std::int64_t rows_per_task = 64;
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
/// Logits are linear in the parameters: moving along a direction needs one product for the whole line search.
class Problem : public ConvexProblem {
  public:
    Problem(const FeatureMatrix& features, std::vector<std::int32_t> classes, std::int64_t k, double c)
        : features_(view_of(features)),
          classes_(std::move(classes)),
          n_(features.rows),
          d_(features.dim),
          k_(k),
          strength_(1 / (c * static_cast<double>(n_))),
          logits_(static_cast<std::size_t>(n_ * k)),
          line_(logits_.size()),
          residual_(at::empty({n_, k}, at::kFloat)) {}

    std::size_t size() const override { return static_cast<std::size_t>(k_ * (d_ + 1)); }

    void set_direction(const std::vector<double>& w, const std::vector<double>& direction) override {
        const std::vector<float> rows(direction.begin(), direction.begin() + k_ * d_);
        const at::Tensor product = at::mm(features_, view_of({rows.data(), k_, d_}).t());  // [n, K]
        const float* from = product.const_data_ptr<float>();
        for (std::int64_t i = 0; i < n_ * k_; ++i)
            line_[static_cast<std::size_t>(i)] = static_cast<double>(from[i]) + direction[static_cast<std::size_t>(k_ * d_ + i % k_)];
        penalty_slope_ = penalty_curvature_ = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(k_ * d_); ++i) {
            penalty_slope_ += strength_ * w[i] * direction[i];
            penalty_curvature_ += strength_ * direction[i] * direction[i];
        }
    }

    /// d/da of the loss at w + a * direction: 1/n sum (p - y) . line + penalty.
    double slope(double step) override {
        std::vector<double> parts(static_cast<std::size_t>(n_));
        for_rows([&](std::int64_t i, double* p) {
            const double* z = logits_.data() + i * k_;
            const double* along = line_.data() + i * k_;
            for (std::int64_t j = 0; j < k_; ++j) p[j] = z[j] + step * along[j];
            to_residual(i, p);
            double sum = 0;
            for (std::int64_t j = 0; j < k_; ++j) sum += p[j] * along[j];
            parts[static_cast<std::size_t>(i)] = sum;
        });
        double sum = 0;
        for (const double part : parts) sum += part;
        return sum / static_cast<double>(n_) + penalty_slope_ + step * penalty_curvature_;
    }

    void move(double step) override {
        for (std::size_t i = 0; i < logits_.size(); ++i) logits_[i] += step * line_[i];
    }

    void gradient(const std::vector<double>& w, std::vector<double>& g) override {
        auto* residual = residual_.data_ptr<float>();
        for_rows([&](std::int64_t i, double* p) {
            std::copy_n(logits_.data() + i * k_, k_, p);
            to_residual(i, p);
            for (std::int64_t j = 0; j < k_; ++j) residual[i * k_ + j] = static_cast<float>(p[j]);
        });
        const at::Tensor product = at::mm(residual_.t(), features_);  // [K, D]
        const float* from = product.const_data_ptr<float>();
        const double mean = 1 / static_cast<double>(n_);
        for (std::size_t i = 0; i < static_cast<std::size_t>(k_ * d_); ++i) g[i] = static_cast<double>(from[i]) * mean + strength_ * w[i];
        std::fill(g.begin() + k_ * d_, g.end(), 0.0);
        for (std::int64_t i = 0; i < n_ * k_; ++i) g[static_cast<std::size_t>(k_ * d_ + i % k_)] += static_cast<double>(residual[i]) * mean;
    }

  private:
    /// Logits in `p` -> probabilities less the one-hot truth.
    void to_residual(std::int64_t i, double* p) const {
        to_probabilities(p, k_);
        const std::int32_t truth = classes_[static_cast<std::size_t>(i)];
        if (k_ == 1)
            p[0] -= truth;
        else
            p[truth] -= 1;
    }

    template <typename Body>
    void for_rows(Body body) const {
        at::parallel_for(0, n_, rows_per_task, [&](std::int64_t begin, std::int64_t end) {
            std::vector<double> p(static_cast<std::size_t>(k_));
            for (std::int64_t i = begin; i < end; ++i) body(i, p.data());
        });
    }

    at::Tensor features_;
    std::vector<std::int32_t> classes_;
    std::int64_t n_, d_, k_;
    double strength_, penalty_slope_ = 0, penalty_curvature_ = 0;
    std::vector<double> logits_, line_;
    at::Tensor residual_;
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
    std::vector<double> logits;
    logits.reserve(static_cast<std::size_t>(features.rows * k));
    for (std::int64_t first = 0; first < features.rows; first += predict_chunk) {
        const auto chunk = rows_of(features, first, std::min(predict_chunk, features.rows - first));
        const at::Tensor product = at::mm(view_of(chunk), view_of({rows.data(), k, dim_}).t());
        const float* from = product.const_data_ptr<float>();
        for (std::int64_t i = 0; i < chunk.rows * k; ++i)
            logits.push_back(static_cast<double>(from[i]) + intercepts_[static_cast<std::size_t>(i % k)]);
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
