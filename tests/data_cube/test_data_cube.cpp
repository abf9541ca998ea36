#include <ATen/ATen.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "common/file.h"
#include "common/hash.h"
#include "data_cube/curriculum.h"
#include "data_cube/difficulty.h"
#include "data_cube/report.h"
#include "plugin/own_manifest.h"
#include "settings/check.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::data_cube;

namespace {

constexpr std::int64_t dim = 8;

/// A vector that only depends on the text and its instruction; "nan" in a text makes it NaN.
std::vector<float> vector_of(std::string_view text, const std::string& instruction) {
    std::vector<float> v;
    for (std::int64_t d = 0; d < dim; ++d)
        v.push_back(static_cast<float>(hash64(text, hash64(instruction, static_cast<std::uint64_t>(d))) % 2001) / 1000 - 1);
    if (text.find("nan") != std::string_view::npos) v[2] = std::nanf("");
    return v;
}

struct FakeTeacher final : Teacher {
    explicit FakeTeacher(int* opened, std::size_t* largest = nullptr) : largest_(largest) { ++*opened; }
    at::Tensor embed(std::span<const std::string_view> texts, const Route& route) override {
        if (largest_) *largest_ = std::max(*largest_, texts.size());
        const at::Tensor rows = at::empty({static_cast<std::int64_t>(texts.size()), dim});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto v = vector_of(texts[i], route.instruction);
            std::copy(v.begin(), v.end(), rows.data_ptr<float>() + i * dim);
        }
        return rows;
    }
    std::string fingerprint() const override { return "fake"; }
    std::size_t* largest_;
};

double slow_cosine(const std::vector<float>& a, const std::vector<float>& b) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t d = 0; d < a.size(); ++d) ab += double{a[d]} * b[d], aa += double{a[d]} * a[d], bb += double{b[d]} * b[d];
    return ab / std::sqrt(aa * bb);
}

TrainingSet set_of(const std::string& name, const std::string& task, std::size_t count, std::size_t negatives) {
    TrainingSet set;
    set.name = name;
    set.task = task;
    set.fingerprint = name;
    set.card = Json::object();
    for (std::size_t i = 0; i < count; ++i) {
        Example example;
        example.anchor = set.texts.intern(name + " query " + std::to_string(i));
        example.positive = set.texts.intern(name + " positive " + std::to_string(i));
        example.first_negative = static_cast<std::uint32_t>(set.negatives.size());
        example.num_negatives = static_cast<std::uint32_t>(negatives);
        for (std::size_t k = 0; k < negatives; ++k)
            set.negatives.push_back(set.texts.intern(name + " negative " + std::to_string(i * 10 + k)));
        set.examples.push_back(example);
    }
    return set;
}

std::vector<std::uint32_t> all_of(const TrainingSet& set) {
    std::vector<std::uint32_t> all(set.examples.size());
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

at::Tensor embed_plain(std::span<const std::string_view> texts, PairSide side) {
    int opened = 0;
    return FakeTeacher(&opened).embed(texts, {side == PairSide::query ? "q" : side == PairSide::positive ? "p" : "n"});
}

Json some_settings() {
    const Json given = {{"method", "data_cube"}, {"task_level", true},    {"instance_level", true}, {"annealing_steps", 5000},
                        {"restarts", 2},         {"queries_per_task", 4}, {"negatives", "hardest"}, {"noise_mask", "quantile"},
                        {"noise_quantile", 0.2}, {"tail", "keep"},        {"temperature", nullptr}};
    return filled_in(plugin_manifest().curricula.front().schema, given);
}

}  // namespace

class TestDataCube : public QObject {
    Q_OBJECT
    std::vector<TrainingSet> sets_;
    CurriculumContext context_;
    int opened_ = 0;

    std::unique_ptr<Curriculum> make(const fs::path& cache = {}) {
        return make_data_cube(
            context_, [this] { return std::make_unique<FakeTeacher>(&opened_); }, cache);
    }

