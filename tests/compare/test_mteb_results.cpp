#include "compare/mteb_results.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>

#include "common/strings.h"
#include "compare/compare.h"
#include "data/child_process.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

void put(const fs::path& file, std::string_view content) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
}

/// A file of mteb 1.38 as it stands in its results, cut to a few measures; Python's NaN and all.
constexpr const char* sts_file =
    R"({"dataset_revision": "b0f", "task_name": "STSBenchmark", "mteb_version": "1.38.0", "evaluation_time": 1.5, "kg_co2_emissions": null,
 "scores": {"test": [{"pearson": 0.81, "spearman": 0.82, "cosine_pearson": 0.81, "cosine_spearman": 0.8203, "manhattan_spearman": NaN, "main_score": 0.8203,
 "hf_subset": "default", "languages": ["eng-Latn"]}]}})";
/// Before 1.11.
constexpr const char* old_file =
    R"({"mteb_dataset_name": "TwitterSemEval2015", "mteb_version": "1.0.2", "dataset_revision": "x", "test": {"evaluation_time": 31.2,
 "cos_sim": {"ap": 0.64, "f1": 0.6, "accuracy_threshold": 0.7}, "max": {"ap": 0.65}}})";
/// As mteb 2.26 writes them, cut to a few measures.
constexpr const char* second_version_file =
    R"({"dataset_revision": "1", "task_name": "LocalPairs", "mteb_version": "2.26.24", "scores": {"test": [{"pearson": 0.645738, "spearman": 0.769709,
 "cosine_pearson": 0.645738, "cosine_spearman": 0.770318, "manhattan_spearman": 0.769556, "main_score": 0.770318, "hf_subset": "default",
 "languages": ["eng-Latn"], "mteb_version": "2.26.24"}]}, "evaluation_time": 0.22, "kg_co2_emissions": null, "date": 1795398865.79,
 "evaluation_phases": [{"name": "Data loading", "start": 0.0, "end": 0.018, "split": "", "subset": ""}]})";
constexpr const char* second_version_reranking =
    R"({"dataset_revision": "1", "task_name": "OtherReranking", "mteb_version": "2.26.24", "scores": {"test": [{"ndcg_at_10": 0.7, "map_at_1000": 0.6,
 "mrr_at_10": 0.65, "main_score": 0.6, "hf_subset": "default", "languages": ["eng-Latn"]}]}, "evaluation_time": 0.1, "date": 1795398865.79})";
constexpr const char* multilingual_file =
    R"({"task_name": "STS22", "mteb_version": "1.20", "dataset_revision": "y", "evaluation_time": 1, "scores": {"test": [
 {"cosine_spearman": 0.5, "main_score": 0.5, "hf_subset": "de", "languages": ["deu-Latn"]}, {"cosine_spearman": 0.7, "main_score": 0.7, "hf_subset": "en", "languages": ["eng-Latn"]}]}})";

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

}  // namespace

