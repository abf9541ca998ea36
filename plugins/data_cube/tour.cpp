#include "tour.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include "common/error.h"
#include "common/random.h"

namespace faceter::data_cube {
namespace {

constexpr std::size_t most_exact = 12;

TourResult best_chain(const Similarities& similarities, const TourSettings& settings) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, settings.chains));
    std::vector<TourResult> chains(count);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t k = next++; k < count; k = next++) chains[k] = anneal(similarities, settings, static_cast<std::int64_t>(k));
    };
    std::vector<std::thread> helpers;
    for (std::size_t t = 1; t < std::min<std::size_t>(count, static_cast<std::size_t>(std::max(1, settings.threads))); ++t)
        helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    // The first of equal ones, whichever thread was done first.
    return *std::max_element(chains.begin(), chains.end(), [](const TourResult& a, const TourResult& b) { return a.total < b.total; });
}

Tour nearest_from(const Similarities& similarities, std::uint32_t start) {
    const std::size_t n = similarities.num_tasks();
    std::vector<char> used(n, 0);
    Tour tour{start};
    used[start] = 1;
    while (tour.size() < n) {
        std::size_t best = n;
        for (std::size_t k = 0; k < n; ++k)
            if (!used[k] && (best == n || similarities.at(tour.back(), k) > similarities.at(tour.back(), best))) best = k;
        used[best] = 1;
        tour.push_back(static_cast<std::uint32_t>(best));
    }
    return tour;
}

}  // namespace

void Similarities::set(std::size_t i, std::size_t j, float value) {
    if (i == j) return;
    values_[i * n_ + j] = value;
    values_[j * n_ + i] = value;
}

Similarities Similarities::cosine(const std::vector<std::vector<float>>& vectors) {
    Similarities result(vectors.size());
    std::vector<double> lengths;
    for (const auto& v : vectors) lengths.push_back(std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)));
    for (std::size_t i = 0; i < vectors.size(); ++i)
        for (std::size_t j = i + 1; j < vectors.size(); ++j) {
            const double product = std::inner_product(vectors[i].begin(), vectors[i].end(), vectors[j].begin(), 0.0),
                         length = lengths[i] * lengths[j];
            result.set(i, j, length > 0 ? static_cast<float>(product / length) : 0.0F);
        }
    return result;
}

double tour_total(const Similarities& similarities, const Tour& tour) {
    double total = 0;
    for (std::size_t k = 0; k < tour.size(); ++k) total += similarities.at(tour[k], tour[(k + 1) % tour.size()]);
    return total;
}

double swap_gain(const Similarities& similarities, const Tour& tour, std::size_t i, std::size_t j) {
    const std::size_t n = tour.size();
    if (n < 4) return 0;
    const auto s = [&](std::size_t a, std::size_t b) { return static_cast<double>(similarities.at(tour[a % n], tour[b % n])); };
    if ((j + 1) % n == i) std::swap(i, j);
    const std::size_t before = i + n - 1, after = j + 1;
    if ((i + 1) % n == j) return s(before, j) + s(i, after) - s(before, i) - s(j, after);
    return s(before, j) + s(j, i + 1) + s(j + n - 1, i) + s(i, after) - s(before, i) - s(i, i + 1) - s(j + n - 1, j) - s(j, after);
}

Solver solver_from_name(const std::string& name) {
    if (name == "annealing") return Solver::annealing;
    if (name == "greedy") return Solver::greedy;
    if (name == "two_opt") return Solver::two_opt;
    if (name == "random") return Solver::random;
    if (name == "exact") return Solver::exact;
    throw settings_error("unknown solver '{}'; expected annealing, greedy, two_opt, random or exact", name);
}

Tour random_tour(std::size_t num_tasks, std::uint64_t seed, std::uint64_t number) {
    Tour tour(num_tasks);
    std::iota(tour.begin(), tour.end(), 0U);
    RandomStream(seed, fmt::format("data_cube/order/{}", number)).shuffle(tour);
    return tour;
}

