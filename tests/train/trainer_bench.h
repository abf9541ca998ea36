#pragma once
#include "support/tensors.h"
#include "support/test.h"
#include "train/trainer.h"

namespace faceter::testing {

/// Pairs over a few words, some with one or two hard negatives.
inline TrainingSet some_pairs() {
    TrainingSet set;
    set.name = "pairs";
    set.task = "retrieval";
    const char* words[] = {"red", "green", "blue", "house", "river", "stone", "quick", "brown", "fox", "jumps", "over", "lazy"};
    for (std::uint32_t i = 0; i < 60; ++i) {
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

/// Another curriculum whose batches have every third item masked, and an epoch of 7 batches.
struct Masked final : Curriculum {
    explicit Masked(std::unique_ptr<Curriculum> around_) : around(std::move(around_)) {}
    BatchPlan next() override {
        BatchPlan plan = around->next();
        for (std::size_t i = 0; i < plan.items.size(); ++i) plan.keep.push_back(i % 3 != 0);
        return plan;
    }
    std::int64_t num_examples() const override { return around->num_examples(); }
    std::int64_t num_batches() const override { return 7; }
    Json state() const override { return around->state(); }
    void restore(const Json& state) override { around->restore(state); }
    std::unique_ptr<Curriculum> around;
};

/// A trainer on the tiny reference model with its data, ready to step.
struct Bench {
    TemporaryDirectory cache;
    TrainingSet set = some_pairs();
    std::unique_ptr<EmbeddingModel> model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
    PairBatcher batcher{*model, {&set}, cache.path(), 1};
    std::unique_ptr<Curriculum> curriculum;
    InfoNce objective{{}};
    SingleProcess group;
    std::unique_ptr<Trainer> trainer;

    explicit Bench(TrainingSettings settings, bool masked = false, Stage stage = {}, EarlyStopping early = {}) {
        if (stage.adapter >= 0) model->encoders.front()->add_adapter("gate", {4, 16, 0.1, false, {}, ""}, 5);
        if (stage.routing_loss) route_second_block();
        CurriculumContext context;
        Task task;
        task.name = "retrieval";
        context.tasks = {task};
        context.sets = {&set};
        context.batch_size = settings.batch_size;
        curriculum = make_task_aware_curriculum(context);
        if (masked) curriculum = std::make_unique<Masked>(std::move(curriculum));
        trainer = std::make_unique<Trainer>(*model, stage, 0, batcher, *curriculum, objective, settings, early, group);
    }
    void route_second_block() {
        TokenRouting routing;
        at::manual_seed(3);
        routing.router = at::randn({4, model->encoders.front()->config().hidden_dim});
        routing.num_experts = 4;
        Encoder::route_tokens(model->encoders.front()->blocks().at(1), std::move(routing));
    }
    std::vector<at::Tensor> weights() const {
        std::vector<at::Tensor> all;
        for (const NamedTensor& t : model->named_tensors()) all.push_back(t.tensor.clone());
        return all;
    }
};

/// A stage that trains the first adapter, on queries alone.
inline Stage gate_stage() {
    Stage stage;
    stage.name = "gate";
    stage.tasks = {"retrieval"};
    stage.adapter = 0;
    return stage;
}

inline TrainingSettings small() {
    TrainingSettings settings;
    settings.batch_size = 12;
    settings.steps = 8;
    settings.learning_rate = 1e-3;
    return settings;
}

}  // namespace faceter::testing