class TestMtebResults : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    fs::path two_models() {
        const fs::path root = folder_.path() / "results";
        put(root / "org__one/abc/STSBenchmark.json", sts_file);
        put(root / "org__one/abc/STS22.json", multilingual_file);
        put(root / "org__one/abc/model_meta.json", R"({"name": "org/one", "revision": "abc", "release_date": null})");
        put(root / "old-model/TwitterSemEval2015.json", old_file);
        return root;
    }
    std::vector<ImportedModel> read_one(std::string_view content) {
        const fs::path root = folder_.path() / "single";
        fs::remove_all(root);
        put(root / "m/Task.json", content);
        return read_mteb_results(root);
    }

  private Q_SLOTS:
    void models_are_told_apart_and_named_by_their_folders_or_cards() {
        const auto models = read_mteb_results(two_models());
        QCOMPARE(models.size(), std::size_t{2});
        QCOMPARE(models[0].model, std::string("old-model"));
        QCOMPARE(models[1].model, std::string("org/one"));
        QCOMPARE(models[1].revision, std::string("abc"));
        QCOMPARE(models[1].results.size(), std::size_t{2});
    }
    void scores_come_in_as_percent_under_our_names() {
        const auto models = read_mteb_results(two_models());
        const Json& sts22 = models[1].results[0];
        QCOMPARE(sts22.at("name").get<std::string>(), std::string("sts22"));
        QVERIFY(near(sts22.at("score"), 70));  // the suite's subset, not the mean over all
        const Json& sts = models[1].results[1];
        QCOMPARE(sts.at("name").get<std::string>(), std::string("stsbenchmark"));
        QCOMPARE(sts.at("metric").get<std::string>(), std::string("cosine_spearman"));
        QVERIFY(near(sts.at("score"), 82.03));
        QVERIFY(!sts.at("metrics").contains("manhattan_spearman"));
        const Json& old = models[0].results[0];
        QCOMPARE(old.at("task_type").get<std::string>(), std::string("pair_classification"));
        QVERIFY(near(old.at("score"), 64) && near(old.at("metrics").at("max_ap"), 65));
        QVERIFY(!old.at("metrics").contains("cosine_accuracy_threshold"));
    }
    void old_files_with_subsets_are_read_too() {
        const auto models = read_one(
            R"({"mteb_dataset_name": "STS17", "test": {"en-en": {"cos_sim": {"spearman": 0.9}}, "ar-ar": {"cos_sim": {"spearman": 0.1}}, "evaluation_time": 9}})");
        QVERIFY(near(models[0].results[0].at("score"), 90));
    }
    void files_of_version_2_come_in_with_the_score_that_counts_there() {
        const Json pairs = read_one(second_version_file)[0].results[0], reranking = read_one(second_version_reranking)[0].results[0];
        QCOMPARE(pairs.at("metric").get<std::string>(), std::string("cosine_spearman"));
        QVERIFY(near(pairs.at("score"), 77.0318));
        QCOMPARE(pairs.at("settings").at("mteb_version").get<std::string>(), std::string("2.26.24"));
        QVERIFY(near(reranking.at("score"), 60));  // not the ndcg_at_10 that retrieval is scored by
        QVERIFY(near(reranking.at("metrics").at("map_at_1000"), 60));
    }
    /// Version 2.26: one with a truncated dimension lies below the plain model, whose name its card has.
    void experiments_of_version_2_are_models_of_their_own() {
        const fs::path root = folder_.path() / "experiments-of-2", plain = root / "org__one/abc", cut = plain / "experiments";
        const auto score = [](double main) {
            return fmt::format("{{\"task_name\": \"T\", \"scores\": {{\"test\": [{{\"main_score\": {}, \"hf_subset\": \"default\"}}]}}}}",
                               main);
        };
        const std::string card = "{\"name\": \"org/one\", \"revision\": \"abc\", \"experiment_kwargs\": ";
        put(plain / "T.json", score(0.9));
        put(plain / "model_meta.json", card + "null}");
        put(cut / "truncate_dim_8/T.json", score(0.5));
        put(cut / "truncate_dim_8/model_meta.json", card + "{\"truncate_dim\": 8}}");
        put(cut / "truncate_dim_4/T.json", score(0.4));  // without a card
        put(root / "old-model/experiments/x/T.json", score(0.3));
        std::map<std::string, double> scores;
        for (const fs::path& folder : {root, plain, cut / "truncate_dim_8"})
            for (const ImportedModel& model : read_mteb_results(folder)) {
                QVERIFY2(model.notes.empty() && model.revision == (model.model == "old-model (x)" ? "" : "abc"), model.model.c_str());
                scores.emplace(model.model, model.results.at(0).at("score").get<double>());
            }
        QCOMPARE(scores.size(), std::size_t{4});
        QVERIFY(near(scores.at("org/one"), 90) && near(scores.at("org/one (truncate_dim_8)"), 50));
        QVERIFY(near(scores.at("org/one (truncate_dim_4)"), 40) && near(scores.at("old-model (x)"), 30));
    }
    void models_in_a_folder_called_experiments_are_no_experiments() {
        const fs::path root = folder_.path() / "experiments";
        put(root / "org__one/STSBenchmark.json", sts_file);
        QCOMPARE(read_mteb_results(root).front().model, std::string("org/one"));
    }
    void classifications_of_version_2_are_told_from_bitexts() {
        const auto type_of = [&](const char* measures) {
            const std::string text = fmt::format(
                "{{\"task_name\": \"Own\", \"scores\": {{\"test\": [{{\"accuracy\": 0.8, \"f1\": 0.7, "
                "\"precision\": 0.7, \"recall\": 0.7, {} \"hf_subset\": \"default\"}}]}}}}",
                measures);
            return read_one(text)[0].results[0].at("task_type").get<std::string>();
        };
        QCOMPARE(type_of("\"f1_weighted\": 0.7, \"precision_weighted\": 0.7, \"main_score\": 0.8,"), std::string("classification"));
        QCOMPARE(type_of("\"main_score\": 0.7,"), std::string("bitext_mining"));
    }
    void imported_models_stand_in_lists_and_comparisons() {
        const fs::path path = folder_.path() / "project";
        const Project project(path, true);
        const auto models = read_mteb_results(two_models());
        const auto runs = import_models(project, two_models(), models);
        QCOMPARE(runs.size(), std::size_t{2});
        QVERIFY(runs[0].is_new && runs[1].is_new);
        Store store(path);
        QVERIFY(store.ingest_all().empty());
        for (const RunRow& row : store.runs()) {
            QCOMPARE(row.state.phase, RunPhase::done);
            QVERIFY(row.info.is_imported());
        }
        const Comparison comparison = compare_runs(store, store.runs(), "");
        QCOMPARE(comparison.groups.size(), std::size_t{2});
        QVERIFY(comparison.notes.empty());
        const auto& group = comparison.groups[0].name == "org/one" ? comparison.groups[0] : comparison.groups[1];
        QVERIFY(near(group.scores.at("stsbenchmark").at(0), 82.03));
    }
    void the_same_results_are_not_imported_twice() {
        const Project project(folder_.path() / "twice", true);
        const auto models = read_mteb_results(two_models());
        const auto first = import_models(project, two_models(), models), second = import_models(project, two_models(), models);
        QVERIFY(!second[0].is_new && !second[1].is_new);
        QCOMPARE(second[0].id, first[0].id);
        QCOMPARE(project.run_ids().size(), std::size_t{2});
    }
    void results_that_lie_in_the_trash_are_restored_not_imported_again() {
        const Project project(folder_.path() / "trashed", true);
        const auto models = read_mteb_results(two_models());
        const std::string id = import_models(project, two_models(), {models[0]}).front().id;
        const std::string name = project.find_run(id).info().shown_name();
        project.trash(id);
        EXPECT_ERROR(import_models(project, two_models(), {models[1], models[0]}), std::string("in the trash"), "faceter restore " + name);
        QVERIFY(project.run_ids().empty());
        project.restore(name);
        QVERIFY(!import_models(project, two_models(), models)[0].is_new);
        QCOMPARE(project.run_ids().size(), std::size_t{2});
        project.trash(id);
        project.empty_trash(0);
        QVERIFY(import_models(project, two_models(), models)[0].is_new);
    }
    void what_a_killed_import_left_is_imported_anew() {
        const Project project(folder_.path() / "killed", true);
        const auto models = read_mteb_results(two_models());
        const pid_t child = ::fork();
        if (child == 0) {
            set_file_fault_hook([](FileOperation operation, const fs::path& path) {
                if (operation == FileOperation::rename && path.parent_path().filename() == "results") ::_exit(9);
                return 0;
            });
            import_models(project, two_models(), models);
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        QCOMPARE(project.run_ids().size(), std::size_t{1});  // half of one
        const RunState left = read_state(project.find_run(project.run_ids().front()));
        QCOMPARE(left.phase, RunPhase::dead);
        QVERIFY2(left.cause.find("import it again") != std::string::npos, left.cause.c_str());
        const auto runs = import_models(project, two_models(), models);
        QVERIFY(runs[0].is_new && runs[1].is_new);
        QCOMPARE(project.run_ids().size(), std::size_t{2});
    }
    void one_that_another_import_is_at_work_with_is_left_to_it() {
        const Project project(folder_.path() / "at_work", true);
        const auto models = read_mteb_results(two_models());
        const std::string whole = import_models(project, two_models(), {models[0]}).front().id;
        const RunDirectory other = project.find_run(whole);
        fs::remove_all(other.folder() / "journal");
        JournalWriter writing(other, other.begin_attempt(), {});
        const auto runs = import_models(project, two_models(), {models[0], models[0]});
        QVERIFY(fs::exists(other.folder() / "run.json"));
        QVERIFY(runs[0].is_new && !runs[1].is_new);  // and what stands there twice is taken once
        QCOMPARE(project.run_ids().size(), std::size_t{2});
    }
    void two_models_with_the_very_same_files_stay_two() {
        const fs::path root = folder_.path() / "alike";
        for (const char* model : {"org__a", "org__b"})
            put(root / model / "rev/STS17.json",
                R"({"mteb_dataset_name": "STS17", "test": {"en-en": {"cos_sim": {"spearman": 0.9}}, "evaluation_time": 9}})");
        const Project project(folder_.path() / "alike-project", true);
        const auto models = read_mteb_results(root);
        const auto runs = import_models(project, root, models), again = import_models(project, root, models);
        QCOMPARE(runs.size(), std::size_t{2});
        QVERIFY(runs[0].is_new && runs[1].is_new && !again[0].is_new && !again[1].is_new);
        QVERIFY(runs[0].id != runs[1].id && again[1].id == runs[1].id);
    }
    void a_subset_that_stands_twice_counts_once() {
        const fs::path root = folder_.path() / "repeated-subset";
        const auto write = [&](const char* second) {
            Json subset = {{"hf_subset", "default"}, {"main_score", 0.5}}, again = subset;
            again["main_score"] = parse_json(second, "score");
            Json other = {{"hf_subset", "de"}, {"main_score", 0.9}};
            put(root / "m/T.json", Json{{"task_name", "T"}, {"scores", {{"test", {subset, again, other}}}}}.dump());
        };
        write("0.5");
        const auto models = read_mteb_results(root);
        QVERIFY(near(models.front().results.front().at("score").get<double>(), 70));
        write("0.4");
        EXPECT_ERROR(read_mteb_results(root), "m/T.json: subset 'default' stands twice");
    }
    void names_that_make_one_file_name_are_all_kept() {
        const fs::path root = folder_.path() / "meeting";
        const std::string name(110, 'T');
        int number = 0;
        for (const std::string& task : {std::string("A B"), std::string("A-B"), name + "a", name + "b", std::string("_model")}) {
            ++number;
            put(root / fmt::format("m/{}.json", number),
                fmt::format(R"({{"task_name": "{}", "scores": {{"test": [{{"hf_subset": "default", "main_score": 0.{}}}]}}}})", task,
                            number));
        }
        const Project project(folder_.path() / "meeting-project", true);
        const auto runs = import_models(project, root, read_mteb_results(root));
        Store store(project.folder());
        QCOMPARE(store.ingest_all().size(), std::size_t{0});
        const auto results = store.results(runs.front().id);
        QCOMPARE(results.size(), std::size_t{5});
        double sum = 0;
        for (const ResultRow& result : results) sum += result.score;
        QVERIFY2(near(sum, 150), fmt::format("{}", sum).c_str());
        QVERIFY(!store.cost(runs.front().id).total_parameters);
    }
    void what_we_write_reads_back_as_it_was() {
        const Json result = {{"name", "banking77"},
                             {"task_type", "classification"},
                             {"task", ""},
                             {"metric", "accuracy"},
                             {"score", 79.6558},
                             {"n", 3080},
                             {"metrics", {{"accuracy", 79.6558}, {"macro_f1", 78.5}}},
                             {"draws", Json::array()},
                             {"settings", {{"data_fingerprint", "f"}}}};
        const Json file = mteb_result(result, 12.5);
        QCOMPARE(file.at("task_name").get<std::string>(), std::string("Banking77Classification"));
        const Json& scores = file.at("scores").at("test")[0];
        QVERIFY(near(scores.at("main_score"), 0.796558) && near(scores.at("f1"), 0.785));
        QCOMPARE(scores.at("hf_subset").get<std::string>(), std::string("default"));
        QCOMPARE(scores.at("languages"), Json({"eng-Latn"}));
        QCOMPARE(mteb_file_name(result), std::string("Banking77Classification.json"));
        QCOMPARE(mteb_model_folder("org/model"), std::string("org__model"));
        const auto models = read_one(file.dump());
        QCOMPARE(models[0].results[0].at("name").get<std::string>(), std::string("banking77"));
        QVERIFY(near(models[0].results[0].at("score"), 79.6558));
        QVERIFY(near(models[0].results[0].at("metrics").at("macro_f1"), 78.5));
    }
    void the_mteb_package_reads_what_is_written() {
        const char* python = std::getenv("FACETER_PEERS");
        if (!python) QSKIP("no Python with mteb (FACETER_PEERS)");
        const TemporaryDirectory cache;  // laid out as mteb's own
        const fs::path folder = cache.path() / "results" / mteb_model_folder("org/model") / "abc";
        fs::create_directories(folder);
        put(folder / "model_meta.json",
            mteb_model_meta({"org/model", "abc", 22713216, 384, 256, "cosine", true, "sentence-transformers/all-MiniLM-L6-v2"}).dump());
        const auto result = [](const char* name, const char* type, const char* metric, double score) {
            return Json{{"name", name},
                        {"task_type", type},
                        {"metric", metric},
                        {"score", score},
                        {"n", 10},
                        {"metrics", {{metric, score}}},
                        {"settings", Json::object()}};
        };
        for (const Json& one : {result("stsbenchmark", "sts", "cosine_spearman", 82.25), result("scifact", "retrieval", "ndcg_at_10", 64.5),
                                result("banking77", "classification", "accuracy", 80)})
            put(folder / mteb_file_name(one), mteb_result(one, 1).dump());
        const fs::path out = cache.path() / "read.json";
        const ChildResult peer = run_child({python, FACETER_SOURCE_DIR "/tests/compare/mteb_reads.py", cache.path().string(), out.string()},
                                           std::chrono::seconds(200), 1 << 20);
        if (peer.exit_code == 3) QSKIP("the peers' Python has no mteb");
        QVERIFY2(peer.exit_code == 0, peer.last_lines.c_str());
        const Json read = read_json(out);
        QCOMPARE(read.at("models"), Json({"org/model abc"}));
        QCOMPARE(read.at("meta"), Json({"org/model", "abc", 22713216, 384, "cosine"}));
        QVERIFY2(read.at("warnings").empty(), read.at("warnings").dump().c_str());
        QVERIFY(near(read.at("scores").at("STSBenchmark"), 0.8225) && near(read.at("scores").at("SciFact"), 0.645) &&
                near(read.at("scores").at("Banking77Classification"), 0.8));
    }
    void names_of_models_have_an_organization() {
        QCOMPARE(mteb_model_name("org/model"), std::string("org/model"));
        QCOMPARE(mteb_model_name("my-run"), std::string("faceter/my-run"));
        QCOMPARE(mteb_model_name("/"), std::string("faceter/" + safe_file_name("/")));
    }
    void subsets_are_written_one_by_one() {
        const Json part = {{"name", "de"}, {"score", 50}, {"n", 2}, {"metrics", {{"f1", 50}}}};
        const Json file = mteb_result({{"name", "my bitext"},
                                       {"task_type", "bitext_mining"},
                                       {"metric", "f1"},
                                       {"score", 50},
                                       {"n", 2},
                                       {"metrics", Json::object()},
                                       {"subsets", Json::array({part})},
                                       {"settings", Json::object()}},
                                      1);
        QCOMPARE(file.at("task_name").get<std::string>(), std::string("my bitext"));
        QCOMPARE(file.at("scores").at("test")[0].at("languages"), Json({"deu-Latn"}));
        QCOMPARE(mteb_file_name({{"name", "../evil"}}), std::string("x..-evil.json"));
    }
    void languages_are_those_that_a_subset_is_named_by() {
        const auto languages_of = [](const char* subset) {
            const Json part = {{"name", subset}, {"score", 50}, {"metrics", {{"f1", 50}}}};
            const Json file = mteb_result({{"name", "my bitext"},
                                           {"task_type", "bitext_mining"},
                                           {"metric", "f1"},
                                           {"score", 50},
                                           {"metrics", Json::object()},
                                           {"subsets", Json::array({part})}},
                                          1);
            return file.at("scores").at("test")[0].at("languages").dump();
        };
        QCOMPARE(languages_of("yo"), std::string(R"(["yor-Latn"])"));
        QCOMPARE(languages_of("en-de"), std::string(R"(["eng-Latn","deu-Latn"])"));
        QCOMPARE(languages_of("en-en"), std::string(R"(["eng-Latn"])"));
        QCOMPARE(languages_of("pt-BR"), std::string(R"(["por-Latn"])"));
        QCOMPARE(languages_of("ace-Arab"), std::string(R"(["ace-Arab"])"));
        QCOMPARE(languages_of("eng_Latn-ace_Arab"), std::string(R"(["eng-Latn","ace-Arab"])"));
        QCOMPARE(languages_of("default"), std::string("[]"));
        QCOMPARE(languages_of("news articles"), std::string("[]"));
    }
    void files_that_are_no_results_are_refused_by_name() {
        EXPECT_ERROR(read_one("{\"task_name\": \"A\", \"scores\""), "Task.json", "not valid JSON");
        EXPECT_ERROR(read_one("[1]"), "Task.json", "not a JSON object");
        EXPECT_ERROR(read_one("{}"), "Task.json", "neither 'task_name' nor");
        EXPECT_ERROR(read_one(R"({"task_name": "A", "scores": {}})"), "Task.json", "no split");
        EXPECT_ERROR(read_one(R"({"task_name": "A", "scores": {"test": []}})"), "Task.json", "no scores");
        EXPECT_ERROR(read_one(R"({"task_name": "A", "scores": {"test": [{"main_score": 0.5}]}})"), "Task.json", "hf_subset");
        EXPECT_ERROR(read_one(R"({"task_name": "A", "scores": {"test": [{"main_score": 71.3, "hf_subset": "default"}]}})"), "Task.json",
                     "as a fraction between -1 and 1");
        EXPECT_ERROR(read_one(R"({"task_name": "A\u0007", "scores": {"test": [{"main_score": 0.1, "hf_subset": "x"}]}})"), "Task.json",
                     "control character");
        EXPECT_ERROR(read_one(fmt::format(R"({{"task_name": "{}", "scores": {{}}}})", std::string(5000, 'a'))), "Task.json",
                     "1 to 200 bytes");
        EXPECT_ERROR(read_one(std::string(100000, '[')), "Task.json", "not valid JSON");
        EXPECT_ERROR(read_mteb_results(folder_.path() / "nowhere"), "nowhere", "no such folder");
        fs::create_directories(folder_.path() / "empty");
        EXPECT_ERROR(read_mteb_results(folder_.path() / "empty"), "holds no .json file");
    }
    void other_subsets_than_the_suites_are_told() {
        const auto notes_of = [&](const char* subsets) {
            std::string scores;
            for (const std::string_view subset : split(subsets, ' '))
                scores +=
                    fmt::format("{}{{\"main_score\": 0.5, \"accuracy\": 0.5, \"hf_subset\": \"{}\"}}", scores.empty() ? "" : ", ", subset);
            return read_one(fmt::format("{{\"task_name\": \"AmazonReviewsClassification\", \"scores\": {{\"test\": [{}]}}}}", scores))[0]
                .notes;
        };
        QVERIFY(notes_of("de en").empty());
        QVERIFY(notes_of("default").empty());
        const auto notes = notes_of("de fr");
        QCOMPARE(notes.size(), std::size_t{1});
        QVERIFY(notes[0].find("amazon_reviews is scored on en here, and this score is of 'de, fr'") != std::string::npos);
    }
    void another_split_than_the_suites_is_told() {
        const auto notes_of = [&](const char* splits) {
            std::string scores;
            for (const std::string_view split_name : split(splits, ' '))
                scores += fmt::format("{}\"{}\": [{{\"main_score\": 0.4, \"ndcg_at_10\": 0.4, \"hf_subset\": \"default\"}}]",
                                      scores.empty() ? "" : ", ", split_name);
            return read_one(fmt::format("{{\"task_name\": \"MSMARCO\", \"scores\": {{{}}}}}", scores))[0].notes;
        };
        QVERIFY(notes_of("dev test").empty());
        const auto notes = notes_of("test");
        QCOMPARE(notes.size(), std::size_t{1});
        QVERIFY2(notes[0].find("msmarco is scored on its split dev here, and this score is of 'test'") != std::string::npos,
                 notes[0].c_str());
    }
    void another_protocol_than_ours_is_told_once_for_a_model() {
        const fs::path root = folder_.path() / "protocols";
        const auto write = [&](const char* task, const char* measure, const char* revision) {
            put(root / "m" / (std::string(task) + ".json"),
                fmt::format("{{\"task_name\": \"{}\", \"dataset_revision\": \"{}\", \"scores\": {{\"test\": [{{\"main_score\": 0.4, "
                            "\"{}\": 0.4, \"hf_subset\": \"default\"}}]}}}}",
                            task, revision, measure));
        };
        write("BiorxivClusteringP2P.v2", "v_measure", "1");
        write("MedrxivClusteringP2P.v2", "v_measure", "1");
        write("MindSmallReranking", "map", "1");
        write("Banking77Classification", "accuracy", "1");
        const auto notes = read_mteb_results(root)[0].notes;
        QCOMPARE(notes.size(), std::size_t{2});
        QVERIFY2(
            notes[1].find("biorxiv_clustering_p2p_v2, medrxiv_clustering_p2p_v2 are scored otherwise here than by mteb: one k-means") !=
                    std::string::npos &&
                notes[0].find("mind_small_reranking is scored otherwise") != std::string::npos,
            (notes[0] + "\n" + notes[1]).c_str());
        for (const char* task : {"BiorxivClusteringP2P.v2", "MedrxivClusteringP2P.v2"}) write(task, "v_measure", "faceter:f");  // our own
        QCOMPARE(read_mteb_results(root)[0].notes.size(), std::size_t{1});
    }
    void a_score_that_is_nan_leaves_out_its_task_alone() {
        const fs::path root = folder_.path() / "nan";
        put(root / "m/STSBenchmark.json", sts_file);
        put(root / "m/Multilingual.json",
            "{\"task_name\": \"Multilingual\", \"scores\": {\"test\": [{\"main_score\": 0.5, \"hf_subset\": \"de\"}, "
            "{\"main_score\": NaN, \"hf_subset\": \"en\"}]}}");
        put(root / "m/Old.json", "{\"mteb_dataset_name\": \"Old\", \"test\": {\"cos_sim\": {\"spearman\": NaN}, \"evaluation_time\": 9}}");
        put(root / "m/OldClustering.json", "{\"mteb_dataset_name\": \"OldClustering\", \"test\": {\"v_measure\": NaN}}");
        const auto models = read_mteb_results(root);
        QCOMPARE(models[0].results.size(), std::size_t{1});
        QCOMPARE(models[0].results[0].at("name").get<std::string>(), std::string("stsbenchmark"));
        QCOMPARE(models[0].notes.size(), std::size_t{3});
        QVERIFY2(models[0].notes[0].find("Multilingual.json: the score of subset 'en' is no number (NaN); Multilingual is left out") !=
                     std::string::npos,
                 models[0].notes[0].c_str());
    }
    void a_model_without_a_score_is_no_run() {
        const fs::path root = folder_.path() / "no score";
        put(root / "a/OldClustering.json", "{\"mteb_dataset_name\": \"OldClustering\", \"test\": {\"v_measure\": NaN}}");
        EXPECT_ERROR(read_mteb_results(root), "none of its scores is a number", "OldClustering");
        put(root / "b/STSBenchmark.json", sts_file);
        const auto models = read_mteb_results(root);
        QCOMPARE(models.size(), std::size_t{1});
        QCOMPARE(models[0].model, std::string("b"));
        QCOMPARE(models[0].notes.size(), std::size_t{1});
    }
    void a_text_that_says_nan_stays_a_text() {
        const auto models = read_one(
            "{\"task_name\": \"NaN \\\"Infinity\\\" task\", \"scores\": {\"test\": [{\"main_score\": 0.5, \"other\": -Infinity, "
            "\"hf_subset\": \"NaN\"}]}}");
        QCOMPARE(models[0].results[0].at("name").get<std::string>(), std::string("NaN \"Infinity\" task"));
    }
};

FACETER_TEST(TestMtebResults)
#include "test_mteb_results.moc"
