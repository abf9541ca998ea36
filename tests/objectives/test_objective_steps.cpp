#include <fstream>

#include "eval/embedder.h"
#include "objective_bench.h"
#include "plugin/model_writer.h"
#include "support/ranks.h"
#include "train/rendezvous.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// What a training leaves: losses and norms of its steps, then every weight.
struct Outcome {
    std::vector<double> steps, weights;
    bool operator==(const Outcome&) const = default;
};

Outcome train(ObjectiveBench& bench) {
    Outcome outcome;
    TrainerEvents events;
    events.step = [&](const StepReport& report) { outcome.steps.insert(outcome.steps.end(), {report.loss, report.grad_norm}); };
    bench.trainer->run(events);
    for (const at::Tensor& t : bench.weights()) {
        const at::Tensor flat = t.to(at::kDouble).contiguous();
        outcome.weights.insert(outcome.weights.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    }
    return outcome;
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size() || a.empty()) return 1e300;
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]) / std::max(1.0, std::abs(b[i])));
    return largest;
}

/// A teacher's vectors are float32 and were computed in another company: their last bits are in the loss, and AdamW makes steps of them.
void require_alike(const Guided& guided, const Outcome& got, const Outcome& expected) {
    const bool learns_rows = guided.method == std::string("cosine_to_teacher");
    const double steps = apart(got.steps, expected.steps), weights = apart(got.weights, expected.weights);
    QVERIFY2(steps < (learns_rows ? 1e-5 : 1e-9), (std::string(guided.name) + ", steps: " + std::to_string(steps)).c_str());
    QVERIFY2(weights < (learns_rows ? 1e-3 : 1e-9), (std::string(guided.name) + ", weights: " + std::to_string(weights)).c_str());
}

void write_outcome(const fs::path& file, const Outcome& outcome) {
    std::ofstream(file) << Json{{"steps", outcome.steps}, {"weights", outcome.weights}}.dump();
}
Outcome read_outcome(const fs::path& file) {
    const Json json = read_json(file);
    return {json.at("steps").get<std::vector<double>>(), json.at("weights").get<std::vector<double>>()};
}

void add_rows() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < all_objectives.size(); ++i) QTest::addRow("%s", all_objectives[i].name) << static_cast<int>(i);
}

}  // namespace

/// What the processes do that the test below starts.
class ObjectiveRank : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void trains() {
        const QByteArray folder = qgetenv("FACETER_TEST_JOB");
        if (folder.isEmpty()) QSKIP("started by test_objective_steps");
        const auto group = join_group(Rendezvous::from_environment(), {60, 60, 60});
        for (std::size_t i = 0; i < all_objectives.size(); ++i) {
            ObjectiveBench bench(all_objectives[i], few_steps(), *group);
            const Outcome outcome = train(bench);
            write_outcome(fs::path(folder.toStdString()) / fmt::format("{}-{}.json", i, group->rank()), outcome);
        }
    }
};
static const bool registered_objective_rank = register_test("objective_rank.cpp", [] { return std::make_unique<ObjectiveRank>(); });

