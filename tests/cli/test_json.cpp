#include <algorithm>
#include <fstream>

#include "cli/program.h"
#include "launch/queue_order.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// --json of commands that change something: a program that calls them learns what they did from standard output alone.
class TestJson : public QObject {
    Q_OBJECT
    std::unique_ptr<TemporaryDirectory> folder_;
    std::vector<RunDirectory> runs_;
    std::string project() const { return (folder_->path() / "project").string(); }
    Json call(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--json", "--project", project()});
        const Outcome outcome = faceter::testing::faceter(arguments);
        return outcome.code == 0 ? json_of(outcome) : throw std::runtime_error(outcome.err);
    }

  private Q_SLOTS:
    void init() {
        folder_ = std::make_unique<TemporaryDirectory>();
        runs_.clear();
        for (const std::size_t i : {2U, 0U}) {  // the second is the start model
            runs_.push_back(sample_run(project(), i));
            write_attempt(runs_.back(), 1, 3, "finished");
            write_results(runs_.back(), 1);
        }
    }
    void a_run_that_was_changed_is_named_with_what_was_changed_data() {
        QTest::addColumn<QStringList>("command");
        QTest::addColumn<QByteArray>("change");
        QTest::newRow("tag") << QStringList{"tag", "EM-1", "paper", "good"} << QByteArray(R"({"tagged": ["paper", "good"]})");
        QTest::newRow("as typed") << QStringList{"tag", "EM-1", "[wip]", "[a,b]", "c,,d,"}
                                  << QByteArray(R"({"tagged": ["[wip]", "[a,b]", "c,,d,"]})");
        QTest::newRow("untag") << QStringList{"tag", "EM-1", "paper", "--remove"} << QByteArray(R"({"untagged": ["paper"]})");
        QTest::newRow("note") << QStringList{"note", "EM-1", "so far"} << QByteArray(R"({"note": "so far"})");
        QTest::newRow("archive") << QStringList{"archive", "EM-1"} << QByteArray(R"({"archived": true})");
        QTest::newRow("archive --undo") << QStringList{"archive", "EM-1", "--undo"} << QByteArray(R"({"archived": false})");
        QTest::newRow("pin") << QStringList{"pin", "EM-1"} << QByteArray(R"({"pinned": true})");
        QTest::newRow("stop") << QStringList{"stop", "EM-1"} << QByteArray(R"({"was_over": true, "said": "is done already"})");
    }
    void a_run_that_was_changed_is_named_with_what_was_changed() {
        QFETCH(QStringList, command);
        QFETCH(QByteArray, change);
        std::vector<std::string> words;
        for (const QString& word : command) words.push_back(word.toStdString());
        Json wanted = {{"id", runs_.front().info().id}, {"name", "EM-1"}, {"folder", runs_.front().folder().string()}};
        wanted.update(Json::parse(change.toStdString()));
        const Json all = call(words);
        QCOMPARE(all.at("runs").size(), std::size_t{1});
        const std::string said = all.at("runs").at(0).dump();
        QVERIFY2(said == wanted.dump(), (said + " is not " + wanted.dump()).c_str());
    }
    void a_mean_over_fewer_data_sets_than_its_experiments_is_left_out_of_lists() {
        fs::remove(runs_.front().results() / "set0.json");
        const Json runs = call({"list"}).at("runs");
        for (const Json& run : runs) {
            const bool lacks = run.at("variant") == "EM";
            QCOMPARE(run.at("mean_score").is_null(), lacks);
            QCOMPARE(run.at("datasets").get<int>(), lacks ? 2 : 3);
        }
        const auto said = [&](const std::vector<std::string>& more) {
            std::vector<std::string> arguments{"list", "--project", project()};
            arguments.insert(arguments.end(), more.begin(), more.end());
            return faceter::testing::faceter(arguments).out;
        };
        QVERIFY2(said({}).find("1 run lacks data sets of its experiment: no mean") != std::string::npos, said({}).c_str());
        QVERIFY(said({"--columns", "seed,score"}).find("1 run lacks data sets of its experiment: no mean") != std::string::npos);
        QVERIFY(said({"--columns", "seed"}).find("data sets") == std::string::npos);
    }
    void a_deleted_run_is_told_of_with_where_it_lies() {
        const std::string id = runs_.front().info().id, folder = runs_.front().folder().string();
        const auto folder_after = [&](const std::vector<std::string>& command) {
            const Json runs = call(command).at("runs");
            return runs.size() == 1 && runs.at(0).at("id") == id ? runs.at(0).at("folder") : Json("another run");
        };
        QCOMPARE(folder_after({"delete", "EM-1"}), Json(project() + "/trash/" + id));
        QCOMPARE(folder_after({"restore", "EM-1"}), Json(folder));
        QCOMPARE(folder_after({"delete", "EM-1", "--now"}), Json());
        QVERIFY(!fs::exists(folder));
    }
    void one_run_is_no_runs() {
        const auto said = [&](const std::vector<std::string>& words) {
            std::vector<std::string> all = words;
            all.insert(all.end(), {"--project", project()});
            const Outcome outcome = faceter::testing::faceter(all);
            return outcome.out + outcome.err;
        };
        said({"delete", "EM-1"});
        HAS(said({"ingest"}), ": 1 run\n");
        HAS(said({"trash", "--empty"}), "1 run removed for good");
        HAS(said({"bundle", "--output", (folder_->path() / "one.tar.gz").string()}), "\n1 run, ");
    }
    /// The experiment's learning rate was changed in between: the first runs of the variant were told of, whichever was named.
    void examples_of_all_seeds_are_of_the_settings_of_the_run_that_is_named() {
        const Experiment other = parse_sample(std::string(sample_experiment()) + "training: {learning_rate: 0.001}\n");
        const RunDirectory changed = RunDirectory::create(project(), other, other.runs().at(1), false);
        write_attempt(changed, 1, 3, "finished");
        write_results(changed, 6);
        const Json as_before = call({"examples", "start-1", "EM-1", "--seeds"}),
                   with_another = call({"examples", "start-1", "EM-2", "--seeds"});
        QCOMPARE(as_before.at("rows").size(), std::size_t{0});  // scored as the start model was
        QCOMPARE(with_another.at("rows").size(), std::size_t{20});
    }
    /// Two seeds were run, and one is compared.
    void a_variant_that_stands_for_one_of_its_runs_is_said_to() {
        const RunDirectory second = sample_run(project(), 1);
        write_attempt(second, 1, 3, "finished");
        write_results(second, 2);
        const auto told = [&](const std::string& name) {
            return faceter::testing::faceter({"compare", "start", name, "--project", project()}).err;
        };
        HAS(told("em"), "em stands for its newest run, EM-2; for all 2 with scores: --where 'variant = \"EM\"' in the place of names\n");
        QCOMPARE(told("EM-2"), std::string());
        HAS(faceter::testing::faceter({"tag", "em", "x", "--project", project()}).err, "em stands for EM-2, the newest of 2 runs\n");
        QCOMPARE(faceter::testing::faceter({"tag", "em-2", "x", "--project", project()}).err, std::string());
        const Outcome deleted = faceter::testing::faceter({"delete", "EM", "--project", project()});
        QCOMPARE(deleted.code, 2);
        HAS(deleted.err, "'EM' stands for several runs: EM-2, EM-1; name those that are meant");
        QCOMPARE(told("start"), std::string());
    }
    /// Two tables in one stream are none that a program reads.
    void a_comparison_as_csv_is_one_table() {
        const RunDirectory mix = sample_run(project(), 3);
        write_attempt(mix, 1, 3, "finished");
        write_results(mix, 2);
        write_similarity(runs_.front(), 0.5);
        write_similarity(mix, 0.3);
        const Outcome csv = faceter::testing::faceter({"compare", "--format", "csv", "--project", project()});
        QCOMPARE(std::count(csv.out.begin(), csv.out.end(), '\n'), std::ptrdiff_t{4});  // a heading, the start model, EM and Mix
        HAS(csv.err, "inter-task similarities; faceter similarity RUN_A RUN_B --format csv");
        QCOMPARE(call({"compare"}).at("inter_task_similarity").size(), std::size_t{1});
    }
    void runs_that_were_followed_are_told_of_with_their_state() {
        const Json named = call({"follow", "EM-1"}).at("runs");
        QCOMPARE(named.size(), std::size_t{1});
        QCOMPARE(named.at(0).at("state"), Json("done"));
        const Json none = call({"follow"});
        QCOMPARE(none.dump(), std::string(R"({"runs":[]})"));
    }
    void queues_are_told_of_as_they_are_then() {
        for (const char* change : {"list", "pause", "continue"}) {
            const Json none = call({"queue", change});
            QCOMPARE(none.dump(), std::string(R"({"queues":[]})"));
        }
    }
    void a_report_is_told_of_by_its_file() {
        const std::string file = (folder_->path() / "r.md").string();
        const Json told = call({"report", "--output", file});
        QCOMPARE(told.at("output"), Json(file));
        QCOMPARE(told.at("pdf"), Json());
        QCOMPARE(told.at("runs").size(), std::size_t{2});
        QVERIFY(fs::exists(file));
    }
    /// In a folder whose name a shell would take for two.
    void commands_that_are_advised_can_be_pasted() {
        const std::string spaced = (folder_->path() / "my project").string(), quoted = "--project '" + spaced + "'\n";
        for (const std::size_t i : {0U, 2U}) {
            const RunDirectory run = sample_run(spaced, i);
            write_attempt(run, 1, 3, "finished");
            write_results(run, static_cast<double>(i));
        }
        HAS(faceter::testing::faceter({"compare", "--layout", "summary", "--project", spaced}).out, quoted);
        HAS(faceter::testing::faceter({"export", "none", (folder_->path() / "out").string(), "--project", spaced}).err, "list " + quoted);
        const std::string file = (folder_->path() / "not a study.yaml").string();
        write_file_atomic(file, sample_experiment());
        HAS(faceter::testing::faceter({"study", "run", file, "--project", spaced}).err, ": faceter run '" + file + "' --project DIR");
    }
    void a_new_experiment_is_told_of_by_its_file() {
        const std::string table = (folder_->path() / "my tickets.csv").string(), file = (folder_->path() / "mine.yaml").string();
        std::ofstream out(table);
        out << "text,label\n";
        for (int i = 0; i < 200; ++i) out << "the ticket of number " << i << (i % 2 ? " is late,slow\n" : " is broken,bug\n");
        out.close();
        const Outcome outcome = faceter::testing::faceter({"init", table, "--output", file, "--yes", "--json", "--seeds", "2"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        const Json told = json_of(outcome);
        QCOMPARE(told.at("experiment"), Json(file));
        QCOMPARE(told.at("seeds"), Json(2));
        QVERIFY(told.at("remarks").is_array());
    }
};

FACETER_TEST(TestJson)
#include "test_json.moc"