  private Q_SLOTS:
    void init() {
        opened_ = 0;
        sets_.clear();
        sets_.push_back(set_of("r1", "retrieval", 101, 1));
        sets_.push_back(set_of("r2", "retrieval", 7, 3));
        sets_.push_back(set_of("c1", "classification", 64, 0));
        sets_.push_back(set_of("c2", "classification", 1, 0));
        context_ = {};
        for (const TrainingSet& set : sets_) context_.sets.push_back(&set);
        Task retrieval, classification;
        retrieval.name = "retrieval";
        retrieval.temperature = 0.03;
        retrieval.query_instruction = "find: ";
        classification.name = "classification";
        classification.temperature = 0.06;
        context_.tasks = {retrieval, classification};
        context_.batch_size = 16;
        context_.settings = some_settings();
    }

    void phi_equals_the_slow_reference() {
        for (const std::size_t negatives : {0, 1, 3}) {
            const TrainingSet set = set_of("s", "t", 40, negatives);
            for (const auto mode : {DifficultySettings::Negatives::hardest, DifficultySettings::Negatives::mean}) {
                const TaskDifficulty found = measure_difficulty(set, all_of(set), embed_plain, {mode, 8192});
                for (std::uint32_t i = 0; i < 40; ++i) {
                    const Example& e = set.examples[i];
                    const auto query = vector_of(set.texts[e.anchor], "q");
                    double sum = 0, hardest = -2;
                    for (std::size_t k = 0; k < negatives; ++k) {
                        const double s = slow_cosine(query, vector_of(set.texts[set.negatives[e.first_negative + k]], "n"));
                        sum += s / static_cast<double>(negatives);
                        hardest = std::max(hardest, s);
                    }
                    if (negatives == 0)
                        sum = hardest = slow_cosine(
                            query, vector_of(set.texts[set.examples[static_cast<std::size_t>(stand_in_negative(set, i))].positive], "p"));
                    const double expected = slow_cosine(query, vector_of(set.texts[e.positive], "p")) -
                                            (mode == DifficultySettings::Negatives::hardest ? hardest : sum);
                    QVERIFY(std::abs(found.phi[i] - expected) < 1e-5);
                    QCOMPARE((found.marks[i] & drawn_negative) != 0, negatives == 0);
                }
            }
        }
    }

