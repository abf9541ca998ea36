#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace faceter::data_cube {

/// Similarities of n tasks [n, n]: symmetric; the diagonal is 0, since no task is a neighbour of itself.
class Similarities {
  public:
    explicit Similarities(std::size_t num_tasks) : n_(num_tasks), values_(num_tasks * num_tasks, 0.0F) {}
    /// Cosines of vectors of one length (Data-CUBE, Eq. 5). A zero vector is similar to nothing.
    static Similarities cosine(const std::vector<std::vector<float>>& vectors);
    std::size_t num_tasks() const { return n_; }
    float at(std::size_t i, std::size_t j) const { return values_[i * n_ + j]; }
    void set(std::size_t i, std::size_t j, float value);
    const float* data() const { return values_.data(); }

  private:
    std::size_t n_;
    std::vector<float> values_;
};

/// Tasks in the order of a closed tour.
using Tour = std::vector<std::uint32_t>;

/// The sum of neighbouring similarities, the way back included (Data-CUBE, Eq. 6).
double tour_total(const Similarities& similarities, const Tour& tour);
/// What swapping the tasks at positions i != j adds to the total: exact also for neighbours and for the first with the last.
double swap_gain(const Similarities& similarities, const Tour& tour, std::size_t i, std::size_t j);

enum class Solver { annealing, greedy, two_opt, random, exact };
Solver solver_from_name(const std::string& name);

struct TourSettings {
    Solver solver = Solver::annealing;
    std::int64_t steps = 2'000'000;  ///< swaps tried in each chain
    std::int64_t chains = 4;         ///< restarts, each from its own random order
    int threads = 1;                 ///< chains are shared out among them; the result does not depend on their number
    double start_temperature = 0;    ///< 0: the standard deviation of what random swaps of the first order change
    double cooling = 1e-3;           ///< last temperature / first
    bool polish = false;             ///< 2-opt on the best order at the end
    std::uint64_t seed = 1;
};

struct TourPoint {
    std::int64_t step = 0;
    double total = 0, temperature = 0;
};

struct TourResult {
    Tour tour;
    double total = 0;
    std::int64_t chain = 0;  ///< that found it
    double start_temperature = 0;
    std::vector<TourPoint> trace;  ///< of that chain
};

/// Errors (settings): the solver does not take so many tasks.
void require_solvable(Solver solver, std::size_t num_tasks);

/// A closed tour with a high total, by the settings' solver. Errors (settings): exact with more than 12 tasks.
TourResult solve_tour(const Similarities& similarities, const TourSettings& settings);

/// One chain of simulated annealing (Data-CUBE, Algorithm 1, lines 2 to 12): swaps of random pairs, accepted where the total rises, else
/// with probability exp(-drop / tau); tau falls by the same factor every step.
TourResult anneal(const Similarities& similarities, const TourSettings& settings, std::int64_t chain);
Tour random_tour(std::size_t num_tasks, std::uint64_t seed, std::uint64_t number);
/// The best of the nearest-neighbour tours from each task.
Tour greedy_tour(const Similarities& similarities);
/// Reverses stretches of the tour until no reversal raises the total.
Tour two_opt(const Similarities& similarities, Tour tour);
/// Dynamic programming over subsets (Held and Karp, 1962), at most 12 tasks.
Tour exact_tour(const Similarities& similarities);

}  // namespace faceter::data_cube
