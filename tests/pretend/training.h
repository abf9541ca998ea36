#pragma once
#include "common/error.h"
#include "plugin/loader.h"
#include "plugin/registry.h"
#include "support/ops_forms.h"
#include "support/pretend_device/pretend.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/token_objective.h"
#include "train/trainer.h"

namespace faceter::testing {

struct Method {
    const char* name;
    const char* variant;
    Json settings;
    const char* objective = "";  ///< with a guide; empty: InfoNCE
    const char* guide = "";      ///< a folder of fixtures
};
inline const std::vector<Method> methods = {
    {"IC", "instruction", {{"method", "instruction"}}},
    {"MoTE", "mote", {{"method", "mote"}, {"placement", "every"}}},
    {"TLR",
     "token_routed_moe",
     {{"method", "token_routed_moe"}, {"experts", 4}, {"top_k", 2}, {"router_scale", 1.0}, {"z_loss", 0.01}, {"jitter", 0.0}}},
    {"gate", "dense", {{"method", "dense"}}},
    {"task_lora",
     "task_lora",
     {{"method", "task_lora"},
      {"rank", 4},
      {"alpha", 16},
      {"adapter_dropout", 0},
      {"targets", Json::array()},
      {"adapters", "by_side"},
      {"instructions", true},
      {"training", "together"},
      {"base_rate", 0},
      {"final_form", "adapters"}}},
    {"MLM", "dense", {{"method", "dense"}}}};

/// With a guide, which computes in float32 whatever it guides, and waits for its rows.
inline const std::vector<Method> guided_methods = {
    {"GIST", "dense", {{"method", "dense"}}, "gist", "bert"},
    {"a teacher's vectors", "dense", {{"method", "dense"}}, "cosine_to_teacher", "bert"},
    {"a teacher's vectors, mapped", "dense", {{"method", "dense"}}, "cosine_to_teacher", "roberta"}};

/// Folders of fixtures, one a family.
inline constexpr const char* start_models[] = {"bert",     "xlm_roberta",     "nomic_bert", "nomic_moe",           "t5",
                                               "t5_gated", "modernbert",      "mpnet",      "distilbert",          "roberta",
                                               "mmbert",   "qwen3_embedding", "eurobert",   "qwen3_bidirectional", "mistral",
                                               "gte",      "embedding_gemma", "deberta_v2", "jina_embeddings_v3"};

/// Pairs over a few words of two tasks, some with hard negatives.
inline TrainingSet task_pairs(const std::string& task, std::uint32_t count) {
    TrainingSet set;
    set.name = set.task = task;
    const char* words[] = {"red", "green", "blue", "house", "river", "stone", "quick", "brown", "fox", "jumps", "over", "lazy"};
    for (std::uint32_t i = 0; i < count; ++i) {
        std::string query, document;
        for (std::uint32_t k = 0; k < 3 + i % 4; ++k) query += std::string(words[(i * 7 + k * 5) % 12]) + " ";
        for (std::uint32_t k = 0; k < 6 + i % 9; ++k) document += std::string(words[(i * 5 + k * 7 + 1) % 12]) + " ";
        Example example;
        example.anchor = set.texts.intern(query + std::to_string(i));
        example.positive = set.texts.intern(document + std::to_string(i));
        example.first_negative = static_cast<std::uint32_t>(set.negatives.size());
        example.num_negatives = i % 3;
        for (std::uint32_t n = 0; n < example.num_negatives; ++n)
            set.negatives.push_back(set.texts.intern(document + "other " + std::to_string(n)));
        set.examples.push_back(example);
    }
    return set;
}

/// A method's trainer on a tiny reference model, on a device.
struct TrainingBench {
    TemporaryDirectory cache;
    std::vector<TrainingSet> sets{task_pairs("retrieval", 60), task_pairs("classification", 24)};
    std::unique_ptr<EmbeddingModel> model;
    std::unique_ptr<PairBatcher> batcher;
    std::unique_ptr<Curriculum> curriculum;
    std::unique_ptr<Objective> objective;
    SingleProcess alone;
    Stage stage;
    std::unique_ptr<Trainer> trainer;

