#include <fstream>

#include "cli/program.h"
#include "common/file.h"
#include "common/hash.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter study`, from the file to the report, with really trained, tiny runs.
class TestStudyCommand : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }

    void write_data() const {
        make_directories(in("held/qrels"));
        std::ofstream pairs(in("pairs.jsonl")), corpus(in("held/corpus.jsonl")), queries(in("held/queries.jsonl")),
            qrels(in("held/qrels/test.tsv"));
        qrels << "query-id\tcorpus-id\tscore\n";
        for (int i = 0; i < 24; ++i) {
            pairs << Json{{"query", fmt::format("question {} of {}", i, i * 7 % 13)},
                          {"document", fmt::format("an answer to {} and {}", i, i * 7 % 13)}}
                         .dump()
                  << "\n";
            corpus << Json{{"_id", fmt::format("d{}", i)}, {"title", ""}, {"text", fmt::format("a text of {}", i)}}.dump() << "\n";
            queries << Json{{"_id", fmt::format("q{}", i)}, {"text", fmt::format("what of {}", i)}}.dump() << "\n";
            qrels << fmt::format("q{}\td{}\t1\n", i, i);
        }
    }
    void write_files(const std::string& more = "") const {
        std::ofstream(in("e.yaml"))
            << "name: tiny\nmodel: " << (shared_folder() / "fixtures/bert").string()
            << "\nmax_length: 32\nthreads: 1\n"
               "tasks:\n  retrieval: {instructions: {query: \"q: \", document: \"d: \"}, train: [{name: pairs, source: file, path: "
            << in("pairs.jsonl")
            << "}]}\n"
               "variants:\n  EM: {method: dense}\n  IC: {method: instruction}\n"
               "training: {batch_size: 8, steps: 2, learning_rate: 1.0e-4}\n"
               "evaluation: {baseline: true, datasets: [{name: held, path: "
            << in("held") << "}]}\n";
        std::ofstream(in("s.yaml")) << "name: tiny\nquestion: Does it?\nhypothesis: It does.\nseeds: [3, 4]\npilot_deviation: 0.01\n"
                                       "claims:\n  - {claim: IC over EM, better: IC, than: EM}\n"
                                       "experiments:\n  - {file: e.yaml}\n"
                                    << more;
    }
    Outcome study(const std::string& what, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> all = {"study", what, in("s.yaml"), "--project", in("p")};
        all.insert(all.end(), more.begin(), more.end());
        return faceter::testing::faceter(all);
    }

    /// Settings as they were resolved, scores an example, the file as it was written: byte for byte, and with the hashes that are listed.
    void check_opened_runs(const Json& card) const {
        std::map<std::string, std::string> hashes;
        for (const Json& file : card.at("files")) hashes[file.at("path")] = file.at("sha256");
        const Project mine(in("p"), false), theirs(in("theirs"), false);
        QCOMPARE(theirs.run_ids(), mine.run_ids());
        for (const std::string& id : mine.run_ids()) {
            for (const char* name : {"run.json", "experiment.yaml", "results/held.json"}) {
                const std::string content = read_file(theirs.runs_folder() / id / name);
                QCOMPARE(content, read_file(mine.runs_folder() / id / name));
                QCOMPARE(sha256_hex(content), hashes["runs/" + id + "/" + name]);
            }
            QVERIFY(!read_json(theirs.runs_folder() / id / "results/held.json").at("per_example").empty());
        }
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        write_data();
        write_files();
    }
    void it_runs_what_is_missing_and_reports_what_was_found() {
        NEED_SHARED();
        QCOMPARE(json_of(study("status", {"--json"})).at("planned").get<int>(), 5);
        const Outcome at_hand = faceter::testing::faceter({"study", "status", in("s.yaml"), "--json"}, {"FACETER_PROJECT=" + in("p")});
        QVERIFY2(at_hand.code == 0, at_hand.err.c_str());
        QCOMPARE(json_of(at_hand).at("planned").get<int>(), 5);
        const Outcome first = study("run");
        QVERIFY2(first.code == 0, first.err.c_str());
        const auto place = [&](const char* run) { return first.err.find(run); };
        QVERIFY2(place("EM-1 seed 3") < place("IC-1 seed 3") && place("IC-1 seed 3") < place("EM-2 seed 4"), first.err.c_str());
        QCOMPARE(Project(in("p"), false).run_ids().size(), std::size_t{5});
        HAS(study("run").out, "every run of tiny is done");
        QCOMPARE(Project(in("p"), false).run_ids().size(), std::size_t{5});
        const Json report = json_of(study("report", {"--json", "--output", in("report")}));
        QCOMPARE(report.at("done").get<int>(), 5);
        QCOMPARE(report.at("claims").at(0).at("n").get<int>(), 2);
        QCOMPARE(report.at("claims").at(0).at("interval_by").get<std::string>(), std::string("t"));
        QCOMPARE(report.at("claims").at(0).at("sets").at(0).at("set").get<std::string>(), std::string("held"));
        for (const char* file :
             {"report.md", "report.json", "forest_1.svg", "learning_curves.svg", "claims.csv", "effects.csv", "scores.csv", "costs.csv"})
            QVERIFY2(fs::exists(folder_.path() / "report" / file), file);
        HAS(read_file(folder_.path() / "report/forest_1.svg"), "difference (points)</text>");  // the sides' names are too long for an axis
        HAS(read_file(folder_.path() / "report/forest_1.svg"), "IC against EM, 2 seeds.");
        HAS(study("report").out, "## Answers");
    }
    void a_run_that_is_gone_is_made_again() {
        NEED_SHARED();
        Project(in("p"), false).remove(Project(in("p"), false).find_run("IC-s4").info().id);
        QCOMPARE(json_of(study("status", {"--json"})).at("done").get<int>(), 4);
        QCOMPARE(study("run").code, 0);
        QCOMPARE(json_of(study("status", {"--json"})).at("done").get<int>(), 5);
        QCOMPARE(Project(in("p"), false).run_ids().size(), std::size_t{5});
    }
    /// Once a new setting made every older record one of another run.
    void a_record_from_before_a_setting_was_there_still_counts() {
        NEED_SHARED();
        const fs::path file = Project(in("p"), false).find_run("IC-s4").folder() / "run.json";
        const std::string now = read_file(file);
        Json older = Json::parse(now);
        QCOMPARE(older["settings"]["tasks"]["retrieval"]["train"][0].erase("noise_rate"), std::size_t{1});
        QCOMPARE(older["settings"]["training"].erase("max_grad_norm"), std::size_t{1});
        write_file_atomic(file, older.dump());
        QCOMPARE(json_of(study("status", {"--json"})).at("done").get<int>(), 5);
        older["settings"]["tasks"]["retrieval"]["train"][0]["noise_rate"] = 0.5;
        write_file_atomic(file, older.dump());
        QCOMPARE(json_of(study("status", {"--json"})).at("done").get<int>(), 4);
        write_file_atomic(file, now);
    }
    void a_run_that_failed_is_said_why_and_gone_on_with() {
        NEED_SHARED();
        Project(in("p"), false).remove(Project(in("p"), false).find_run("IC-s4").info().id);
        const std::string pairs = read_file(in("pairs.jsonl"));
        write_file_atomic(in("pairs.jsonl"), "no JSON\n");
        QVERIFY(study("run").code != 0);
        const Outcome said = study("status");
        HAS(said.out, "failed: ");
        HAS(said.out, "pairs.jsonl");
        HAS(said.out, "to go on with them: faceter study run " + in("s.yaml") + " --project " + in("p") + "\n");
        const Json status = json_of(study("status", {"--json"}));
        QCOMPARE(status.at("done").get<int>(), 4);
        QCOMPARE(status.at("runs").size(), std::size_t{5});
        QCOMPARE(status.at("runs").at(4).at("state").get<std::string>(), std::string("failed"));
        HAS(status.at("runs").at(4).at("cause").get<std::string>(), "pairs.jsonl");
        const Json report = json_of(study("report", {"--json"}));
        QCOMPARE(report.at("done").get<int>(), 4);
        QCOMPARE(report.at("claims").at(0).at("seeds"), Json({3}));
        QCOMPARE(report.at("claims").at(0).at("verdict").get<std::string>(), std::string("undecided"));
        write_file_atomic(in("pairs.jsonl"), pairs);
        QCOMPARE(study("run").code, 0);
        QCOMPARE(Project(in("p"), false).run_ids().size(), std::size_t{5});
    }
    /// What a paper's supplement asks for: each in the archive, and in a project elsewhere.
    void its_bundle_holds_plan_verdict_records_and_sources() {
        NEED_SHARED();
        const std::string bundle = in("study.tar.gz");
        const Outcome packed = faceter::testing::faceter({"bundle", in("s.yaml"), "--project", in("p"), "--output", bundle, "--json"});
        QVERIFY2(packed.code == 0, packed.err.c_str());
        QCOMPARE(json_of(packed).at("runs").get<int>(), 5);
        const Outcome opened = faceter::testing::faceter({"open", bundle, "--project", in("theirs"), "--json"});
        QVERIFY2(opened.code == 0, opened.err.c_str());
        const fs::path top = json_of(opened).at("folder").get<std::string>();
        QCOMPARE(read_file(top / "study/study.yaml"), read_file(in("s.yaml")));
        QCOMPARE(read_json(top / "study/report.json").at("claims"), json_of(study("report", {"--json"})).at("claims"));
        for (const char* file : {"README.md", "report.html", "data.md", "study/report.md", "study/forest_1.svg", "bundle.json"})
            QVERIFY2(fs::exists(top / file), file);
        for (const char* folder : {"figures", "tables"}) QVERIFY2(!fs::is_empty(top / folder), folder);
        const Json cards = read_json(top / "data.json");
        for (const char* kind : {"data", "models"}) {
            QVERIFY2(!cards.at(kind).empty(), kind);
            for (const Json& card : cards.at(kind))
                QVERIFY2(card.contains("licence") && card.at("sha256").is_string(), card.dump().c_str());
        }
        for (const char* key : {"oord2018infonce", "romero2025mote"}) HAS(read_file(top / "references.bib"), key);
        check_opened_runs(read_json(top / "bundle.json"));
        QCOMPARE(json_of(faceter::testing::faceter({"study", "status", in("s.yaml"), "--project", in("theirs"), "--json"}))
                     .at("done")
                     .get<int>(),
                 5);
        // What was decided before, and changed since, is said there, too: once the report there called the study not begun.
        const Json here = json_of(study("report", {"--json"}));
        const Json there = json_of(faceter::testing::faceter({"study", "report", in("s.yaml"), "--project", in("theirs"), "--json"}));
        QVERIFY(!here.at("first_run").get<std::string>().empty());
        for (const char* member : {"hash", "first_run", "deviations"}) QCOMPARE(there.at(member), here.at(member));
    }
    void a_bundle_of_a_study_without_runs_is_refused() {
        NEED_SHARED();
        make_directories(in("empty/runs"));
        const Outcome outcome =
            faceter::testing::faceter({"bundle", in("s.yaml"), "--project", in("empty"), "--output", in("none.tar.gz")});
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "none of its runs is done");
        QVERIFY(!fs::exists(in("none.tar.gz")));
        const Outcome zip = faceter::testing::faceter({"bundle", "--project", in("p"), "--output", in("supplement.zip")});
        QCOMPARE(zip.code, 2);
        HAS(zip.err, "a name that ends in .tar.gz is expected");
    }
    void what_is_changed_or_left_out_stands_in_the_report() {
        NEED_SHARED();
        write_files("alpha: 0.1\nexclusions:\n  - {where: seed = 4 and variant = IC, reason: its machine was shut down}\n");
        const Json report = json_of(study("report", {"--json"}));
        QCOMPARE(report.at("claims").at(0).at("n").get<int>(), 1);
        QCOMPARE(report.at("excluded").size(), std::size_t{1});
        HAS(report.at("deviations").dump(), "alpha was 0.05, is 0.1");
        write_files();
    }
    /// A comparison said so, a study's report did not.
    void data_that_changed_meanwhile_are_a_deviation() {
        NEED_SHARED();
        write_files();
        const auto other = [&](const std::string& what, const std::vector<std::string>& more = {}) {
            std::vector<std::string> all = {"study", what, in("s.yaml"), "--project", in("changed")};
            all.insert(all.end(), more.begin(), more.end());
            return faceter::testing::faceter(all);
        };
        QCOMPARE(other("run").code, 0);
        QCOMPARE(json_of(other("report", {"--json"})).at("deviations"), Json::array());
        std::string plan = read_file(in("s.yaml"));
        plan.replace(plan.find("[3, 4]"), 6, "[3, 4, 5]");
        write_file_atomic(in("s.yaml"), plan);
        std::ofstream(in("pairs.jsonl"), std::ios::app) << R"({"query": "one more", "document": "its answer"})"
                                                        << "\n";
        std::ofstream(in("held/corpus.jsonl"), std::ios::app) << R"({"_id": "d99", "title": "", "text": "one more text"})"
                                                              << "\n";
        QCOMPARE(other("run").code, 0);
        const std::string deviations = json_of(other("report", {"--json"})).at("deviations").dump();
        HAS(deviations, "start-1 and EM-3 were scored on different data of held (faceter diff says more)");
        HAS(deviations, "EM-1 and EM-3 were trained on different files of retrieval, pairs (faceter diff says more)");
        HAS(other("report").out, "- EM-1 and EM-3 were trained on different files");
        write_data();
        write_files();
    }
    /// As in a comparison, where a second try never takes the place of the first.
    void the_earliest_of_the_runs_of_a_seed_counts() {
        NEED_SHARED();
        write_files();
        const auto counted = [&] {
            const Json status = json_of(study("status", {"--json"}));
            for (const Json& run : status.at("runs"))
                if (run.at("variant") == "EM" && run.at("seed") == 3) return run.at("run").get<std::string>();
            return std::string();
        };
        const std::string first = counted();
        const Outcome again = faceter::testing::faceter({"rerun", first, "--project", in("p")});
        QVERIFY2(again.code == 0, again.err.c_str());
        QCOMPARE(Project(in("p"), false).run_ids().size(), std::size_t{6});
        QCOMPARE(counted(), first);
    }
    /// resources/studies: what stands there is what its records say.
    void the_stored_records_give_the_stored_report_data() {
        QTest::addColumn<QString>("name");
        for (const auto& entry : fs::directory_iterator(FACETER_SOURCE_DIR "/resources/studies"))
            if (entry.is_directory()) QTest::newRow(entry.path().filename().c_str()) << QString(entry.path().filename().c_str());
    }
    void the_stored_records_give_the_stored_report() {
        QFETCH(QString, name);
        const fs::path stored = fs::path(FACETER_SOURCE_DIR) / "resources/studies" / name.toStdString();
        const std::string records = in(name.toStdString());
        fs::copy(stored / "records", records, fs::copy_options::recursive);
        const std::string file = fmt::format("{}/experiments/studies/{}.yaml", FACETER_SOURCE_DIR, name.toStdString());
        const Json report = json_of(faceter::testing::faceter({"study", "report", file, "--project", records, "--json"}));
        const Json expected = read_json(stored / "report.json");
        for (const char* member : {"hash", "first_run", "planned", "done", "deviations", "excluded"})
            QCOMPARE(report.at(member), expected.at(member));
        QCOMPARE(report.at("claims").size(), expected.at("claims").size());
        for (std::size_t i = 0; i < report.at("claims").size(); ++i)
            for (const char* member : {"claim", "verdict", "sentence", "n"})
                QCOMPARE(report.at("claims").at(i).at(member), expected.at("claims").at(i).at(member));
    }
    void a_side_that_no_experiment_makes_is_refused() {
        NEED_SHARED();
        write_files();
        std::string text = read_file(in("s.yaml"));
        text.replace(text.find("better: IC, than: EM}"), 21, "better: MoTE, than: EM}");
        write_file_atomic(in("s.yaml"), text);
        const Outcome outcome = study("run");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "none of its experiments makes 'MoTE' (known: EM, IC, start)");
        write_files();
    }
    void a_side_of_several_sweep_points_is_refused() {
        NEED_SHARED();
        std::ofstream(in("e.yaml"), std::ios::app) << "sweep:\n  training.learning_rate: [1.0e-4, 1.0e-5]\n";
        const Outcome outcome = study("status");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err,
            "'IC' is the name of several configurations; name one of tiny/IC/learning_rate=1.0e-4, tiny/IC/learning_rate=1.0e-5");
        write_files();
    }
    void an_experiment_in_the_place_of_a_study_is_said_to_be_one() {
        NEED_SHARED();
        const Outcome outcome = faceter::testing::faceter({"study", "status", in("e.yaml"), "--project", in("q")});
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "is an experiment, not a study");
    }
    void a_project_that_is_not_there_yet_is_said_not_to_be() {
        NEED_SHARED();
        const Outcome outcome = faceter::testing::faceter({"study", "status", in("s.yaml"), "--project", in("q")});
        QCOMPARE(outcome.code, 0);
        HAS(outcome.err, "is not there yet");
        QVERIFY(!fs::exists(in("q")));
    }
    void a_study_that_is_not_there_is_said_to_be() {
        NEED_SHARED();
        const Outcome outcome = faceter::testing::faceter({"study", "run", in("none.yaml"), "--project", in("q")});
        QVERIFY(outcome.code != 0);
        HAS(outcome.err, "none.yaml");
        QVERIFY(!fs::exists(in("q")));
    }
};

FACETER_TEST(TestStudyCommand)
#include "test_study_command.moc"
