#include "experiment/suite.h"

#include <fstream>
#include <set>

#include "common/json.h"
#include "data/child_process.h"
#include "data/settings.h"
#include "experiment/machine.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

fs::path put(const fs::path& file, std::string_view content) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
}

std::map<std::string, int> count_types(const Suite& suite) {
    std::map<std::string, int> counts;
    for (const SuiteSet& set : suite.sets) ++counts[set.task_type];
    return counts;
}

}  // namespace

class TestSuite : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void every_suite_of_this_installation_reads_and_names_its_data() {
        const std::vector<std::string> names = suite_names();
        QVERIFY(names.size() >= 6);
        for (const std::string& name : names) {
            const Suite suite = find_suite(name);
            QCOMPARE(suite.name, name);
            QVERIFY2(!suite.get.empty() && !suite.description.empty(), name.c_str());
            for (const SuiteSet& set : suite.sets) {
                const std::string where = name + ": " + set.name;
                QVERIFY2(!set.get.empty() && !set.mteb.empty(), where.c_str());
                QVERIFY2(set.metric == score_metric(set.task_type), where.c_str());
                QVERIFY2(set.split == set.entry.value("split", "test"), where.c_str());
                QVERIFY2(set.revision.size() == 40 || !set.parts.empty(), where.c_str());
                for (const SuiteSet::Part& part : set.parts) QVERIFY2(part.revision.size() == 40, where.c_str());
                QVERIFY2(set.get.find("//") == std::string::npos, "a data set is named, not a host");
            }
        }
    }
    /// MoTE, Tables 2 and 3: 15 + 12 + 11 and 4 + 3 + 10 + 1.
    void mteb_english_has_the_papers_56_data_sets() {
        const auto counts = count_types(find_suite("mteb-english-56"));
        QCOMPARE(counts, (std::map<std::string, int>{{"retrieval", 15},
                                                     {"classification", 12},
                                                     {"clustering", 11},
                                                     {"reranking", 4},
                                                     {"pair_classification", 3},
                                                     {"sts", 10},
                                                     {"summarisation", 1}}));
        QCOMPARE(count_types(find_suite("mote")), counts);
        QCOMPARE(find_suite("beir-15").sets.size(), std::size_t{15});
        QCOMPARE(find_suite("data-cube").sets.size(), std::size_t{28});
        QCOMPARE(find_suite("router-retriever").sets.size(), std::size_t{14});
        QCOMPARE(find_suite("nomic-embed-v2").sets.size(), std::size_t{16});
    }
    /// MTEB(eng, v2): 41.
    void mteb_english_v2_has_its_41_data_sets() {
        QCOMPARE(count_types(find_suite("mteb-english-v2")), (std::map<std::string, int>{{"retrieval", 10},
                                                                                         {"classification", 8},
                                                                                         {"clustering", 8},
                                                                                         {"reranking", 2},
                                                                                         {"pair_classification", 3},
                                                                                         {"sts", 9},
                                                                                         {"summarisation", 1}}));
    }
    void data_sets_splits_and_revisions_are_those_of_the_mteb_package() {
        const char* python = std::getenv("FACETER_PEERS");
        if (!python) QSKIP("no Python with mteb (FACETER_PEERS)");
        Json suites = Json::object();
        for (const auto& [benchmark, name] : {std::pair("MTEB(eng, v1)", "mteb-english-56"), std::pair("MTEB(eng, v2)", "mteb-english-v2")})
            for (const SuiteSet& set : find_suite(name).sets)
                suites[benchmark].push_back({{"mteb", set.mteb},
                                             {"type", set.task_type},
                                             {"get", set.get},
                                             {"revision", set.revision},
                                             {"split", set.entry.value("split", "test")},
                                             {"subsets", set.entry.value("subsets", Json::array())},
                                             {"examples_per_label", set.entry.value("examples_per_label", 8)}});
        const fs::path in = put(folder_.path() / "suites.json", suites.dump()), out = folder_.path() / "wrong.json";
        const ChildResult peer = run_child({python, FACETER_SOURCE_DIR "/tests/experiment/peer_suites.py", in.string(), out.string()},
                                           std::chrono::seconds(200), 1 << 20);
        if (peer.exit_code == 3) QSKIP("the peers' Python has no mteb");
        QVERIFY2(peer.exit_code == 0, peer.last_lines.c_str());
        QCOMPARE(read_json(out), Json::array());
    }
    void protocol_settings_are_mtebs() {
        const Suite suite = find_suite("mteb-english-56");
        const auto entry = [&](const std::string& name) {
            return std::find_if(suite.sets.begin(), suite.sets.end(), [&](const SuiteSet& set) { return set.name == name; })->entry;
        };
        QCOMPARE(entry("msmarco").at("split").get<std::string>(), std::string("dev"));
        QCOMPARE(entry("emotion").at("examples_per_label").get<int>(), 16);
        QCOMPARE(entry("amazon_counterfactual").at("examples_per_label").get<int>(), 32);
        QVERIFY(entry("arguana").at("exclude_same_id").get<bool>() && entry("quora").at("exclude_same_id").get<bool>());
        QCOMPARE(entry("sts17").at("subsets"), Json({"en-en"}));
        QVERIFY(entry("nq").empty());  // only what differs from the defaults
    }
    void a_task_types_metric_and_split_are_those_of_its_data_sets_unless_one_says_otherwise() {
        const Suite suite = read_suite(put(folder_.path() / "protocol.yaml",
                                           "name: a\ntasks:\n  sts: {metric: cosine_spearman, split: dev, differs: in all}\ndatasets:\n"
                                           "  - {name: x, type: sts}\n  - {name: y, type: sts, split: test, differs: in nothing}\n"
                                           "  - {name: z, type: clustering}\n"));
        QCOMPARE(suite.sets[0].split, std::string("dev"));
        QCOMPARE(suite.sets[0].entry, Json({{"split", "dev"}}));
        QCOMPARE(suite.sets[0].metric, std::string("cosine_spearman"));
        QCOMPARE(suite.sets[1].split, std::string("test"));
        QCOMPARE(suite.sets[1].entry, Json({{"split", "test"}}));
        QCOMPARE(suite.sets[0].differs + ", " + suite.sets[1].differs, std::string("in all, in nothing"));
        QVERIFY(suite.sets[2].split.empty() && suite.sets[2].metric.empty());
    }
    void unseen_tasks_take_a_seen_tasks_instruction_and_expert() {
        for (const SuiteSet& set : find_suite("mote").sets) {
            const bool unseen = set.task_type != "retrieval" && set.task_type != "classification" && set.task_type != "clustering";
            QCOMPARE(set.entry.contains("as"), unseen);
            if (unseen)
                QCOMPARE(set.entry.at("as").get<std::string>(), std::string(set.task_type == "reranking" ? "retrieval" : "classification"));
            QVERIFY(set.entry.contains("query_instruction"));
        }
    }
    void a_plan_finds_folders_by_any_of_their_names_and_lists_what_is_missing() {
        for (const char* name : {"TREC-COVID", "webis-touche2020", "SciFact", "unrelated"})
            fs::create_directories(folder_.path() / "data" / name);
        const Suite suite = find_suite("beir-15");
        const SuitePlan plan = plan_suite(suite, folder_.path() / "data", true);
        std::set<std::string> found;
        for (const Json& entry : plan.entries) found.insert(entry.at("name").get<std::string>());
        QCOMPARE(found, (std::set<std::string>{"scifact", "touche2020", "trec_covid"}));
        QCOMPARE(plan.missing.size(), std::size_t{12});
        const std::string text = describe_missing(suite, plan, folder_.path() / "data");
        QVERIFY2(text.find("12 of 15 data sets are not under") != std::string::npos && text.find("get mteb/hotpotqa") != std::string::npos,
                 text.c_str());
        QVERIFY2(text.find("get mteb/cqadupstack-unix, revision 6c6430d3a6d3\n") != std::string::npos, text.c_str());
        EXPECT_ERROR(plan_suite(suite, folder_.path() / "nowhere", true), "nowhere", "no such folder");
    }
    void names_in_letters_of_other_alphabets_are_told_apart() {
        const fs::path root = folder_.path() / "letters";
        for (const char* name : {"東京", "名古屋", "c", "C++"}) fs::create_directories(root / name);
        const Suite suite = read_suite(put(folder_.path() / "letters.yaml",
                                           "name: a\ndatasets:\n  - {name: 名古屋, type: sts}\n  - {name: 東京, type: sts}\n"
                                           "  - {name: C++, type: sts}\n  - {name: 大阪, type: sts}\n"));
        const SuitePlan plan = plan_suite(suite, root, true);
        QCOMPARE(plan.entries.size(), std::size_t{3});
        for (const Json& entry : plan.entries)
            QCOMPARE(fs::path(entry.at("path").get<std::string>()).filename().string(), entry.at("name").get<std::string>());
        QCOMPARE(plan.missing.front().name, std::string("大阪"));
        QVERIFY(!set_by_name("東京"));
    }
    void what_a_suite_leaves_out_is_named_in_any_writing_and_is_there() {
        const auto read = [&](const std::string& text) { return read_suite(put(folder_.path() / "part.yaml", "name: a\n" + text)); };
        const std::size_t all = find_suite("beir-15").sets.size();
        const Suite some = read("extends: beir-15\nleave_out: [TREC-COVID, scifact]\n");
        QCOMPARE(some.sets.size(), all - 2);
        for (const SuiteSet& set : some.sets) QVERIFY(set.name != "trec_covid" && set.name != "scifact");
        EXPECT_ERROR(read("extends: beir-15\nleave_out: [scifact, scifcat]\n"), "part.yaml:3:", "leave_out names 'scifcat'",
                     "did you mean 'scifact'?");
        EXPECT_ERROR(read("leave_out: [x]\ndatasets:\n  - {name: x, type: sts}\n"), "no data set of the suite that this one extends");
    }
    void what_a_suites_data_set_is_scored_as_is_a_task_or_a_type_of_tasks() {
        fs::create_directories(folder_.path() / "scored/x");
        const auto scored_as = [&](const std::string& as) {
            put(folder_.path() / "scored.yaml", "name: a\ndatasets:\n  - {name: x, type: sts, as: " + as + "}\n");
            const std::string text =
                sample_experiment() + fmt::format("  suite: {}\n  data_root: {}\n", (folder_.path() / "scored.yaml").string(),
                                                  (folder_.path() / "scored").string());
            return parse_sample(text).runs().front().settings.at("evaluation").at("datasets").back().at("as");
        };
        QCOMPARE(scored_as("clustering"), Json("clustering"));
        QCOMPARE(scored_as("reranking"), data_entry_schema().find("as")->default_value);  // a type that this experiment has no task of
        EXPECT_ERROR(scored_as("clusterng"), "data set 'x' of the suite is scored as 'clusterng'", "did you mean 'clustering'?");
    }
    void instructions_are_for_models_that_have_none() {
        fs::create_directories(folder_.path() / "one/banking77");
        const Suite suite = find_suite("mote");
        QCOMPARE(plan_suite(suite, folder_.path() / "one", true).entries.at(0).at("query_instruction").get<std::string>(),
                 std::string("classification: "));
        QVERIFY(!plan_suite(suite, folder_.path() / "one", false).entries.at(0).contains("query_instruction"));
    }
    void wrong_suites_are_refused_with_their_place() {
        const auto read = [&](std::string_view text) { return read_suite(put(folder_.path() / "wrong.yaml", text)); };
        EXPECT_ERROR(read("name: a\ndatasets:\n  - {name: x, type: retrievel}\n"), "wrong.yaml:3:", "retrieval");
        EXPECT_ERROR(read("name: a\ndatasets:\n  - {name: x, type: sts, splt: dev}\n"), "wrong.yaml:3:", "did you mean 'split'");
        EXPECT_ERROR(read("name: a\ndatasets:\n  - {name: x, type: sts, metric: ndcg_at_10}\n"),
                     "wrong.yaml:3:", "sts data sets are scored by cosine_spearman here, not by 'ndcg_at_10'");
        EXPECT_ERROR(read("name: a\ntasks:\n  sts: {metric: spearmint}\ndatasets:\n  - {name: x, type: sts}\n"),
                     "wrong.yaml:3:", "not by 'spearmint'");
        EXPECT_ERROR(read("name: a\ndatasets:\n  - {name: x, type: sts, parts: [{get: y}]}\n"), "wrong.yaml:3:", "revision");
        EXPECT_ERROR(read("name: a\ndatasets: []\n"), "no data set");
        EXPECT_ERROR(read("name: a\ndatasets:\n  - {name: x, type: sts}\n  - {name: x, type: sts}\n"), "two data sets are called 'x'");
        EXPECT_ERROR(read("name: a\nextends: beir-16\n"), "unknown suite 'beir-16'", "beir-15");
        EXPECT_ERROR(read("name: a\nextends: wrong.yaml\n"), "extend each other");
        EXPECT_ERROR(read("name: a\ntasks: {stz: {as: x}}\ndatasets:\n  - {name: x, type: sts}\n"), "unknown task type 'stz'");
    }
    void an_experiment_takes_a_suites_data_sets_over() {
        fs::create_directories(folder_.path() / "root/scifact");
        fs::create_directories(folder_.path() / "root/stsbenchmark");
        std::string sample = sample_experiment();
        sample.replace(sample.find("path: scifact"), 13, "path: scifact, name: mine");
        const std::string text =
            sample + fmt::format("  suite: mote\n  data_root: {}\n  missing: skip\n", (folder_.path() / "root").string());
        const Experiment experiment = parse_sample(text);
        const Json& datasets = experiment.runs().front().settings.at("evaluation").at("datasets");
        QCOMPARE(datasets.size(), std::size_t{3});
        QCOMPARE(datasets[1].at("name").get<std::string>(), std::string("scifact"));
        QVERIFY(datasets[1].contains("on_error"));                            // every default is filled in
        QVERIFY(!datasets[2].contains("as") || datasets[2]["as"].is_null());  // the experiment has no classification task
        QVERIFY(datasets[1]["query_instruction"].is_null());                  // the experiment's tasks say what is put in front
        EXPECT_ERROR(parse_sample(sample + fmt::format("  suite: mote\n  data_root: {}\n", (folder_.path() / "root").string())),
                     "quick.yaml:", "54 of 56 data sets are not under", "missing: skip");
        EXPECT_ERROR(parse_sample(sample + "  suite: mote\n"), "needs evaluation.data_root");
        EXPECT_ERROR(parse_sample(sample + "  suite: moat\n  data_root: /tmp\n"), "unknown suite 'moat'", "mote");
        EXPECT_ERROR(parse_sample(sample_experiment() + text.substr(sample.size())), "evaluation.datasets[0] ('scifact')",
                     "evaluation.datasets[1] ('scifact')");
    }
};

FACETER_TEST(TestSuite)
#include "test_suite.moc"
