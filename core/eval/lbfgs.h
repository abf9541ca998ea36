#pragma once
#include <cstddef>
#include <vector>

namespace faceter {

/// A smooth convex function whose value along a line is cheap once the line is set: the form that linear models have.
class ConvexProblem {
  public:
    virtual ~ConvexProblem() = default;
    virtual std::size_t size() const = 0;
    /// Gradient at `w`, where the problem stands.
    virtual void gradient(const std::vector<double>& w, std::vector<double>& g) = 0;
    /// Makes ready for `slope` and `move` along `direction` from `w`.
    virtual void set_direction(const std::vector<double>& w, const std::vector<double>& direction) = 0;
    /// Derivative along the direction at `step`.
    virtual double slope(double step) = 0;
    /// The problem stands at w + step * direction now.
    virtual void move(double step) = 0;
};

struct LbfgsOptions {
    int max_iterations = 100;
    int history = 10;
    double gradient_tolerance = 1e-4;  ///< on the largest entry
};

struct LbfgsResult {
    std::vector<double> parameters;
    double gradient_norm = 0;  ///< largest entry
    int iterations = 0;
    bool converged = false;
};

/// Minimises from zero with limited-memory BFGS (Liu and Nocedal 1989). The line search looks for a zero of the slope, which is monotone:
/// no values of the function are compared, so it works down to the rounding of the gradient.
LbfgsResult minimise(ConvexProblem& problem, const LbfgsOptions& options);

}  // namespace faceter
