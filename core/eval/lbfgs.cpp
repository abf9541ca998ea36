#include "eval/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace faceter {
namespace {

using Vector = std::vector<double>;

/// In eight partial sums: neither the latency of one addition nor its rounding adds up over the whole length.
double dot(const Vector& a, const Vector& b) {
    double part[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= a.size(); i += 8)
        for (std::size_t j = 0; j < 8; ++j) part[j] += a[i + j] * b[i + j];
    for (; i < a.size(); ++i) part[0] += a[i] * b[i];
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

void add_scaled(Vector& to, double scale, const Vector& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += scale * from[i];
}

double largest_entry(const Vector& v) {
    double largest = 0;
    for (const double x : v) largest = std::max(largest, std::abs(x));
    return largest;
}

/// Steps and changes of the gradient of the last iterations, as an approximation of the inverse Hessian.
class History {
  public:
    explicit History(int length) : length_(static_cast<std::size_t>(length)) {}

    void add(Vector step, Vector change) {
        const double curvature = dot(step, change);
        if (!(curvature > 0)) return;  // only rounding makes it so; the pair would spoil the approximation
        pairs_.push_back({std::move(step), std::move(change), curvature});
        if (pairs_.size() > length_) pairs_.pop_front();
    }
    bool empty() const { return pairs_.empty(); }
    void clear() { pairs_.clear(); }

    /// -H g by the two-loop recursion.
    Vector direction(const Vector& g) const {
        Vector q = g;
        Vector alpha(pairs_.size());
        for (std::size_t i = pairs_.size(); i-- > 0;) {
            alpha[i] = dot(pairs_[i].step, q) / pairs_[i].curvature;
            add_scaled(q, -alpha[i], pairs_[i].change);
        }
        if (!pairs_.empty()) {
            const Pair& last = pairs_.back();
            const double scale = last.curvature / dot(last.change, last.change);
            for (double& x : q) x *= scale;
        }
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            const double beta = dot(pairs_[i].change, q) / pairs_[i].curvature;
            add_scaled(q, alpha[i] - beta, pairs_[i].step);
        }
        for (double& x : q) x = -x;
        return q;
    }

  private:
    struct Pair {
        Vector step, change;
        double curvature;
    };
    std::size_t length_;
    std::deque<Pair> pairs_;
};

/// A step at which the slope is at most a tenth of the one at zero, which is negative: outwards while it is still steep, then inwards by
/// regula falsi (Illinois).
double line_search(ConvexProblem& problem, double slope_at_zero, double first_step) {
    constexpr int max_tries = 60;
    const double enough = -0.1 * slope_at_zero;
    double low = 0, slope_low = slope_at_zero;
    double high = first_step, slope_high = problem.slope(high);
    int tries = 0;
    for (; slope_high < -enough && tries < max_tries; ++tries) {
        const double secant = slope_high > slope_low ? high - slope_high * (high - low) / (slope_high - slope_low) : 10 * high;
        low = high;
        slope_low = slope_high;
        high = std::min(10 * high, std::max(1.5 * high, secant));
        slope_high = problem.slope(high);
    }
    for (; slope_high > enough && tries < max_tries; ++tries) {
        const double middle = (low * slope_high - high * slope_low) / (slope_high - slope_low);
        const double slope = problem.slope(middle);
        if (std::abs(slope) <= enough) return middle;
        if (slope < 0) {
            low = middle;
            slope_low = slope;
            slope_high = std::max(slope_high / 2, 1.001 * enough);  // the end that stays counts half
        } else {
            high = middle;
            slope_high = slope;
            slope_low /= 2;
        }
    }
    return high;
}

}  // namespace

LbfgsResult minimise(ConvexProblem& problem, const LbfgsOptions& options) {
    LbfgsResult result;
    Vector& w = result.parameters;
    w.assign(problem.size(), 0.0);
    Vector g(problem.size());
    problem.gradient(w, g);
    result.gradient_norm = largest_entry(g);
    History history(options.history);
    while (result.gradient_norm > options.gradient_tolerance && result.iterations < options.max_iterations) {
        Vector direction = history.direction(g);
        double slope = dot(g, direction);
        if (!(slope < 0)) {  // rounding has spoilt the approximation: steepest descent
            history.clear();
            direction = history.direction(g);
            slope = dot(g, direction);
        }
        problem.set_direction(w, direction);
        const double step = line_search(problem, slope, history.empty() ? 1 / std::sqrt(-slope) : 1.0);
        problem.move(step);
        for (double& x : direction) x *= step;
        add_scaled(w, 1.0, direction);
        Vector change(g.size());
        problem.gradient(w, change);
        std::swap(change, g);  // g is the new gradient, change the old one
        for (std::size_t i = 0; i < g.size(); ++i) change[i] = g[i] - change[i];
        history.add(std::move(direction), std::move(change));
        result.gradient_norm = largest_entry(g);
        ++result.iterations;
    }
    result.converged = result.gradient_norm <= options.gradient_tolerance;
    return result;
}

}  // namespace faceter
