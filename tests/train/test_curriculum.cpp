#include <QProcess>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "common/file.h"
#include "support/checkout.h"
#include "support/test.h"
#include "train/curriculum.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

TrainingSet set_of(const char* name, const char* task, std::size_t count) {
    TrainingSet set;
    set.name = name;
    set.task = task;
    for (std::size_t i = 0; i < count; ++i) {
        Example example;
        example.anchor = set.texts.add("a" + std::to_string(i));
        example.positive = set.texts.add("p" + std::to_string(i));
        set.examples.push_back(example);
    }
    return set;
}

const auto plain_orders = {make_shuffled_curriculum, make_proportional_curriculum, make_round_robin_curriculum};

}  // namespace

class TestCurriculum : public QObject {
    Q_OBJECT
    std::vector<TrainingSet> sets_;
    CurriculumContext context_;
    TemporaryDirectory folder_;

    /// Batches of an epoch, each as [data set, examples].
    static Json epoch_of(Curriculum& curriculum) {
        Json batches = Json::array();
        for (std::int64_t i = 0, count = curriculum.num_batches(); i < count; ++i) {
            const BatchPlan plan = curriculum.next();
            batches.push_back({plan.items.front().set, plan.items.size()});
        }
        return batches;
    }
    void take_sets_of(const std::vector<std::size_t>& sizes) {
        sets_.clear();
        for (const std::size_t size : sizes) sets_.push_back(set_of(("r" + std::to_string(sets_.size())).c_str(), "retrieval", size));
        context_.sets.clear();
        for (const TrainingSet& set : sets_) context_.sets.push_back(&set);
        context_.tasks.resize(1);
    }
    /// What the peer's samplers do with these sets; null where there is no peer.
    Json peers_orders(const std::vector<std::size_t>& sizes, int epochs) const {
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) return nullptr;
        const fs::path out = folder_.path() / "orders.json";
        QStringList arguments{FACETER_SOURCE_DIR "/tests/train/peer_samplers.py", out.c_str(), QString::number(context_.batch_size),
                              QString::number(epochs)};
        for (const std::size_t size : sizes) arguments << QString::number(size);
        QProcess peer;
        peer.setProcessChannelMode(QProcess::MergedChannels);
        peer.start(python, arguments);
        if (!peer.waitForFinished(200'000) || peer.exitCode() != 0) throw std::runtime_error(peer.readAll().toStdString());
        return read_json(out);
    }

  private Q_SLOTS:
    void init() {
        sets_.clear();
        sets_.push_back(set_of("r1", "retrieval", 100));
        sets_.push_back(set_of("r2", "retrieval", 40));
        sets_.push_back(set_of("c1", "classification", 60));
        sets_.push_back(set_of("c2", "classification", 50));
        context_ = {};
        for (const TrainingSet& set : sets_) context_.sets.push_back(&set);
        Task retrieval, classification;
        retrieval.name = "retrieval";
        retrieval.temperature = 0.03;
        retrieval.weight = 3;
        classification.name = "classification";
        classification.temperature = 0.06;
        classification.homogeneous = false;
        context_.tasks = {retrieval, classification};
        context_.batch_size = 10;
        context_.seed = 4;
    }

    void a_batch_is_of_one_task_with_its_temperature_and_batching() {
        const auto curriculum = make_task_aware_curriculum(context_);
        std::map<std::string, int> tasks;
        bool mixed = false;
        for (int i = 0; i < 200; ++i) {
            const BatchPlan plan = curriculum->next();
            ++tasks[plan.task];
            std::set<std::uint32_t> sets;
            for (const auto& item : plan.items) {
                sets.insert(item.set);
                QCOMPARE(QString::fromStdString(sets_[item.set].task), QString::fromStdString(plan.task));
            }
            QCOMPARE(plan.temperature, plan.task == "retrieval" ? 0.03 : 0.06);
            if (plan.task == "retrieval") QCOMPARE(sets.size(), std::size_t{1});
            mixed |= sets.size() > 1;
        }
        QVERIFY(mixed);
        QVERIFY(tasks["retrieval"] > 120 && tasks["retrieval"] < 180);  // weight 3 of 4
    }

    void data_sets_of_a_task_are_drawn_by_a_power_of_their_size() {
        context_.tasks.resize(1);
        for (const double exponent : {0.0, 0.3, 1.0}) {
            context_.settings = {{"size_exponent", exponent}};
            const auto curriculum = make_task_aware_curriculum(context_);
            int small = 0;
            for (int i = 0; i < 2000; ++i) small += curriculum->next().items.front().set == 1;
            const double share = std::pow(40, exponent) / (std::pow(40, exponent) + std::pow(100, exponent));
            QVERIFY2(std::abs(small / 2000.0 - share) < 0.04, std::to_string(small).c_str());
        }
    }

    void draws_by_a_power_of_size_depend_on_the_seed_alone_and_go_on_from_their_state() {
        context_.tasks.resize(1);
        context_.settings = {{"size_exponent", 0.3}};
        CurriculumContext other_context = context_;
        other_context.seed = context_.seed + 1;
        const auto first = make_task_aware_curriculum(context_), second = make_task_aware_curriculum(context_),
                   other = make_task_aware_curriculum(other_context);
        std::vector<std::uint32_t> a, b, c, rest, restored;
        for (int i = 0; i < 60; ++i) {
            a.push_back(first->next().items.front().set);
            b.push_back(second->next().items.front().set);
            c.push_back(other->next().items.front().set);
        }
        QVERIFY(a == b && a != c);
        const auto resumed = make_task_aware_curriculum(context_);
        resumed->restore(parse_json(first->state().dump(), "state"));
        for (int i = 0; i < 60; ++i) {
            rest.push_back(first->next().items.front().set);
            restored.push_back(resumed->next().items.front().set);
        }
        QCOMPARE(restored, rest);
    }

    void an_epoch_has_every_example_once() {
        context_.tasks.resize(1);
        context_.sets.resize(1);
        const auto curriculum = make_task_aware_curriculum(context_);
        for (int epoch = 0; epoch < 3; ++epoch) {
            std::set<std::uint32_t> seen;
            for (int i = 0; i < 10; ++i)
                for (const auto& item : curriculum->next().items) QVERIFY(seen.insert(item.example).second);
            QCOMPARE(seen.size(), std::size_t{100});
        }
    }

    /// Data sets smaller than a batch were counted as full ones: of twenty of ten pairs three batches of 64 were an epoch.
    void an_epoch_of_data_sets_smaller_than_a_batch_uses_their_pairs_once_on_average() {
        context_.batch_size = 64;
        take_sets_of(std::vector<std::size_t>(20, 10));
        QCOMPARE(drawn_batches(*make_task_aware_curriculum(context_), 1, 64), std::int64_t{20});
        QCOMPARE(drawn_batches(*make_static_curriculum(context_), 1, 64), std::int64_t{3});
        take_sets_of({10});
        QCOMPARE(drawn_batches(*make_static_curriculum(context_), 5, 64), std::int64_t{5});
        take_sets_of({640, 128});
        QCOMPARE(drawn_batches(*make_task_aware_curriculum(context_), 1, 64), std::int64_t{12});
        take_sets_of({96, 32});  // three of four batches are of the first: (0.75 x 64 + 0.25 x 32) pairs
        QCOMPARE(drawn_batches(*make_task_aware_curriculum(context_), 3, 64), std::int64_t{384 / 56});
    }

    void it_goes_on_from_its_state_with_the_same_batches() {
        for (const auto make : {make_task_aware_curriculum, make_static_curriculum, make_shuffled_curriculum, make_proportional_curriculum,
                                make_round_robin_curriculum}) {
            const auto first = make(context_), second = make(context_);
            for (int i = 0; i < 57; ++i) first->next();
            second->restore(parse_json(first->state().dump(), "state"));
            for (int i = 0; i < 30; ++i) {
                const BatchPlan a = first->next(), b = second->next();
                QCOMPARE(a.items.size(), b.items.size());
                for (std::size_t k = 0; k < a.items.size(); ++k)
                    QVERIFY(a.items[k].set == b.items[k].set && a.items[k].example == b.items[k].example);
            }
        }
    }

    /// Where the data shrank since the checkpoint: the next epoch would begin unasked, or a pool go on at the place of another.
    void a_place_behind_the_end_of_its_data_is_refused() {
        take_sets_of({60});
        context_.batch_size = 10;
        for (const auto make : {make_task_aware_curriculum, make_static_curriculum, make_shuffled_curriculum}) {
            const auto before = make(context_);
            for (int i = 0; i < 5; ++i) before->next();
            const Json state = before->state();
            const auto resumed = [&](std::size_t size) {
                take_sets_of({size});
                make(context_)->restore(state);
            };
            resumed(50);  // at its end
            EXPECT_ERROR(resumed(20), "the checkpoint's curriculum is at", "the training data is not what the run began with",
                         "faceter rerun");
            take_sets_of({60});
        }
    }
    void pools_of_examples_that_are_no_more_are_refused() {
        const auto before = make_task_aware_curriculum(context_);
        take_sets_of({100});
        EXPECT_ERROR(make_task_aware_curriculum(context_)->restore(before->state()), "and there are 1 now",
                     "the training data is not what the run began with");
    }
    void plain_orders_have_homogeneous_batches_at_the_tasks_temperatures() {
        for (const auto make : plain_orders) {
            const auto curriculum = make(context_);
            for (std::int64_t i = 0; i < 2 * curriculum->num_batches(); ++i) {
                const BatchPlan plan = curriculum->next();
                for (const auto& item : plan.items) QCOMPARE(item.set, plan.items[0].set);
                QCOMPARE(plan.task, sets_[plan.items[0].set].task);
                QCOMPARE(plan.temperature, plan.task == "retrieval" ? 0.03 : 0.06);
            }
        }
    }

    void shuffled_and_proportional_orders_have_every_example_once_an_epoch() {
        sets_.push_back(set_of("c3", "classification", 17));  // its last batch is short
        context_.sets.clear();
        for (const TrainingSet& set : sets_) context_.sets.push_back(&set);
        for (const auto make : {make_shuffled_curriculum, make_proportional_curriculum}) {
            const auto curriculum = make(context_);
            QCOMPARE(curriculum->num_examples(), std::int64_t{267});
            QCOMPARE(curriculum->num_batches(), std::int64_t{10 + 4 + 6 + 5 + 2});
            std::vector<std::uint32_t> orders[3];
            for (auto& order : orders) {
                std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
                for (std::int64_t b = 0; b < curriculum->num_batches(); ++b) {
                    const BatchPlan plan = curriculum->next();
                    order.push_back(plan.items[0].set);
                    for (const auto& item : plan.items) QVERIFY(seen.emplace(item.set, item.example).second);
                }
                QCOMPARE(seen.size(), std::size_t{267});
            }
            QVERIFY(orders[0] != orders[1] && orders[1] != orders[2]);
        }
    }

    void a_proportional_order_draws_by_what_is_left() {
        // 100 and 40 examples: the first batch is of the larger set in five of seven seeds.
        context_.tasks.resize(1);
        int large = 0;
        for (context_.seed = 1; context_.seed <= 700; ++context_.seed)
            large += make_proportional_curriculum(context_)->next().items[0].set == 0;
        QVERIFY2(std::abs(large - 500) < 45, std::to_string(large).c_str());
    }

    void a_round_robin_takes_the_sets_in_turn_until_the_smallest_is_empty() {
        const auto curriculum = make_round_robin_curriculum(context_);
        QCOMPARE(curriculum->num_batches(), std::int64_t{4 * 4});
        QCOMPARE(curriculum->num_examples(), std::int64_t{160});
        std::set<std::uint32_t> of_first;
        for (int epoch = 0; epoch < 2; ++epoch) {
            std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
            for (std::uint32_t i = 0; i < 16; ++i) {
                const BatchPlan plan = curriculum->next();
                QCOMPARE(plan.items[0].set, i % 4);
                QCOMPARE(plan.items.size(), std::size_t{10});
                for (const auto& item : plan.items) {
                    QVERIFY(seen.emplace(item.set, item.example).second);
                    if (item.set == 0) of_first.insert(item.example);
                }
            }
        }
        QVERIFY(of_first.size() > 40);  // the second epoch takes others of the larger set
    }

    void plain_orders_have_the_batches_of_the_peers_samplers() {
        const std::vector<std::size_t> sizes = {25, 40, 12};
        take_sets_of(sizes);
        const Json peers = peers_orders(sizes, 1);
        if (peers.is_null()) QSKIP("no python with sentence-transformers (FACETER_PEERS)");
        QCOMPARE(epoch_of(*make_round_robin_curriculum(context_)), peers.at("round_robin").at(0));
        const auto sorted = [](Json batches) {
            std::sort(batches.begin(), batches.end());
            return batches;
        };
        for (const auto make : {make_shuffled_curriculum, make_proportional_curriculum})
            QCOMPARE(sorted(epoch_of(*make(context_))), sorted(peers.at("proportional").at(0)));
    }

    /// Where all batches are full, drawing by what is left gives every order of the batches alike, as shuffling them does.
    void shuffled_and_proportional_orders_are_spread_as_the_peers_sampler_spreads_them() {
        constexpr int epochs = 4000;
        const std::vector<std::size_t> sizes = {20, 30};
        take_sets_of(sizes);
        const Json peers = peers_orders(sizes, epochs);
        if (peers.is_null()) QSKIP("no python with sentence-transformers (FACETER_PEERS)");
        std::map<std::string, double> wanted;
        for (const Json& order : peers.at("proportional")) wanted[order.dump()] += 1;
        QCOMPARE(wanted.size(), std::size_t{10});  // two of five places
        for (const auto make : {make_shuffled_curriculum, make_proportional_curriculum}) {
            const auto curriculum = make(context_);
            std::map<std::string, double> got;
            for (int epoch = 0; epoch < epochs; ++epoch) got[epoch_of(*curriculum).dump()] += 1;
            QCOMPARE(got.size(), wanted.size());
            double chi_square = 0;
            for (const auto& [order, count] : wanted) chi_square += std::pow(got[order] - count, 2) / (got[order] + count);
            QVERIFY2(chi_square < 40, std::to_string(chi_square).c_str());  // of 9 degrees of freedom: p = 8e-6
        }
    }

    void plain_orders_are_given_by_the_seed() {
        CurriculumContext other_context = context_;
        ++other_context.seed;
        for (const auto make : plain_orders) {
            const auto one = make(context_), same = make(context_), other = make(other_context);
            std::vector<std::uint32_t> a, b, c;
            for (int i = 0; i < 40; ++i) {
                for (const auto& item : one->next().items) a.push_back(item.example);
                for (const auto& item : same->next().items) b.push_back(item.example);
                for (const auto& item : other->next().items) c.push_back(item.example);
            }
            QVERIFY(a == b && a != c);
        }
    }

    void plain_orders_keep_to_a_budget() {
        context_.max_examples = {{"retrieval", 30}};
        for (const auto make : {make_shuffled_curriculum, make_proportional_curriculum})
            QCOMPARE(make(context_)->num_examples(), std::int64_t{30 + 110});
    }

    void a_budget_leaves_the_same_examples_to_every_stage_of_a_run() {
        CurriculumContext later = context_;
        later.seed = 99;
        context_.max_examples = {{"retrieval", 20}};
        later.max_examples = {{"retrieval", 60}};
        for (const std::size_t set : {0, 1}) {
            std::set<std::uint32_t> large;
            for (const auto& e : examples_of(later, set)) large.insert(e.example);
            for (const auto& e : examples_of(context_, set)) QVERIFY(large.contains(e.example));
        }
    }

    void static_training_mixes_all_tasks_at_one_temperature() {
        const auto curriculum = make_static_curriculum(context_);
        std::set<std::uint32_t> sets;
        for (int i = 0; i < 5; ++i) {
            const BatchPlan plan = curriculum->next();
            QCOMPARE(plan.temperature, 0.03);
            for (const auto& item : plan.items) sets.insert(item.set);
        }
        QCOMPARE(sets.size(), std::size_t{4});
    }

    void no_examples_is_an_error_that_says_where_to_add_some() {
        context_.sets.clear();
        EXPECT_ERROR(make_task_aware_curriculum(context_), "no task", "tasks.*.train");
        for (const auto make : plain_orders) EXPECT_ERROR(make(context_), "no task", "tasks.*.train");
    }

    void a_budget_takes_examples_of_a_task_by_hash_and_a_larger_one_takes_them_too() {
        CurriculumContext context = context_;
        const std::string task = context.sets.front()->task;
        std::size_t all = 0;
        std::set<std::pair<std::uint32_t, std::uint32_t>> small, large;
        const auto count = [&](std::size_t limit, auto& taken) {
            context.max_examples = {{task, limit}};
            for (std::size_t s = 0; s < context.sets.size(); ++s)
                if (context.sets[s]->task == task)
                    for (const ExampleReference& e : examples_of(context, s)) taken.emplace(e.set, e.example);
        };
        for (const TrainingSet* set : context.sets)
            if (set->task == task) all += set->examples.size();
        QVERIFY(all > 6);
        count(3, small);
        count(6, large);
        QVERIFY(small.size() == 3 && large.size() == 6);
        for (const auto& one : small) QVERIFY(large.contains(one));
        std::set<std::pair<std::uint32_t, std::uint32_t>> whole;
        count(all + 10, whole);
        QCOMPARE(whole.size(), all);
    }
};

FACETER_TEST(TestCurriculum)
#include "test_curriculum.moc"
