#include "experiment/trained_tasks.h"

#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Catalogue catalogue() {
    Catalogue made = sample_catalogue();
    const auto add = [&](const char* name, Training training) {
        const Schema schema{
            name,
            "",
            {choice("how", {"together", "apart"}, "together", "How."), map("gates", text("", "", ""), "Gates."),
             boolean("joint", false, "Joint."), list("sizes", integer("", 1, ""), "Sizes."), list("single", text("", "", ""), "Single.")}};
        made.add(ExtensionKind::variant, {name, "", schema, false, "", LearnsFrom::anything, {}, std::move(training)}, "demo");
    };
    add("specialists", {Training::What::encoder_a_task, "always"});
    add("adapters", {Training::What::adapters, "how=apart"});
    add("gates", {Training::What::adapters,
                  "always",
                  "gates",
                  {{"joint", "single", /*of_them=*/false, /*several=*/2},
                   {"sizes", "single"},
                   {"how=apart", "single", /*of_them=*/true},
                   {"how=together", "", false, 0}},
                  /*validated=*/true});
    add("ready", {Training::What::nothing});
    return made;
}

std::string task(const std::string& name, const std::string& more) { return "  " + name + ": {type: retrieval" + more + "}\n"; }

const std::string data = ", train: [{source: file, path: a.tsv}]";

void check(const std::string& tasks, const std::string& variant, const std::string& more = "") {
    const Catalogue known = catalogue();
    check_trained_tasks(
        Experiment::parse("name: x\ntasks:\n" + tasks + "variants: {V: {method: " + variant + "}}\n" + more, "/base/x.yaml", known), known);
}

}  // namespace

