#include <cmath>

#include "common/random.h"
#include "data_cube/noise_report.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::data_cube;

namespace {

TaskDifficulty task_of(const std::string& name, std::vector<float> phi) {
    TaskDifficulty task;
    task.name = name;
    task.marks.assign(phi.size(), 0);
    task.phi = std::move(phi);
    return task;
}

/// The definition, pair by pair.
double counted(const TaskDifficulty& task, const std::vector<char>& noisy) {
    double found = 0, all = 0;
    for (std::size_t i = 0; i < noisy.size(); ++i)
        for (std::size_t j = 0; j < noisy.size(); ++j) {
            if (!noisy[i] || noisy[j] || ((task.marks[i] | task.marks[j]) & (no_negative | not_finite))) continue;
            found += task.phi[i] < task.phi[j] ? 1 : task.phi[i] == task.phi[j] ? 0.5 : 0;
            ++all;
        }
    return found / all;
}

TaskFit fit_of(const TaskDifficulty& before, const TaskDifficulty& after, std::vector<std::uint32_t> examples) {
    TaskFit fit;
    fit.name = before.name;
    fit.before = before, fit.after = after;
    fit.examples = std::move(examples);
    return fit;
}

}  // namespace

/// Whether difficulties and the mask find noise of a known place.
class TestNoiseReport : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void separation_is_what_counting_every_pair_gives() {
        RandomStream random(5, "test.noise_report");
        for (int round = 0; round < 200; ++round) {
            TaskDifficulty task = task_of("t", {});
            std::vector<char> noisy;
            for (std::uint64_t i = 0, n = 2 + random.below(30); i < n; ++i) {
                task.phi.push_back(static_cast<float>(random.below(8)) / 8);  // with ties
                task.marks.push_back(random.below(10) == 0 ? no_negative : 0);
                noisy.push_back(random.below(3) == 0);
            }
            const double expected = counted(task, noisy), found = separation(task, noisy);
            QVERIFY(std::isnan(expected) ? std::isnan(found) : std::abs(found - expected) < 1e-12);
        }
    }
    void its_ends_and_its_middle() {
        const TaskDifficulty task = task_of("t", {0.1F, 0.2F, 0.8F, 0.9F});
        QCOMPARE(separation(task, {1, 1, 0, 0}), 1.0);
        QCOMPARE(separation(task, {0, 0, 1, 1}), 0.0);
        QCOMPARE(separation(task, {1, 0, 0, 1}), 0.5);
        QVERIFY(std::isnan(separation(task, {0, 0, 0, 0})));
        QVERIFY(std::isnan(separation(task, {1, 1, 1, 1})));
    }
    /// A quarter is masked; three of these four are noise, of five in all.
    void the_mask_s_share_of_the_noise_is_counted() {
        std::vector<float> phi;
        for (int i = 0; i < 16; ++i) phi.push_back(static_cast<float>(i) / 16);
        std::vector<char> noisy(16, 0);
        for (const std::size_t i : {0, 1, 3, 9, 15}) noisy[i] = 1;
        PlanSettings settings;
        settings.batch_size = 4;
        settings.noise_quantile = 0.25;
        const TaskDifficulty task = task_of("t", phi);
        const Plan plan({task}, {0}, settings);
        const auto found = find_noise({fit_of(task, task, {0, 4, 9})}, {noisy}, &plan);
        QCOMPARE(found.size(), std::size_t{1});
        QVERIFY(found[0].planned);
        std::size_t masked = 0, masked_noisy = 0;
        for (std::uint32_t i = 0; i < 16; ++i)
            if (!plan.gives_loss(0, i)) ++masked, masked_noisy += static_cast<std::size_t>(noisy[i]);
        QCOMPARE(masked, std::size_t{4});
        QCOMPARE(found[0].masked, masked);
        QCOMPARE(found[0].masked_noisy, masked_noisy);
        QCOMPARE(found[0].masked_noisy, std::size_t{3});
        QCOMPARE(found[0].noisy_in_all, std::size_t{5});
        QCOMPARE(found[0].examples, std::size_t{3});
        QCOMPARE(found[0].noisy, std::size_t{2});
    }
    void data_sets_of_one_name_are_told_apart() {
        const TaskDifficulty small = task_of("t", {0.1F, 0.9F}), large = task_of("t", {0.9F, 0.2F, 0.1F, 0.5F});
        PlanSettings settings;
        settings.noise_quantile = 0.5;
        const Plan plan({small, large}, {0, 1}, settings);
        const auto found = find_noise({fit_of(small, small, {0, 1}), fit_of(large, large, {0, 1, 2, 3})}, {{}, {0, 1, 1, 0}}, &plan);
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found[0].examples, std::size_t{4});
        QCOMPARE(found[0].masked_noisy, std::size_t{2});
        const auto both = find_noise({fit_of(small, small, {0, 1}), fit_of(large, large, {0, 1, 2, 3})}, {{1, 0}, {0, 1, 1, 0}}, &plan);
        QCOMPARE(both.size(), std::size_t{2});
        QCOMPARE(both[0].masked, std::size_t{1});
        QCOMPARE(both[1].masked, std::size_t{2});
    }
    void tasks_without_noise_are_left_out_and_the_others_add_up() {
        const TaskDifficulty a = task_of("a", {0.1F, 0.2F, 0.8F}), b = task_of("b", {0.9F, 0.2F, 0.1F}), c = task_of("c", {0.5F});
        const auto found =
            find_noise({fit_of(a, a, {0, 1, 2}), fit_of(b, a, {0, 1, 2}), fit_of(c, c, {0})}, {{1, 1, 0}, {1, 0, 0}, {}}, nullptr);
        QCOMPARE(found.size(), std::size_t{2});
        const NoiseFound all = all_noise(found);
        QCOMPARE(all.examples, std::size_t{6});
        QCOMPARE(all.noisy, std::size_t{3});
        QCOMPARE(all.before, 2.0 / 3);  // 1 of two noisy ones, 0 of one
        QVERIFY(!noise_json(found).contains("mask"));
        QCOMPARE(noise_table(found, "r").rows.size(), std::size_t{3});
    }
};

FACETER_TEST(TestNoiseReport)
#include "test_noise_report.moc"