Tour greedy_tour(const Similarities& similarities) {
    Tour best;
    for (std::uint32_t start = 0; start < similarities.num_tasks(); ++start) {
        Tour tour = nearest_from(similarities, start);
        if (best.empty() || tour_total(similarities, tour) > tour_total(similarities, best)) best = std::move(tour);
    }
    return best;
}

Tour two_opt(const Similarities& similarities, Tour tour) {
    const std::size_t n = tour.size();
    if (n < 4) return tour;
    for (bool better = true; better;) {
        better = false;
        for (std::size_t i = 0; i + 2 < n; ++i)
            for (std::size_t j = i + 2; j < n; ++j) {
                const std::uint32_t a = tour[i], b = tour[i + 1], c = tour[j], d = tour[(j + 1) % n];
                const double gain = double{similarities.at(a, c)} + similarities.at(b, d) - similarities.at(a, b) - similarities.at(c, d);
                if (a == d || gain <= 1e-6) continue;  // below that it may be rounding, and would go on for ever
                std::reverse(tour.begin() + static_cast<std::ptrdiff_t>(i) + 1, tour.begin() + static_cast<std::ptrdiff_t>(j) + 1);
                better = true;
            }
    }
    return tour;
}

void require_solvable(Solver solver, std::size_t num_tasks) {
    if (solver == Solver::exact && num_tasks > most_exact)
        throw settings_error("the solver 'exact' takes at most {} tasks, and there are {}; use annealing", most_exact, num_tasks);
}

Tour exact_tour(const Similarities& similarities) {
    const std::size_t n = similarities.num_tasks();
    require_solvable(Solver::exact, n);
    if (n < 2) return random_tour(n, 0, 0);
    // best[subset of tasks 1..][last]: the longest path from task 0 through the subset to its last task.
    const std::size_t subsets = std::size_t{1} << (n - 1), none = n;
    std::vector<double> best(subsets * n, -1e300);
    std::vector<std::size_t> from(subsets * n, none);
    for (std::size_t k = 1; k < n; ++k) best[(std::size_t{1} << (k - 1)) * n + k] = similarities.at(0, k);
    for (std::size_t subset = 1; subset < subsets; ++subset)
        for (std::size_t last = 1; last < n; ++last) {
            if (!(subset >> (last - 1) & 1)) continue;
            for (std::size_t next = 1; next < n; ++next) {
                if (subset >> (next - 1) & 1) continue;
                const std::size_t larger = (subset | std::size_t{1} << (next - 1)) * n + next;
                const double total = best[subset * n + last] + similarities.at(last, next);
                if (total > best[larger]) best[larger] = total, from[larger] = last;
            }
        }
    std::size_t subset = subsets - 1, last = 1;
    for (std::size_t k = 2; k < n; ++k)
        if (best[subset * n + k] + similarities.at(k, 0) > best[subset * n + last] + similarities.at(last, 0)) last = k;
    Tour tour{0};
    while (last != none) {
        tour.push_back(static_cast<std::uint32_t>(last));
        const std::size_t before = from[subset * n + last];
        subset &= ~(std::size_t{1} << (last - 1));
        last = before;
    }
    return tour;
}

TourResult solve_tour(const Similarities& similarities, const TourSettings& settings) {
    const std::size_t n = similarities.num_tasks();
    TourResult result;
    switch (settings.solver) {
        case Solver::annealing:
            result = best_chain(similarities, settings);
            break;
        case Solver::greedy:
            result.tour = greedy_tour(similarities);
            break;
        case Solver::two_opt:
            result.tour = two_opt(similarities, random_tour(n, settings.seed, 0));
            break;
        case Solver::random:
            result.tour = random_tour(n, settings.seed, 0);
            break;
        case Solver::exact:
            result.tour = exact_tour(similarities);
            break;
    }
    if (settings.polish && settings.solver == Solver::annealing) result.tour = two_opt(similarities, std::move(result.tour));
    result.total = tour_total(similarities, result.tour);
    return result;
}

}  // namespace faceter::data_cube