    void phi_does_not_depend_on_how_many_texts_are_embedded_at_a_time() {
        const TrainingSet set = set_of("s", "t", 50, 2);
        const TaskDifficulty whole = measure_difficulty(set, all_of(set), embed_plain, {DifficultySettings::Negatives::hardest, 100'000});
        std::size_t largest = 0;
        const EmbedSide counted = [&](auto texts, PairSide side) {
            return largest = std::max(largest, texts.size()), embed_plain(texts, side);
        };
        QVERIFY(measure_difficulty(set, all_of(set), counted, {DifficultySettings::Negatives::hardest, 12}).phi == whole.phi);
        QVERIFY(largest <= 8);  // never all embeddings in memory
        const std::vector<std::uint32_t> some{3, 41, 7};
        const TaskDifficulty part = measure_difficulty(set, some, embed_plain, {});
        for (std::size_t k = 0; k < some.size(); ++k) QCOMPARE(part.phi[k], whole.phi[some[k]]);
    }

    void a_stand_in_has_another_text_and_duplicates_and_single_examples_are_marked() {
        TrainingSet set = set_of("s", "t", 200, 0);
        for (std::size_t i = 0; i < 199; ++i) set.examples[i].positive = set.examples[0].positive;  // one text but for the last
        for (std::uint32_t i = 0; i < 200; ++i) {
            const auto other = static_cast<std::size_t>(stand_in_negative(set, i));
            QVERIFY(set.examples[other].positive != set.examples[i].positive);
        }
        set.examples[199].positive = set.examples[0].positive;
        QCOMPARE(stand_in_negative(set, 5), std::int64_t{-1});
        const TaskDifficulty alike = measure_difficulty(set, all_of(set), embed_plain, {});
        QCOMPARE(int{alike.marks[5]}, int{no_negative});
        QVERIFY(std::abs(alike.phi[5] - slow_cosine(vector_of("s query 5", "q"), vector_of("s positive 0", "p"))) < 1e-5);
        QVERIFY(std::isnan(underfitting_ratio(alike, 0.05)));
        TrainingSet repeated = set_of("s", "t", 3, 1);
        repeated.negatives[1] = repeated.examples[1].positive;
        QCOMPARE(int{measure_difficulty(repeated, all_of(repeated), embed_plain, {}).marks[1]}, int{negative_is_positive});
    }

    void an_embedding_that_is_not_finite_is_marked_and_left_out_of_vector_and_ratio() {
        TrainingSet set = set_of("s", "t", 6, 1);
        set.examples[2].anchor = set.texts.intern("a nan query");
        set.negatives[4] = set.texts.intern("a nan negative");
        const TaskDifficulty found = measure_difficulty(set, all_of(set), embed_plain, {});
        for (std::uint32_t i = 0; i < 6; ++i) QCOMPARE((found.marks[i] & not_finite) != 0, i == 2 || i == 4);
        QVERIFY(std::isnan(found.phi[2]));
        const TaskVector vector = task_vector(set, all_of(set), embed_plain, 100, 1);
        QCOMPARE(vector.not_finite, std::size_t{1});
        double first = 0;
        for (std::uint32_t i = 0; i < 6; ++i)
            if (i != 2) first += vector_of(set.texts[set.examples[i].anchor], "q")[0] / 5.0;
        QVERIFY(std::abs(vector.values[0] - first) < 1e-5);
        std::size_t under = 0;
        for (const std::uint32_t i : {0, 1, 3, 5}) under += found.phi[i] < 0.05F;
        QCOMPARE(underfitting_ratio(found, 0.05), static_cast<double>(under) / 4);
    }

    void bands_are_those_of_the_paper() {
        for (const auto& [ratio, band] :
             std::map<double, std::string>{{0.0, "mild"}, {0.49, "mild"}, {0.5, "moderate"}, {0.8, "moderate"}, {0.81, "severe"}})
            QCOMPARE(QString::fromStdString(band_of(ratio)), QString::fromStdString(band));
        QCOMPARE(band_of(std::nan("")), std::string("-"));
    }

    void too_many_tasks_for_the_solver_are_refused_before_any_is_measured() {
        for (int i = 0; i < 12; ++i) sets_.push_back(set_of("more " + std::to_string(i), "retrieval", 2, 1));
        context_.sets.clear();
        for (const TrainingSet& set : sets_) context_.sets.push_back(&set);
        context_.settings["solver"] = "exact";
        EXPECT_ERROR(make(), "at most 12 tasks", "use annealing");
        QCOMPARE(opened_, 0);
        context_.settings["task_level"] = false;  // there is no tour to solve
        QVERIFY(make()->num_batches() > 12);
    }

    void every_example_comes_once_an_epoch_in_batches_of_one_data_set() {
        const auto curriculum = make();
        QCOMPARE(curriculum->num_examples(), std::int64_t{173 - 5});  // the last five of the first set are all masked
        QCOMPARE(curriculum->num_batches(), std::int64_t{6 + 1 + 4 + 1});
        for (int epoch = 0; epoch < 2; ++epoch) {
            std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
            std::map<std::uint32_t, std::size_t> masked;
            for (std::int64_t b = 0; b < curriculum->num_batches(); ++b) {
                const BatchPlan batch = curriculum->next();
                for (std::size_t i = 0; i < batch.items.size(); ++i) {
                    QCOMPARE(batch.items[i].set, batch.items[0].set);
                    QVERIFY(seen.emplace(batch.items[i].set, batch.items[i].example).second);
                    masked[batch.items[i].set] += !batch.keep.empty() && batch.keep[i] == 0;
                }
                QCOMPARE(batch.task, sets_[batch.items[0].set].task);
                QCOMPARE(batch.temperature, batch.task == "retrieval" ? 0.03 : 0.06);
            }
            QCOMPARE(seen.size(), std::size_t{173 - 5});
            QCOMPARE(masked[0], std::size_t{20 - 5});  // of a fifth
            QCOMPARE(masked[2], std::size_t{12});
            QCOMPARE(masked[3], std::size_t{0});
        }
    }

    void a_budget_of_a_task_bounds_the_plan_and_what_is_measured() {
        context_.max_examples = {{"retrieval", 30}};
        std::set<std::pair<std::uint32_t, std::uint32_t>> wanted, seen;
        for (const std::size_t s : {0, 1, 2, 3})
            for (const ExampleReference& e : examples_of(context_, s)) wanted.emplace(e.set, e.example);
        QCOMPARE(wanted.size(), std::size_t{30 + 65});
        const auto curriculum = make();
        QCOMPARE(curriculum->num_examples(), std::int64_t{95});
        for (std::int64_t b = 0; b < curriculum->num_batches(); ++b)
            for (const ExampleReference& item : curriculum->next().items) QVERIFY(seen.emplace(item.set, item.example).second);
        QVERIFY(seen == wanted);
        context_.max_examples = {{"retrieval", 0}};
        QCOMPARE(make()->num_examples(), std::int64_t{65});
    }

    void examples_of_a_budget_have_the_difficulty_that_they_have_among_all() {
        const TemporaryDirectory all_folder, some_folder, cache;
        context_.folder = all_folder.path();
        make(cache.path());
        const PlanRecord all = read_plan(plan_path(all_folder.path(), "train"));
        context_.folder = some_folder.path();
        context_.max_examples = {{"retrieval", 30}};
        make(cache.path());
        const PlanRecord some = read_plan(plan_path(some_folder.path(), "train"));
        const auto chosen = examples_of(context_, 0);
        QVERIFY(chosen.size() > 10 && some.tasks[0].phi.size() == chosen.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) QCOMPARE(some.tasks[0].phi[i], all.tasks[0].phi[chosen[i].example]);
        QVERIFY(some.tasks[2].phi == all.tasks[2].phi);
    }

    void its_own_temperature_replaces_the_tasks() {
        context_.settings["temperature"] = 0.01;
        QCOMPARE(make()->next().temperature, 0.01);
    }

    void it_goes_on_from_its_state_in_the_middle_of_an_epoch_with_the_same_batches() {
        for (const bool levels : {true, false}) {
            context_.settings["task_level"] = context_.settings["instance_level"] = levels;
            const auto first = make(), second = make();
            for (int i = 0; i < 18; ++i) first->next();  // into the second epoch
            second->restore(parse_json(first->state().dump(), "state"));
            for (int i = 0; i < 30; ++i) {
                const BatchPlan a = first->next(), b = second->next();
                QVERIFY(a.keep == b.keep);
                QCOMPARE(a.items.size(), b.items.size());
                for (std::size_t k = 0; k < a.items.size(); ++k)
                    QVERIFY(a.items[k].set == b.items[k].set && a.items[k].example == b.items[k].example);
            }
        }
    }

    void the_state_of_another_plan_is_refused() {
        const Json state = make()->state();
        context_.batch_size = 8;
        EXPECT_ERROR(make()->restore(state), "was made under the plan", "start a new run");
    }

    void the_plan_is_stored_and_the_teacher_is_not_asked_again() {
        const TemporaryDirectory folder;
        context_.folder = folder.path();
        std::vector<std::string> warnings;
        context_.warn = [&](const std::string& message) { warnings.push_back(message); };
        const Json state = make()->state();
        QCOMPARE(opened_, 1);
        QVERIFY(make()->state() == state);
        QCOMPARE(opened_, 1);
        const PlanRecord record = read_plan(plan_path(folder.path(), "train"));
        QCOMPARE(record.tasks.size(), std::size_t{4});
        QCOMPARE(record.plan_hash, state.at("plan").get<std::string>());
        QVERIFY(warnings.empty());
        write_file_atomic(plan_path(folder.path(), "train"), "torn");
        QVERIFY(make()->state() == state);
        QCOMPARE(opened_, 2);
        QCOMPARE(warnings.size(), std::size_t{1});
    }

    void a_plan_of_an_older_version_keeps_its_masked_batches() {
        const TemporaryDirectory folder;
        context_.folder = folder.path();
        const auto now = make();
        PlanRecord record = read_plan(plan_path(folder.path(), "train"));
        record.drops_masked = false;
        const Plan plan = plan_of_record(record, context_.settings, context_.batch_size, context_.seed);
        record.plan_hash = plan.hash();
        write_plan(plan_path(folder.path(), "train"), record);
        const auto older = make();
        QCOMPARE(older->num_batches(), now->num_batches() + 1);
        QCOMPARE(older->state().at("plan").get<std::string>(), plan.hash());
        older->restore(parse_json(older->state().dump(), "state"));
    }

    void runs_that_differ_in_order_only_measure_difficulties_once() {
        const TemporaryDirectory cache;
        struct Counting final : Teacher {
            explicit Counting(std::size_t* texts) : texts_(texts) {}
            at::Tensor embed(std::span<const std::string_view> texts, const Route& route) override {
                *texts_ += texts.size();
                int opened = 0;
                return FakeTeacher(&opened).embed(texts, route);
            }
            std::string fingerprint() const override { return "counting"; }
            std::size_t* texts_;
        };
        std::size_t texts = 0;
        const OpenTeacher open = [&] { return std::make_unique<Counting>(&texts); };
        const Json full = make_data_cube(context_, open, cache.path())->state();
        const std::size_t once = texts;
        QVERIFY(once > 0);
        context_.settings["task_level"] = false;
        context_.seed = 9;
        QVERIFY(make_data_cube(context_, open, cache.path())->state() != full);
        QCOMPARE(texts, once);
        context_.run_seed = 9;  // draws other queries for the tasks' vectors, and measures no difficulty
        make_data_cube(context_, open, cache.path());
        QCOMPARE(texts, once + 4 + 4 + 4 + 1);
        make_data_cube(context_, open, cache.path());
        QCOMPARE(texts, once + 4 + 4 + 4 + 1);
        context_.tasks[0].query_instruction = "another: ";
        make_data_cube(context_, open, cache.path());
        QVERIFY(texts > once + 13);
    }

    void what_is_odd_in_a_task_stands_in_the_report() {
        const TemporaryDirectory folder;
        context_.folder = folder.path();
        sets_[0].examples[5].anchor = sets_[0].texts.intern("a nan query");
        const auto curriculum = make();
        const PlanRecord record = read_plan(plan_path(folder.path(), "train"));
        const Plan plan(record.tasks, record.tour.tour, plan_settings(context_.settings, 16, context_.seed));
        const Table table = plan_table(record, plan, "run");
        table.validate();
        const std::string notes = Json(table.footnotes).dump();
        for (const char* piece :
             {"r1: 1 examples have an embedding under the teacher that is not finite", "c1: 64 examples have no negative",
              "c2: the task has one example", "c2: 1 examples have no negative and the task no other positive"})
            QVERIFY2(notes.find(piece) != std::string::npos, (notes + " lacks " + piece).c_str());
        const RandomOrders random = random_orders(record.similarities, 50, 1);
        tour_table(record, random, "run").validate();
        for (const Figure& figure :
             {tour_figure(record, random, "run"), energy_figure(record, random, "run"), similarity_figure(record, "run")})
            figure.validate();
    }

    void no_data_is_an_error_that_says_where_to_add_some() {
        context_.sets.clear();
        EXPECT_ERROR(make(), "no task", "tasks.*.train");
    }
};

FACETER_TEST(TestDataCube)
#include "test_data_cube.moc"
