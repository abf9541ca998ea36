#include "stats/bootstrap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "common/error.h"
#include "common/random.h"
#include "stats/number.h"
#include "stats/paired.h"

namespace faceter {
namespace {

/// Estimates of `options.resamples` resamples of the indices below `n`.
std::vector<double> resample(std::size_t n, const std::function<double(std::span<const std::uint32_t>)>& statistic,
                             const BootstrapOptions& options) {
    RandomStream random(options.seed, "stats.bootstrap");
    std::vector<double> estimates(options.resamples);
    std::vector<std::uint32_t> drawn(n);
    for (double& estimate : estimates) {
        if (options.stop.stop_requested()) return std::vector<double>(options.resamples, not_a_number);
        for (auto& index : drawn) index = static_cast<std::uint32_t>(random.below(n));
        estimate = statistic(drawn);
    }
    return estimates;
}

BootstrapResult describe(double estimate, std::span<const double> estimates, std::size_t n, const BootstrapOptions& options) {
    BootstrapResult result;
    result.estimate = estimate;
    result.std_error = standard_deviation(estimates);
    result.interval = percentile_interval(estimates, options.confidence);
    result.n = n;
    result.resamples = options.resamples;
    result.confidence = options.confidence;
    return result;
}

double two_sided_p(std::span<const double> estimates) {
    std::size_t below = 1, above = 1;  // the sample itself counts as one resample
    for (const double e : estimates) {
        if (std::isnan(e)) return not_a_number;
        below += e <= 0;
        above += e >= 0;
    }
    return std::min(1.0, 2.0 * static_cast<double>(std::min(below, above)) / static_cast<double>(estimates.size() + 1));
}

/// Sum and size of every group of equal keys, in order of first appearance.
struct Groups {
    std::vector<double> sums, sizes;
};

Groups group_sums(std::span<const double> values, std::span<const std::uint32_t> keys) {
    Groups groups;
    std::unordered_map<std::uint32_t, std::size_t> place;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto [at, is_new] = place.try_emplace(keys[i], groups.sums.size());
        if (is_new) {
            groups.sums.push_back(0);
            groups.sizes.push_back(0);
        }
        groups.sums[at->second] += values[i];
        groups.sizes[at->second] += 1;
    }
    return groups;
}

double mean_of_groups(const Groups& groups, std::span<const std::uint32_t> drawn) {
    double sum = 0, size = 0;
    for (const auto g : drawn) {
        sum += groups.sums[g];
        size += groups.sizes[g];
    }
    return sum / size;
}

/// xoshiro256++ (Blackman and Vigna 2019), seeded by a stream of ours: thousands of resamples of thousands of examples of dozens of data
/// sets are billions of draws, for which a counter-based stream is twenty times slower.
class FastIndices {
  public:
    explicit FastIndices(RandomStream& seed) : state_{seed.next(), seed.next(), seed.next(), seed.next() | 1} {}

    /// Mean of as many values as there are, drawn with replacement; two 32-bit indices a word (an index is off uniform by less than n /
    /// 2^32).
    double mean_of_drawn(std::span<const double> values) {
        const std::uint64_t n = values.size();
        double even = 0, odd = 0;
        std::uint64_t i = 0;
        for (; i + 1 < n; i += 2) {
            const std::uint64_t word = next();
            even += values[(word >> 32) * n >> 32];
            odd += values[(word & 0xffffffffU) * n >> 32];
        }
        if (i < n) even += values[(next() >> 32) * n >> 32];
        return (even + odd) / static_cast<double>(n);
    }

  private:
    std::uint64_t next() {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }
    std::uint64_t state_[4];
};

/// Resamples of a few differences that all have one sign have it too: p is no less than that of n signs by chance.
double no_surer_than_signs(double p, std::size_t n) {
    return std::isnan(p) ? p : std::max(p, std::min(1.0, std::exp2(1 - static_cast<double>(n))));
}

}  // namespace

PairedBootstrapResult stratified_bootstrap(std::span<const std::vector<double>> differences, const BootstrapOptions& options) {
    std::size_t n = 0;
    std::vector<double> means;
    for (const auto& stratum : differences) {
        n += stratum.size();
        means.push_back(mean(stratum));
    }
    PairedBootstrapResult result;
    result.p = not_a_number;
    const double estimate = mean(means);
    std::vector<double> estimates(std::isnan(estimate) ? 0 : options.resamples);
    RandomStream random(options.seed, "stats.bootstrap");
    FastIndices draws(random);
    for (double& resampled : estimates) {
        resampled = 0;
        for (const auto& stratum : differences) resampled += options.stop.stop_requested() ? not_a_number : draws.mean_of_drawn(stratum);
        resampled /= static_cast<double>(differences.size());
    }
    static_cast<BootstrapResult&>(result) = describe(estimate, estimates, n, options);
    if (!estimates.empty()) result.p = no_surer_than_signs(two_sided_p(estimates), n);
    return result;
}

Interval percentile_interval(std::span<const double> estimates, double confidence) {
    return {quantile(estimates, (1 - confidence) / 2), quantile(estimates, (1 + confidence) / 2)};
}

BootstrapResult bootstrap_statistic(std::size_t n, const std::function<double(std::span<const std::uint32_t>)>& statistic,
                                    const BootstrapOptions& options) {
    std::vector<std::uint32_t> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::uint32_t>(i);
    if (n == 0) return describe(not_a_number, {}, 0, options);
    return describe(statistic(all), resample(n, statistic, options), n, options);
}

BootstrapResult bootstrap_mean(std::span<const double> values, const BootstrapOptions& options) {
    return bootstrap_statistic(
        values.size(),
        [&](std::span<const std::uint32_t> drawn) {
            double sum = 0;
            for (const auto i : drawn) sum += values[i];
            return sum / static_cast<double>(drawn.size());
        },
        options);
}

PairedBootstrapResult paired_bootstrap(std::span<const double> a, std::span<const double> b, const BootstrapOptions& options) {
    std::vector<std::uint32_t> own_group(a.size());
    for (std::size_t i = 0; i < own_group.size(); ++i) own_group[i] = static_cast<std::uint32_t>(i);
    return paired_bootstrap_by_group(a, b, own_group, options);
}

PairedBootstrapResult paired_bootstrap_by_group(std::span<const double> a, std::span<const double> b, std::span<const std::uint32_t> groups,
                                                const BootstrapOptions& options) {
    const auto differences = paired_differences(a, b);
    if (groups.size() != differences.size())
        throw usage_error("a bootstrap by group needs a group for each of {} pairs, found {}", differences.size(), groups.size());
    PairedBootstrapResult result;
    result.p = not_a_number;
    if (differences.empty()) {
        static_cast<BootstrapResult&>(result) = describe(not_a_number, {}, 0, options);
        return result;
    }
    const auto sums = group_sums(differences, groups);
    const auto estimates = resample(
        sums.sums.size(), [&](std::span<const std::uint32_t> drawn) { return mean_of_groups(sums, drawn); }, options);
    static_cast<BootstrapResult&>(result) = describe(mean(differences), estimates, differences.size(), options);
    result.p = no_surer_than_signs(two_sided_p(estimates), sums.sums.size());
    return result;
}

Json BootstrapResult::to_json() const {
    return {{"estimate", number_to_json(estimate)},
            {"std_error", number_to_json(std_error)},
            {"interval", interval.to_json()},
            {"confidence", confidence},
            {"n", n},
            {"resamples", resamples}};
}

Json PairedBootstrapResult::to_json() const {
    Json json = BootstrapResult::to_json();
    json["p"] = number_to_json(p);
    return json;
}

}  // namespace faceter
