#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "eval/feature_matrix.h"

namespace faceter {

struct LogisticRegressionOptions {
    double c = 1.0;            ///< inverse strength of the penalty
    int max_iterations = 100;  ///< of L-BFGS (scikit-learn's default, MTEB's setting)
    double tolerance = 1e-6;   ///< largest entry of the gradient of the mean loss at which it stops (scikit-learn's tol is 1e-4,
                               ///< which stops 8 examples a label after few steps)
};

/// Multinomial logistic regression with an L2 penalty: minimises
///   sum_i log-loss_i + 1 / (2 c) |W|^2,   intercepts not penalised
/// (scikit-learn's LogisticRegression(solver="lbfgs"), so the same optimum; for two labels one row of coefficients for label 1).
/// In float32 products and float64 sums.
class LogisticRegression {
  public:
    /// Labels are any integers; a data error for fewer than two different ones, or where a feature is not finite.
    static LogisticRegression fit(const FeatureMatrix& features, std::span<const std::int32_t> labels,
                                  const LogisticRegressionOptions& options = {});
    std::vector<std::int32_t> predict(const FeatureMatrix& features) const;
    /// [rows, labels], row-major, in the order of labels().
    std::vector<double> probabilities(const FeatureMatrix& features) const;

    const std::vector<std::int32_t>& labels() const { return labels_; }  ///< ascending
    /// [K, dim] and [K]; K = 1 for two labels.
    const std::vector<double>& coefficients() const { return coefficients_; }
    const std::vector<double>& intercepts() const { return intercepts_; }
    int iterations() const { return iterations_; }
    /// Largest entry of the mean loss's gradient where it stopped.
    double gradient_norm() const { return gradient_norm_; }
    bool converged() const { return converged_; }

  private:
    std::vector<double> logits(const FeatureMatrix& features) const;

    std::vector<std::int32_t> labels_;
    std::vector<double> coefficients_, intercepts_;
    std::int64_t dim_ = 0;
    int iterations_ = 0;
    double gradient_norm_ = 0;
    bool converged_ = false;
};

}  // namespace faceter
