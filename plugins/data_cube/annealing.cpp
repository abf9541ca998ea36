#include <array>
#include <cmath>

#include "common/random.h"
#include "tour.h"

namespace faceter::data_cube {
namespace {

constexpr int trace_points = 200;

/// Splitmix64: each number needs only an addition of the one before, so that several steps of the chain overlap in the processor.
class FastRandom {
  public:
    explicit FastRandom(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_;
};

/// log(u) for 4,096 values of u in (0, 1): drop < -tau log(u) is the same test as u < exp(-drop / tau), without an exponential a step.
const std::array<float, 4096>& log_uniform() {
    static const auto table = [] {
        std::array<float, 4096> values{};
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(std::log((static_cast<double>(k) + 0.5) / 4096.0));
        return values;
    }();
    return table;
}

/// A tour with its edges' similarities at hand. Places 0 and n + 1 repeat the last and the first task, so that no step asks for a
/// remainder.
class Chain {
  public:
    Chain(const Similarities& similarities, const Tour& tour) : s_(similarities.data()), n_(tour.size()), place_(n_ + 2), edge_(n_ + 1) {
        for (std::size_t k = 0; k < n_; ++k) place_[k + 1] = tour[k];
        place_[0] = place_[n_];
        place_[n_ + 1] = place_[1];
        for (std::size_t k = 0; k <= n_; ++k) edge_[k] = similarity(place_[k], place_[k + 1]);
        total_ = tour_total(similarities, tour);
    }

    /// What swapping places 1 <= i < j <= n adds. For neighbours the edge between them stays; their two terms S(e, e) and S(b, b) are 0.
    float gain(std::size_t i, std::size_t j) const {
        const std::size_t b = std::size_t{place_[i]} * n_, e = std::size_t{place_[j]} * n_;
        const float added = s_[e + place_[i - 1]] + s_[e + place_[i + 1]] + s_[b + place_[j - 1]] + s_[b + place_[j + 1]];
        const float removed = edge_[i - 1] + edge_[i] + edge_[j - 1] + edge_[j];
        const std::size_t apart = j - i;
        if (apart == 1 || apart == n_ - 1) return added - removed + 2 * s_[b + place_[j]];
        return added - removed;
    }

    void swap(std::size_t i, std::size_t j, float gain) {
        std::swap(place_[i], place_[j]);
        place_[0] = place_[n_];
        place_[n_ + 1] = place_[1];
        for (const std::size_t k : {i - 1, i, j - 1, j}) edge_[k] = similarity(place_[k], place_[k + 1]);
        edge_[0] = edge_[n_] = similarity(place_[n_], place_[1]);
        total_ += gain;
    }

    /// `steps` swaps tried from temperature tau on, which falls by alpha each; returns the temperature after them.
    double run(std::int64_t steps, double tau, double alpha, FastRandom& random) {
        constexpr std::uint64_t low26 = (std::uint64_t{1} << 26) - 1;
        const auto& logs = log_uniform();
        for (std::int64_t step = 0; step < steps; ++step, tau *= alpha) {
            const std::uint64_t bits = random();
            const std::size_t one = ((bits & low26) * n_ >> 26) + 1, next = ((bits >> 26 & low26) * (n_ - 1) >> 26) + 1;
            const std::size_t other = next + (next >= one);
            // Which is the smaller is a coin's throw, and a branch on it would be guessed wrongly every other time.
            const std::size_t i = other ^ ((one ^ other) & -std::size_t{one < other}), j = one ^ other ^ i;
            const float change = gain(i, j);
            if (change > static_cast<float>(tau) * logs[bits >> 52]) swap(i, j, change);
        }
        return tau;
    }

    double total() const { return total_; }
    Tour tour() const { return {place_.begin() + 1, place_.end() - 1}; }

  private:
    float similarity(std::uint32_t a, std::uint32_t b) const { return s_[std::size_t{a} * n_ + b]; }
    const float* s_;
    std::size_t n_;
    std::vector<std::uint32_t> place_;
    std::vector<float> edge_;  // edge_[k] between places k and k + 1
    double total_ = 0;
};

/// tau_0: the standard deviation of what random swaps change.
double spread_of_swaps(const Similarities& similarities, const Tour& tour, std::uint64_t seed) {
    constexpr int samples = 1000;
    FastRandom random(seed);
    double sum = 0, squares = 0;
    for (int k = 0; k < samples; ++k) {
        const std::size_t i = random() % tour.size(), j = (i + 1 + random() % (tour.size() - 1)) % tour.size();
        const double gain = swap_gain(similarities, tour, i, j);
        sum += gain;
        squares += gain * gain;
    }
    const double mean = sum / samples;
    return std::sqrt(std::max(0.0, squares / samples - mean * mean));
}

}  // namespace

TourResult anneal(const Similarities& similarities, const TourSettings& settings, std::int64_t number) {
    const std::size_t n = similarities.num_tasks();
    TourResult best;
    best.chain = number;
    best.tour = random_tour(n, settings.seed, static_cast<std::uint64_t>(number));
    best.total = tour_total(similarities, best.tour);
    if (n <= 3) return best;  // all orders have the same neighbours
    RandomStream seeds(settings.seed, "data_cube/chain");
    seeds.seek(2 * static_cast<std::uint64_t>(number));
    best.start_temperature =
        settings.start_temperature > 0 ? settings.start_temperature : spread_of_swaps(similarities, best.tour, seeds.next());
    if (!(best.start_temperature > 0)) return best;  // all orders are alike
    FastRandom random(seeds.next());
    const double alpha = std::pow(settings.cooling, 1.0 / static_cast<double>(std::max<std::int64_t>(1, settings.steps)));
    Chain chain(similarities, best.tour);
    double tau = best.start_temperature;
    best.trace.push_back({0, best.total, tau});
    for (std::int64_t point = 0, done = 0; point < trace_points; ++point) {
        const std::int64_t until = settings.steps * (point + 1) / trace_points;
        tau = chain.run(until - done, tau, alpha, random);
        done = until;
        best.trace.push_back({done, chain.total(), tau});
        if (chain.total() > best.total) {
            best.total = chain.total();
            best.tour = chain.tour();
        }
    }
    best.total = tour_total(similarities, best.tour);  // without the rounding of the sum of changes
    return best;
}

}  // namespace faceter::data_cube