/// Every objective beside InfoNCE in training: whole, in chunks, in processes, after a checkpoint.
class TestObjectiveSteps : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void chunks_of_the_gradient_cache_give_the_same_steps_data() { add_rows(); }
    void chunks_of_the_gradient_cache_give_the_same_steps() {
        NEED_SHARED();
        QFETCH(int, index);
        const Guided& guided = all_objectives[static_cast<std::size_t>(index)];
        SingleProcess group;
        TrainingSettings cached = few_steps();
        cached.gradient_cache_chunk = 3;
        ObjectiveBench whole(guided, few_steps(), group), chunks(guided, cached, group);
        const std::vector<at::Tensor> before = whole.weights();
        const Outcome expected = train(whole);
        require_alike(guided, train(chunks), expected);
        QVERIFY(largest_difference(whole.weights(), before) > 1e-4);
        if (!guided.settings().empty() && guided.teacher == std::string("roberta"))
            QVERIFY(!at::equal(whole.weights().back(), before.back()));  // the map is trained, too
    }

    void a_resumed_training_goes_on_with_the_same_bits_data() { add_rows(); }
    void a_resumed_training_goes_on_with_the_same_bits() {
        NEED_SHARED();
        QFETCH(int, index);
        const Guided& guided = all_objectives[static_cast<std::size_t>(index)];
        SingleProcess group;
        ObjectiveBench whole(guided, few_steps(), group), stopped(guided, few_steps(), group), resumed(guided, few_steps(), group);
        const Outcome expected = train(whole);
        const CheckpointStore store(folder_.path() / guided.name, 2);
        TrainerEvents events;
        events.should_stop = [&] { return stopped.trainer->step() == 2; };
        events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
            store.save(state, stopped.model->named_tensors(), optimizer, nullptr);
        };
        QVERIFY(stopped.trainer->run(events) == TrainOutcome::stopped);
        std::vector<std::string> warnings;
        const auto checkpoint = store.newest(warnings);
        QVERIFY(checkpoint && checkpoint->state.step == 2);
        for (const at::Tensor& t : stopped.weights()) QVERIFY(t.defined());
        copy_weights(stopped, resumed);  // a checkpoint's are float32, and so are a run's
        resumed.trainer->restore(*checkpoint);
        copy_map(stopped, resumed);
        const Outcome rest = train(resumed);
        QCOMPARE(rest.steps.size(), std::size_t{4});
        const double difference = apart(rest.weights, expected.weights);  // moments were rounded to float32
        QVERIFY2(difference < 1e-6, std::to_string(difference).c_str());
    }

    void a_run_guides_as_it_was_trained_to_embed_the_task() {
        NEED_SHARED();
        const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        const auto instructed = [](const char* query, const char* document) {
            return Json{{"instructions", {{"query", query}, {"document", document}}}};
        };
        model->tasks = read_tasks(Json{{"retrieval", instructed("find: ", "text: ")}, {"other", instructed("sort: ", "sort: ")}});
        model->route_by_instruction();
        const fs::path teacher = folder_.path() / "teacher";
        make_directories(teacher);
        write_model(teacher, *model);
        const std::vector<std::string_view> texts{"a red house", "a river"}, of_both{"retrieval", "other"},
            of_one{"retrieval", "retrieval"}, of_another{"new", "new"};
        for (const char* method : {"gist", "cosine_to_teacher"}) {
            const auto objective = registry().make_objective(method, {{"teacher", teacher.string()}});
            model->tasks = read_tasks(Json{{"retrieval", instructed("", "")}, {"other", instructed("", "")}});
            objective->attach(*model, 4, folder_.path() / "none");
            const Guide& guide = *objective->guide();
            for (const Role role : {Role::query, Role::document}) {
                const at::Tensor as_one = embed_texts(*model, texts, model->route("retrieval", role)),
                                 as_other = embed_texts(*model, texts, model->route("other", role));
                QVERIFY(!at::allclose(as_one, as_other, 1e-3, 1e-3));
                QVERIFY(at::allclose(guide.embed(texts, of_one, role), as_one, 1e-5, 1e-6));
                QVERIFY(at::allclose(guide.embed(texts, of_both, role), at::stack({as_one[0], as_other[1]}), 1e-5, 1e-6));
            }
            EXPECT_ERROR(guide.embed(texts, of_another, Role::query),
                         "embeds texts of task 'retrieval' otherwise than those of 'other', and knows nothing of 'new'",
                         "export one of its tasks");
            model->tasks = read_tasks(Json{{"retrieval", instructed("", "")}, {"new", instructed("", "")}});
            const auto alike = registry().make_objective(method, {{"teacher", teacher.string()}});
            alike->attach(*model, 4, folder_.path() / "none");
            QVERIFY(at::equal(alike->guide()->embed(texts, of_another, Role::query), guide.embed(texts, of_one, Role::query)));
        }
    }

    void a_map_is_kept_for_its_own_teacher() {
        const auto kept_for = [](const char* teacher) {
            return registry().make_objective("cosine_to_teacher", {{"teacher", teacher}})->kept_as();
        };
        QVERIFY(!kept_for("one").empty() && kept_for("one") != kept_for("other"));
        QCOMPARE(kept_for("one"), kept_for("one"));
    }

    void two_processes_give_the_steps_of_one() {
        NEED_SHARED();
        for (const int size : {1, 2}) {
            const fs::path results = folder_.path() / std::to_string(size);
            fs::create_directories(results);
            Ranks ranks(size, QStringLiteral("objective_rank"),
                        {{QStringLiteral("FACETER_TEST_JOB"), QString::fromStdString(results.string())}});
            const std::string problem = ranks.problem();
            QVERIFY2(problem.empty(), problem.c_str());
        }
        for (std::size_t i = 0; i < all_objectives.size(); ++i) {
            const Outcome first = read_outcome(folder_.path() / "2" / fmt::format("{}-0.json", i));
            require_alike(all_objectives[i], first, read_outcome(folder_.path() / "1" / fmt::format("{}-0.json", i)));
            QVERIFY2(first == read_outcome(folder_.path() / "2" / fmt::format("{}-1.json", i)), all_objectives[i].name);
        }
    }

  private:
    static void copy_weights(const ObjectiveBench& from, const ObjectiveBench& to) {
        const at::NoGradGuard no_grad;
        const auto source = from.model->named_tensors(), target = to.model->named_tensors();
        for (std::size_t i = 0; i < source.size(); ++i) target[i].tensor.copy_(source[i].tensor);
    }
    static void copy_map(const ObjectiveBench& from, const ObjectiveBench& to) {
        const at::NoGradGuard no_grad;
        const auto source = from.objective->parameters(), target = to.objective->parameters();
        for (std::size_t i = 0; i < source.size(); ++i) {
            QVERIFY(relative_difference(target[i].tensor.detach(), source[i].tensor.detach()) < 1e-6);  // what the checkpoint has
            target[i].tensor.copy_(source[i].tensor);
        }
    }
};

FACETER_TEST(TestObjectiveSteps)
#include "test_objective_steps.moc"
