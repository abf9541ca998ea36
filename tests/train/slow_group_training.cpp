#include <fstream>

#include "common/file.h"
#include "plugin/loader.h"
#include "plugin/registry.h"
#include "support/ranks.h"
#include "support/tensors.h"
#include "train/rendezvous.h"
#include "train/token_objective.h"
#include "train/trainer.h"

using namespace faceter;
using namespace faceter::testing;

// N processes equal one: the same losses and weights in float64 with dropout on, whatever the sharding, the gradient cache and the
// accumulation.

namespace {

/// Two tasks: one whose batches are always full, and one with fewer examples than ranks and than a batch, so that some ranks have nothing
/// to embed.
std::vector<TrainingSet> some_sets() {
    std::vector<TrainingSet> sets(2);
    const char* words[] = {"red", "green", "blue", "house", "river", "stone", "quick", "brown", "fox", "jumps", "over", "lazy"};
    for (std::uint32_t s = 0; s < 2; ++s) {
        TrainingSet& set = sets[s];
        set.name = s == 0 ? "many" : "few";
        set.task = s == 0 ? "retrieval" : "classification";
        for (std::uint32_t i = 0; i < (s == 0 ? 60u : 3u); ++i) {
            std::string query, document;
            for (std::uint32_t k = 0; k < 3 + i % 4; ++k) query += std::string(words[(i * 7 + k * 5 + s) % 12]) + " ";
            for (std::uint32_t k = 0; k < 6 + i % 9; ++k) document += std::string(words[(i * 5 + k * 7 + 1) % 12]) + " ";
            Example example;
            example.anchor = set.texts.intern(query + std::to_string(i));
            example.positive = set.texts.intern(document + std::to_string(i));
            example.first_negative = static_cast<std::uint32_t>(set.negatives.size());
            example.num_negatives = s == 0 ? i % 3 : 0;
            for (std::uint32_t n = 0; n < example.num_negatives; ++n)
                set.negatives.push_back(set.texts.intern(document + "other " + std::to_string(n)));
            set.examples.push_back(example);
        }
    }
    return sets;
}

struct Method {
    const char* name;
    const char* variant;
    Json settings;
};
const std::vector<Method> methods = {
    {"IC", "instruction", {{"method", "instruction"}}},
    {"MoTE", "mote", {{"method", "mote"}, {"placement", "every"}}},
    {"TLR",
     "token_routed_moe",
     {{"method", "token_routed_moe"}, {"experts", 4}, {"top_k", 2}, {"router_scale", 1.0}, {"z_loss", 0.01}, {"jitter", 0.05}}},
    {"gate", "dense", {{"method", "dense"}}},
    {"MLM", "dense", {{"method", "dense"}}}};

struct Combination {
    const char* name;
    Sharding sharding;
    std::int64_t cache, accumulate;
};
const std::vector<Combination> combinations = {{"plain", Sharding::none, 0, 1},
                                               {"cached", Sharding::none, 2, 2},
                                               {"zero2", Sharding::zero2, 0, 2},
                                               {"zero2, cached", Sharding::zero2, 2, 1}};

/// A float64 model with its trainer.
struct Bench {
    TemporaryDirectory cache;
    std::vector<TrainingSet> sets = some_sets();
    std::unique_ptr<EmbeddingModel> model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
    std::unique_ptr<PairBatcher> batcher;
    std::unique_ptr<Curriculum> curriculum;
    std::unique_ptr<Objective> objective = std::make_unique<InfoNce>(InfoNceSettings{});
    std::unique_ptr<Trainer> trainer;

