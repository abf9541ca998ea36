#include "stats/two_way_bootstrap.h"

#include "common/error.h"
#include "common/random.h"
#include "stats/number.h"

namespace faceter {
namespace {

std::vector<std::size_t> draw(std::size_t n, RandomStream& random) {
    std::vector<std::size_t> drawn(n);
    for (std::size_t& index : drawn) index = static_cast<std::size_t>(random.below(n));
    return drawn;
}

double mean_of_crossings(std::span<const std::vector<double>> rows, const std::vector<std::size_t>& r, const std::vector<std::size_t>& c) {
    double sum = 0;
    for (const std::size_t row : r)
        for (const std::size_t column : c) sum += rows[row][column];
    return sum / static_cast<double>(r.size() * c.size());
}

}  // namespace

BootstrapResult two_way_bootstrap(std::span<const std::vector<double>> rows, const BootstrapOptions& options) {
    if (rows.empty() || rows.front().empty()) throw usage_error("a two-way bootstrap needs rows and columns, and has none");
    const std::size_t columns = rows.front().size();
    std::vector<double> all;
    for (const auto& row : rows) {
        if (row.size() != columns) throw usage_error("a two-way bootstrap needs rows of one length, found {} and {}", columns, row.size());
        all.insert(all.end(), row.begin(), row.end());
    }
    RandomStream random(options.seed, "stats.two_way_bootstrap");
    std::vector<double> estimates(options.resamples);
    for (double& estimate : estimates) {
        const auto r = draw(rows.size(), random), c = draw(columns, random);
        estimate = options.stop.stop_requested() ? not_a_number : mean_of_crossings(rows, r, c);
    }
    BootstrapResult result;
    result.estimate = mean(all);
    result.std_error = standard_deviation(estimates);
    result.interval = percentile_interval(estimates, options.confidence);
    result.n = all.size();
    result.resamples = options.resamples;
    result.confidence = options.confidence;
    return result;
}

}  // namespace faceter
