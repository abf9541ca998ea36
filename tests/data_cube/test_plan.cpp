#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "common/file.h"
#include "common/hash.h"
#include "common/random.h"
#include "data_cube/plan.h"
#include "data_cube/plan_file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::data_cube;

namespace {

const float nan_value = std::numeric_limits<float>::quiet_NaN();

TaskDifficulty task_of(const std::string& name, std::size_t examples, std::uint64_t seed = 1) {
    RandomStream random(seed, "test/" + name);
    TaskDifficulty task;
    task.name = name;
    for (std::size_t i = 0; i < examples; ++i) task.phi.push_back(static_cast<float>(random.below(50)) / 50);  // with ties
    task.marks.assign(examples, 0);
    return task;
}

std::vector<TaskDifficulty> uneven() {
    return {task_of("large", 1003), task_of("one", 1), task_of("middle", 64), task_of("small", 9), task_of("even", 32)};
}

using Batches = std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>;

Batches batches_of(const Plan& plan) {
    Batches all;
    for (std::size_t b = 0; b < plan.num_batches(); ++b) {
        const auto batch = plan.batch(b);
        all.emplace_back(batch.task, std::vector<std::uint32_t>(batch.examples.begin(), batch.examples.end()));
    }
    return all;
}

/// Algorithm 1, lines 13 to 25, as a person would write it down.
Batches slow_plan(const std::vector<TaskDifficulty>& tasks, const Tour& tour, std::size_t size) {
    std::vector<std::vector<std::uint32_t>> left;
    for (const TaskDifficulty& task : tasks) {
        std::vector<std::pair<float, std::uint32_t>> sorted;
        for (std::uint32_t i = 0; i < task.phi.size(); ++i) sorted.emplace_back(-task.phi[i], i);
        std::sort(sorted.begin(), sorted.end());
        left.emplace_back();
        for (const auto& [phi, i] : sorted) left.back().push_back(i);
    }
    Batches all;
    for (bool any = true; any;) {
        any = false;
        for (const std::uint32_t t : tour) {
            if (left[t].empty()) continue;
            const std::size_t count = std::min(size, left[t].size());
            all.emplace_back(t, std::vector<std::uint32_t>(left[t].begin(), left[t].begin() + static_cast<std::ptrdiff_t>(count)));
            left[t].erase(left[t].begin(), left[t].begin() + static_cast<std::ptrdiff_t>(count));
            any = true;
        }
    }
    return all;
}

bool every_example_once(const Plan& plan) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const auto& [task, examples] : batches_of(plan))
        for (const std::uint32_t i : examples)
            if (!seen.emplace(task, i).second) return false;
    return seen.size() == plan.num_examples();
}

PlanSettings settings_of(std::int64_t size) {
    PlanSettings settings;
    settings.batch_size = size;
    settings.drop_masked = false;  // what is masked is another matter than the order
    return settings;
}

const Tour some_tour{3, 0, 4, 1, 2};

}  // namespace

