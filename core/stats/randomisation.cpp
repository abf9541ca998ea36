#include <bit>
#include <cmath>

#include "common/random.h"
#include "stats/bootstrap.h"
#include "stats/number.h"
#include "stats/paired.h"

namespace faceter {
namespace {

constexpr std::size_t largest_exact = 20;

/// Is a randomised sum at least as extreme as the observed one? Sums that differ by rounding only are equal.
class Extreme {
  public:
    Extreme(double observed, double scale, Alternative alternative)
        : observed_(observed), slack_(1e-12 * scale), alternative_(alternative) {}
    bool operator()(double sum) const {
        if (alternative_ == Alternative::less) return sum <= observed_ + slack_;
        if (alternative_ == Alternative::greater) return sum >= observed_ - slack_;
        return std::abs(sum) >= std::abs(observed_) - slack_;
    }

  private:
    double observed_, slack_;
    Alternative alternative_;
};

/// Over every sign pattern once.
double exact_share(std::span<const double> differences, const Extreme& extreme) {
    const std::uint64_t patterns = std::uint64_t{1} << differences.size();
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < patterns; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < differences.size(); ++k) sum += i >> k & 1 ? -differences[k] : differences[k];
        count += extreme(sum);
    }
    return static_cast<double>(count) / static_cast<double>(patterns);
}

/// -value where the lowest bit is set: a branch on random bits is guessed wrong every second time.
double flipped(double value, std::uint64_t bits) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (bits << 63)); }

double sampled_share(std::span<const double> differences, const Extreme& extreme, std::size_t resamples, std::uint64_t seed) {
    RandomStream random(seed, "stats.randomisation");
    std::size_t count = 1;  // the observed signs are one of the patterns
    for (std::size_t r = 0; r < resamples; ++r) {
        double sum = 0;
        std::uint64_t signs = 0;
        for (std::size_t k = 0; k < differences.size(); ++k) {
            if (k % 64 == 0) signs = random.next();
            sum += flipped(differences[k], signs);
            signs >>= 1;
        }
        count += extreme(sum);
    }
    return static_cast<double>(count) / static_cast<double>(resamples + 1);
}

}  // namespace

RandomisationResult paired_randomisation(std::span<const double> a, std::span<const double> b, Alternative alternative,
                                         std::size_t resamples, std::uint64_t seed) {
    const auto differences = paired_differences(a, b);
    RandomisationResult result;
    result.n = differences.size();
    result.mean_difference = mean(differences);
    result.p = not_a_number;
    result.alternative = alternative;
    if (std::isnan(result.mean_difference)) return result;
    double observed = 0, scale = 0;
    for (const double d : differences) {
        observed += d;
        scale += std::abs(d);
    }
    const Extreme extreme(observed, scale, alternative);
    result.exact = result.n <= largest_exact;
    result.resamples = result.exact ? std::size_t{1} << result.n : resamples;
    result.p = result.exact ? exact_share(differences, extreme) : sampled_share(differences, extreme, resamples, seed);
    return result;
}

Json RandomisationResult::to_json() const {
    return {{"mean_difference", number_to_json(mean_difference)},
            {"p", number_to_json(p)},
            {"n", n},
            {"resamples", resamples},
            {"method", exact ? "exact" : "sampled"},
            {"alternative", alternative_name(alternative)}};
}

}  // namespace faceter
