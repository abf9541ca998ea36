#pragma once
#include <fmt/format.h>

#include "plugin/loader.h"
#include "plugin/registry.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/trainer.h"

namespace faceter::testing {

/// Triplets with scores over a few words; examples have one or two negatives.
inline TrainingSet scored_triplets() {
    TrainingSet set;
    set.name = "scored";
    set.task = "retrieval";
    const char* words[] = {"red", "green", "blue", "house", "river", "stone", "quick", "brown", "fox", "jumps", "over", "lazy"};
    const auto text = [&](std::uint32_t i, std::uint32_t length, const char* kind) {
        std::string words_of = kind + std::to_string(i);
        for (std::uint32_t k = 0; k < length; ++k) words_of += std::string(" ") + words[(i * 7 + k * 5) % 12];
        return words_of;
    };
    for (std::uint32_t i = 0; i < 60; ++i) {
        Example example;
        example.anchor = set.texts.intern(text(i, 3 + i % 4, "q"));
        example.positive = set.texts.intern(text(i, 6 + i % 9, "d"));
        example.score = 1 + static_cast<float>(i % 5);
        example.first_negative = static_cast<std::uint32_t>(set.negatives.size());
        example.num_negatives = 1 + i % 2;
        for (std::uint32_t n = 0; n < example.num_negatives; ++n) {
            set.negatives.push_back(set.texts.intern(text(i * 2 + n, 4 + i % 5, "n")));
            set.negative_scores.push_back(static_cast<float>(n) - 0.5F);
        }
        set.examples.push_back(example);
    }
    return set;
}

/// The same with scores of 1 for texts that belong together and 0 for others.
inline TrainingSet with_verdicts(TrainingSet set) {
    for (Example& example : set.examples) example.score = example.score > 2 ? 1 : 0;
    for (float& score : set.negative_scores) score = 0;
    return set;
}

/// An objective of an experiment, with what it needs of ../shared.
struct Guided {
    const char* name;
    const char* method;
    const char* teacher;  ///< a folder of fixtures; empty: none
    Json settings() const {
        if (is("cosine_similarity")) return {{"highest_score", 5}};
        return *teacher ? Json{{"teacher", (shared_folder() / "fixtures" / teacher).string()}} : Json::object();
    }
    bool is(std::string_view one) const { return one == method; }
    bool reads_verdicts() const { return std::string_view(method).ends_with("contrastive"); }
};
inline const std::vector<Guided> all_objectives = {{"cosent", "cosent", ""},
                                                   {"angle", "angle", ""},
                                                   {"triplet", "triplet", ""},
                                                   {"cosine_similarity", "cosine_similarity", ""},
                                                   {"contrastive", "contrastive", ""},
                                                   {"online_contrastive", "online_contrastive", ""},
                                                   {"margin_mse", "margin_mse", ""},
                                                   {"kl", "kl", ""},
                                                   {"gist", "gist", "bert"},
                                                   {"vectors", "cosine_to_teacher", "bert"},
                                                   {"vectors, mapped", "cosine_to_teacher", "roberta"}};

/// A float64 model in training by one of them.
struct ObjectiveBench {
    TemporaryDirectory cache;
    TrainingSet set = scored_triplets();
    std::unique_ptr<EmbeddingModel> model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
    std::unique_ptr<PairBatcher> batcher;
    std::unique_ptr<Curriculum> curriculum;
    std::unique_ptr<Objective> objective;
    std::unique_ptr<Trainer> trainer;

    ObjectiveBench(const Guided& guided, const TrainingSettings& settings, ProcessGroup& group,
                   const Json& variant = {{"method", "dense"}}) {
        model->tasks = read_tasks(Json{{"retrieval", {{"instructions", {{"query", "find: "}, {"document", "text: "}}}}}});
        const auto method = registry().make_variant(variant.at("method").get<std::string>(), variant);
        method->prepare(*model);
        model->encoders.front() = model->encoders.front()->clone(at::kDouble);
        model->encoders.front()->require_grad(true);
        objective = registry().make_objective(guided.method, guided.settings());
        if (guided.reads_verdicts()) set = with_verdicts(set);
        objective->check(set);
        objective->attach(*model, 4, cache.path() / "none");
        batcher = std::make_unique<PairBatcher>(*model, std::vector<const TrainingSet*>{&set}, cache.path(), 1);
        CurriculumContext context;
        context.tasks = model->tasks;
        context.sets = {&set};
        context.batch_size = settings.batch_size;
        curriculum = make_task_aware_curriculum(context);
        trainer = std::make_unique<Trainer>(*model, method->stages(*model).front(), 0, *batcher, *curriculum, *objective, settings,
                                            EarlyStopping{}, group);
    }
    std::vector<at::Tensor> weights() const {
        std::vector<at::Tensor> all;
        for (const NamedTensor& t : model->named_tensors()) all.push_back(t.tensor.detach().clone());
        for (const Parameter& p : objective->parameters()) all.push_back(p.tensor.detach().clone());
        return all;
    }
};

inline TrainingSettings few_steps() {
    TrainingSettings settings;
    settings.batch_size = 10;
    settings.steps = 4;
    settings.learning_rate = 1e-3;
    settings.checkpoint_every_steps = 0;
    return settings;
}

inline double largest_difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    double largest = a.size() == b.size() ? 0 : 1e300;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, relative_difference(a[i], b[i]));
    return largest;
}

}  // namespace faceter::testing