class TestPlan : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_plan_equals_the_slow_reference() {
        for (const int size : {1, 7, 16, 64, 2000}) {
            const Plan plan(uneven(), some_tour, settings_of(size));
            QVERIFY(batches_of(plan) == slow_plan(uneven(), some_tour, static_cast<std::size_t>(size)));
        }
    }

    void every_example_comes_once_an_epoch_whatever_the_levels() {
        for (const bool task_level : {false, true})
            for (const bool instance_level : {false, true}) {
                PlanSettings settings = settings_of(16);
                settings.task_level = task_level;
                settings.instance_level = instance_level;
                Plan plan(uneven(), some_tour, settings);
                for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
                    plan.begin_epoch(epoch);
                    QVERIFY(every_example_once(plan));
                    QCOMPARE(plan.num_examples(), std::size_t{1109});
                }
            }
    }

    void without_task_level_the_batches_of_a_task_still_go_from_easy_to_difficult() {
        PlanSettings settings = settings_of(16);
        settings.task_level = false;
        const Plan plan(uneven(), some_tour, settings);
        std::map<std::uint32_t, float> last;
        bool tour_order = true;
        std::size_t place = 0;
        for (const auto& [task, examples] : batches_of(plan)) {
            for (const std::uint32_t i : examples) {
                const float phi = plan.tasks()[task].phi[i];
                if (last.contains(task)) QVERIFY(phi <= last[task]);
                last[task] = phi;
            }
            if (place < some_tour.size()) tour_order &= task == some_tour[place++];
        }
        QVERIFY(!tour_order);
    }

    void without_instance_level_each_epoch_is_drawn_anew_and_nothing_is_masked() {
        PlanSettings settings = settings_of(16);
        settings.instance_level = false;
        Plan plan(uneven(), some_tour, settings);
        const Batches first = batches_of(plan);
        plan.begin_epoch(1);
        QVERIFY(batches_of(plan) != first);
        plan.begin_epoch(0);
        QVERIFY(batches_of(plan) == first);
        for (std::uint32_t t = 0; t < 5; ++t) QVERIFY(!plan.masks(t));
    }

    void tails_are_kept_merged_or_dropped_and_counted() {
        const auto plan_with = [&](PlanSettings::Tail tail) {
            PlanSettings settings = settings_of(16);
            settings.tail = tail;
            return Plan(uneven(), some_tour, settings);
        };
        const Plan keep = plan_with(PlanSettings::Tail::keep), merge = plan_with(PlanSettings::Tail::merge),
                   drop = plan_with(PlanSettings::Tail::drop);
        QCOMPARE(keep.counts()[0].short_batches, std::size_t{1});  // 1003 = 62 x 16 + 11
        QCOMPARE(keep.counts()[0].batches, std::size_t{63});
        QCOMPARE(merge.counts()[0].batches, std::size_t{62});
        QCOMPARE(merge.counts()[0].merged, std::size_t{1});
        QCOMPARE(batches_of(merge).back().second.size(), std::size_t{27});
        QVERIFY(every_example_once(merge));
        QCOMPARE(merge.num_examples(), keep.num_examples());
        QCOMPARE(drop.counts()[0].dropped, std::size_t{11});
        QCOMPARE(drop.num_examples(), keep.num_examples() - 11);
        QCOMPARE(drop.counts()[1].batches, std::size_t{1});        // the only batch of a task stays
        QCOMPARE(drop.counts()[4].short_batches, std::size_t{0});  // 32 = 2 x 16
    }

    void the_noise_mask_takes_the_most_difficult_share_of_each_task_away() {
        TaskDifficulty task;
        for (int i = 0; i < 100; ++i) task.phi.push_back(static_cast<float>((i * 37) % 100) / 100);
        task.marks.assign(100, 0);
        PlanSettings settings = settings_of(10);
        settings.noise_quantile = 0.15;
        const Plan plan({task}, {0}, settings);
        QCOMPARE(plan.counts()[0].masked, std::size_t{15});
        for (std::uint32_t i = 0; i < 100; ++i) QCOMPARE(plan.gives_loss(0, i), task.phi[i] >= 0.15F - 1e-6F);
        settings.printed = true;
        const Plan printed({task}, {0}, settings);
        QCOMPARE(printed.counts()[0].masked, std::size_t{15});
        for (std::uint32_t i = 0; i < 100; ++i) QCOMPARE(printed.gives_loss(0, i), task.phi[i] < 0.85F - 1e-6F);
        settings.noise = PlanSettings::Noise::none;
        QVERIFY(!Plan({task}, {0}, settings).masks(0));
    }

    void the_noise_mask_takes_its_share_where_difficulties_tie_and_whatever_the_share_is_in_binary() {
        const auto masked = [](const std::vector<float>& phi, double share, bool printed) {
            PlanSettings settings = settings_of(10);
            settings.noise_quantile = share;
            settings.printed = printed;
            const Plan plan({TaskDifficulty{"t", phi, std::vector<std::uint8_t>(phi.size(), 0)}}, {0}, settings);
            std::size_t without_loss = 0;
            for (std::uint32_t i = 0; i < phi.size(); ++i) without_loss += !plan.gives_loss(0, i);
            return without_loss == plan.counts()[0].masked ? without_loss : std::size_t{999};
        };
        std::vector<float> tied, each;
        for (int i = 0; i < 100; ++i)
            tied.push_back(i < 10 ? -0.5F : i < 70 ? static_cast<float>(i) / 100 : 0.9F), each.push_back(static_cast<float>(i));
        QCOMPARE(masked(tied, 0.05, false), std::size_t{5});
        QCOMPARE(masked(tied, 0.05, true), std::size_t{5});
        QCOMPARE(masked(std::vector<float>(20, 0.5F), 0.05, true), std::size_t{1});
        QCOMPARE(masked(std::vector<float>(20, 0.5F), 0.05, false), std::size_t{1});
        QCOMPARE(masked(each, 0.29, false), std::size_t{29});
        QCOMPARE(masked(each, 0.57, true), std::size_t{57});
    }

    void batches_of_masked_examples_alone_are_left_out_and_counted() {
        TaskDifficulty task{"t", {}, std::vector<std::uint8_t>(100, 0)};
        for (int i = 0; i < 100; ++i) task.phi.push_back(static_cast<float>(i) / 100);
        PlanSettings settings = settings_of(8);  // 100 = 12 x 8 + 4
        settings.noise_quantile = 0.15;
        const std::string before = Plan({task, task}, {0, 1}, settings).hash();
        settings.drop_masked = true;
        for (const bool task_level : {true, false}) {
            settings.task_level = task_level;
            Plan plan({task, task}, {0, 1}, settings);
            if (task_level) QVERIFY(plan.hash() != before);
            for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
                plan.begin_epoch(epoch);
                QCOMPARE(plan.num_batches(), std::size_t{2 * 11});
                QCOMPARE(plan.num_examples(), std::size_t{2 * 88});
                QVERIFY(every_example_once(plan));
                for (const auto& [number, examples] : batches_of(plan))
                    QVERIFY(std::any_of(examples.begin(), examples.end(), [&, t = number](auto i) { return plan.gives_loss(t, i); }));
            }
            QCOMPARE(plan.counts()[0].batches, std::size_t{11});
            QCOMPARE(plan.counts()[0].masked_batches, std::size_t{2});
            QCOMPARE(plan.counts()[0].short_batches, std::size_t{0});
            QCOMPARE(plan.counts()[0].masked, std::size_t{15});
        }
        settings.noise = PlanSettings::Noise::threshold;
        settings.noise_threshold = 2;
        EXPECT_ERROR(Plan({task}, {0}, settings), "the noise mask takes every example", "noise_threshold");
    }

    void a_threshold_masks_below_it_or_as_printed_at_and_above_it() {
        TaskDifficulty task{"t", {0.5F, 0.1F, -0.2F, 0.3F}, {0, 0, 0, 0}};
        PlanSettings settings = settings_of(4);
        settings.noise = PlanSettings::Noise::threshold;
        settings.noise_threshold = 0.3F;
        const Plan text({task}, {0}, settings);
        QVERIFY(text.gives_loss(0, 0) && !text.gives_loss(0, 1) && !text.gives_loss(0, 2) && text.gives_loss(0, 3));
        settings.printed = true;
        const Plan printed({task}, {0}, settings);
        QVERIFY(!printed.gives_loss(0, 0) && printed.gives_loss(0, 1) && printed.gives_loss(0, 2) && !printed.gives_loss(0, 3));
    }

    void examples_without_a_difficulty_come_last_and_give_no_loss() {
        TaskDifficulty task{"t", {0.1F, nan_value, 0.9F, nan_value, 0.5F}, {0, not_finite, 0, not_finite, 0}};
        const Plan plan({task}, {0}, settings_of(2));
        const Batches all = batches_of(plan);
        QVERIFY(all[0].second == std::vector<std::uint32_t>({2, 4}));
        QVERIFY(all[1].second == std::vector<std::uint32_t>({0, 1}));
        QVERIFY(all[2].second == std::vector<std::uint32_t>({3}));
        QCOMPARE(plan.counts()[0].not_finite, std::size_t{2});
        QVERIFY(!plan.gives_loss(0, 1) && !plan.gives_loss(0, 3) && plan.gives_loss(0, 0));
    }

    void an_example_without_any_negative_is_never_masked() {
        TaskDifficulty task{"t", {-1, -1, -1}, {no_negative, no_negative, no_negative}};
        PlanSettings settings = settings_of(2);
        settings.noise = PlanSettings::Noise::threshold;
        settings.noise_threshold = 0.5;
        QVERIFY(!Plan({task}, {0}, settings).masks(0));
    }

    void the_hash_follows_order_mask_and_batch_size() {
        const std::string hash = Plan(uneven(), some_tour, settings_of(16)).hash();
        QCOMPARE(Plan(uneven(), some_tour, settings_of(16)).hash(), hash);
        QVERIFY(Plan(uneven(), some_tour, settings_of(17)).hash() != hash);
        QVERIFY(Plan(uneven(), {0, 1, 2, 3, 4}, settings_of(16)).hash() != hash);
        PlanSettings settings = settings_of(16);
        settings.noise_quantile = 0.5;
        QVERIFY(Plan(uneven(), some_tour, settings).hash() != hash);
    }

    void no_example_at_all_is_an_error() { EXPECT_ERROR(Plan({TaskDifficulty{}}, {0}, settings_of(4)), "no task", "tasks.*.train"); }

    void a_plan_is_read_as_it_was_written() {
        const TemporaryDirectory folder;
        PlanRecord record;
        record.key = "k";
        record.tasks = {task_of("a", 5), {"b \"quoted\"", {nan_value, 0.25F}, {not_finite, drawn_negative}}};
        record.similarities = Similarities(2);
        record.similarities.set(0, 1, 0.75F);
        record.tour.tour = {1, 0};
        record.tour.total = 1.5;
        record.tour.trace = {{0, 1, 0.5}, {10, 1.5, 0.1}};
        record.details = {{"notes", {"one"}}};
        const fs::path file = folder.path() / "curriculum" / "train.plan";
        write_plan(file, record);
        const PlanRecord read = read_plan(file);
        QCOMPARE(read.key, record.key);
        QVERIFY(read.tour.tour == record.tour.tour);
        QCOMPARE(read.similarities.at(1, 0), 0.75F);
        QVERIFY(read.tasks[0].phi == record.tasks[0].phi);
        QVERIFY(std::isnan(read.tasks[1].phi[0]));
        QVERIFY(read.tasks[1].marks == record.tasks[1].marks);
        QCOMPARE(read.tour.trace[1].step, std::int64_t{10});
        QVERIFY(read.details == record.details);
        QVERIFY(read.drops_masked);
        std::string older = read_file(file).substr(15 + 32);  // versions before had no such member
        older.replace(older.find("drops_masked"), 12, "other_member");
        write_file_atomic(file, "FACETER-PLAN-1\n" + hash128(older).hex() + older);
        QVERIFY(!read_plan(file).drops_masked);
    }

    void a_torn_or_altered_plan_is_refused() {
        const TemporaryDirectory folder;
        PlanRecord record;
        record.tasks = {task_of("a", 50)};
        record.similarities = Similarities(1);
        record.tour.tour = {0};
        const fs::path file = folder.path() / "train.plan";
        write_plan(file, record);
        const std::string bytes = read_file(file);
        for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{40}, bytes.size() / 2, bytes.size() - 1}) {
            write_file_atomic(file, bytes.substr(0, size));
            EXPECT_ERROR(read_plan(file), "train.plan", "computed again");
        }
        std::string altered = bytes;
        altered[bytes.size() - 3] ^= 1;
        write_file_atomic(file, altered);
        EXPECT_ERROR(read_plan(file), "damaged", "computed again");
        record.tour.trace = {{1 << 20, 0, 0}};
        write_plan(file, record);
        std::string far = read_file(file).substr(15 + 32);
        const std::size_t at = far.find("1048576");
        far.replace(at, 7, "1.0e300");
        write_file_atomic(file, "FACETER-PLAN-1\n" + hash128(far).hex() + far);
        EXPECT_ERROR(read_plan(file), "train.plan", "no whole number");
    }
};

FACETER_TEST(TestPlan)
#include "test_plan.moc"