    Bench(const Method& method, const TrainingSettings& settings, ProcessGroup& group) {
        model->tasks = read_tasks(Json{{"retrieval", {{"instructions", {{"query", "find: "}, {"document", "text: "}}}, {"weight", 3}}},
                                       {"classification", {{"instructions", {{"query", "sort: "}, {"document", "sort: "}}}}}});
        const auto variant = registry().make_variant(method.variant, method.settings);
        variant->prepare(*model);
        Stage stage = variant->stages(*model).front();
        if (method.name == std::string("gate")) {
            model->encoders.front()->add_adapter("gate", {4, 16, 0.1, false, {}, ""}, 5);
            stage.adapter = 0;
        }
        model->encoders.front() = model->encoders.front()->clone(at::kDouble);
        model->encoders.front()->require_grad(true);
        if (method.name == std::string("MLM")) {
            auto tokens = std::make_unique<MaskedLanguage>(Json{{"rate", 0.3}, {"texts", "both"}});
            tokens->attach(*model, 4, cache.path() / "none");
            objective = std::move(tokens);
        }
        batcher = std::make_unique<PairBatcher>(*model, std::vector<const TrainingSet*>{&sets[0], &sets[1]}, cache.path(), 1);
        CurriculumContext context;
        context.tasks = model->tasks;
        context.sets = {&sets[0], &sets[1]};
        context.batch_size = settings.batch_size;
        curriculum = make_task_aware_curriculum(context);
        trainer = std::make_unique<Trainer>(*model, stage, 0, *batcher, *curriculum, *objective, settings, EarlyStopping{}, group);
    }
};

TrainingSettings settings_of(const Combination& combination, std::int64_t steps) {
    TrainingSettings settings;
    settings.batch_size = 10;  // on four ranks: 3, 3, 2, 2
    settings.steps = steps;
    settings.learning_rate = 1e-3;
    settings.sharding = combination.sharding;
    settings.gradient_cache_chunk = combination.cache;
    settings.accumulate = combination.accumulate;
    settings.checkpoint_every_steps = 0;
    return settings;
}

/// What a rank has seen: losses, and the parts of one step.
Json train(Bench& bench, const TrainerEvents& given = {}) {
    Json losses = Json::array(), parts = Json::object();
    std::int64_t tokens = 0;
    TrainerEvents events = given;
    events.step = [&](const StepReport& report) {
        losses.push_back(report.loss);
        losses.push_back(report.grad_norm);
        tokens += report.tokens;
        for (const auto& [name, value] : report.parts) parts[name] = value;
    };
    bench.trainer->run(events);
    return {{"losses", losses}, {"parts", parts}, {"tokens", tokens}};
}

std::vector<double> values_of(const EmbeddingModel& model) {
    std::vector<double> all;
    for (const NamedTensor& t : model.named_tensors()) {
        const at::Tensor flat = t.tensor.detach().to(at::kDouble).contiguous();
        all.insert(all.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    }
    return all;
}

void write_values(const fs::path& file, const std::vector<double>& values) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(double)));
}

std::vector<double> read_values(const fs::path& file) {
    std::vector<double> values(fs::file_size(file) / sizeof(double));
    std::ifstream(file, std::ios::binary)
        .read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(double)));
    return values;
}

double relative(double a, double b) { return std::abs(a - b) / std::max(1e-12, std::abs(b)); }

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return 1e300;
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
        scale = std::max(scale, std::abs(b[i]));
    }
    return largest / scale;
}

}  // namespace

/// What the processes do that the tests below start.
class AsRank : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void trains() {
        const QByteArray job = qgetenv("FACETER_TEST_JOB");
        if (job.isEmpty()) QSKIP("started by the tests of slow_group_training");
        const Json wanted = Json::parse(job.toStdString());
        const auto group = join_group(Rendezvous::from_environment(), {60, 60, 60});
        const fs::path folder = wanted.at("folder").get<std::string>();
        if (wanted.contains("resume")) return resumes(wanted, folder, *group);
        const Method& method = methods[wanted.at("method").get<std::size_t>()];
        for (std::size_t c = 0; c < combinations.size(); ++c) {
            Bench bench(method, settings_of(combinations[c], 20), *group);
            const Json seen = train(bench);
            if (group->rank() == 0) {
                std::ofstream(folder / (std::to_string(c) + ".json")) << seen.dump();
                write_values(folder / (std::to_string(c) + ".bin"), values_of(*bench.model));
            }
            const at::Tensor own = at::tensor(values_of(*bench.model), at::kDouble);
            const at::Tensor all = group->all_gather_parts(own).view({group->size(), -1});
            for (int r = 1; r < group->size(); ++r) QVERIFY2(at::equal(all[0], all[r]), combinations[c].name);
        }
    }

  private:
    /// Ten steps of MoTE, of which five are done by two ranks.
    static void resumes(const Json& wanted, const fs::path& folder, ProcessGroup& group) {
        TrainingSettings settings = settings_of({"", Sharding::zero2, wanted.at("resume").get<bool>() ? 0 : 2, 1}, 10);
        Bench bench(methods[1], settings, group);
        const CheckpointStore store(folder / "checkpoints", 2);
        if (!wanted.at("resume").get<bool>()) {
            TrainerEvents events;
            events.checkpoint = [&](const CheckpointState& state, const std::vector<NamedTensor>& optimizer) {
                store.save(state, bench.model->named_tensors(), optimizer, bench.trainer->optimizer().is_sharded() ? &group : nullptr);
            };
            events.should_stop = [&] { return group.rank() == 1 && bench.trainer->step() == 5; };  // one rank's wish stops all of them
            QVERIFY(bench.trainer->run(events) == TrainOutcome::stopped);
            QCOMPARE(bench.trainer->step(), std::int64_t{5});
            return;
        }
        std::vector<std::string> warnings;
        const auto checkpoint = store.newest(warnings);
        QVERIFY(checkpoint && checkpoint->state.step == 5 && warnings.empty());
        bench.model->load_weights(Weights(std::vector<fs::path>{checkpoint->model()}));
        bench.trainer->restore(*checkpoint);
        const Json seen = train(bench);
        if (group.rank() != 0) return;
        std::ofstream(folder / (std::to_string(group.size()) + ".json")) << seen.dump();
        write_values(folder / (std::to_string(group.size()) + ".bin"), values_of(*bench.model));
    }
};
static const bool registered_as_rank = register_test("as_rank.cpp", [] { return std::make_unique<AsRank>(); });

