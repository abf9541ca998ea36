#include "experiment/unread_settings.h"

#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Field read_where(const char* condition, Field field) {
    field.names_where = condition;
    return field;
}

Extension of_its_own(Extension extension, std::vector<std::string> ignores) {
    extension.ignores = std::move(ignores);
    return extension;
}

Catalogue catalogue() {
    Catalogue made = sample_catalogue();
    const Schema schema{
        "routed",
        "",
        {choice("router", {"pilot", "fixed"}, "pilot", "Which."), boolean("many", true, "Whether."),
         read_where("router=pilot", integer("clusters", 1, "How many.")), read_where("many=true", integer("size", 2, "How large.")),
         real("share", 1, "Of it."), read_where("share!=0", text("kind", "a", "Of the share."))}};
    made.add(ExtensionKind::variant, {"routed", "", schema}, "demo");
    const Schema gates{"gates", "", {map("gates", text("", "", ""), "Gates.")}};
    made.add(
        ExtensionKind::variant,
        {"gates", "", gates, false, "", LearnsFrom::anything, {}, {Training::What::adapters, "always", "gates", {}, /*validated=*/true}},
        "demo");
    const Schema planned{
        "planned",
        "",
        {choice("noise_mask", {"quantile", "none"}, "quantile", "Which."), real("temperature", 0.01, "Of the loss.").optional()}};
    made.add(ExtensionKind::curriculum, {"planned", "", planned}, "demo");
    made.add(ExtensionKind::curriculum,
             of_its_own({"own", "", {"own", "", {real("temperature", 0.01, "Of the loss.").optional()}}}, {"weight", "batching"}), "demo");
    made.add(ExtensionKind::objective, of_its_own({"plain", "", {"plain", "", {}}}, {"temperature"}), "demo");
    const Schema scaled{"scaled", "", {real("scale", 20, "Of similarities.")}};
    made.add(ExtensionKind::objective, {"scaled", "", scaled}, "demo");
    made.add(ExtensionKind::analysis, {"routed_study", "", {"routed_study", "", {}}}, "demo");
    Extension load{"load", "", {"load", "", {}}};
    load.embeds_texts = true;
    made.add(ExtensionKind::analysis, load, "demo");
    return made;
}

/// `weight`: of task a, and what else it has.
std::vector<std::string> remarks(const std::string& variant, const std::string& rest = "", const std::string& weight = "1") {
    const Catalogue known = catalogue();
    const std::string text =
        "name: x\ntasks:\n  a:\n    type: retrieval\n    weight: " + weight +
        "\n    train: [{source: file, path: a.tsv}]\n  b:\n    type: retrieval\n    train: [{source: file, path: b.tsv}]\n" +
        "variants: {V: {" + variant + "}}\n" + rest;
    return unread_settings(Experiment::parse(text, "/base/x.yaml", known), known);
}

bool tells(const std::vector<std::string>& told, const std::string& what) {
    return told.size() == 1 && told[0].starts_with("/base/x.yaml: ") && told[0].find(what) != std::string::npos;
}

const std::string dense = "method: dense";

}  // namespace

