#include <fstream>

#include "cli/program.h"
#include "cli/tiny_experiment.h"
#include "common/hash.h"
#include "support/lineage_project.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter lineage` and `faceter diff`, and what a run that was really trained says of its program and data.
class TestLineageCommand : public QObject {
    Q_OBJECT

    static Outcome call(const fs::path& project, std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--project", project.string()});
        return faceter::testing::faceter(arguments);
    }
    static JournalEvent event_of(const RunDirectory& run, const std::string& type) {
        for (const JournalEvent& event : read_journal(run.attempt_journal(1)).events)
            if (event.type == type) return event;
        throw std::runtime_error("the journal has no event " + type);
    }

  private Q_SLOTS:
    void the_tree_of_a_project_fits_a_hundred_columns() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        const Outcome outcome = call(folder.path(), {"lineage"});
        QCOMPARE(outcome.code, 0);
        HAS(outcome.out, "start-model  start model\n├─ IC-1  IC, seed 1");
        HAS(outcome.out, "merges IC-1, EM-1");
        QVERIFY2(widest_line(outcome.out) <= 100, outcome.out.c_str());
    }

    void around_a_run_and_as_json() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        const Outcome around = call(folder.path(), {"lineage", "Tuned-1"});
        QCOMPARE(around.code, 0);
        HAS(around.out, "Tuned-1");
        QVERIFY2(around.out.find("Gated-1") == std::string::npos, around.out.c_str());
        const Json json = json_of(call(folder.path(), {"lineage", "--json"}));
        QCOMPARE(json.at("project").get<std::string>(), folder.path().string());
        QCOMPARE(json.at("nodes").size(), std::size_t{7});
        QCOMPARE(json.at("edges").size(), std::size_t{9});
        QCOMPARE(json.at("nodes").at(0).at("id").get<std::string>(), project.ic.id);
    }

    void a_deleted_parent_is_named_and_an_edited_cycle_ends() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        QCOMPARE(call(folder.path(), {"delete", "EM-1"}).code, 0);
        HAS(call(folder.path(), {"lineage"}).out, "EM-1 (in the trash)");
        const fs::path record = folder.path() / "runs" / project.ic.id / "run.json";
        Json json = read_json(record);
        json["parent"] = project.again.id;
        overwrite(record, json.dump());
        const Outcome outcome = call(folder.path(), {"lineage"});
        QCOMPARE(outcome.code, 0);
        HAS(outcome.out, "IC-2");
    }

    void what_cannot_be_shown_has_its_exit_code() {
        const TemporaryDirectory folder, empty;
        const LineageProject project(folder.path());
        QCOMPARE(call(folder.path(), {"lineage", "nobody"}).code, 2);
        QCOMPARE(call(folder.path(), {"diff", "IC-1"}).code, 2);
        QCOMPARE(call(folder.path(), {"diff", "IC-1", "nobody"}).code, 2);
        QCOMPARE(call(empty.path(), {"lineage"}).code, 4);
        make_directories(empty.path() / "runs");
        const Outcome none = call(empty.path(), {"lineage"});
        QCOMPARE(none.code, 0);
        QCOMPARE(none.out, std::string());
        HAS(none.err, "no runs");
        for (const char* command : {"lineage", "diff"}) {
            const Outcome help = faceter::testing::faceter({command, "--help"});
            HAS(help.out, "Exit codes: 0 done");
            HAS(help.out, std::string("faceter ") + command);
            QVERIFY2(widest_line(help.out) <= 100, help.out.c_str());
        }
    }

    void two_runs_differ_in_every_form() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        const Outcome text = call(folder.path(), {"diff", "IC-1", "Tuned-1"});
        QCOMPARE(text.code, 0);
        HAS(text.out, "IC-1 -> Tuned-1");
        HAS(text.out, "objective.teacher");
        HAS(text.out, "has not been started");
        QVERIFY2(widest_line(text.out) <= 100, text.out.c_str());
        const Json json = json_of(call(folder.path(), {"diff", "IC-1", "Tuned-1", "--json"}));
        QVERIFY(json.at("settings").at("differing").size() >= 3);
        HAS(call(folder.path(), {"diff", "IC-1", "Tuned-1", "--format", "csv"}).out, "settings,");
    }

    void a_trained_run_says_what_program_made_it_and_what_it_read() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "p", data = folder.path() / "pairs.jsonl";
        write_tiny_pairs(data);
        write_tiny_experiment(folder.path() / "tiny.yaml", "pairs.jsonl", 2);
        const Outcome first = call(project, {"run", (folder.path() / "tiny.yaml").string(), "--json"});
        QVERIFY2(first.code == 0, first.err.c_str());
        const RunDirectory run(fs::path(json_of(first).at("runs").at(0).at("folder").get<std::string>()));
        const Json machine = event_of(run, "attempt_started").fields.at("machine");
        const std::string version = faceter::testing::faceter({"--version"}).out;
        QVERIFY(machine.at("commit").is_string());
        if (machine.at("commit") != "") HAS(version, "commit    " + machine.at("commit").get<std::string>());
        HAS(version, "libtorch  " + machine.at("libtorch").get<std::string>().substr(0, 6));
        QCOMPARE(machine.at("plugins").at("mote").at("library").get<std::string>().size(), std::size_t{16});
        const Json read = event_of(run, "data").fields;
        QCOMPARE(read.at("name").get<std::string>(), std::string("pairs"));
        QCOMPARE(read.at("card").at("files").at("sha256").get<std::string>(), sha256_file(data));
        QCOMPARE(read.at("card").at("fingerprint").get<std::string>().size(), std::size_t{32});

        std::ofstream(data, std::ios::app) << "{\"query\": \"one more\", \"document\": \"and its answer\"}\n";
        const Outcome second = call(project, {"rerun", "MoTE-1", "--json"});
        QVERIFY2(second.code == 0, second.err.c_str());
        const Outcome difference = call(project, {"diff", "MoTE-1", "MoTE-2"});
        HAS(difference.out, "training retrieval/pairs: examples  120 -> 121");
        HAS(difference.out, "training retrieval/pairs: files");
        HAS(difference.out, "settings: 0 differ");
        HAS(difference.out, "code: 0 differ");
        HAS(call(project, {"lineage"}).out, "reruns MoTE-1");
    }
};

FACETER_TEST(TestLineageCommand)
#include "test_lineage_command.moc"
