// Data-CUBE's planning (quality.md): a tour over 300 tasks with 2M swaps on one thread, against plain Python (peer_cube.py), other solvers
// beside it; and the whole plan of 330 tasks with 1.4M examples, given difficulties and task vectors.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>

#include "common/random.h"
#include "data_cube/plan.h"

namespace {

using namespace faceter;
using namespace faceter::data_cube;

/// The same numbers as peer_cube.py makes are not needed: totals are compared with other solvers on this instance.
std::vector<std::vector<float>> task_vectors(std::size_t tasks, std::size_t dim) {
    RandomStream random(1, "bench/tasks");
    std::vector<std::vector<float>> centres(20, std::vector<float>(dim)), vectors(tasks, std::vector<float>(dim));
    for (auto& centre : centres)
        for (float& x : centre) x = static_cast<float>(random.normal());
    for (auto& vector : vectors) {
        const auto& centre = centres[random.below(centres.size())];
        for (std::size_t d = 0; d < dim; ++d) vector[d] = centre[d] + static_cast<float>(random.normal());
    }
    return vectors;
}

void tour(benchmark::State& state, Solver solver, bool polish) {
    const auto similarities = Similarities::cosine(task_vectors(300, 384));
    TourSettings settings;
    settings.solver = solver;
    settings.chains = 1;
    settings.polish = polish;
    double total = 0;
    for (auto _ : state) total = solve_tour(similarities, settings).total;
    state.counters["total"] = total;
}

void plan_of_medi_s_size(benchmark::State& state) {
    constexpr std::size_t tasks = 330, examples = 1'400'000;
    for (auto _ : state) {
        state.PauseTiming();
        const auto vectors = task_vectors(tasks, 768);
        std::vector<TaskDifficulty> difficulties(tasks);
        RandomStream random(2, "bench/phi");
        for (std::size_t t = 0; t < tasks; ++t) {
            // Half of the tasks have a tenth of the examples.
            const std::size_t size = t % 2 == 0 ? examples / tasks / 5 : 2 * examples / tasks - examples / tasks / 5;
            difficulties[t].name = std::to_string(t);
            difficulties[t].marks.assign(size, 0);
            for (std::size_t i = 0; i < size; ++i) difficulties[t].phi.push_back(static_cast<float>(random.normal()));
        }
        state.ResumeTiming();
        TourSettings settings;
        settings.threads = 2;
        PlanSettings plan;
        plan.batch_size = 64;
        const TourResult found = solve_tour(Similarities::cosine(vectors), settings);
        const Plan made(std::move(difficulties), found.tour, plan);
        benchmark::DoNotOptimize(made.hash());
        state.counters["batches"] = static_cast<double>(made.num_batches());
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    state.counters["peak_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

BENCHMARK_CAPTURE(tour, annealing_2m_swaps, Solver::annealing, false)->Unit(benchmark::kMillisecond)->Repetitions(5);
BENCHMARK_CAPTURE(tour, annealing_and_two_opt, Solver::annealing, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tour, greedy, Solver::greedy, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tour, two_opt, Solver::two_opt, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tour, random, Solver::random, false)->Unit(benchmark::kMillisecond);
BENCHMARK(plan_of_medi_s_size)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