/// Settings that another one makes useless.
class TestUnreadSettings : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void nothing_is_said_of_what_is_read_or_as_by_default() {
        QVERIFY(remarks("method: routed, clusters: 3, size: 5").empty());
        QVERIFY(remarks("method: routed, router: fixed, many: false").empty());
        QVERIFY(remarks(dense, "training: {steps: 10, warmup_steps: 10}\n", "2").empty());
    }
    void an_analysis_that_has_nothing_to_look_at_is_told() {
        const std::string texts = "analyses: [{method: inter_task_similarity, texts: {source: file, path: a.txt}}]\n";
        QVERIFY(remarks(dense, texts).empty());
        QVERIFY(tells(remarks(dense, "analyses: [{method: inter_task_similarity}]\n"),
                      "analyses[0] (inter_task_similarity) has no texts to embed"));
        QVERIFY(tells(remarks(dense, "analyses: [{method: load}]\n"), "analyses[0] (load) has no texts to embed, and is left out"));
        const std::string forms = "analyses: [{method: embedding_forms}]\n";
        QVERIFY(tells(remarks(dense, forms), "analyses[0] (embedding_forms) has nothing to score"));
        QVERIFY(remarks(dense, forms + "evaluation: {datasets: [{source: folder, path: a}]}\n").empty());
    }
    void a_setting_that_counts_under_another_choice_is_told() {
        QVERIFY(tells(remarks("method: routed, router: fixed, clusters: 3"),
                      "variants.V.clusters is 3, and nothing reads it: it counts where router is pilot, which is fixed"));
        QVERIFY(tells(remarks("method: routed, many: false, size: 3"), "it counts where many is true, which is false"));
        QVERIFY(tells(remarks("method: routed, share: 0, kind: b"),
                      "variants.V.kind is b, and nothing reads it: it counts where share is not 0, and it is 0"));
        QVERIFY(remarks("method: routed, share: 0.5, kind: b").empty());
    }
    void a_sweep_or_an_analysis_of_the_method_reads_it() {
        QVERIFY(remarks("method: routed, clusters: 3", "sweep: {variants.V.router: [pilot, fixed]}\n").empty());
        QVERIFY(remarks("method: routed, router: fixed, clusters: 3", "analyses: [{method: routed_study}]\n").empty());
    }
    void steps_that_are_too_few_are_told() {
        const auto scored = remarks(dense,
                                    "training: {steps: 10, evaluate_every_steps: 11, early_stopping: {patience: 1}}\n"
                                    "evaluation: {datasets: [{name: s, source: folder, path: /base/s}]}\n");
        QVERIFY(
            tells(scored,
                  "training.evaluate_every_steps is 11 of 10 steps: nothing is scored during training, and early_stopping has no effect"));
        QVERIFY(tells(remarks(dense, "training: {steps: 10, warmup_steps: 11}\n"), "training.warmup_steps is 11 of 10 steps"));
        QVERIFY(remarks(dense, "training: {steps: 10, warmup_steps: 11}\nsweep: {training.steps: [10, 20]}\n").empty());
    }
    void of_two_that_say_the_same_the_one_that_does_not_count_is_told() {
        QVERIFY(tells(remarks(dense, "training: {steps: 10, epochs: 3}\n"), "training.epochs is 3, and nothing reads it: steps is 10"));
        QVERIFY(remarks(dense, "training: {epochs: 3}\n").empty());
        QVERIFY(remarks(dense, "training: {steps: 10, epochs: 3}\nsweep: {training.steps: [null, 10]}\n").empty());
        QVERIFY(tells(remarks(dense, "training: {warmup_steps: 5, warmup_ratio: 0.2}\n"),
                      "training.warmup_ratio is 0.2, and nothing reads it: warmup_steps is 5"));
        QVERIFY(remarks(dense, "training: {warmup_ratio: 0.2}\n").empty());
    }
    void scores_of_nothing_and_never_are_told() {
        const std::string sets = "evaluation: {datasets: [{name: s, source: folder, path: /base/s}]}\n";
        QVERIFY(tells(remarks(dense, "training: {evaluate_every_steps: 5}\n"),
                      "training.evaluate_every_steps is 5, and evaluation.datasets names nothing: nothing is scored during training"));
        QVERIFY(tells(remarks(dense, "training: {evaluate_datasets: [s]}\n" + sets),
                      "training.evaluate_datasets is set, and nothing reads it: evaluate_every_steps is 0"));
        QVERIFY(remarks(dense, "training: {evaluate_every_steps: 5, evaluate_datasets: [s]}\n" + sets).empty());
    }
    void chunks_as_large_as_a_batch_are_told() {
        QVERIFY(tells(remarks(dense, "objective: {method: infonce, gradient_cache_chunk: 32}\ntraining: {batch_size: 32}\n"),
                      "objective.gradient_cache_chunk is 32, and batches have 32 pairs"));
    }
    void a_weight_under_a_curriculum_that_draws_by_none_is_told() {
        QVERIFY(tells(
            remarks(dense, "curriculum: {method: static}\n", "0"),
            "tasks.a.weight is 0, and nothing reads it: curriculum static draws no batches by weight, and trains on the task's data"));
        QVERIFY(remarks(dense, "", "0").empty());
        const std::string stages = "curriculum: {method: static}\nstages: [{name: one, tasks: [b]}]\n";
        QVERIFY(remarks(dense, stages, "0").empty());
    }
    void a_temperature_in_whose_place_another_stands_is_told() {
        const auto told = [](const std::string& rest) { return remarks(dense, rest, "1\n    temperature: 0.2"); };
        QVERIFY(told("").empty());
        QVERIFY(tells(told("curriculum: {method: static}\n"),
                      "tasks.a.temperature is 0.2, and nothing reads it: curriculum static has one for every batch, 0.03"));
        QVERIFY(told("curriculum: {method: planned}\n").empty());
        QVERIFY(tells(told("curriculum: {method: planned, temperature: 0.5}\n"), "curriculum planned has one for every batch, 0.5"));
        QVERIFY(tells(told("objective: {method: scaled}\n"), "objective scaled has its own, scale 20"));
        QVERIFY(tells(told("objective: {method: masked_language}\n"), "objective masked_language has no temperature"));
        QVERIFY(tells(told("objective: {method: plain}\n"), "objective plain has no temperature"));
        QVERIFY(tells(remarks(dense, "objective: {method: plain}\ncurriculum: {method: own, temperature: 0.5}\n"),
                      "curriculum.temperature is 0.5, and nothing reads it: objective plain has no temperature"));
        QVERIFY(remarks(dense, "curriculum: {method: own, temperature: 0.5}\n").empty());
        QVERIFY(told("stages: [{name: one, curriculum: {method: static}}, {name: two}]\n").empty());
        QVERIFY(remarks(dense, "curriculum: {method: static}\n").empty());
    }
    void batching_under_a_curriculum_that_has_its_own_is_told() {
        const auto told = [](const std::string& rest) { return remarks(dense, rest, "1\n    batching: heterogeneous"); };
        QVERIFY(told("").empty());
        QVERIFY(told("curriculum: {method: planned}\n").empty());
        QVERIFY(tells(told("curriculum: {method: shuffled}\n"),
                      "tasks.a.batching is heterogeneous, and nothing reads it: curriculum shuffled makes batches of a data set each"));
        QVERIFY(tells(told("curriculum: {method: own}\n"), "nothing reads it: curriculum own makes batches of a data set each"));
    }
    void a_noise_mask_under_a_loss_on_tokens_is_told() {
        const std::string masked = "objective: {method: masked_language}\n";
        QVERIFY(tells(remarks(dense, masked + "curriculum: {method: planned}\n"),
                      "curriculum.noise_mask is quantile, and nothing reads it: objective masked_language is a loss on tokens"));
        QVERIFY(remarks(dense, masked + "curriculum: {method: planned, noise_mask: none}\n").empty());
    }
    void what_is_scored_by_validation_data_that_there_are_none_of_is_told() {
        const std::string stops = "training: {evaluate_every_steps: 2, early_stopping: {}}\n", held_out = "1\n    validation: [{path: v}]";
        QVERIFY(
            tells(remarks("method: gates", stops, held_out),
                  "tasks.b.validation is empty, and variant 'V' (gates) is scored by it while it trains on this task alone: it trains to "
                  "the end, and early_stopping has no effect there"));
        QVERIFY(remarks("method: gates, gates: {b: folder}", stops, held_out).empty());
        QVERIFY(remarks("method: gates", "", held_out).empty());
        const std::string scored = "evaluation: {datasets: [{name: s, source: folder, path: /base/s}]}\n";
        QVERIFY(remarks(dense, stops + scored, held_out).empty());
    }
    void data_of_a_task_that_no_stage_names_are_told() {
        const std::string stage = "stages: [{name: one, tasks: [b]}";
        QVERIFY(tells(remarks(dense, stage + "]\n"), "tasks.a.train has data, and nothing trains on them: no stage names the task"));
        QVERIFY(remarks(dense, stage + ", {name: two}]\n").empty());
        QVERIFY(remarks(dense, stage + "]\n", "0").empty());  // to be kept out
    }
    void mining_that_looks_at_too_few_documents_is_told() {
        const auto stage = [](const std::string& mine) { return "stages: [{name: one, mine: {" + mine + "}}]\n"; };
        QVERIFY(tells(remarks(dense, stage("negatives: 20, depth: 10")), "mine.negatives is 20, and only 10 documents are looked at"));
        QVERIFY(tells(remarks(dense, stage("filter_given: true, depth: 50")), "mine.depth is 50, and nothing reads it"));
        QVERIFY(remarks(dense, stage("negatives: 5")).empty());
    }
};

FACETER_TEST(TestUnreadSettings)
#include "test_unread_settings.moc"