/// What a run's stages would find nothing to train on.
class TestTrainedTasks : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_task_that_is_trained_by_itself_needs_data() {
        const std::string tasks = task("a", data) + task("b", "");
        EXPECT_ERROR(check(tasks, "specialists"), "/base/x.yaml: variant 'V' (specialists) trains each task by itself",
                     "task 'b' has no training data", "tasks.b.train", "under 'stages'");
        EXPECT_ERROR(check(tasks, "adapters, how: apart"), "task 'b' has no training data");
        EXPECT_ERROR(check(tasks, "gates"), "task 'b' has no training data");
        EXPECT_ERROR(check(tasks, "specialists", "stages: [{name: s, tasks: [a]}, {name: t}]\n"), "by itself in stage 't'");
        check(tasks, "adapters");
        check(tasks, "dense");
        check(tasks, "gates, gates: {b: folder}");
        check(tasks, "specialists", "stages: [{name: s, tasks: [a]}]\n");
    }
    void one_whose_part_is_given_needs_data_where_it_is_trained_on_anyway() {
        const std::string tasks = task("a", data) + task("b", ""), given = "gates, gates: {b: folder}";
        EXPECT_ERROR(check(tasks, given + ", joint: true"), "takes up what gates has for task 'b', but joint trains on its data as well",
                     "tasks.b.train");
        EXPECT_ERROR(check(tasks, given + ", sizes: [5]"), "but sizes trains on its data");
        EXPECT_ERROR(check(tasks, given + ", single: [b], how: apart"), "but how=apart trains on its data");
        for (const char* right :
             {"", ", joint: true, single: [b]", ", joint: true, single: [a]", ", sizes: [5], single: [b]", ", how: apart"})
            check(tasks, given + right);
        check(tasks, given + ", joint: true", "stages: [{name: s, tasks: [a]}]\n");
    }
    void where_all_parts_are_given_a_setting_may_need_the_data_of_any_task() {
        EXPECT_ERROR(check(task("a", ""), "gates, gates: {a: folder}"), "how=together looks at training examples, and no task has any",
                     "tasks.*.train");
        check(task("a", ""), "gates, gates: {a: folder}, how: apart");
        check(task("a", data) + task("b", ""), "gates, gates: {a: folder, b: folder}");
        check(task("a", "") + task("b", data), "gates, gates: {a: folder, b: folder}", "stages: [{name: s, tasks: [a]}]\n");
    }
    void one_whose_part_can_be_given_is_trained_in_a_stage_or_given() {
        const std::string stages = "stages: [{name: s, tasks: [a]}, {name: t, tasks: [a]}]\n";
        for (const std::string& train : {std::string(), data}) {
            const std::string tasks = task("a", data) + task("b", train);
            EXPECT_ERROR(check(tasks, "gates", stages), "variant 'V' (gates) trains each task by itself, and no stage trains task 'b'",
                         "variant.gates");
            check(tasks, "gates, gates: {b: folder}", stages);
            check(tasks, "specialists", stages);
        }
        check(task("a", data) + task("b", data), "gates", "stages: [{name: s, tasks: [a]}, {name: t, tasks: [b]}]\n");
        EXPECT_ERROR(check(task("a", data) + task("b", ""), "gates"), "tasks.b.train, or name what it has under variant.gates");
    }
    void one_of_no_weight_is_drawn_by_the_orders_that_do_not_look_at_it() {
        const std::string tasks = task("a", data) + task("b", data + ", weight: 0");
        EXPECT_ERROR(check(tasks, "specialists"), "task 'b' has a weight of 0", "give it a weight");
        check(tasks, "specialists", "curriculum: {method: shuffled}\n");
        check(tasks, "dense");
        EXPECT_ERROR(check(tasks, "dense", "stages: [{name: s, tasks: [b]}]\n"), "has nothing to train on in stage 's'");
    }
    void a_task_that_a_stage_names_needs_data() {
        const std::string tasks = task("a", data) + task("b", "");
        EXPECT_ERROR(check(tasks, "dense", "stages: [{name: s, tasks: [a, b]}]\n"), "stage 's' names task 'b', which has no training data");
        check(tasks, "dense", "stages: [{name: s}]\n");
    }
    void no_data_at_all_are_refused_where_something_is_trained() {
        EXPECT_ERROR(check(task("a", ""), "dense"), "variant 'V' (dense) has nothing to train on: no task has training data");
        check(task("a", ""), "ready");
    }
    void what_is_stopped_early_by_data_that_it_is_not_scored_on_is_refused() {
        const std::string tasks = task("a", data + ", validation: [{path: v}]"),
                          stops = "training: {evaluate_every_steps: 2, early_stopping: ";
        for (const char* variant : {"dense", "specialists", "adapters, how: apart"}) {
            EXPECT_ERROR(check(tasks, variant, stops + "{}}\n"), "is stopped early by data sets of evaluation.datasets", "none is there");
            EXPECT_ERROR(check(tasks, variant, stops + "{dataset: v}}\nevaluation: {datasets: [{path: w}]}\n"), "'v' is not there");
            check(tasks, variant, stops + "{}}\nevaluation: {datasets: [{path: w}]}\n");
            check(tasks, variant, stops + "{dataset: w}}\nevaluation: {datasets: [{path: w}]}\n");
        }
        check(tasks, "gates", stops + "{}}\n");
        const std::string scored = "evaluation: {datasets: [{path: w}]}\n";
        EXPECT_ERROR(check(tasks, "gates", stops + "{dataset: w}}\n" + scored), "training.early_stopping.dataset names data sets of",
                     "validation data alone", "tasks.*.validation");
        EXPECT_ERROR(check(tasks, "gates", "training: {evaluate_every_steps: 2, evaluate_datasets: [w]}\n" + scored),
                     "training.evaluate_datasets names data sets of evaluation.datasets", "leave it out");
        check(tasks, "gates", stops + "{dataset: v}}\n" + scored);
        check(tasks, "gates}, W: {method: dense", stops + "{dataset: w}, evaluate_datasets: [w]}\n" + scored);
    }
    void a_loss_on_tokens_trains_one_encoder() {
        const std::string two = task("a", data) + task("b", data), masked = "objective: {method: masked_language}\n";
        EXPECT_ERROR(check(two, "adapters", masked), "trains low-rank adapters, and objective masked_language is a loss on tokens");
        EXPECT_ERROR(check(two, "specialists", masked), "trains an encoder a task, and objective masked_language");
        EXPECT_ERROR(check(two, "adapters", "stages: [{name: s}, {name: t, objective: {method: masked_language}}]\n"), "in stage 't'");
        check(two, "dense", masked);
        check(task("a", data), "specialists", masked);
    }
};

FACETER_TEST(TestTrainedTasks)
#include "test_trained_tasks.moc"