    TrainingBench(const Method& method, const TrainingSettings& settings, const c10::Device& device, at::ScalarType type = at::kFloat,
                  ProcessGroup* group = nullptr, const std::string& fixture = "bert")
        : model(EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures" / fixture))) {
        model->tasks = read_tasks(Json{{"retrieval", {{"instructions", {{"query", "find: "}, {"document", "text: "}}}}},
                                       {"classification", {{"instructions", {{"query", "sort: "}, {"document", "sort: "}}}}}});
        const auto variant = registry().make_variant(method.variant, method.settings);
        variant->prepare(*model);
        stage = variant->stages(*model).front();
        if (method.name == std::string("gate")) {
            model->encoders.front()->add_adapter("gate", {4, 16, settings.dropout > 0 ? 0.1 : 0.0, false, {}, ""}, 5);
            stage.adapter = 0;
        }
        if (type != at::kFloat) model->encoders.front() = model->encoders.front()->clone(type);
        model->move_to(device);
        model->encoders.front()->require_grad(true);
        objective = objective_of(method, *model);
        batcher = std::make_unique<PairBatcher>(*model, std::vector<const TrainingSet*>{&sets[0], &sets[1]}, cache.path(), 1);
        CurriculumContext context;
        context.tasks = model->tasks;
        context.sets = {&sets[0], &sets[1]};
        context.batch_size = settings.batch_size;
        curriculum = make_task_aware_curriculum(context);
        trainer = std::make_unique<Trainer>(*model, stage, 0, *batcher, *curriculum, *objective, settings, EarlyStopping{},
                                            group ? *group : alone);
    }

    static std::unique_ptr<Objective> objective_of(const Method& method, const EmbeddingModel& model) {
        if (*method.objective) return guided_objective(method, model);
        if (method.name != std::string("MLM")) return std::make_unique<InfoNce>(InfoNceSettings{});
        auto tokens = std::make_unique<MaskedLanguage>(Json{{"rate", 0.3}, {"texts", "both"}});
        tokens->attach(model, 4, "/nowhere");
        return tokens;
    }

    static std::unique_ptr<Objective> guided_objective(const Method& method, const EmbeddingModel& model) {
        auto guided = registry().make_objective(method.objective, {{"teacher", (shared_folder() / "fixtures" / method.guide).string()}});
        guided->attach(model, 4, "/nowhere");
        return guided;
    }

    /// Losses and norms of so many steps.
    std::vector<double> steps(int count) {
        std::vector<double> seen;
        for (int i = 0; i < count; ++i) {
            const StepReport report = trainer->train_step();
            seen.insert(seen.end(), {report.loss, report.grad_norm});
        }
        return seen;
    }
    std::vector<at::Tensor> weights() const {
        std::vector<at::Tensor> all;
        for (const NamedTensor& t : model->named_tensors()) all.push_back(t.tensor.detach().to(at::kCPU, at::kDouble).clone());
        return all;
    }
};

/// Without dropout: a device draws otherwise.
inline TrainingSettings exact_settings() {
    TrainingSettings settings;
    settings.batch_size = 12;
    settings.steps = 20;
    settings.learning_rate = 1e-3;
    settings.dropout = 0;
    settings.checkpoint_every_steps = 0;
    return settings;
}

/// Two steps of a method from a start model, or why it refuses that one.
struct Trained {
    std::vector<double> losses;
    std::vector<at::Tensor> weights;
    std::string refused;
};

inline Trained trained(const Method& method, const std::string& fixture, const c10::Device& device) {
    try {
        TrainingBench bench(method, exact_settings(), device, at::kDouble, nullptr, fixture);
        std::vector<double> losses = bench.steps(2);
        return {std::move(losses), bench.weights(), ""};
    } catch (const Error& error) {
        return {{}, {}, error.what()};
    }
}

/// Rows of a test: every method from every start model.
inline void every_start_model() {
    QTest::addColumn<QString>("fixture");
    QTest::addColumn<int>("method");
    for (const char* fixture : start_models)
        for (std::size_t m = 0; m < methods.size(); ++m)
            QTest::addRow("%s, %s", fixture, methods[m].name) << QString::fromUtf8(fixture) << static_cast<int>(m);
}

/// The largest difference of two lists of tensors, relative to the largest number of all.
inline double largest_difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].numel() == 0) continue;
        largest = std::max(largest, max_difference(a[i], b[i]));
        scale = std::max(scale, b[i].abs().max().item<double>());
    }
    return largest / scale;
}
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    return largest_difference(std::vector<at::Tensor>{at::tensor(a, at::kDouble)}, std::vector<at::Tensor>{at::tensor(b, at::kDouble)});
}

/// Two steps there are those here. A method that refuses a start model does so on both.
inline void require_steps_of_the_processor(int method, const std::string& fixture, const c10::Device& device) {
    const Method& one = methods[static_cast<std::size_t>(method)];
    const Trained far = trained(one, fixture, device);
    const InForm in_form(OpsForm::device);
    const Trained here = trained(one, fixture, c10::kCPU);
    QCOMPARE(far.refused, here.refused);
    if (!here.refused.empty()) QSKIP(here.refused.c_str());
    QVERIFY(largest_difference(far.losses, here.losses) < 1e-8);
    QVERIFY(largest_difference(far.weights, here.weights) < 1e-8);
}

}  // namespace faceter::testing
