#include <QProcess>
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "common/file.h"
#include "common/hash.h"
#include "data/child_process.h"
#include "data/sources.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "record/journal.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// Runs whose training has several parts, on the tiny reference model: weakly supervised pairs, then supervised ones by another recipe.
class TestStages : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

    void write_pairs(const std::string& name) const {
        std::ofstream out(project_.path() / (name + ".jsonl"));
        for (int i = 0; i < 40; ++i)
            out << Json{{"query", fmt::format("{} question number {} about {}", name, i, i * 7 % 13)},
                        {"document", fmt::format("an answer to {} that speaks of {}", i, i * 7 % 13)}}
                       .dump()
                << "\n";
    }
    void write_test_set() const {
        const fs::path folder = project_.path() / "sts";
        make_directories(folder);
        std::ofstream(folder / "dataset.json") << R"({"name": "similar", "task": "sts"})";
        std::ofstream out(folder / "test.jsonl");
        for (int i = 0; i < 12; ++i)
            out << Json{{"sentence1", fmt::format("a cat number {}", i)},
                        {"sentence2", fmt::format("the cat {}", i * i % 7)},
                        {"score", i % 5}}
                       .dump()
                << "\n";
    }

    std::string experiment_text(const std::string& variant, const std::string& data) const {
        return "name: stages\nmodel: " + (shared_folder() / "fixtures/bert").string() +
               "\nmax_length: 24\nthreads: 1\n"
               "tasks:\n  weak: {type: retrieval, train: [{name: weak, source: file, path: weak.jsonl}]}\n"
               "  fine: {type: retrieval, train: [{name: fine, source: file, path: fine.jsonl}]}\n"
               "variants:\n  V: " +
               variant +
               "\n"
               "training: {batch_size: 8, steps: 6, learning_rate: 1.0e-3, schedule: constant, warmup_ratio: 0}\n"
               "stages:\n  - {name: weakly supervised, tasks: [weak]}\n"
               "  - {name: supervised, tasks: [fine], training: {steps: 4, learning_rate: 5.0e-4, warmup_steps: 2, query_length: 6}" +
               data +
               "}\n"
               "evaluation: {baseline: false, datasets: [{path: sts, name: similar}]}\n"
               "analyses: [{method: embedding_forms, prefixes: [16]}]\n";
    }

    RunDirectory run(const std::string& variant, const std::string& data = "") const { return run_text(experiment_text(variant, data)); }
    static Experiment parsed(const std::string& text, const fs::path& file) {
        return Experiment::parse(text, file, Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
    }
    RunDirectory run_text(const std::string& text) const {
        const Experiment experiment = parsed(text, project_.path() / "s.yaml");
        const RunDirectory made = RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
        const ChildResult result =
            run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", made.folder().string()}, std::chrono::seconds(200), 1 << 20);
        if (result.exit_code != 0) throw std::runtime_error(result.last_lines);
        return made;
    }
    static std::vector<JournalEvent> events(const RunDirectory& run, const std::string& type) {
        std::vector<JournalEvent> found;
        for (const JournalEvent& event : read_journal(run.attempt_journal(1)).events)
            if (event.type == type) found.push_back(event);
        return found;
    }

    /// Why a run was refused before any of its stages began.
    std::string refused(const std::string& text) const {
        std::set<fs::path> before;
        const auto runs = [&] { return fs::directory_iterator(project_.path() / "runs"); };
        make_directories(project_.path() / "runs");
        for (const fs::directory_entry& entry : runs()) before.insert(entry.path());
        try {
            run_text(text);
        } catch (const std::exception& error) {
            for (const fs::directory_entry& entry : runs())
                if (!before.contains(entry.path()) && !events(RunDirectory(entry.path()), "stage_started").empty())
                    return "a stage was trained before it was said: " + std::string(error.what());
            return error.what();
        }
        return "nothing was refused";
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        write_pairs("weak");
        write_pairs("fine");
        write_test_set();
    }
    void each_stage_trains_its_tasks_by_its_own_recipe() {
        NEED_SHARED();
        const RunDirectory done = run("{method: instruction}");
        const auto stages = events(done, "stage_started");
        QCOMPARE(stages.size(), std::size_t{2});
        QCOMPARE(stages[0].fields.at("stage").get<std::string>(), std::string("weakly supervised"));
        QCOMPARE(stages[1].fields.at("stage").get<std::string>(), std::string("supervised"));
        QCOMPARE(stages[1].fields.at("total_steps").get<int>(), 4);
        std::vector<double> rates[2];
        std::int64_t tokens[2] = {0, 0};
        for (const JournalEvent& step : events(done, "step")) {
            const auto stage = json_or<std::size_t>(step.fields, "stage", 0, "step");
            rates[stage].push_back(step.fields.at("lr"));
            tokens[stage] = std::max(tokens[stage], step.fields.at("tokens").get<std::int64_t>());
            QVERIFY(step.fields.contains(stage == 0 ? "loss/weak" : "loss/fine"));
        }
        QCOMPARE(rates[0], std::vector<double>(6, 1e-3));
        QCOMPARE(rates[1], (std::vector<double>{2.5e-4, 5e-4, 5e-4, 5e-4}));
        QVERIFY(tokens[1] < tokens[0]);  // queries are cut to 6 tokens
    }
    void what_an_analysis_cannot_read_ends_a_run_before_it_trains() {
        NEED_SHARED();
        const std::string without = "embedding_forms, prefixes: [16]";
        for (const auto& [analysis, missing] :
             std::map<std::string, std::string>{{"inter_task_similarity, texts: {source: file, path: weak.jsonl}", "text"},
                                                {"context_preference, path: weak.jsonl", "contexts"}}) {
            std::string text = experiment_text("{method: instruction}", "");
            text.replace(text.find(without), without.size(), analysis);
            const Experiment experiment = parsed(text, project_.path() / "s.yaml");
            const RunDirectory made = RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
            const ChildResult result =
                run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", made.folder().string()}, std::chrono::seconds(200), 1 << 20);
            QCOMPARE(result.exit_code, 4);
            const std::string words = "weak.jsonl:1: member '" + missing + "' is missing";
            QVERIFY2(result.last_lines.find(words) != std::string::npos, result.last_lines.c_str());
            QVERIFY(events(made, "stage_started").empty());
            QVERIFY(!fs::exists(made.results() / "similar.json"));
        }
    }
    void an_analysis_without_texts_is_left_out_and_said() {
        NEED_SHARED();
        std::string text = experiment_text("{method: instruction}", "");
        const std::string without = "embedding_forms, prefixes: [16]";
        text.replace(text.find(without), without.size(), "inter_task_similarity");
        const RunDirectory done = run_text(text);
        const auto warnings = events(done, "warning");
        QVERIFY(std::any_of(warnings.begin(), warnings.end(), [](const JournalEvent& warning) {
            return warning.fields.at("message").get<std::string>().starts_with(
                "analysis inter_task_similarity is left out: its settings name no texts");
        }));
        QVERIFY(!fs::exists(done.results() / "inter_task_similarity.json") && fs::exists(done.results() / "similar.json"));
    }
    void no_more_steps_are_taken_than_were_announced() {
        NEED_SHARED();
        std::string text = "curriculum: {method: shuffled}\n" + experiment_text("{method: dense}", "");
        text.replace(text.find("batch_size: 8, steps: 6"), 23, "batch_size: 7, epochs: 1");
        const RunDirectory done = run_text(text);
        std::size_t steps = 0;
        for (const JournalEvent& stage : events(done, "stage_started")) steps += stage.fields.at("total_steps").get<std::size_t>();
        QCOMPARE(steps, std::size_t{6 + 4});  // 40 pairs in batches of 7; the second stage names its steps
        QCOMPARE(events(done, "plan").at(0).fields.at("most_steps").get<std::size_t>(), steps);
    }
    void stages_over_the_same_task_draw_batches_and_masks_of_their_own() {
        NEED_SHARED();
        const auto losses = [&](const std::string& seeds) {
            std::string text = experiment_text("{method: instruction}", "");
            text.insert(0, seeds);
            const std::string from =
                "{name: supervised, tasks: [fine], training: {steps: 4, learning_rate: 5.0e-4, warmup_steps: 2, query_length: 6}";
            text.replace(text.find(from), from.size(), "{name: again, tasks: [weak]");
            text.replace(text.find("learning_rate: 1.0e-3"), 21, "learning_rate: 1.0e-15");  // the weights stay as they are
            const RunDirectory done = run_text(text);
            std::vector<double> of[2];
            for (const JournalEvent& step : events(done, "step"))
                of[json_or<std::size_t>(step.fields, "stage", 0, "step")].push_back(step.fields.at("loss"));
            return std::pair(of[0], of[1]);
        };
        const auto one = losses(""), same = losses(""), other = losses("seeds: [2]\n");
        QCOMPARE(one.first.size(), std::size_t{6});
        QVERIFY(one.first != one.second);
        QVERIFY(one == same);
        QVERIFY(other.first != one.first && other.second != one.second);
    }
    void a_method_with_stages_of_its_own_goes_through_them_in_each_part() {
        NEED_SHARED();
        std::vector<std::string> names;
        for (const JournalEvent& event : events(run("{method: specialists}"), "stage_started")) names.push_back(event.fields.at("stage"));
        QCOMPARE(names, (std::vector<std::string>{"weakly supervised: weak", "supervised: fine"}));
    }
    /// What a stage chose, as texts: by example its query, its document and its negatives.
    std::vector<Json> chosen(const RunDirectory& done, const char* file) const {
        const TrainingSet pairs =
            load_training_set({{{"source", "file"}, {"path", (project_.path() / "fine.jsonl").string()}}, project_.path()}, "retrieval");
        std::vector<Json> lines;
        std::ifstream in(done.folder() / "data" / file);
        for (std::string line; std::getline(in, line);) {
            const Json numbers = Json::parse(line);
            if (numbers.is_object()) continue;  // the head
            const Example& example = pairs.examples.at(numbers[0]);
            lines.push_back({{"query", pairs.texts[example.anchor]}, {"document", pairs.texts[example.positive]}});
            for (std::size_t n = 1; n < numbers.size(); ++n)
                lines.back()["negatives"].push_back(pairs.texts[numbers[n].get<std::uint32_t>()]);
        }
        return lines;
    }
    std::vector<Json> by_command(std::vector<std::string> arguments) const {
        const fs::path out = project_.path() / "chosen.jsonl";
        arguments.insert(arguments.begin(), {FACETER_BINARY_DIR "/bin/faceter-worker", "data"});
        arguments.insert(arguments.end(), {"--model", (shared_folder() / "fixtures/bert").string(), "--output", out.string(),
                                           (project_.path() / "fine.jsonl").string()});
        const ChildResult result = run_child(arguments, std::chrono::seconds(100), 1 << 20);
        if (result.exit_code != 0) throw std::runtime_error(result.last_lines);
        std::vector<Json> lines;
        std::ifstream in(out);
        for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
        return lines;
    }
    void a_stage_mines_the_negatives_that_the_command_mines() {
        NEED_SHARED();
        const std::string teacher = (shared_folder() / "fixtures/bert").string();
        const RunDirectory done = run("{method: dense}", ", mine: {negatives: 3, margin: 0.999, teacher: " + teacher + "}");
        const auto mined = chosen(done, "stage-1-mine-1.jsonl");
        QCOMPARE(mined.size(), std::size_t{40});
        QCOMPARE(mined, by_command({"mine", "--negatives", "3", "--margin", "0.999"}));
        QVERIFY(std::any_of(mined.begin(), mined.end(),
                            [](const Json& line) { return line.contains("negatives") && !line.at("negatives").empty(); }));
        QVERIFY(!fs::exists(done.folder() / "data/stage-0-mine-0.jsonl"));
    }
    void a_stage_keeps_the_pairs_that_the_command_keeps() {
        NEED_SHARED();
        const RunDirectory done =
            run("{method: dense}", ", filter: {top_k: 5, teacher: " + (shared_folder() / "fixtures/bert").string() + "}");
        const auto kept = chosen(done, "stage-1-filter-1.jsonl");
        QVERIFY(!kept.empty() && kept.size() < 40);
        QCOMPARE(kept, by_command({"filter", "--top-k", "5"}));
        QCOMPARE(events(done, "stage_started")[1].fields.at("examples").get<std::size_t>(), kept.size());
    }
    void a_run_notes_the_files_of_the_model_that_it_wrote() {
        NEED_SHARED();
        const RunDirectory done = run("{method: dense}");
        const auto noted = events(done, "final_model");
        QCOMPARE(noted.size(), std::size_t{1});
        std::map<std::string, std::string> hashes;
        for (const Json& file : noted[0].fields.at("files")) hashes[file.at("path")] = file.at("sha256");
        QCOMPARE(hashes.at("model.safetensors"), sha256_file(done.folder() / "model/model.safetensors"));
        QVERIFY(hashes.contains("1_Pooling/config.json"));
    }
    void what_a_stage_chose_and_has_lost_lines_since_is_refused() {
        NEED_SHARED();
        const RunDirectory done =
            run("{method: dense}", ", filter: {top_k: 5, teacher: " + (shared_folder() / "fixtures/bert").string() + "}");
        const fs::path file = done.folder() / "data/stage-1-filter-1.jsonl";
        const std::string whole = read_file(file);
        const auto go_on = [&](const std::string& lines) {
            write_file_atomic(file, lines);
            fs::remove_all(done.folder() / "model");
            return run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", done.folder().string()}, std::chrono::seconds(200), 1 << 20);
        };
        for (const std::size_t cut : {whole.rfind('['), whole.find('[')}) {
            const ChildResult refused = go_on(whole.substr(0, cut));
            QCOMPARE(refused.exit_code, 4);
            QVERIFY2(refused.last_lines.find(file.string() + ": is not what its stage wrote") != std::string::npos,
                     refused.last_lines.c_str());
        }
        const std::string without_head = whole.substr(whole.find('\n') + 1);
        QVERIFY(go_on(without_head + without_head.substr(0, without_head.find('\n') + 1)).exit_code == 4);
        const ChildResult of_an_older_version = go_on(without_head);
        QVERIFY2(of_an_older_version.exit_code == 0, of_an_older_version.last_lines.c_str());
    }
    void what_the_model_chose_and_is_gone_is_not_chosen_anew_by_what_it_has_become() {
        NEED_SHARED();
        std::string text = experiment_text("{method: instruction}", ", filter: {top_k: 10}");
        const std::string forms = "embedding_forms, prefixes: [16]";
        text.replace(text.find(forms), forms.size(), "data_cube_report");
        const RunDirectory done = run_text(text);
        const auto go_on = [&] {
            return run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", done.folder().string()}, std::chrono::seconds(200), 1 << 20);
        };
        const fs::path file = done.folder() / "data/stage-1-filter-1.jsonl", report = done.results() / "data_cube_report.json";
        fs::rename(file, project_.path() / "kept.jsonl");
        fs::remove(report);
        QCOMPARE(go_on().exit_code, 0);  // its training is over: what looks at all of its data is left out, with a warning
        QVERIFY(!fs::exists(report));
        fs::remove_all(done.folder() / "model");
        const ChildResult refused = go_on();
        QCOMPARE(refused.exit_code, 4);
        QVERIFY2(refused.last_lines.find(file.string() + ": is gone") != std::string::npos, refused.last_lines.c_str());
        fs::rename(project_.path() / "kept.jsonl", file);
        const ChildResult again = go_on();
        QVERIFY2(again.exit_code == 0, again.last_lines.c_str());
    }
    void a_run_that_is_stopped_before_a_stage_that_mines_goes_on() {
        NEED_SHARED();
        std::string text = experiment_text("{method: instruction}", ", mine: {negatives: 2}");
        text.replace(text.find("steps: 6"), 8, "steps: 150");
        const Experiment experiment = parsed(text, project_.path() / "s.yaml");
        const RunDirectory made = RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
        QProcess worker;
        worker.start(FACETER_BINARY_DIR "/bin/faceter-worker", {"run", QString::fromStdString(made.folder().string())});
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(made.attempt_journal(1)) && events(made, "step").size() > 2, hang_ms);
        worker.terminate();
        QVERIFY(worker.waitForFinished(hang_ms));
        QCOMPARE(worker.exitCode(), 6);
        QCOMPARE(events(made, "stage_started").size(), std::size_t{1});
        const ChildResult rest =
            run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", made.folder().string()}, std::chrono::seconds(200), 1 << 20);
        QVERIFY2(rest.exit_code == 0, rest.last_lines.c_str());
        QVERIFY(fs::exists(made.folder() / "data/stage-1-mine-1.jsonl"));
    }
    void a_stage_that_chooses_its_data_heeds_a_stop_before_it_is_done() {
        NEED_SHARED();
        std::ofstream many(project_.path() / "many.jsonl");
        for (int i = 0; i < 20'000; ++i)
            many << fmt::format("{{\"query\": \"question {} of many\", \"document\": \"an answer to {} of them\"}}\n", i, i * 7);
        many.close();
        const std::string teacher = (shared_folder() / "fixtures/bert").string();
        std::string text = experiment_text("{method: dense}", ", mine: {negatives: 2, teacher: " + teacher + "}");
        text.replace(text.find("fine.jsonl"), 10, "many.jsonl");
        const Experiment experiment = parsed(text, project_.path() / "s.yaml");
        const RunDirectory made = RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
        const auto is_mining = [&] {
            const auto phases = events(made, "phase");
            return !phases.empty() && phases.back().fields.dump().find("mine negatives of") != std::string::npos;
        };
        QProcess worker;
        worker.start(FACETER_BINARY_DIR "/bin/faceter-worker", {"run", QString::fromStdString(made.folder().string())});
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(made.attempt_journal(1)) && is_mining(), hang_ms);
        worker.terminate();
        QVERIFY(worker.waitForFinished(hang_ms));
        QCOMPARE(worker.exitCode(), 6);
        QVERIFY(!fs::exists(made.folder() / "data/stage-1-mine-1.jsonl"));
        QCOMPARE(events(made, "stopped").size(), std::size_t{1});
    }
    void a_filter_judges_in_shards_of_equal_size() {
        NEED_SHARED();
        const std::string teacher = (shared_folder() / "fixtures/bert").string();
        const auto kept = [&](const std::string& shard) {
            return chosen(run("{method: dense}", ", filter: {top_k: 1, teacher: " + teacher + shard + "}"), "stage-1-filter-1.jsonl")
                .size();
        };
        const std::size_t whole = kept(""), in_shards = kept(", shard: 7");
        QVERIFY2(in_shards > whole, fmt::format("{} {}", in_shards, whole).c_str());  // fewer documents to be confused with
        const Json fields = by_command({"filter", "--top-k", "1", "--shard", "7"});
        QCOMPARE(fields.size(), in_shards);
    }
    void a_capacity_and_a_gradient_cache_are_refused_together() {
        const auto text = [](const std::string& variant, const std::string& objective) {
            return "tasks: {retrieval: {train: []}}\nvariants:\n  T: " + variant + "\nobjective: {method: infonce" + objective + "}\n";
        };
        const fs::path file = "/base/c.yaml";
        EXPECT_ERROR(parsed(text("{method: token_routed_moe, capacity: 1.5}", ", gradient_cache_chunk: 8"), file), "capacity",
                     "gradient_cache_chunk", "variants.T");
        QCOMPARE(parsed(text("{method: token_routed_moe}", ", gradient_cache_chunk: 8"), file).runs().size(), std::size_t{2});
        QCOMPARE(parsed(text("{method: token_routed_moe, capacity: 1.5}", ""), file).runs().size(), std::size_t{2});
        EXPECT_ERROR(parsed(text("{method: token_routed_moe, capacity: 1.5}", "") +
                                "stages:\n  - {name: a, objective: {method: infonce, gradient_cache_chunk: 8}}\n",
                            file),
                     "capacity", "gradient_cache_chunk", "stages[0]");
    }
    void early_stopping_watches_only_what_is_scored() {
        NEED_SHARED();
        std::string text = experiment_text("{method: instruction}", "");
        text.replace(text.find("warmup_ratio: 0}"), 16, "warmup_ratio: 0, evaluate_every_steps: 2, early_stopping: {dataset: simlar}}");
        EXPECT_ERROR(run_text(text), "early_stopping.dataset", "did you mean 'similar'");
    }
    /// Of an encoder a task the sets of other tasks do not move: the first evaluation was the best, and the stage was over.
    void a_stage_is_stopped_by_scores_that_it_can_move() {
        NEED_SHARED();
        const std::string text = "name: early\nmodel: " + (shared_folder() / "fixtures/bert").string() +
                                 "\nmax_length: 24\nthreads: 1\n"
                                 "tasks:\n  retrieval: {train: [{name: weak, source: file, path: weak.jsonl}]}\n"
                                 "  sts: {train: [{name: fine, source: file, path: fine.jsonl}]}\n"
                                 "variants:\n  V: {method: specialists}\n"
                                 "training: {batch_size: 8, steps: 8, learning_rate: 1.0e-3, warmup_ratio: 0, evaluate_every_steps: 1, "
                                 "early_stopping: {patience: 2, dataset: similar}}\n"
                                 "evaluation: {baseline: false, datasets: [{path: sts, name: similar}]}\n";
        const RunDirectory done = run_text(text);
        const auto started = events(done, "stage_started"), kept = events(done, "kept_best"), scores = events(done, "evaluation");
        QCOMPARE(started.size(), std::size_t{2});
        QCOMPARE(kept.size(), std::size_t{1});
        QCOMPARE(kept[0].fields.at("stage").get<int>(), 1);
        QCOMPARE(std::count_if(scores.begin(), scores.end(), [](const JournalEvent& event) { return !event.fields.contains("stage"); }), 8);
        bool said = false;
        for (const JournalEvent& event : events(done, "warning"))
            said = said || event.fields.at("message").get<std::string>().find(
                               "stage 'retrieval': no data set that is scored goes through "
                               "what it trains, so it trains to the end") != std::string::npos;
        QVERIFY(said);
    }
    void what_a_later_stage_is_refused_for_is_said_before_the_first_is_trained() {
        NEED_SHARED();
        const auto has = [](const std::string& text, const char* piece) {
            QVERIFY2(!text.starts_with("a stage") && text.find(piece) != std::string::npos, text.c_str());
        };
        has(refused(experiment_text("{method: dense}", ", objective: {method: cosent}")), "learns an order of pairs");
        has(refused(experiment_text("{method: task_lora}", ", objective: {method: masked_language}")), "trains a low-rank adapter");
        std::string text = experiment_text("{method: specialists}", "");
        text.replace(text.find("fine: {type: retrieval"), 22, "fine: {type: retrieval, weight: 0");
        has(refused(text), "stage 'supervised: fine': no batch can be drawn");
    }
    void data_that_no_batch_is_drawn_from_need_not_be_what_the_loss_wants() {
        NEED_SHARED();
        std::string text = experiment_text("{method: instruction}", "");
        text.replace(text.find("weak: {type: retrieval,"), 23, "weak: {type: retrieval, weight: 0,");
        text.erase(text.find("stages:"), text.find("evaluation:") - text.find("stages:"));
        const std::string fine = "path: fine.jsonl";
        text.replace(text.find(fine), fine.size(), "path: triplets.jsonl");
        std::ofstream triplets(project_.path() / "triplets.jsonl");
        for (int i = 0; i < 20; ++i)
            triplets << Json{{"query", fmt::format("q {}", i)},
                             {"document", fmt::format("d {}", i)},
                             {"negatives", {fmt::format("n {}", i)}}}
                            .dump()
                     << "\n";
        triplets.close();
        QCOMPARE(events(run_text(text + "objective: {method: triplet}\n"), "step").size(), std::size_t{6});
        EXPECT_ERROR(run_text(text + "objective: {method: triplet}\ncurriculum: {method: shuffled}\n"), "triplet", "'weak' have none");
    }
    void examples_for_which_a_stage_leaves_no_negative_do_not_end_a_run_whose_loss_needs_one() {
        NEED_SHARED();
        std::string text =
            experiment_text("{method: instruction}", ", objective: {method: triplet}, mine: {filter_given: true, margin: 1}");
        const std::string fine = "path: fine.jsonl";
        text.replace(text.find(fine), fine.size(), "path: half.jsonl");
        std::ofstream half(project_.path() / "half.jsonl");
        for (int i = 0; i < 20; ++i) {  // the text itself is nearer than any other
            Json pair{{"query", fmt::format("text {}", i)}, {"document", fmt::format("text {}", i)}};
            if (i % 2 == 0) pair["negatives"] = {fmt::format("something else {}", i)};
            half << pair.dump() << "\n";
        }
        half.close();
        const RunDirectory done = run_text(text);
        QCOMPARE(chosen(done, "stage-1-mine-1.jsonl").size(), std::size_t{10});
        const auto warnings = events(done, "warning");
        const auto said = std::count_if(warnings.begin(), warnings.end(), [](const JournalEvent& warning) {
            return warning.fields.at("message").get<std::string>().find("10 of 20 examples have no hard negative") != std::string::npos;
        });
        QCOMPARE(said, std::ptrdiff_t{1});
        std::string none = text;
        none.replace(none.find("margin: 1"), 9, "margin: 1, absolute_margin: 2");
        EXPECT_ERROR(run_text(none), "none of the 20 examples of the training data 'fine' has a hard negative");
        text.replace(text.find("method: triplet"), 15, "method: infonce");
        QCOMPARE(chosen(run_text(text), "stage-1-mine-1.jsonl").size(), std::size_t{20});
    }
    void the_plan_of_a_named_stage_is_reported_and_of_several_it_is_said_that_they_are() {
        NEED_SHARED();
        std::string text = experiment_text("{method: instruction}", ", curriculum: {method: data_cube}");
        const std::string forms = "embedding_forms, prefixes: [16]";
        text.replace(text.find(forms), forms.size(), "data_cube_report");
        const Json one = read_json(run_text(text).results() / "data_cube_report.json");
        QCOMPARE(one.at("plan").at("tour").size(), std::size_t{1});
        const std::string first = "tasks: [weak]";
        text.replace(text.find(first), first.size(), first + ", curriculum: {method: data_cube}");
        const Json two = read_json(run_text(text).results() / "data_cube_report.json");
        QVERIFY(!two.contains("plan"));
        QVERIFY(two.at("note").get<std::string>().starts_with("the run has 2 plans"));
    }
    void a_run_that_goes_on_behind_its_training_looks_at_the_data_that_it_was_trained_on() {
        NEED_SHARED();
        std::string text = experiment_text("{method: instruction}", ", filter: {top_k: 10}, mine: {negatives: 2, margin: 1}");
        const std::string forms = "embedding_forms, prefixes: [16]";
        text.replace(text.find(forms), forms.size(), "data_cube_report");
        const RunDirectory done = run_text(text);
        const Json whole = read_json(done.results() / "data_cube_report.json");
        QVERIFY(whole.at("underfitting").at(1).at("examples").get<int>() < 40);
        const ChildResult again =
            run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", done.folder().string()}, std::chrono::seconds(200), 1 << 20);
        QVERIFY2(again.exit_code == 0, again.last_lines.c_str());
        QCOMPARE(read_json(done.results() / "data_cube_report.json").dump(), whole.dump());
    }
    void a_score_whose_file_was_damaged_is_made_anew_when_a_run_goes_on() {
        NEED_SHARED();
        const RunDirectory done = run("{method: instruction}", "");
        const fs::path file = done.results() / "similar.json";
        const std::string whole = read_file(file);
        for (const std::string& damaged : {whole.substr(0, whole.size() / 2), std::string("[]\n"), std::string(whole)}) {
            write_file_atomic(file, damaged);
            const ChildResult again =
                run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", done.folder().string()}, std::chrono::seconds(200), 1 << 20);
            QVERIFY2(again.exit_code == 0, again.last_lines.c_str());
            QCOMPARE(read_json(file).at("score").get<double>(), parse_json(whole, "before").at("score").get<double>());
            int told = 0;
            for (const JournalEvent& event : read_journal(done.attempt_journal(done.attempts().back())).events)
                told += event.type == "warning" && event.fields.at("message").get<std::string>().find("similar.json") != std::string::npos;
            QCOMPARE(told, damaged == whole ? 0 : 1);
        }
    }
    void a_final_model_that_was_damaged_can_be_made_again() {
        NEED_SHARED();
        const RunDirectory done = run("{method: instruction}", "");
        const fs::path weights = done.folder() / "model/model.safetensors";
        const std::string whole = read_file(weights);
        const std::string score = read_json(done.results() / "similar.json").at("score").dump();
        write_file_atomic(weights, whole.substr(0, whole.size() / 2));
        fs::remove(done.results() / "similar.json");
        const auto go_on = [&] {
            return run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", done.folder().string()}, std::chrono::seconds(200), 1 << 20);
        };
        const ChildResult refused = go_on();
        QCOMPARE(refused.exit_code, static_cast<int>(ExitCode::data));
        QVERIFY2(
            refused.last_lines.find("not only unreadable here: move the folder " + weights.parent_path().string()) != std::string::npos,
            refused.last_lines.c_str());
        fs::remove_all(weights.parent_path());
        const ChildResult again = go_on();
        QVERIFY2(again.exit_code == 0, again.last_lines.c_str());
        QVERIFY(read_file(weights) == whole);
        QCOMPARE(read_json(done.results() / "similar.json").at("score").dump(), score);
    }
    void texts_that_are_cut_are_said_of_each_side_that_loses_much() {
        NEED_SHARED();
        std::string text = experiment_text("{method: dense}", "");
        text.replace(text.find("query_length: 6"), 15, "query_length: 3");
        text.replace(text.find("max_length: 24"), 14, "max_length: 4");
        std::string warnings;
        for (const JournalEvent& event : events(run_text(text), "warning"))
            warnings += event.fields.at("message").get<std::string>() + "\n";
        for (const char* one :
             {"training data 'fine' (fine), queries: 100 % have more than 3 tokens; they are cut there, and what is beyond is "
              "not read; training.query_length sets it",
              "training data 'weak' (weak), documents: ",
              "more than 4 tokens; they are cut there, and what is beyond is not "
              "read; max_length sets it",
              "data set 'similar': 100 % have more than 4 tokens"})
            QVERIFY2(warnings.find(one) != std::string::npos, warnings.c_str());
        for (const JournalEvent& event : events(run("{method: dense}", ""), "warning"))
            QVERIFY(event.fields.at("message").get<std::string>().find("max_length sets it") == std::string::npos);
    }
    void an_instruction_that_leaves_nothing_of_a_text_is_said() {
        NEED_SHARED();
        std::string text = experiment_text("{method: instruction}", "");
        text.replace(text.find("fine: {type: retrieval,"), 23, "fine: {type: retrieval, instructions: {query: \"one two three four \"},");
        std::vector<std::string> warnings;
        for (const JournalEvent& event : events(run_text(text), "warning"))
            warnings.push_back(event.fields.at("message").get<std::string>());
        const auto said = std::count_if(warnings.begin(), warnings.end(), [](const std::string& warning) {
            return warning.find("'fine' (fine): the instruction 'one two three four ' takes all 6 tokens that are read of a query") !=
                   std::string::npos;
        });
        QCOMPARE(said, std::ptrdiff_t{1});  // of the stage that cuts queries to 6
    }
    void the_model_as_it_stands_judges_where_no_teacher_is_named() {
        NEED_SHARED();
        const RunDirectory done = run("{method: instruction}", ", mine: {negatives: 2}");
        QCOMPARE(chosen(done, "stage-1-mine-1.jsonl").size(), std::size_t{40});
        EXPECT_ERROR(run("{method: dense}", ", mine: {teacher: no/such/model}"), "no/such/model");
    }
    void the_model_as_it_stands_judges_texts_under_their_own_instructions() {
        NEED_SHARED();
        const auto mined = [&](const std::string& of_task, const std::string& of_set) {
            std::string text = experiment_text("{method: instruction}", ", mine: {negatives: 3, margin: 1}");
            const std::string task = "fine: {type: retrieval, ", set = "path: fine.jsonl";
            text.replace(text.find(set), set.size(), set + of_set);
            text.replace(text.find(task), task.size(), task + of_task);
            return chosen(run_text(text), "stage-1-mine-1.jsonl");
        };
        const std::string own = "instructions: {query: 'which number is it? ', document: 'spoken of: '}";
        const std::string other = "instructions: {query: 'a cat: ', document: 'the answer: '}, ";
        const auto wanted = mined(own + ", ", "");
        QCOMPARE(mined(other, ", " + own), wanted);
        QVERIFY(mined(other, "") != wanted);  // so that the instructions matter here
    }
    void shorter_and_coarser_embeddings_are_scored_after_the_run() {
        NEED_SHARED();
        const RunDirectory done = run("{method: dense}");
        const Json forms = read_json(done.results() / "embedding_forms.json").at("forms");
        QCOMPARE(forms.size(), std::size_t{6});
        QCOMPARE(forms[0].at("mean").get<double>(), read_json(done.results() / "similar.json").at("score").get<double>());
        QCOMPARE(forms[1].at("elements").get<int>(), 16);
        QVERIFY(fs::exists(done.folder() / "figures/embedding_forms.json"));
    }
};

FACETER_TEST(TestStages)
#include "test_stages.moc"
