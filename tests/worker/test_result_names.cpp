#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <set>

#include "common/file.h"
#include "data/child_process.h"
#include "experiment/experiment.h"
#include "record/run_directory.h"
#include "stats/correlation.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

ChildResult worker(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), FACETER_BINARY_DIR "/bin/faceter-worker");
    return run_child(arguments, std::chrono::seconds(200), 1 << 20);
}

}  // namespace

/// Data sets whose names meet, on the tiny reference model.
class TestResultNames : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    std::string model() const { return (shared_folder() / "fixtures/bert").string(); }
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    void write_set(const std::string& name, int shift) const {
        make_directories(in(name));
        std::ofstream(in(name) + "/dataset.json") << R"({"task": "sts"})";
        std::ofstream out(in(name) + "/test.jsonl");
        for (int i = 0; i < 9; ++i)
            out << Json{{"sentence1", fmt::format("a cat number {}", i)},
                        {"sentence2", fmt::format("the cat {}", i * i % 7)},
                        {"score", (i + shift) % 5}}
                       .dump()
                << "\n";
    }

    /// Three queries, each with its document.
    static void write_retrieval(const std::string& folder) {
        make_directories(folder + "/qrels");
        std::ofstream corpus(folder + "/corpus.jsonl"), queries(folder + "/queries.jsonl"), judged(folder + "/qrels/test.tsv");
        judged << "query-id\tcorpus-id\tscore\n";
        for (int i = 1; i <= 3; ++i) {
            corpus << Json{{"_id", fmt::format("d{}", i)}, {"title", ""}, {"text", fmt::format("answer {}", i)}}.dump() << "\n";
            const std::string text = fmt::format("question q{} {}", i, std::string(300, 'a'));
            queries << Json{{"_id", fmt::format("q{}", i)}, {"text", text}}.dump() << "\n";
            judged << fmt::format("q{}\td{}\t1\n", i, i);
        }
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        write_set("en/sts", 0);
        write_set("de/sts", 1);
        write_set("STS12", 2);
        write_set("other/sts12", 3);
    }

    void evaluate_tells_folders_of_one_name_apart() {
        const ChildResult result = worker({"evaluate", "--model", model(), "--data", in("en/sts"), "--data", in("de/sts/"), "--json"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const Json sets = Json::parse(result.output).at("datasets");
        QCOMPARE(sets.at(0).at("name").get<std::string>(), std::string("en/sts"));
        QCOMPARE(sets.at(1).at("name").get<std::string>(), std::string("de/sts"));
        QVERIFY(sets.at(0).at("score") != sets.at(1).at("score"));
        const ChildResult alone = worker({"evaluate", "--model", model(), "--data", in("en/sts"), "--json"});
        QCOMPARE(Json::parse(alone.output).at("datasets").at(0).at("name").get<std::string>(), std::string("sts"));
    }

    void texts_that_are_cut_before_they_are_scored_are_said() {
        const auto said = [&](const char* length) {
            return worker({"evaluate", "--model", model(), "--data", in("en/sts"), "--max-length", length}).last_lines;
        };
        const std::string cut = said("4");
        QVERIFY2(cut.find("warning: data set 'sts': 100 % have more than 4 tokens; they are cut there") != std::string::npos, cut.c_str());
        QVERIFY2(said("32").find("are cut there") == std::string::npos, "of texts that are read whole");
    }

    void a_folder_that_is_named_twice_is_refused() {
        const ChildResult result = worker({"evaluate", "--model", model(), "--data", in("en/sts"), "--data", in("en/sts/")});
        QCOMPARE(result.exit_code, 2);
        QVERIFY2(result.last_lines.find("name each folder once") != std::string::npos, result.last_lines.c_str());
    }

    void options_that_would_have_no_effect_are_refused() {
        for (const auto& [alone, needed] : {std::pair("--per-example", "--json"),
                                            {"--present", "--suite"},
                                            {"--data-root=.", "--suite"},
                                            {"--model-name=a/b", "--mteb-results"}}) {
            const ChildResult result = worker({"evaluate", "--model", model(), "--data", in("en/sts"), alone});
            QCOMPARE(result.exit_code, 2);
            QVERIFY2(result.last_lines.find(std::string(" requires ") + needed) != std::string::npos, result.last_lines.c_str());
        }
    }

    /// Metrics of pairs and of bitexts are no means over examples: their values are what the metrics are made of.
    void per_example_values_of_pairs_and_bitexts_are_there() {
        for (const char* task : {"bitext_mining", "pair_classification"}) {
            make_directories(in(task));
            std::ofstream(in(task) + "/dataset.json") << Json{{"task", task}}.dump();
            std::ofstream out(in(task) + "/test.jsonl");
            for (int i = 0; i < 9; ++i)
                out << Json{{"sentence1", fmt::format("a cat number {}", i)}, {"sentence2", fmt::format("the cat {}", i)}, {"label", i % 2}}
                           .dump()
                    << "\n";
        }
        const ChildResult result = worker({"evaluate", "--model", model(), "--data", in("en/sts"), "--data", in("bitext_mining"), "--data",
                                           in("pair_classification"), "--json", "--per-example"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const Json sets = Json::parse(result.output).at("datasets");
        for (const Json& set : sets) QCOMPARE(set.at("per_example").size(), std::size_t{9});
        QCOMPARE(sets.at(0).at("per_example_of").get<std::string>(), std::string("cosine"));
        QCOMPARE(sets.at(0).at("per_example_wanted").dump(), std::string("[0.0,1.0,2.0,3.0,4.0,0.0,1.0,2.0,3.0]"));
        const auto similarities = sets.at(0).at("per_example").get<std::vector<double>>();
        const double again = 100 * spearman(similarities, sets.at(0).at("per_example_wanted").get<std::vector<double>>()).r;
        QVERIFY2(std::abs(again - sets.at(0).at("score").get<double>()) < 1e-6, std::to_string(again).c_str());
        double found = 0;
        for (const Json& value : sets.at(1).at("per_example")) found += value.get<double>() / 9;
        QVERIFY(std::abs(found - sets.at(1).at("metrics").at("accuracy").get<double>()) < 1e-9);
        QCOMPARE(sets.at(2).at("per_example_wanted").size(), std::size_t{9});
    }

    void what_was_measured_and_on_how_much_is_said() {
        write_retrieval(in("search"));
        const ChildResult result =
            worker({"evaluate", "--model", model(), "--data", in("search"), "--json", "--max-queries", "2", "--max-length", "40"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const Json json = Json::parse(result.output);
        QCOMPARE(json.at("model").get<std::string>(), model());
        QCOMPARE(json.at("max_length").get<int>(), 40);
        QCOMPARE(json.at("compute").get<std::string>(), std::string("float32"));
        QVERIFY(!json.at("version").get<std::string>().empty());
        const Json settings = json.at("datasets").at(0).at("settings");
        QCOMPARE(settings.at("max_queries").get<int>(), 2);
        QVERIFY(!settings.contains("max_documents"));
    }

    /// Bare numbers do not tell which queries fail.
    void each_example_says_which_it_is() {
        write_retrieval(in("search"));
        const ChildResult result =
            worker({"evaluate", "--model", model(), "--data", in("search"), "--data", in("en/sts"), "--json", "--per-example"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const Json sets = Json::parse(result.output).at("datasets");
        const Json search = sets.at(0), pairs = sets.at(1);
        QCOMPARE(search.at("examples").size(), std::size_t{3});
        for (std::size_t i = 0; i < 3; ++i) {
            const Json example = search.at("examples").at(i);
            QCOMPARE(example.at("value"), search.at("per_example").at(i));
            QCOMPARE(example.at("example").get<std::size_t>(), i + 1);
            const auto id = example.at("id").get<std::string>(), text = example.at("text").get<std::string>();
            QCOMPARE(text.substr(0, 12), "question " + id + " ");
            QVERIFY(text.size() < 210);
            QCOMPARE(example.at("wanted").get<std::string>(), "answer " + id.substr(1));
        }
        QCOMPARE(pairs.at("examples").at(3).at("wanted").get<double>(), 3.0);
        QVERIFY(pairs.at("examples").at(3).contains("other") && pairs.at("examples").at(3).at("value").is_number());
    }

    void two_sets_that_are_one_to_mteb_are_refused_before_they_are_scored() {
        const ChildResult result =
            worker({"evaluate", "--model", model(), "--data", in("STS12"), "--data", in("other/sts12"), "--mteb-results", in("results")});
        QCOMPARE(result.exit_code, 2);
        QVERIFY2(result.last_lines.find("'STS12' and 'sts12' are one data set to the mteb package") != std::string::npos,
                 result.last_lines.c_str());
        QVERIFY(!fs::exists(in("results")));
    }

    void a_part_of_a_set_is_refused_as_a_result_of_mteb() {
        const std::string root = in("limited");
        fs::create_directories(root);
        fs::copy(in("STS12"), root + "/STS12");
        std::ofstream(root + "/limited.yaml") << "name: limited\ndatasets:\n  - {name: STS12, type: sts, max_examples: 3}\n";
        for (const std::vector<std::string>& part : {std::vector<std::string>{"--data", in("STS12"), "--max-examples", "3"},
                                                     std::vector<std::string>{"--suite", root + "/limited.yaml", "--data-root", root}}) {
            std::vector<std::string> words{"evaluate", "--model", model(), "--mteb-results", in("part")};
            words.insert(words.end(), part.begin(), part.end());
            const ChildResult result = worker(words);
            QCOMPARE(result.exit_code, 2);
            QVERIFY2(result.last_lines.find("'STS12' is limited by max_examples") != std::string::npos, result.last_lines.c_str());
            QVERIFY(fs::is_empty(in("part")));  // looked at before, as it could not be written to
        }
    }

    void a_limit_that_does_not_reach_a_set_leaves_it_whole() {
        write_retrieval(in("search"));
        const ChildResult both =
            worker({"evaluate", "--model", model(), "--data", in("search"), "--data", in("en/sts"), "--json", "--max-examples", "2"});
        QVERIFY2(both.exit_code == 0, both.last_lines.c_str());
        QVERIFY2(both.last_lines.find("'search' is a retrieval set, and scored whole") != std::string::npos, both.last_lines.c_str());
        const Json sets = Json::parse(both.output).at("datasets");
        QVERIFY(!sets.at(0).at("settings").contains("max_examples"));
        QCOMPARE(sets.at(1).at("settings").at("max_examples").get<int>(), 2);
        for (const auto& [set, limit] : {std::pair("search", "--max-examples"), {"en/sts", "--max-queries"}}) {
            const ChildResult whole =
                worker({"evaluate", "--model", model(), "--data", in(set), "--mteb-results", in("whole"), limit, "2"});
            QVERIFY2(whole.exit_code == 0, whole.last_lines.c_str());
        }
    }

    /// A suite is read set by set: an hour's scores are not lost for a set that is broken.
    void what_was_scored_is_printed_where_a_later_set_is_broken() {
        const std::string root = in("suite");
        fs::create_directories(root);
        fs::copy(in("STS12"), root + "/STS12");
        fs::copy(in("STS12"), root + "/STS13");
        std::ofstream(root + "/STS13/test.jsonl", std::ios::app) << "{\n";
        std::ofstream(root + "/two.yaml")
            << "name: two\ntitle: two\ndescription: two\nget: here\ndatasets:\n"
               "  - {name: STS12, folders: [STS12], type: sts}\n  - {name: STS13, folders: [STS13], type: sts}\n";
        std::vector<std::string> words{"evaluate", "--model", model(), "--suite", root + "/two.yaml", "--data-root", root};
        const ChildResult table = worker(words);
        QCOMPARE(table.exit_code, 4);
        QVERIFY2(table.output.find("STS12") != std::string::npos, table.last_lines.c_str());
        QVERIFY2(table.last_lines.find("STS13/test.jsonl:10") != std::string::npos, table.last_lines.c_str());
        words.emplace_back("--json");
        const ChildResult result = worker(words);
        QCOMPARE(result.exit_code, 4);
        const Json json = Json::parse(result.output);
        QCOMPARE(json.at("datasets").size(), std::size_t(1));
        QCOMPARE(json.at("not_scored").dump(), std::string(R"(["STS13"])"));
    }

    void results_for_mteb_are_called_as_the_model_is() {
        const fs::path snapshot = folder_.path() / "hub/models--org--tiny/snapshots/0123abc";
        make_directories(snapshot.parent_path());
        fs::copy(model(), snapshot, fs::copy_options::recursive);
        qputenv("HF_HUB_CACHE", (folder_.path() / "hub").c_str());
        qputenv("HF_HUB_OFFLINE", "1");
        const auto called = [&](const std::string& name, const std::string& results) {
            const ChildResult result = worker({"evaluate", "--model", name, "--data", in("STS12"), "--mteb-results", in(results)});
            if (result.exit_code != 0) return result.last_lines;
            const fs::path revision = fs::directory_iterator(fs::directory_iterator(in(results))->path())->path();
            return read_json(revision / "model_meta.json").at("name").get<std::string>();
        };
        QCOMPARE(called(model() + "/", "slash"), std::string("faceter/bert"));
        QCOMPARE(called(model() + "/.", "dot"), std::string("faceter/bert"));
        QCOMPARE(called("org/tiny", "hub-results"), std::string("org/tiny"));
        QCOMPARE(called("org/tiny@0123abc", "hub-revision"), std::string("org/tiny"));
        for (const char* name : {"HF_HUB_CACHE", "HF_HUB_OFFLINE"}) qunsetenv(name);
    }

    void a_set_that_is_no_task_of_mteb_is_said_and_a_model_without_instructions_has_none() {
        for (const char* name : {"my own", "MindSmallReranking"}) fs::copy(in("STS12"), in(name), fs::copy_options::recursive);
        const ChildResult result = worker({"evaluate", "--model", model(), "--data", in("STS12"), "--data", in("my own"), "--data",
                                           in("MindSmallReranking"), "--mteb-results", in("own-results")});
        QCOMPARE(result.exit_code, 0);
        QVERIFY2(result.last_lines.find("note: MindSmallReranking is scored otherwise than version 2 of the mteb package does it: each "
                                        "query ranks by itself") != std::string::npos,
                 result.last_lines.c_str());
        QVERIFY2(result.last_lines.find("no suite knows 'my own' as a task of the mteb package") != std::string::npos,
                 result.last_lines.c_str());
        const fs::path revision = fs::directory_iterator(fs::directory_iterator(in("own-results"))->path())->path();
        QCOMPARE(read_json(revision / "model_meta.json").at("use_instructions").get<bool>(), false);
    }

    void the_start_model_of_a_run_is_named_as_the_hub_does_or_not_at_all() {
        const fs::path snapshot = folder_.path() / "hub/models--org--base/snapshots/0123abc";
        make_directories(snapshot.parent_path());
        fs::copy(model(), snapshot, fs::copy_options::recursive);
        const auto adapted_from = [&](const std::string& start, const std::string& name) {
            const Experiment experiment =
                Experiment::parse("name: " + name + "\nmodel: " + start + "\nthreads: 1\ntasks:\n  sts: {instructions: {text: \"\"}}\n" +
                                      "evaluation: {baseline: true, datasets: []}\n",
                                  folder_.path() / "e.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
            const RunDirectory run = RunDirectory::create(folder_.path() / "adapted", experiment, experiment.runs().front(), false);
            const ChildResult result =
                worker({"evaluate", "--model", run.folder().string(), "--data", in("STS12"), "--mteb-results", in(name)});
            if (result.exit_code != 0) return result.last_lines;
            const fs::path revision = fs::directory_iterator(fs::directory_iterator(in(name))->path())->path();
            const Json meta = read_json(revision / "model_meta.json");
            return json_or<std::string>(meta, "adapted_from", "none", "meta") + (meta.at("use_instructions").get<bool>() ? "" : ", plain");
        };
        QCOMPARE(adapted_from(snapshot.string(), "of-hub"), std::string("org/base, plain"));
        QCOMPARE(adapted_from(model(), "of-folder"), std::string("none, plain"));
    }

    void a_run_that_embeds_otherwise_is_another_revision_to_mteb() {
        const Experiment experiment =
            Experiment::parse("name: forms\nmodel: " + model() + "\nthreads: 1\ntasks:\n  sts: {instructions: {text: \"\"}}\n" +
                                  "evaluation: {baseline: true, datasets: []}\n",
                              folder_.path() / "e.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        const RunDirectory run = RunDirectory::create(folder_.path() / "formed", experiment, experiment.runs().front(), false);
        const std::vector<std::vector<std::string>> ways{{}, {"--compute", "int8"}, {"--max-length", "16"}};
        for (const std::vector<std::string>& more : ways) {
            std::vector<std::string> words{"evaluate",       "--model",  run.folder().string(), "--data", in("STS12"),
                                           "--mteb-results", in("forms")};
            words.insert(words.end(), more.begin(), more.end());
            const ChildResult result = worker(words);
            QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        }
        std::set<std::string> revisions;
        for (const fs::directory_entry& revision : fs::directory_iterator(fs::directory_iterator(in("forms"))->path()))
            revisions.insert(read_json(revision.path() / "model_meta.json").at("revision").get<std::string>());
        const std::string id = run.info().id;
        QCOMPARE(revisions, (std::set<std::string>{id, id + "-int8", id + "-16-tokens"}));
    }

    void a_split_beside_a_suite_alone_is_refused() {
        const ChildResult result =
            worker({"evaluate", "--model", model(), "--suite", "beir-15", "--data-root", folder_.path().string(), "--split", "dev"});
        QCOMPARE(result.exit_code, 2);
        QVERIFY2(result.last_lines.find("--split is of the folders of --data") != std::string::npos, result.last_lines.c_str());
    }

    void a_result_in_the_place_of_another_is_said() {
        const auto evaluated = [&](std::vector<std::string> more) {
            more.insert(more.begin(), {"evaluate", "--model", model(), "--data", in("STS12"), "--mteb-results", in("twice")});
            const ChildResult result = worker(more);
            return fmt::format("{} {}", result.exit_code, result.last_lines);
        };
        QCOMPARE(evaluated({}), std::string("0 "));
        QCOMPARE(evaluated({}), std::string("0 "));  // the very same scores
        const std::string other = evaluated({"--instruction", "a cat is a cat is a dog: "});
        QVERIFY2(
            other.starts_with("0 ") && other.find("STS12.json held other scores, which were replaced; --model-name") != std::string::npos,
            other.c_str());
        QCOMPARE(evaluated({"--instruction", "the dog: ", "--model-name", "faceter/bert-dog"}), std::string("0 "));
    }

    /// An older version made such runs: one of the two was never scored.
    void a_run_whose_names_meet_does_not_begin() {
        const Experiment experiment =
            Experiment::parse("name: names\nmodel: " + model() + "\nthreads: 1\ntasks:\n  sts: {instructions: {text: \"\"}}\n" +
                                  "evaluation: {datasets: [{path: en/sts}, {path: de/sts, name: other}]}\n",
                              folder_.path() / "e.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        const RunDirectory run = RunDirectory::create(folder_.path() / "project", experiment, experiment.runs().front(), false);
        Json info = read_json(run.folder() / "run.json");
        info["settings"]["evaluation"]["datasets"][1]["name"] = "sts";
        write_file_atomic(run.folder() / "run.json", info.dump());
        const ChildResult result = worker({"run", run.folder().string()});
        QCOMPARE(result.exit_code, 3);
        QVERIFY2(result.last_lines.find("evaluation.datasets[1] ('sts')") != std::string::npos, result.last_lines.c_str());
    }
};

FACETER_TEST(TestResultNames)
#include "test_result_names.moc"
