#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/random.h"
#include "data_cube/tour.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::data_cube;

namespace {

/// Cosines of random vectors round a few centres, as tasks of a corpus are.
Similarities instance(std::size_t tasks, std::uint64_t seed) {
    RandomStream random(seed, "test/tasks");
    std::vector<std::vector<float>> centres(5, std::vector<float>(16)), vectors(tasks, std::vector<float>(16));
    for (auto& centre : centres)
        for (float& x : centre) x = static_cast<float>(random.normal());
    for (auto& vector : vectors) {
        const auto& centre = centres[random.below(centres.size())];
        for (std::size_t d = 0; d < vector.size(); ++d) vector[d] = centre[d] + 0.7F * static_cast<float>(random.normal());
    }
    return Similarities::cosine(vectors);
}

/// Every order that begins with task 0.
double best_by_trying_all(const Similarities& similarities) {
    Tour tour(similarities.num_tasks());
    std::iota(tour.begin(), tour.end(), 0U);
    double best = -1e300;
    do best = std::max(best, tour_total(similarities, tour));
    while (std::next_permutation(tour.begin() + 1, tour.end()));
    return best;
}

bool visits_all_once(const Tour& tour, std::size_t tasks) {
    Tour sorted = tour;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < tasks; ++k)
        if (k >= sorted.size() || sorted[k] != k) return false;
    return sorted.size() == tasks;
}

}  // namespace

class TestTour : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void similarities_are_cosines_and_a_zero_vector_is_similar_to_nothing() {
        const auto s = Similarities::cosine({{1, 0}, {1, 1}, {0, 0}, {-2, 0}});
        QVERIFY(std::abs(s.at(0, 1) - std::sqrt(0.5F)) < 1e-6F);
        QCOMPARE(s.at(1, 0), s.at(0, 1));
        QCOMPARE(s.at(0, 3), -1.0F);
        QCOMPARE(s.at(0, 2), 0.0F);
        QCOMPARE(s.at(1, 1), 0.0F);
    }

    void the_total_is_closed() {
        Similarities s(4);
        s.set(0, 1, 0.1F), s.set(1, 2, 0.2F), s.set(2, 3, 0.4F), s.set(3, 0, 0.8F), s.set(0, 2, 5), s.set(1, 3, 5);
        QVERIFY(std::abs(tour_total(s, {0, 1, 2, 3}) - 1.5) < 1e-6);
        QVERIFY(std::abs(tour_total(s, {2, 3, 0, 1}) - 1.5) < 1e-6);
    }

    void the_gain_of_a_swap_equals_the_difference_of_recomputed_totals() {
        for (const std::size_t tasks : {4, 5, 6, 9, 31}) {
            const auto s = instance(tasks, tasks);
            const Tour tour = random_tour(tasks, 7, 0);
            for (std::size_t i = 0; i < tasks; ++i)
                for (std::size_t j = 0; j < tasks; ++j) {
                    if (i == j) continue;
                    Tour swapped = tour;
                    std::swap(swapped[i], swapped[j]);
                    const double expected = tour_total(s, swapped) - tour_total(s, tour);
                    QVERIFY2(std::abs(swap_gain(s, tour, i, j) - expected) < 1e-5,
                             qPrintable(QString("%1 %2 of %3").arg(i).arg(j).arg(tasks)));
                }
        }
    }

    void annealing_finds_the_optimum_of_fifty_instances_of_nine_tasks() {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            const auto s = instance(9, seed);
            TourSettings settings;
            settings.steps = 50'000;
            settings.seed = seed;
            const TourResult result = solve_tour(s, settings);
            QVERIFY(visits_all_once(result.tour, 9));
            QVERIFY2(result.total > best_by_trying_all(s) - 1e-5, qPrintable(QString("instance %1").arg(seed)));
        }
    }

    void dynamic_programming_equals_trying_all_orders() {
        for (const std::size_t tasks : {1, 2, 3, 4, 7, 9}) {
            const auto s = instance(tasks, 100 + tasks);
            const Tour tour = exact_tour(s);
            QVERIFY(visits_all_once(tour, tasks));
            QVERIFY(std::abs(tour_total(s, tour) - best_by_trying_all(s)) < 1e-5);
        }
    }

    void the_total_of_a_chain_is_that_of_its_tour_and_the_trace_ends_near_it() {
        const auto s = instance(60, 3);
        TourSettings settings;
        settings.steps = 200'000;
        const TourResult result = anneal(s, settings, 0);
        QCOMPARE(result.total, tour_total(s, result.tour));
        QCOMPARE(result.trace.size(), std::size_t{201});
        QCOMPARE(result.trace.front().step, std::int64_t{0});
        QCOMPARE(result.trace.back().step, std::int64_t{200'000});
        QVERIFY(std::abs(result.trace.back().total - result.total) < 0.05);
        QVERIFY(std::abs(result.trace.back().temperature / result.start_temperature / settings.cooling - 1) < 1e-6);
    }

    void the_result_does_not_depend_on_the_number_of_threads() {
        const auto s = instance(40, 5);
        TourSettings settings;
        settings.steps = 20'000;
        settings.chains = 5;
        const TourResult one = solve_tour(s, settings);
        for (const int threads : {2, 3, 8}) {
            settings.threads = threads;
            const TourResult several = solve_tour(s, settings);
            QVERIFY(several.tour == one.tour);
            QCOMPARE(several.chain, one.chain);
            QCOMPARE(several.total, one.total);
        }
    }

    void another_seed_gives_another_search() {
        const auto s = instance(40, 5);
        TourSettings settings;
        settings.steps = 1000;
        settings.chains = 1;
        const TourResult a = solve_tour(s, settings);
        settings.seed = 2;
        QVERIFY(solve_tour(s, settings).tour != a.tour);
    }

    void every_solver_beats_a_random_order_and_none_beats_the_optimum() {
        const auto s = instance(12, 11);
        TourSettings settings;
        settings.steps = 50'000;
        const auto total = [&](Solver solver) {
            settings.solver = solver;
            const TourResult result = solve_tour(s, settings);
            return visits_all_once(result.tour, 12) ? result.total : -1e300;
        };
        const double exact = total(Solver::exact), random = total(Solver::random);
        for (const Solver solver : {Solver::annealing, Solver::greedy, Solver::two_opt}) {
            QVERIFY(total(solver) > random);
            QVERIFY(total(solver) <= exact + 1e-5);
        }
    }

    void polishing_never_lowers_the_total() {
        const auto s = instance(80, 2);
        TourSettings settings;
        settings.steps = 5000;
        settings.chains = 1;
        const double rough = solve_tour(s, settings).total;
        settings.polish = true;
        QVERIFY(solve_tour(s, settings).total > rough);
    }

    void few_tasks_and_equal_tasks_are_no_problem() {
        for (const std::size_t tasks : {1, 2, 3}) QVERIFY(visits_all_once(solve_tour(instance(tasks, 1), {}).tour, tasks));
        const auto alike = Similarities::cosine(std::vector<std::vector<float>>(6, {1.0F, 2.0F}));
        QVERIFY(visits_all_once(solve_tour(alike, {}).tour, 6));
        QVERIFY(std::abs(solve_tour(alike, {}).total - 6) < 1e-5);
    }

    void the_exact_solver_says_how_many_tasks_it_takes() {
        EXPECT_ERROR(exact_tour(instance(13, 1)), "at most 12", "annealing");
        EXPECT_ERROR(solver_from_name("sort"), "unknown solver 'sort'", "two_opt");
    }
};

FACETER_TEST(TestTour)
#include "test_tour.moc"
