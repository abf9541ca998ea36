#include "settings/core_settings.h"

#include "settings/check.h"

namespace faceter {

namespace {

Schema early_stopping_schema() {
    return {"early_stopping",
            "Stops a stage when a score on held-out data no longer rises.",
            {
                text("dataset", "",
                     "Name of the evaluation data set to watch; empty: the mean of all that are scored during training. Where a stage "
                     "trains one "
                     "encoder or adapter of several, only sets whose texts go through it are watched."),
                integer("patience", 3, "Evaluations without a gain after which training stops.").at_least(1).in("evaluations"),
                real("min_delta", 0.0,
                     "A score must rise by more than this to be a gain; the weights of the best score are kept whatever it rose by.")
                    .at_least(0)
                    .in("points"),
            }};
}

}  // namespace

Field gradient_cache_field() {
    return integer("gradient_cache_chunk", 0,
                   "Compute a batch in chunks of this many pairs with the same gradients in less memory (GradCache); 0: off.")
        .at_least(0)
        .in("pairs");
}

const Schema& training_schema() {
    static const Schema schema{
        "training",
        "The optimiser and its schedule; one recipe for every stage that does not name its own.",
        {
            integer("batch_size", 32, "Pairs in a batch; the other pairs of the batch are the in-batch negatives.").at_least(1).in("pairs"),
            integer("batch_tokens", 0,
                    "Tokens that a batch has at most, negatives included: a batch of batch_size pairs that has more is cut into several of "
                    "about the same size; null: no limit.")
                .at_least(1)
                .in("tokens")
                .optional(),
            integer("epochs", 1,
                    "Passes over the training data; without effect where steps is set. A stage with epochs says steps: null where the "
                    "experiment has steps.")
                .at_least(1)
                .from("MoTE, section 5.1"),
            integer("steps", 0, "Optimiser steps; null: as many as the epochs make.").at_least(1).in("steps").optional(),
            real("learning_rate", 2e-5, "Peak learning rate.").above(0).from("paper-silent for small models; MoTE trains with 5e-6"),
            real("weight_decay", 0.01, "Decoupled weight decay; norms and biases have none.").at_least(0).from("MoTE, section 5.1 has 0.1"),
            real("warmup_ratio", 0.1, "Share of the steps over which the learning rate rises from 0.")
                .at_least(0)
                .at_most(1)
                .from("paper-silent"),
            integer("warmup_steps", 0, "Steps of that rise; null: as warmup_ratio says.").at_least(0).in("steps").optional(),
            choice("schedule", {"cosine", "linear", "constant"}, "cosine", "How the learning rate falls after warm-up.")
                .from("paper-silent"),
            real("max_grad_norm", 1.0, "Gradients are scaled down to this norm; 0: never.").at_least(0).from("paper-silent"),
            boolean("activation_checkpointing", false,
                    "Keep the input of each block alone for the backward pass and run the block again there: less memory for a third more "
                    "time.")
                .from("Nomic Embed v2, section 4.3; Chen et al., 2016"),
            integer("accumulate", 1,
                    "Batches whose gradients are averaged before a step; each keeps to its own in-batch negatives, and its loss is logged "
                    "under its own task. Of masked_language each counts alike, however many tokens it guesses.")
                .at_least(1)
                .in("batches"),
            choice("sharding", {"none", "zero2"}, "none",
                   "With several processes: whether each holds all moments of the optimiser, or (zero2) those of its part of the "
                   "parameters; the weights are the same.")
                .from("ZeRO, Rajbhandari et al., 2020, stage 2"),
            real("gradient_bucket", 8,
                 "With several processes: gradients are summed in buckets of about this size (in float32) while the backward pass goes on. "
                 "A larger one takes fewer messages and hides less of the last; from the size of the word embeddings on, these travel "
                 "whole, not only the rows that a step uses.")
                .above(0)
                .at_most(4096)
                .in("MiB")
                .from("Li et al., 2020, section 3.2.3"),
            real("rank_timeout_s", 600,
                 "With several processes: one that the others miss for so long in a step, or at the start, is lost and named.")
                .above(0)
                .in("s"),
            real("dropout", 0, "Dropout while training, at every place where the model's family drops; null: as its config.json says.")
                .at_least(0)
                .at_most(0.9)
                .optional(),
            integer("query_length", 0, "Longest query in training, instruction included; null: max_length.")
                .at_least(2)
                .in("tokens")
                .optional()
                .from("Nomic Embed v2, section 4.3: 32"),
            integer("document_length", 0, "Longest document in training; null: max_length.")
                .at_least(2)
                .in("tokens")
                .optional()
                .from("Nomic Embed v2, section 4.3: 256"),
            integer("checkpoint_every_steps", 100, "Steps between checkpoints; 0: only at the end and when stopped.")
                .at_least(0)
                .in("steps"),
            integer("keep_checkpoints", 2, "Older checkpoints of a run are removed.").at_least(1).in("checkpoints"),
            section("early_stopping", early_stopping_schema(),
                    "Stops when the watched score no longer rises, and leaves the weights of the best score, whatever the method "
                    "(checkpoints hold "
                    "them too); it needs evaluate_every_steps. Null: never.")
                .optional(),
            integer("evaluate_every_steps", 0, "Steps between evaluations during training; 0: none.").at_least(0).in("steps"),
            list("evaluate_datasets", text("", "", "Name of a data set of evaluation.datasets."),
                 "Data sets scored during training; empty: all of evaluation.datasets."),
        }};
    return schema;
}

namespace {

Field teacher_field() {
    return text("teacher", "", "The model that judges, as under `model`; null: the model as it stands when the stage begins.").optional();
}

Schema filter_schema() {
    return {
        "filter",
        "Keeps the pairs whose document is among the teacher's best for its query.",
        {teacher_field(),
         integer("top_k", 2, "The document must be among so many.").at_least(1).at_most(10000).from("Nomic Embed v2, section 4.2"),
         integer("shard", 1'000'000,
                 "Pairs of a data set that are compared with each other: a larger set is cut into shards of equal size, in its order. A "
                 "language that is an entry of its own is never mixed with another.")
             .at_least(2)
             .at_most(100'000'000)
             .in("pairs")
             .from("Nomic Embed v2, section 4.2: 1M to 3M by data set and language")}};
}

Schema mine_schema() {
    return {"mine",
            "Hard negatives: of the teacher's best documents, those below a margin of the positive's score.",
            {
                teacher_field(),
                integer("negatives", 10, "Negatives of each pair, at most.").at_least(1).at_most(1000).from("Nomic Embed v2, section 4.3"),
                integer("depth", 100, "Best documents that are looked at.").at_least(1).at_most(10000),
                real("margin", 0.95, "A negative's score stays below this share of the positive's.")
                    .at_least(0)
                    .at_most(1)
                    .from("Nomic Embed v2, Eq. 5"),
                real("absolute_margin", 0, "And below the positive's by this.").at_least(0).at_most(2),
                boolean("filter_given", false, "Mine nothing; drop the negatives that the data has already and that lie above the margin.")
                    .from("Nomic Embed v2, section 7"),
            }};
}

}  // namespace

const Schema& stage_schema() {
    static const Schema schema{
        "stage",
        "One part of a run's training. What it does not say is as the experiment says.",
        {
            text("name", "", "Name of the stage.").must(),
            list("tasks", text("", "", "A task."), "The tasks that are trained; empty: all."),
            section("filter", filter_schema(), "Before it is trained: consistency filtering of its training data.").optional(),
            section("mine", mine_schema(),
                    "Before it is trained: hard negatives for its training data. Where a loss from here on learns from these, examples "
                    "that have none are left out.")
                .optional(),
            any("training", "Settings of the training recipe that differ here."),
            any("curriculum", "Another order of batches: method and its settings."),
            any("objective", "Another loss: method and its settings."),
        }};
    return schema;
}

Schema instructions_schema() {
    return {"instructions",
            "What is put in front of a text of this task: either `text` for both roles, or `query` and `document`.",
            {
                text("text", "", "Instruction of every text, whatever its role.").optional(),
                text("query", "", "Instruction of queries (anchors).").optional(),
                text("document", "", "Instruction of documents (positives and negatives).").optional(),
            }};
}

Schema task_schema() {
    return {"task",
            "One task: its instructions, temperature, weight and data.",
            {
                choice("type",
                       {"retrieval", "classification", "clustering", "pair_classification", "sts", "reranking", "summarisation",
                        "multilabel_classification", "bitext_mining"},
                       "", "Kind of task; default: the task's name.")
                    .optional(),
                section("instructions", instructions_schema(), "Put in front of the task's texts; they also choose the expert of MoTE."),
                real("temperature", 0, "Temperature of the contrastive loss; default: 0.06 for clustering, else 0.03.")
                    .above(0)
                    .optional()
                    .from("MoTE, section 5.1"),
                real("weight", 1, "Share of batches drawn from this task, relative to the others'.").at_least(0).from("paper-silent"),
                choice("batching", {"homogeneous", "heterogeneous"}, "",
                       "Homogeneous: a batch has examples of one data set; heterogeneous: of all of the task's. Default: homogeneous for "
                       "retrieval.")
                    .optional()
                    .from("MoTE, section 4.2"),
            }};
}

Schema evaluation_schema() {
    return {
        "evaluation",
        "What every run of the experiment is scored on.",
        {
            boolean("baseline", true, "Score the untrained start model too, as a run of its own."),
            text("suite", "", "A suite (mteb-english-56, beir-15 ..., or a YAML file): its data sets are scored besides those of datasets.")
                .optional(),
            path("data_root", "", "The folder whose sub-folders are the suite's data sets.").optional(),
            choice("missing", {"fail", "skip"}, "fail",
                   "Data sets of the suite that are not under data_root: refuse to start, or go on without them."),
        }};
}

Schema experiment_head_schema() {
    Field seeds = list("seeds", integer("", 1, "A seed.").at_least(0), "One run per seed; they are grouped in comparisons.");
    seeds.default_value = Json::array({1});
    return {
        "experiment",
        "An experiment: one run per variant, sweep point and seed.",
        {
            text("name", "", "Name of the experiment, part of its runs' names; default: the file's.").optional(),
            text("description", "", "One line for lists and reports."),
            text("model", "minilm",
                 "Start model: 'minilm', a Hugging Face folder (relative to this file), a run's folder or its name in the project at hand "
                 "(the model that it trained), or org/name of the Hugging Face hub."),
            integer("max_length", 0, "Longest text, instruction included; longer ones are cut. Null: as the model's folder says.")
                .at_least(2)
                .in("tokens")
                .optional(),
            seeds,
            integer("threads", 0,
                    "Threads of the worker; 0: all cores, of a SLURM job those that its profile asks for (cpus_per_task). The number is "
                    "stored where it is known when the run is made: other counts give other last bits.")
                .at_least(0)
                .at_most(most_threads),
            choice("device", {"auto", "cpu", "cuda"}, "auto",
                   "What trains and embeds: the processor, or a GPU for each process; auto: a GPU where there is one."),
            choice("precision", {"float32", "bf16"}, "float32",
                   "Arithmetic of training. With bf16 the matrix products round their operands to bfloat16: on a GPU, and where the "
                   "processor multiplies it (AMX, "
                   "AVX512-BF16). Weights, moments, sums and losses stay float32. The run is scored in float32 on the processor, and on a "
                   "GPU in "
                   "bf16 as well, which its results say (settings.compute)."),
        }};
}

Json training_of(const Json& recipe) { return filled_in(training_schema(), recipe.at("training")); }

std::int64_t gradient_cache_chunk_of(const Json& objective) {
    const Field field = gradient_cache_field();
    return json_or<std::int64_t>(objective, field.key, field.default_value.get<std::int64_t>(), "objective");
}

std::uint64_t seed_of(const Json& settings) {
    static const auto usual = experiment_head_schema().find("seeds")->default_value.at(0).get<std::uint64_t>();
    return json_or<std::uint64_t>(settings, "seed", usual, "settings");
}

Json head_setting(const Json& settings, std::string_view key) {
    static const Json defaults = defaults_of(experiment_head_schema());
    return json_or<Json>(settings, key, defaults.at(std::string(key)), "settings");
}

}  // namespace faceter
