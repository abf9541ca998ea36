#include "experiment/experiment.h"

#include <map>
#include <set>

#include "common/error.h"
#include "experiment/each_run.h"
#include "experiment/entry_uses.h"
#include "experiment/experiment_schema.h"
#include "experiment/mined_negatives.h"
#include "experiment/run_models.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    return at == std::string::npos ? throw std::runtime_error("no " + from) : text.replace(at, from.size(), to);
}

const std::string sample = sample_experiment();

}  // namespace

class TestExperiment : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void one_run_for_each_variant_and_seed_and_the_start_model_first() {
        const auto runs = parse_sample().runs();
        QCOMPARE(runs.size(), std::size_t{5});
        QCOMPARE(runs[0].variant, std::string("start"));
        QCOMPARE(runs[0].method, std::string("start"));
        QCOMPARE(runs[0].plugin, std::string("core"));
        QCOMPARE(runs[1].variant, std::string("EM"));
        QCOMPARE(runs[2].seed, std::uint64_t{2});
        QCOMPARE(runs[3].settings["variant"].dump(), std::string(R"({"name":"Mix","method":"mixture","placement":"every_other"})"));
    }
    void every_default_is_filled_in() {
        const Json settings = parse_sample().runs()[1].settings;
        QCOMPARE(settings["training"]["learning_rate"].get<double>(), 2e-5);
        QCOMPARE(settings["threads"].get<int>(), 0);  // open until it is known where the run is made
        QCOMPARE(settings["curriculum"]["method"].get<std::string>(), std::string("task_aware"));
        QCOMPARE(settings["objective"]["mask_false_negatives"].get<std::string>(), std::string("same_text"));
        QCOMPARE(settings["tasks"]["retrieval"]["temperature"].get<double>(), 0.03);
        QCOMPARE(settings["tasks"]["clustering"]["temperature"].get<double>(), 0.06);
        QCOMPARE(settings["tasks"]["retrieval"]["batching"].get<std::string>(), std::string("homogeneous"));
        QCOMPARE(settings["tasks"]["clustering"]["batching"].get<std::string>(), std::string("heterogeneous"));
        QCOMPARE(settings["tasks"]["retrieval"]["type"].get<std::string>(), std::string("retrieval"));
        QCOMPARE(settings["tasks"]["retrieval"]["train"][0]["path"].get<std::string>(), std::string("/base/pairs.tsv"));
        QCOMPARE(settings["sample_limit"].get<int>(), 0);
        QVERIFY(!settings.contains("variants"));
        QVERIFY(!settings.contains("seeds"));
    }
    void one_instruction_serves_both_roles() {
        const Json settings = parse_sample().runs()[1].settings;
        QCOMPARE(settings["tasks"]["clustering"]["instructions"].dump(),
                 std::string(R"({"query":"clustering: ","document":"clustering: "})"));
        EXPECT_ERROR(parse_sample(with(sample, "{text: \"clustering: \"}", "{text: a, query: b}")), "/base/quick.yaml:9:19", "'text'");
    }
    void data_sets_whose_results_would_be_one_file_are_refused_with_both() {
        const auto datasets = [](const std::string& list) { return with(sample, "    - {source: folder, path: scifact}", list); };
        EXPECT_ERROR(parse_sample(datasets("    - {path: en/sts}\n    - {path: de/sts}")), "/base/quick.yaml:16:7",
                     "evaluation.datasets[0]", "evaluation.datasets[1]", "'sts'", "give one data set another 'name'");
        EXPECT_ERROR(parse_sample(datasets("    - {path: a, name: STS-B}\n    - {path: b, name: STS/B}")), "'STS-B'", "'STS/B'");
        EXPECT_ERROR(parse_sample(datasets("    - {path: en/sts/}\n    - {path: de/sts}")), "'sts'");
        EXPECT_ERROR(parse_sample(datasets("    - {path: a, name: _model}")), "_model");
        const std::string analyses = "analyses:\n  - {method: embedding_forms}\n  - {method: embedding_forms, prefixes: [8]}\n";
        EXPECT_ERROR(parse_sample(datasets("    - {path: embedding_forms-2}") + analyses), "evaluation.datasets[0]", "analyses[1]");
        QCOMPARE(parse_sample(datasets("    - {path: en/sts}\n    - {path: de/sts, name: de}") + analyses).runs().size(), std::size_t{5});
    }
    void the_name_is_the_files_where_none_is_given() {
        QCOMPARE(parse_sample(with(sample, "name: quick\n", "")).name(), std::string("quick"));
    }
    void no_baseline_where_it_is_switched_off() {
        QCOMPARE(parse_sample(with(sample, "evaluation:", "evaluation:\n  baseline: false")).runs().size(), std::size_t{4});
    }
    void a_sweep_makes_all_combinations_and_variants_keep_to_their_own_axes() {
        const auto runs =
            parse_sample(sample + "sweep: {training.learning_rate: [1.0e-5, 2.0e-5], variants.Mix.placement: [every, every_other]}\n")
                .runs();
        QCOMPARE(runs.size(), std::size_t{1 + 2 * 2 + 4 * 2});
        QCOMPARE(runs[1].point, std::string("learning_rate=1.0e-5"));
        QCOMPARE(runs[1].settings["training"]["learning_rate"].get<double>(), 1e-5);
        std::set<std::string> mixture;
        for (const ResolvedRun& run : runs)
            if (run.variant == "Mix") mixture.insert(run.point + run.settings["variant"]["placement"].get<std::string>());
        QCOMPARE(mixture.size(), std::size_t{4});
    }
    /// The points of other variants were refused for it, where something else was swept beside it.
    void what_a_variant_sweeps_is_not_checked_as_it_stands_in_the_runs_of_others() {
        Catalogue catalogue = sample_catalogue();
        catalogue.add(ExtensionKind::variant,
                      {"routed",
                       "Routed.",
                       {"routed", "", {integer("experts", 4, "Experts."), integer("chosen", 1, "Chosen.").at_most_that_of("experts")}}},
                      "demo");
        const std::string text = with(sample, "{method: mixture, placement: every_other}", "{method: routed, experts: 2, chosen: 3}");
        const auto runs_of = [&](const std::string& sweep) {
            return Experiment::parse(text + "sweep: {" + sweep + "}\n", "/base/quick.yaml", catalogue).runs();
        };
        QCOMPARE(runs_of("variants.Mix.experts: [4, 8]").size(), std::size_t{1 + 2 + 2 * 2});
        const auto runs = runs_of("training.learning_rate: [1.0e-5, 2.0e-5], variants.Mix.experts: [4, 8]");
        QCOMPARE(runs.size(), std::size_t{1 + 2 * 2 + 4 * 2});
        for (const ResolvedRun& run : runs) QVERIFY(!run.settings.contains("sweep"));
        EXPECT_ERROR(runs_of("training.learning_rate: [1.0e-5, 2.0e-5], variants.Mix.experts: [4, 2]"), "chosen is 3, more than");
    }
    void too_many_runs_are_refused_before_any_is_made() {
        std::string rates, epochs = "3, 3";  // which the second point would be refused for
        for (int i = 1; i <= 100; ++i) rates += fmt::format("{}{}.0e-6", i == 1 ? "" : ", ", i);
        for (int i = 4; i <= 60; ++i) epochs += fmt::format(", {}", i);
        const std::string sweep = "sweep: {training.learning_rate: [" + rates + "], training.epochs: [" + epochs + "]}\n";
        EXPECT_ERROR(parse_sample(with(sample, "evaluation:\n", "evaluation:\n  baseline: false\n") + sweep),
                     "/base/quick.yaml: makes more than 10000 runs");
    }
    void a_sweep_over_curricula_takes_each_whole_and_names_it() {
        const auto runs = parse_sample(sample +
                                       "sweep: {curriculum: [{method: task_aware, size_exponent: 0.5}, {method: shuffled}, {method: "
                                       "proportional}, {method: round_robin}]}\n")
                              .runs();
        QCOMPARE(runs.size(), std::size_t{1 + 4 * 4});
        QCOMPARE(runs[1].point, std::string("curriculum=task_aware size_exponent=0.5"));
        QCOMPARE(runs[3].point, std::string("curriculum=shuffled"));
        QCOMPARE(runs[3].settings["curriculum"].dump(), std::string(R"({"method":"shuffled"})"));
        EXPECT_ERROR(parse_sample("name: s\nclaims: []\nexperiments: []\n"), "is a study", "faceter study status");
        EXPECT_ERROR(parse_sample(sample + "curriculum: {method: shuffled, size_exponent: 1}\n"), "unknown setting 'size_exponent'");
    }
    void a_sweep_over_the_model_makes_a_baseline_for_each() {
        const auto runs = parse_sample(sample + "sweep: {model: [minilm, org/other]}\n").runs();
        QCOMPARE(std::count_if(runs.begin(), runs.end(), [](const ResolvedRun& run) { return run.method == "start"; }), std::ptrdiff_t{2});
    }
    /// A look-up lists a project's runs: a thousand points once took a thousand of them.
    void a_sweep_looks_for_its_start_model_once() {
        std::map<std::string, int> looks;
        use_run_models({[&](const std::string& name) { return ++looks[name], fs::path(name == "IC-1" ? "/p/runs/ic" : ""); }, {}});
        const auto runs = parse_sample("model: IC-1\n" + sample + "sweep: {training.learning_rate: [1.0e-5, 2.0e-5, 3.0e-5]}\n").runs();
        use_run_models({});
        QCOMPARE(looks, (std::map<std::string, int>{{"IC-1", 1}}));
        for (const ResolvedRun& run : runs) QCOMPARE(run.settings["model"].get<std::string>(), std::string("/p/runs/ic"));
    }
    void one_run_after_the_other_is_what_all_are() {
        const TemporaryDirectory folder;
        const fs::path file = folder.path() / "quick.yaml";
        overwrite(file, sample + "sweep: {training.learning_rate: [1.0e-5, 2.0e-5], model: [minilm, org/other]}\n");
        const auto all = Experiment::load(file, sample_catalogue(), {{}, {3, 4}, false}).runs();
        std::size_t given = 0;
        each_run_of(file, sample_catalogue(), {{}, {3, 4}, false}, [&](ResolvedRun&& run) {
            const ResolvedRun& same = all.at(given++);
            QCOMPARE(run.variant + "/" + run.point, same.variant + "/" + same.point);
            QCOMPARE(run.seed, same.seed);
            QCOMPARE(run.settings.dump(), same.settings.dump());
        });
        QCOMPARE(given, all.size());
    }
    void errors_of_an_experiment_are_told_from_those_of_who_takes_its_runs() {
        const TemporaryDirectory folder;
        const auto code_of = [&](const std::string& name) {
            try {
                each_run_of(folder.path() / name, sample_catalogue(), {}, [](ResolvedRun&&) { throw data_error("a record is wrong"); });
            } catch (const Error& error) {
                return error.code();
            }
            return ExitCode::done;
        };
        overwrite(folder.path() / "quick.yaml", sample);
        QVERIFY(code_of("quick.yaml") == ExitCode::data);
        QVERIFY(code_of("none.yaml") == ExitCode::settings);
    }
    void a_wrong_sweep_value_is_reported_where_it_stands() {
        EXPECT_ERROR(parse_sample(sample + "sweep: {training.batch_size: [16, none]}\n"), "/base/quick.yaml:16:35",
                     "training.batch_size is 'none'");
        EXPECT_ERROR(parse_sample(sample + "sweep: {training.bach_size: [16]}\n"), "unknown setting 'bach_size' in training",
                     "did you mean 'batch_size'");
        EXPECT_ERROR(parse_sample(sample + "sweep: {training.batch_size: 16}\n"), "expected a list of values");
        EXPECT_ERROR(parse_sample(sample + "sweep: {training.batch_size: []}\n"), "an empty list");
        EXPECT_ERROR(parse_sample(sample + "sweep: {seeds: [1, 2]}\n"), "list the seeds under 'seeds'");
        EXPECT_ERROR(parse_sample(sample + "sweep: [1]\n"), "sweep is a list");
    }
    void a_sweep_that_no_variant_makes_is_refused() {
        EXPECT_ERROR(parse_sample(sample + "sweep: {variants.Mx.placement: [every, every_other]}\n"), "there is no variant 'Mx'", "'Mix'");
        EXPECT_ERROR(parse_sample(sample + "sweep: {variants.Mix: [{method: mote}]}\n"), "'variants.Mix' cannot be swept whole");
        EXPECT_ERROR(parse_sample(sample + "sweep: {variants: [{A: {method: mote}}]}\n"), "'variants' cannot be swept whole");
    }
    void points_of_a_sweep_that_are_the_same_run_are_refused_with_both() {
        EXPECT_ERROR(parse_sample(sample + "sweep: {training.learning_rate: [1.0e-3, 2.0e-3, 0.001]}\n"), "learning_rate=1.0e-3",
                     "learning_rate=0.001", "the same run");
        const std::string stages = "stages: [{name: one, training: {steps: 2}}";
        EXPECT_ERROR(parse_sample(sample + stages + "]\nsweep: {training.steps: [3, 4]}\n"), "steps=3", "steps=4", "stages[0]");
        QVERIFY(!parse_sample(sample + stages + ", {name: two}]\nsweep: {training.steps: [3, 4]}\n").runs().empty());
        QVERIFY(!parse_sample(sample + stages + "]\nsweep: {'stages[0].training.steps': [3, 4]}\n").runs().empty());
    }
    void epochs_that_steps_stand_in_place_of_are_refused_in_a_stage_and_in_a_sweep() {
        const std::string epochs = "stages: [{name: a, training: {epochs: 3}}]\n";
        EXPECT_ERROR(parse_sample(sample + "training: {steps: 5}\n" + epochs),
                     "/base/quick.yaml:17:", "stages[0].training.epochs has no effect", "training.steps is 5", "null");
        QVERIFY(!parse_sample(sample + epochs).runs().empty());
        const Json obeyed = parse_sample(sample + "training: {steps: 5}\nstages: [{name: a, training: {steps: null, epochs: 3}}]\n")
                                .runs()[1]
                                .settings["stages"][0]["training"];
        QVERIFY(obeyed["steps"].is_null());
        QCOMPARE(obeyed["epochs"].get<int>(), 3);
        EXPECT_ERROR(parse_sample(sample + "training: {steps: 5}\nsweep: {training.epochs: [1, 2]}\n"), "epochs=1", "epochs=2",
                     "the same run");
        QVERIFY(!parse_sample(sample + "sweep: {training.epochs: [1, 2]}\n").runs().empty());
    }
    void a_sweep_without_end_is_refused() {
        std::string axis = "[0";
        for (int i = 1; i < 150; ++i) axis += fmt::format(", {}", i);
        EXPECT_ERROR(parse_sample(sample + "sweep: {training.accumulate: " + axis + "], training.epochs: " + axis + "]}\n"),
                     "more than 10000 points");
    }
    void a_number_above_that_of_another_setting_is_refused() {
        Catalogue catalogue = sample_catalogue();
        catalogue.add(
            ExtensionKind::variant,
            {"routed", "", {"routed", "", {integer("experts", 4, "Experts."), integer("chosen", 1, "Chosen.").at_most_that_of("experts")}}},
            "demo");
        const auto parse = [&](const std::string& settings) {
            return Experiment::parse(with(sample, "{method: mixture, placement: every_other}", "{method: routed" + settings + "}"),
                                     "/base/quick.yaml", catalogue, {})
                .runs();
        };
        EXPECT_ERROR(parse(", chosen: 5"), "/base/quick.yaml:12:", "variants.Mix.chosen is 5, more than variants.Mix.experts, which is 4");
        EXPECT_ERROR(parse(", chosen: 3, experts: 2"), "variants.Mix.chosen is 3");
        for (const char* right : {"", ", chosen: 4", ", chosen: 5, experts: 5"}) QVERIFY(!parse(right).empty());
        const auto swept = [&](const std::string& experts) {
            return Experiment::parse(with(sample, "{method: mixture, placement: every_other}", "{method: routed, chosen: 5}") +
                                         "sweep: {variants.Mix.experts: " + experts + "}\n",
                                     "/base/quick.yaml", catalogue, {})
                .runs();
        };
        QVERIFY(!swept("[5, 6]").empty());  // the file by itself has four
        EXPECT_ERROR(swept("[3, 6]"), "variants.Mix.chosen is 5, more than variants.Mix.experts, which is 3");
    }
    void names_that_are_not_there_are_refused_with_those_that_are() {
        Catalogue catalogue = sample_catalogue();
        const Schema schema{
            "naming",
            "",
            {map("shared", text("", "", "Name."), "Sharing.").naming({"<task>", "<task>.query", "<task>.document", "<pattern>"}),
             list("alone", text("", "", "Task."), "Alone.").naming({"<task>"}), list("sizes", integer("", 1, "Size."), "Sizes."),
             text("gate", "", "Gate.").naming({"base", "<task> of <sizes>", "all of <number>"}, "mode=fixed"),
             list("some", text("", "", "Task."), "Some.").naming({"<task>"}).but_not_all("one must be left"),
             boolean("curve", false, "Curve."),
             text("other", "", "Gate.")
                 .naming({"<task but some>", "all<several of task but some>", "all of <parts of task><if curve>"}, "mode=other"),
             choice("mode", {"free", "fixed", "other"}, "free", "Mode."),
             list("layers", text("", "", "Layer."), "Layers.").naming({"<layer>"})}};
        catalogue.add(ExtensionKind::variant, {"naming", "", schema}, "demo");
        const auto parse = [&](const std::string& settings) {
            return Experiment::parse(with(sample, "{method: mixture, placement: every_other}", "{method: naming, " + settings + "}"),
                                     "/base/quick.yaml", catalogue, {})
                .runs();
        };
        EXPECT_ERROR(parse("shared: {retreival: a}"), "/base/quick.yaml:12:", "variants.Mix.shared names 'retreival', which is not there",
                     "did you mean 'retrieval'?", "clustering.document");
        EXPECT_ERROR(parse("shared: {'find *': a}"), "variants.Mix.shared names 'find *', a pattern that no task's instruction is like");
        EXPECT_ERROR(parse("alone: [retrieval, sts]"), "variants.Mix.alone names 'sts'", "known: retrieval, clustering");
        EXPECT_ERROR(parse("alone: [retrieval, retrieval]"), "variants.Mix.alone names 'retrieval' twice");
        EXPECT_ERROR(parse("mode: fixed"), "variants.Mix.gate names ''", "known: base, all of <number>");
        EXPECT_ERROR(parse("mode: fixed, gate: retrieval of 7, sizes: [8]"), "did you mean 'retrieval of 8'?");
        EXPECT_ERROR(parse("some: [clustering, retrieval]"),
                     "/base/quick.yaml:12:", "variants.Mix.some names all that there are (clustering, retrieval): one must be left");
        EXPECT_ERROR(parse("mode: other, other: retrieval, some: [retrieval]"), "names 'retrieval'", "known: clustering");
        EXPECT_ERROR(parse("mode: other, other: all, some: [retrieval]"), "names 'all', which is not there");
        EXPECT_ERROR(parse("mode: other, other: all of 2, curve: true"), "names 'all of 2'", "known: retrieval, clustering, all");
        for (const char* right :
             {"shared: {retrieval: a, clustering.query: b, 'search *': c}", "alone: [clustering]", "mode: fixed, gate: base",
              "gate: nowhere", "mode: fixed, gate: all of 3", "mode: fixed, gate: clustering of 8, sizes: [7, 8]", "layers: [any, any]",
              "some: [clustering]", "mode: other, other: all", "mode: other, other: clustering, some: [retrieval]"})
            QVERIFY(!parse(right).empty());
    }
    void unknown_methods_name_the_nearest() {
        EXPECT_ERROR(parse_sample(with(sample, "method: dense", "method: dens")), "/base/quick.yaml:11:16",
                     "unknown variant method 'dens' in variants.EM", "did you mean 'dense'?", "(known: dense, mixture)");
        EXPECT_ERROR(parse_sample(with(sample, "{method: dense}", "{}")), "variants.EM.method is missing", "known: dense, mixture");
        EXPECT_ERROR(parse_sample(with(sample, "{method: dense}", "dense")), "variants.EM is a single value");
        EXPECT_ERROR(parse_sample(sample + "objective: {method: infonse}\n"), "did you mean 'infonce'?");
        EXPECT_ERROR(parse_sample(sample + "curriculum: {method: task_aware, x: 1}\n"), "unknown setting 'x' in curriculum");
    }
    void a_methods_settings_are_checked() {
        EXPECT_ERROR(parse_sample(with(sample, "every_other", "every_othr")), "/base/quick.yaml:12:37", "variants.Mix.placement",
                     "did you mean 'every_other'?");
        EXPECT_ERROR(parse_sample(with(sample, "placement:", "place:")), "unknown setting 'place' in variants.Mix");
    }
    void a_setting_that_does_not_go_with_another_of_its_method_is_refused() {
        Catalogue catalogue = sample_catalogue();
        const Schema schema{
            "picky", "", {choice("mode", {"a", "b"}, "a", "Mode."), real("rate", 0, "Rate.").excludes("mode=b", "why not")}};
        catalogue.add(ExtensionKind::variant, {"picky", "Picky.", schema}, "demo");
        const auto parse = [&](const std::string& settings) {
            return Experiment::parse(with(sample, "{method: mixture, placement: every_other}", "{method: picky" + settings + "}"),
                                     "/base/quick.yaml", catalogue, {})
                .runs();
        };
        EXPECT_ERROR(parse(", mode: b, rate: 0.1"), "/base/quick.yaml:12:", "variants.Mix.rate is 0.1 and variants.Mix.mode is b: why not");
        for (const char* right : {", mode: b", ", rate: 0.1", ", mode: b, rate: 0"}) QVERIFY(!parse(right).empty());
    }
    void a_choice_that_needs_another_setting_of_its_method_is_refused_without_it() {
        Catalogue catalogue = sample_catalogue();
        const Schema schema{
            "needy",
            "",
            {choice("mode", {"a", "b", "c"}, "a", "Mode.").needs("b", "names", "whom it is for").needs("c", "names", "one", 1),
             list("names", text("", "", "A name."), "Names.")}};
        catalogue.add(ExtensionKind::variant, {"needy", "Needy.", schema_from_json(schema_to_json(schema), "needy.json")}, "demo");
        const auto parse = [&](const std::string& settings) {
            return Experiment::parse(with(sample, "{method: mixture, placement: every_other}", "{method: needy" + settings + "}"),
                                     "/base/quick.yaml", catalogue, {})
                .runs();
        };
        for (const char* wrong : {", mode: b", ", mode: b, names: []"})
            EXPECT_ERROR(parse(wrong), "/base/quick.yaml:12:", "variants.Mix.mode is b and needs variants.Mix.names: whom it is for");
        EXPECT_ERROR(parse(", mode: c"), "variants.Mix.mode is c and needs variants.Mix.names: one");
        EXPECT_ERROR(parse(", mode: c, names: [x, y]"), "needs variants.Mix.names, of 1 at most, which has 2: one");
        for (const char* right : {"", ", mode: b, names: [x, y]", ", names: [x]", ", mode: c, names: [x]"}) QVERIFY(!parse(right).empty());
    }
    void all_problems_of_a_file_come_at_once() {
        EXPECT_ERROR(parse_sample("seeds: []\nbatch: 1\ntasks:\n  odd: {weight: -1}\nvariants: {A: {method: no}}\n"),
                     "unknown setting 'batch'", "tasks.odd.weight", "tasks.odd has no type", "unknown variant method 'no'",
                     "seeds is an empty list");
    }
    void reserved_and_odd_variant_names_are_refused() {
        EXPECT_ERROR(parse_sample(with(sample, "EM:", "start:")), "'start' cannot be a variant's name");
        EXPECT_ERROR(parse_sample(with(sample, "EM:", "a.b:")), "cannot be a variant's name");
        EXPECT_ERROR(parse_sample(with(sample, "EM:", "-x:")), "'-x' cannot be a variant's name");  // a command takes it for an option
        EXPECT_ERROR(parse_sample(with(sample, "EM:", "\"a\\nb\":")), "cannot be a variant's name");
        EXPECT_ERROR(parse_sample(with(sample, "EM:", std::string(300, 'x') + ":")),
                     "cannot be a variant's name: it is longer than 100 bytes");
    }
    void early_stopping_without_evaluations_is_refused() {
        const char* needed = "training.early_stopping needs training.evaluate_every_steps";
        EXPECT_ERROR(parse_sample(sample + "training: {early_stopping: {patience: 2}}\n"), "/base/quick.yaml:16:", needed);
        EXPECT_ERROR(parse_sample(sample + "stages:\n  - {name: a, training: {early_stopping: {patience: 2}}}\n"),
                     "/base/quick.yaml:17:", "stages[0].training.early_stopping needs");
        EXPECT_ERROR(
            parse_sample(sample + "training: {evaluate_every_steps: 5, early_stopping: {patience: 2}}\nstages:\n  - {name: a, training: "
                                  "{evaluate_every_steps: 0}}\n"),
            "stages[0].training.early_stopping needs");
        QCOMPARE(parse_sample(sample + "training: {evaluate_every_steps: 5, early_stopping: {patience: 2}}\n").runs().size(),
                 std::size_t{5});
    }
    void a_sweep_over_the_steps_between_evaluations_is_judged_point_by_point() {
        const std::string stops = sample + "training: {early_stopping: {patience: 2}}\nsweep: {training.evaluate_every_steps: ";
        QVERIFY(!parse_sample(stops + "[5, 10]}\n").runs().empty());
        EXPECT_ERROR(parse_sample(stops + "[5, 0]}\n"), "training.early_stopping needs training.evaluate_every_steps");
        const std::string stage = sample + "stages:\n  - {name: a, training: {early_stopping: {patience: 2}}}\n";
        QVERIFY(!parse_sample(stage + "sweep: {'stages[0].training.evaluate_every_steps': [5, 10]}\n").runs().empty());
    }
    void data_sets_to_score_in_a_training_that_scores_none_are_refused_before_a_run() {
        const auto check = [](const std::string& text) { check_entry_uses(parse_sample(text)); };
        EXPECT_ERROR(check(sample + "training: {evaluate_datasets: [scifact]}\n"),
                     "/base/quick.yaml: training.evaluate_datasets needs training.evaluate_every_steps, which is 0");
        EXPECT_ERROR(check(sample + "stages:\n  - {name: a, training: {evaluate_datasets: [scifact]}}\n"),
                     "training.evaluate_datasets needs");
        const std::string named = sample + "training: {evaluate_datasets: [scifact]";
        EXPECT_ERROR(check(named + "}\nstages: [{name: a}]\n"), "training.evaluate_datasets needs");
        for (const std::string& right : {named + ", evaluate_every_steps: 5}\nstages: [{name: a, training: {evaluate_every_steps: 0}}]\n",
                                         named + "}\nstages: [{name: a}, {name: b, training: {evaluate_every_steps: 5}}]\n",
                                         named + "}\nsweep: {training.evaluate_every_steps: [0, 10]}\n",
                                         named + "}\nstages: [{name: a}]\nsweep: {'stages[0].training.evaluate_every_steps': [5, 10]}\n",
                                         sample + "training: {evaluate_datasets: []}\n"})
            check(right);
    }
    void scores_that_are_watched_are_of_data_that_are_scored() {
        const auto training = [](const std::string& settings) { return "training: {evaluate_every_steps: 2, " + settings + "}\n"; };
        EXPECT_ERROR(parse_sample(sample + training("early_stopping: {dataset: scifac}")),
                     "/base/quick.yaml:16:", "training.early_stopping.dataset is 'scifac'", "did you mean 'scifact'");
        EXPECT_ERROR(parse_sample(sample + training("evaluate_datasets: [scidocs]")), "evaluate_datasets names 'scidocs'");
        const std::string nothing = with(sample, "  datasets:\n    - {source: folder, path: scifact}\n", "  datasets: []\n");
        EXPECT_ERROR(parse_sample(nothing + training("early_stopping: {patience: 2}")), "nothing is scored");
        EXPECT_ERROR(parse_sample(sample + "stages:\n  - {name: a, training: {evaluate_every_steps: 2, evaluate_datasets: [a]}}\n"),
                     "/base/quick.yaml:17:", "stages[0].training.evaluate_datasets names 'a'");
        const std::string held_out = with(nothing, "max_examples: 100}", "max_examples: 100}\n    validation: [{path: held_out}]");
        for (const std::string& right :
             {sample + training("evaluate_datasets: [scifact], early_stopping: {dataset: scifact}"),
              held_out + training("early_stopping: {patience: 2}"), held_out + training("early_stopping: {dataset: held_out}")})
            QVERIFY(!parse_sample(right).runs().empty());
    }
    void an_objective_that_contradicts_itself_is_refused() {
        const auto objective = [](const std::string& settings) { return sample + "objective: {method: " + settings + "}\n"; };
        EXPECT_ERROR(parse_sample(objective("infonce, matryoshka_dims: [32, 16], matryoshka_weights: [1]")),
                     "/base/quick.yaml:16:", "1 numbers for 2 prefixes");
        EXPECT_ERROR(parse_sample(objective("infonce, matryoshka_weights: [1, 2]")), "2 numbers for 0 prefixes");
        EXPECT_ERROR(parse_sample(objective("infonce, matryoshka_dims: [16, 8, 16]")), "matryoshka_dims has 16 twice");
        EXPECT_ERROR(parse_sample(objective("masked_language, matryoshka_dims: [16]")), "masked_language has none");
        EXPECT_ERROR(parse_sample(objective("masked_language, mask_share: 0.8, random_share: 0.5")), "together they are at most 1");
        QVERIFY(!parse_sample(objective("infonce, matryoshka_dims: [32, 16], matryoshka_weights: [1, 2]")).runs().empty());
    }
    void negatives_that_are_mined_for_no_loss_are_refused_before_a_run() {
        const auto check = [](const std::string& text) { check_mined_negatives(parse_sample(text), sample_catalogue()); };
        const auto stages = [](const std::string& all) {
            return sample + "objective: {method: infonce, hard_negatives: none}\nstages: " + all;
        };
        const char* reason = "no loss on its tasks counts hard negatives";
        EXPECT_ERROR(check(stages("[{name: a, mine: {negatives: 2}}]\n")), "/base/quick.yaml: stages[0].mine is set", reason);
        EXPECT_ERROR(check(stages("[{name: a, tasks: [retrieval], mine: {}}, {name: b, tasks: [clustering], objective: {method: "
                                  "infonce}}]\n")),
                     "stages[0].mine is set", reason);
        EXPECT_ERROR(check(sample + "stages: [{name: a, mine: {}, objective: {method: masked_language}}]\n"), reason);
        for (const std::string& right :
             {stages("[{name: a, mine: {}}, {name: b, objective: {method: infonce}}]\n"),
              stages("[{name: a, mine: {}, objective: {method: infonce, hard_negatives: own}}]\n"), stages("[{name: a}]\n"),
              stages("[{name: a, mine: {}}]\nsweep: {objective.hard_negatives: [own, all]}\n"),
              stages("[{name: a, mine: {}}]\nsweep: {objective.hard_negatives: [all, none]}\n"),
              stages("[{name: a, mine: {}}]\nsweep: {objective: [{method: infonce}]}\n")})
            check(right);
    }
    void a_stage_takes_over_what_it_does_not_say() {
        const std::string stages =
            "training: {batch_size: 16, learning_rate: 1.0e-4}\nstages:\n  - {name: weak, tasks: [retrieval]}\n  - {name: fine, training: "
            "{learning_rate: 2.0e-5}, objective: {method: infonce, symmetric: true}}\n";
        const Json settings = parse_sample(sample + stages).runs()[1].settings;
        QCOMPARE(settings["stages"].size(), std::size_t{2});
        const Json &weak = settings["stages"][0], &fine = settings["stages"][1];
        QCOMPARE(weak["training"], settings["training"]);
        QCOMPARE(weak["curriculum"], settings["curriculum"]);
        QCOMPARE(fine["training"]["learning_rate"].get<double>(), 2e-5);
        QCOMPARE(fine["training"]["batch_size"].get<int>(), 16);
        QVERIFY(fine["objective"]["symmetric"].get<bool>() && !weak["objective"]["symmetric"].get<bool>());
        QCOMPARE(parse_sample(sample).runs()[1].settings["stages"], Json::array());
    }
    void what_is_wrong_with_a_stage_is_reported_where_it_stands() {
        EXPECT_ERROR(parse_sample(sample + "stages: {name: a}\n"), "/base/quick.yaml:16:", "stages is a map; expected a list");
        EXPECT_ERROR(parse_sample(sample + "stages: [{tasks: [retrieval]}]\n"), "stages[0].name");
        EXPECT_ERROR(parse_sample(sample + "stages: [{name: a, tasks: [retreival]}]\n"), "unknown task 'retreival'",
                     "did you mean 'retrieval'?");
        EXPECT_ERROR(parse_sample(sample + "stages: [{name: a}, {name: a}]\n"), "two stages are called 'a'");
        EXPECT_ERROR(parse_sample(sample + "stages: [{name: a, training: {bach_size: 4}}]\n"),
                     "/base/quick.yaml:16:", "unknown setting 'bach_size' in stages[0].training");
        EXPECT_ERROR(parse_sample(sample + "stages: [{name: a, curriculum: {method: statik}}]\n"), "did you mean 'static'?");
    }
    void what_a_stage_sets_without_effect_is_refused() {
        const auto stage = [](const std::string& own) {
            return parse_sample(sample + "stages: [{name: a, training: {" + own + "}}]\n").runs().size();
        };
        EXPECT_ERROR(stage("keep_checkpoints: 5"), "/base/quick.yaml:16:", "stages[0].training.keep_checkpoints", "the whole run");
        EXPECT_ERROR(stage("rank_timeout_s: 5"), "set it under 'training'");
        QVERIFY(stage("checkpoint_every_steps: 5") > 0);
    }
    void a_trial_run_shortens_every_stage() {
        ExperimentOptions options;
        options.smoke = true;
        const Json settings = parse_sample(sample + "stages: [{name: a, training: {batch_size: 512}}]\n", options).runs()[1].settings;
        QCOMPARE(settings["stages"][0]["training"]["batch_size"].get<int>(), 16);
        QCOMPARE(settings["stages"][0]["training"]["steps"].get<int>(), 4);
    }
    void a_task_that_no_batch_could_come_from_is_refused() {
        EXPECT_ERROR(parse_sample("tasks: {}\n"), "tasks is empty");
        EXPECT_ERROR(parse_sample("tasks: {sts: {weight: 0}}\n"), "all tasks have weight 0");
        EXPECT_ERROR(parse_sample("name: x\n"), "tasks is missing");
    }
    void tasks_whose_folders_would_be_one_are_refused_with_both() {
        const auto two = [](const std::string& a, const std::string& b) {
            return parse_sample("tasks:\n  \"" + a + "\": {type: sts}\n  \"" + b + "\": {type: sts}\n");
        };
        EXPECT_ERROR(two("en/sts", "en-sts"), "/base/quick.yaml:3:", "'en/sts' and 'en-sts'", "one folder, en-sts");
        EXPECT_ERROR(two("\xE6\xA3\x80\xE7\xB4\xA2", "\xE5\x88\x86\xE7\xB1\xBB"), "one folder, ------");  // two words of Chinese
        EXPECT_ERROR(two("a", "a.query"), "'a.query' and 'a.query'");
        EXPECT_ERROR(two(std::string(99, 'a'), "b"), "would be kept in one folder");  // the ends of long names are cut
    }
    void nothing_to_run_is_an_error() { EXPECT_ERROR(parse_sample("tasks: {sts: }\nevaluation: {baseline: false}\n"), "nothing to run"); }
    void an_unknown_evaluation_task_is_named() {
        EXPECT_ERROR(parse_sample(with(sample, "path: scifact", "path: scifact, task: retreival")), "unknown task 'retreival'",
                     "did you mean 'retrieval'?");
        EXPECT_ERROR(parse_sample(with(sample, "max_examples: 100}", "max_examples: 100}\n    validation: [{path: v, task: retreival}]")),
                     "/base/quick.yaml:8:", "unknown task 'retreival'");
    }
    void a_task_of_the_experiment_is_no_kind_of_data_that_are_scored() {
        const std::string named =
            with(with(sample, "  clustering:\n", "  uses:\n    type: clustering\n"), "path: scifact", "path: scifact, task: uses");
        EXPECT_ERROR(parse_sample(named), "/base/quick.yaml:", "task is 'uses', which is a task of this experiment; say as: uses");
        QVERIFY(!parse_sample(with(named, "task: uses", "as: uses")).runs().empty());
        QVERIFY(!parse_sample(with(named, "task: uses", "task: clustering")).runs().empty());
    }
    void a_file_that_cannot_be_scored_as_its_task_is_refused() {
        const auto scored = [](const std::string& entry) { return parse_sample(with(sample, "source: folder, path: scifact", entry)); };
        EXPECT_ERROR(scored("source: file, path: a.jsonl, format: labelled, task: classification"),
                     "/base/quick.yaml:", "a file of the format labelled cannot be scored as classification",
                     "come from a folder ({source: folder, path: DIR}) with train.jsonl, test.jsonl {text, label");
        EXPECT_ERROR(scored("source: file, path: sts.jsonl, task: sts"),
                     "kind sts come from a folder ({source: folder, path: DIR}) with test.jsonl {sentence1, sentence2, score}");
        EXPECT_ERROR(scored("source: file, path: a.jsonl, format: pairs, task: clustering"),
                     "the format pairs cannot be scored as clustering");
        EXPECT_ERROR(scored("source: file, path: a.jsonl, task: classification"), "a file cannot be scored as classification");
        EXPECT_ERROR(scored("source: file, path: a.txt, format: texts"), "the format texts cannot be scored as retrieval");
        scored("source: file, path: a.jsonl, format: labelled, task: clustering");
        scored("source: file, path: a.tsv, format: triplets, task: retrieval");
        scored("source: file, path: a.jsonl, task: retrieval");
        scored("source: file, path: a.jsonl");
        scored("source: folder, path: a, task: classification");
    }
    void overrides_and_seeds_come_from_the_command_line() {
        const auto runs = parse_sample(sample, {{"training.batch_size=8", "variants.Mix.placement=every"}, {7}, false}).runs();
        QCOMPARE(runs.size(), std::size_t{3});
        QCOMPARE(runs[1].seed, std::uint64_t{7});
        QCOMPARE(runs[1].settings["training"]["batch_size"].get<int>(), 8);
        EXPECT_ERROR(parse_sample(sample, {{"training.batch_size=x"}, {}, false}), "--set training.batch_size: training.batch_size is 'x'");
    }
    void threads_that_no_machine_has_are_refused() {
        QCOMPARE(parse_sample(sample + "threads: 4096\n").runs()[1].settings["threads"].get<int>(), 4096);
        EXPECT_ERROR(parse_sample(sample + "threads: 4097\n"), "threads is '4097'", "at most 4096");
        EXPECT_ERROR(parse_sample(sample, {{"threads=1000000000"}, {}, false}), "--set threads", "at most 4096");
    }
    void a_smoke_run_is_small_and_keeps_every_variant() {
        const auto runs = parse_sample(sample + "sweep: {training.learning_rate: [1.0e-5, 2.0e-5]}\n", {{}, {}, true}).runs();
        QCOMPARE(runs.size(), std::size_t{3});
        for (const ResolvedRun& run : runs) {
            QVERIFY(run.settings["training"]["steps"].get<int>() <= 4);
            QVERIFY(run.settings["sample_limit"].get<int>() > 0);
            QCOMPARE(run.settings["evaluation"]["datasets"][0]["examples_per_label"].get<int>(), 1);
        }
    }
    void missing_files_are_named_with_their_setting() {
        const Experiment experiment = parse_sample();
        EXPECT_ERROR(experiment.check_files(), "/base/pairs.tsv", "tasks.retrieval.train[0]");
        EXPECT_ERROR(Experiment::load("/nowhere/x.yaml", sample_catalogue()), "/nowhere/x.yaml", "No such file");
    }
    void a_file_without_a_source_is_told_which_reads_it() {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "pairs.tsv", "a\tb\n");
        write_scifact(folder.path());
        const auto parsed = [&](std::string text) { return Experiment::parse(text, folder.path() / "x.yaml", sample_catalogue(), {}); };
        const std::string right = sample_experiment(), named = "source: file, ";
        std::string wrong = right;
        wrong.erase(wrong.find(named), named.size());
        parsed(right).check_files();
        EXPECT_ERROR(parsed(wrong).check_files(), "pairs.tsv", "tasks.retrieval.train[0]", "say source: file");
    }
    void a_file_that_is_a_folder_and_a_path_that_is_missing_are_told_before_a_run() {
        const TemporaryDirectory folder;
        write_scifact(folder.path());
        const auto checked = [&](const std::string& path) {
            Experiment::parse(with(sample, "path: pairs.tsv", path), folder.path() / "x.yaml", sample_catalogue(), {}).check_files();
        };
        EXPECT_ERROR(checked("path: scifact"), "scifact: tasks.retrieval.train[0]: is a folder", "say source: folder");
        EXPECT_ERROR(checked("path: null"), "tasks.retrieval.train[0]: source file needs a path, and none is set");
        write_file_atomic(folder.path() / "blank.jsonl", "\n\r\n \n");
        EXPECT_ERROR(checked("path: blank.jsonl"), "blank.jsonl: tasks.retrieval.train[0]: holds no record");
    }
    void a_parquet_file_that_cannot_be_opened_is_told_before_a_run() {
        const TemporaryDirectory folder;
        const std::string file = (folder.path() / "pairs.parquet").string();
        write_file_atomic(file, "PAR1 and no more");  // torn where the build reads such files
        write_scifact(folder.path());
        std::string text = sample_experiment();
        text.replace(text.find("pairs.tsv"), 9, "pairs.parquet");
        const Experiment experiment = Experiment::parse(text, folder.path() / "x.yaml", sample_catalogue(), {});
        EXPECT_ERROR(experiment.check_files(), file.c_str());
        write_file_atomic(file, "a\tb\n");  // in spite of its name
        experiment.check_files();
    }
    /// Each run failed by itself then, one after another.
    void a_folder_without_a_data_set_is_told_before_a_run() {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "pairs.tsv", "a\tb\n");
        const auto checked = [&](const std::string& entry) {
            const std::string text = with(sample, "source: folder, path: scifact", "path: scifact" + entry);
            Experiment::parse(text, folder.path() / "x.yaml", sample_catalogue(), {}).check_files();
        };
        make_directories(folder.path() / "scifact");
        EXPECT_ERROR(checked(""), "x.yaml:15:", "evaluation.datasets[0]", "scifact: none of the known layouts");
        write_scifact(folder.path());
        checked("");
        EXPECT_ERROR(checked(", split: dev"), "x.yaml:15:", "scifact/qrels/dev.tsv: no such file", "choose a split");
        fs::remove(folder.path() / "scifact/corpus.jsonl");
        EXPECT_ERROR(checked(", task: retrieval"), "x.yaml:15:", "scifact/corpus.jsonl: no such file");
        fs::remove_all(folder.path() / "scifact");
        make_directories(folder.path() / "scifact/de");
        write_file_atomic(folder.path() / "scifact/de/test.jsonl", "{\"text\": \"a\", \"label\": 1}\n");
        EXPECT_ERROR(checked(""), "evaluation.datasets[0]", "scifact/de/train.jsonl: no such file");
        write_file_atomic(folder.path() / "scifact/de/train.jsonl", "{\"text\": \"a\", \"label\": 1}\n");
        checked("");
    }
    void the_same_file_resolves_to_the_same_settings() {
        QCOMPARE(parse_sample().runs()[2].settings.dump(), parse_sample().runs()[2].settings.dump());
    }
    void the_json_schema_offers_the_catalogues_methods() {
        const Json schema = experiment_json_schema(sample_catalogue());
        const Json& options = schema["properties"]["variants"]["additionalProperties"]["oneOf"];
        QCOMPARE(options.size(), std::size_t{2});
        QCOMPARE(options[1]["properties"]["method"]["const"].get<std::string>(), std::string("mixture"));
        QVERIFY(schema["properties"]["tasks"]["additionalProperties"]["properties"].contains("train"));
    }
};

FACETER_TEST(TestExperiment)
#include "test_experiment.moc"