class TestGroupTraining : public QObject {
    Q_OBJECT
  public:
    TestGroupTraining() { qputenv("QTEST_FUNCTION_TIMEOUT", "1200000"); }  // for the processes, too
  private Q_SLOTS:
    void any_number_of_processes_trains_as_one_does_data() {
        QTest::addColumn<int>("method");
        QTest::addColumn<int>("size");
        for (std::size_t m = 0; m < methods.size(); ++m)
            for (const int size : {1, 2, 4}) QTest::addRow("%s, %d", methods[m].name, size) << static_cast<int>(m) << size;
    }
    void any_number_of_processes_trains_as_one_does() {
        NEED_SHARED();
        QFETCH(int, method);
        QFETCH(int, size);
        const fs::path own = trained(method, size), one = trained(method, 1);
        QVERIFY(!own.empty() && !one.empty());
        for (std::size_t c = 0; c < combinations.size(); ++c) compare(one, own, std::to_string(c), combinations[c].name);
        // Sharding, the cache and more processes change nothing; how many batches a step has does.
        compare(one, own, "0", "zero2 and the cache against plain", "3");
        compare(one, own, "1", "zero2 against the cache", "2");
        if (method == 2) QVERIFY(read_json(own / "0.json").at("parts").contains("balance_loss"));
    }

    void a_run_of_two_ranks_goes_on_at_any_number_of_them() {
        NEED_SHARED();
        TemporaryDirectory folder;
        const auto run = [&](int size, bool resume) {
            const Json job = {{"resume", resume}, {"folder", folder.path().string()}};
            Ranks ranks(size, "as_rank", {{"FACETER_TEST_JOB", QString::fromStdString(job.dump())}});
            return ranks.problem();
        };
        const std::string started = run(2, false);
        QVERIFY2(started.empty(), started.c_str());
        for (const int size : {1, 2, 4}) {
            const std::string problem = run(size, true);
            QVERIFY2(problem.empty(), problem.c_str());
            QCOMPARE(read_json(folder.path() / (std::to_string(size) + ".json")).at("losses").size(), std::size_t{10});
            compare(folder.path(), folder.path(), "1", std::to_string(size), std::to_string(size));
        }
    }

  private:
    TemporaryDirectory folder_;

    /// Where the results of a method with so many processes are; empty where they failed.
    fs::path trained(int method, int size) const {
        const fs::path own = folder_.path() / (std::to_string(method) + "-" + std::to_string(size));
        if (fs::exists(own)) return own;
        fs::create_directory(own);
        const Json job = {{"method", method}, {"folder", own.string()}};
        Ranks ranks(size, "as_rank", {{"FACETER_TEST_JOB", QString::fromStdString(job.dump())}});
        const std::string problem = ranks.problem();
        if (!problem.empty()) qWarning("%s", problem.c_str());
        return problem.empty() ? own : fs::path();
    }
    static void compare(const fs::path& expected, const fs::path& got, const std::string& name, const char* what) {
        compare(expected, got, name, what, name);
    }
    static void compare(const fs::path& expected, const fs::path& got, const std::string& name, const std::string& what,
                        const std::string& got_name) {
        const Json one = read_json(expected / (name + ".json")), several = read_json(got / (got_name + ".json"));
        const auto a = one.at("losses").get<std::vector<double>>(), b = several.at("losses").get<std::vector<double>>();
        QCOMPARE(a.size(), b.size());
        double worst = 0;
        for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, relative(b[i], a[i]));
        for (const auto& [part, value] : one.at("parts").items())
            worst = std::max(worst, relative(several.at("parts").at(part).get<double>(), value.get<double>()));
        const double weights = largest_difference(read_values(got / (got_name + ".bin")), read_values(expected / (name + ".bin")));
        qInfo("%s: losses and norms within %.2g, weights within %.2g", what.c_str(), worst, weights);
        QVERIFY2(worst < 1e-6, (what + " losses " + std::to_string(worst)).c_str());
        QVERIFY2(weights < 1e-5, (what + " weights " + std::to_string(weights)).c_str());
        QCOMPARE(one.at("tokens"), several.at("tokens"));
    }
};

FACETER_TEST(TestGroupTraining)
#include "slow_group_training.moc"
