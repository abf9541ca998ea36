#include <sys/stat.h>

#include <fstream>

#include "cli/program.h"
#include "store/store.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// "exit code: the one line that says why", or what is wrong with it.
std::string told(const std::vector<std::string>& arguments) {
    const Outcome outcome = faceter::testing::faceter(arguments);
    if (outcome.err.find('\x1b') != std::string::npos || outcome.out.find('\x1b') != std::string::npos)
        return "an escape sequence went through";
    if (std::count(outcome.err.begin(), outcome.err.end(), '\n') > 1) return "more than one line: " + outcome.err;
    return fmt::format("{}: {}", outcome.code, outcome.err);
}

/// An experiment whose training data is `data`.
void write_experiment(const fs::path& file, const std::string& data) {
    std::ofstream(file) << "name: hostile\nmodel: minilm\ntasks:\n  retrieval:\n    train: [{name: p, source: file, path: " << data
                        << "}]\nvariants:\n  IC: {method: instruction}\n";
}

}  // namespace

/// Files of strangers that commands are pointed at: one error, the right exit code, no hang.
class TestHostile : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }

  private Q_SLOTS:
    void links_that_lead_round() {
        fs::create_symlink("loop.jsonl", in("loop.jsonl"));
        write_experiment(in("loop.yaml"), "loop.jsonl");
        HAS(told({"data", "show", in("loop.yaml")}), "4: faceter: " + in("loop.jsonl") + ": ");
        HAS(told({"check", in("loop.yaml")}), "4: faceter: " + in("loop.jsonl") + ": ");
    }
    void pipes_that_nobody_writes_to() {
        QCOMPARE(::mkfifo(in("pipe.jsonl").c_str(), 0600), 0);
        write_experiment(in("pipe.yaml"), "pipe.jsonl");
        HAS(told({"data", "show", in("pipe.yaml")}), "4: faceter: " + in("pipe.jsonl") + ": is not a file that can be read");
        HAS(told({"check", in("pipe.jsonl")}), "3: faceter: " + in("pipe.jsonl") + ": is not a file that can be read");
    }
    void documents_without_end() {
        HAS(told({"check", "/dev/zero"}), "3: faceter: /dev/zero: larger than");
        HAS(told({"study", "status", "/dev/zero", "--project", in("none")}), "4: faceter: /dev/zero: larger than");
        write_file_atomic(in("deep.yaml"), "name: " + std::string(100'000, '[') + std::string(100'000, ']'));
        HAS(told({"check", in("deep.yaml")}), "3: faceter: " + in("deep.yaml") + ":1: nested deeper than");
        make_directories(in("project/runs"));
        HAS(faceter::testing::faceter({"list", "--project", in("project"), "--where", std::string(9'000, '(') + "x = 1"}).err,
            "nested more than");
    }
    void a_store_that_somebody_holds_keeps_no_queue_waiting() {
        const RunDirectory run = sample_run(in("held"));
        { const Store made(in("held")); }
        Database other(Store::location(in("held")));
        other.execute("PRAGMA locking_mode = EXCLUSIVE");
        other.execute("BEGIN EXCLUSIVE");
        make_directories(in("held/queue/q-1/done"));
        write_file_atomic(in("held/queue/q-1/queue.json"), Json{{"runs", {run.folder().string()}}, {"worker", "/bin/false"}}.dump());
        const Outcome outcome = faceter::testing::faceter({"supervise", in("held/queue/q-1")});
        QCOMPARE(outcome.code, 0);
        HAS(outcome.err, "another program holds the store");
        HAS(outcome.err, "for 0.5 s");
        QCOMPARE(read_file(in("held/queue/q-1/done/" + run.info().id)), std::string("1\n"));
    }
    void escapes_in_a_run() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        Json json = read_json(run.folder() / "run.json");
        json["variant"] = "EM\x1b]0;title\x07\u202e";
        json["name"] = "x\x1b[31m";
        write_file_atomic(run.folder() / "run.json", json.dump());
        fs::remove(project.path() / "names.jsonl");
        run.append_user_event({{"note", "\x1b[2J"}, {"tag", "a\x1b[0m"}});
        HAS(told({"list", "--project", project.path().string()}), "0: ");
        HAS(told({"show", run.info().id, "--project", project.path().string()}), "0: ");
    }
    void a_loss_without_measure_is_written_short() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        write_attempt(run, 1, 1, "finished", 1e308);
        HAS(faceter::testing::faceter({"show", run.info().id, "--project", project.path().string()}).out, "  loss      1e+308\n");
        const Outcome listed = faceter::testing::faceter({"list", "--project", project.path().string()});
        HAS(listed.out, "1e+308");
        QVERIFY2(listed.out.find("00000") == std::string::npos, listed.out.c_str());
    }
    void controls_in_json_are_escaped_and_stay_what_they_are() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        const std::string note = "\xc2\x9b \x7f \u202e ü";
        run.append_user_event({{"note", note}});
        const Outcome listed = faceter::testing::faceter({"list", "--json", "--project", project.path().string()});
        QCOMPARE(listed.code, 0);
        for (const char* control : {"\xc2\x9b", "\x7f", "\u202e"})
            QVERIFY2(listed.out.find(control) == std::string::npos, listed.out.c_str());
        QCOMPARE(Json::parse(listed.out).at("runs").at(0).at("note"), Json(note));
    }
    void escapes_in_an_experiment_and_in_a_study() {
        const auto experiment = [&](const std::string& file, const std::string& name) {
            std::ofstream(in(file)) << "name: " << name << "\nmodel: minilm\nvariants:\n  IC: {method: instruction}\n"
                                    << "tasks:\n  retrieval:\n    train: [{name: p, source: file, path: p.tsv, format: pairs}]\n";
        };
        std::ofstream(in("p.tsv")) << "query\tdocument\na\tb\nc\td\n";
        experiment("escapes.yaml", "\"e\\x1b]0;title\\x07\"");
        const Outcome checked = faceter::testing::faceter({"check", in("escapes.yaml")});
        QCOMPARE(checked.code, 3);
        HAS(checked.err, "escapes.yaml:1:7: name is 'e");
        QVERIFY2(checked.err.find('\x1b') == std::string::npos, checked.err.c_str());
        experiment("plain.yaml", "plain");
        std::ofstream(in("study.yaml")) << "name: s\nquestion: \"q\\x1b[31m\"\nhypothesis: \"h\\x9b\"\nseeds: [1]\nclaims:\n"
                                           "  - {claim: \"c\\x1b[2J\", better: IC, than: start, smallest_difference: 1}\n"
                                           "experiments: [{file: plain.yaml}]\n";
        HAS(told({"study", "status", in("study.yaml"), "--project", in("none")}), "0: ");
        HAS(told({"study", "report", in("study.yaml"), "--project", in("none")}), ": ");
    }
    void a_run_whose_settings_say_nothing() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path(), 2);
        Json json = read_json(run.folder() / "run.json");
        json["settings"] = {{"model", "minilm"}, {"tasks", Json::array()}};
        write_file_atomic(run.folder() / "run.json", json.dump());
        for (const char* command : {"diagnose", "resume"}) {
            const Outcome outcome = faceter::testing::faceter({command, run.info().id, "--project", project.path().string()});
            QVERIFY(outcome.code != 0);
            HAS(outcome.out + outcome.err, "run.json: settings: member 'variant' is missing");
        }
    }
    void a_store_that_is_none() {
        const TemporaryDirectory project;
        sample_run(project.path());
        {
            Store(project.path()).ingest_all();
            Database(Store::location(project.path())).execute("DROP TABLE tags; CREATE VIEW tags(run, tag) AS SELECT 1, 2");
        }
        HAS(told({"list", "--project", project.path().string()}), "faceter ingest --rebuild");
        HAS(told({"ingest", "--rebuild", "--project", project.path().string()}), "0: ");
        HAS(told({"list", "--project", project.path().string()}), "0: ");
    }
    void a_bundle_that_is_none_makes_no_project() {
        const TemporaryDirectory folder;
        const fs::path broken = folder.path() / "broken.tar.gz", project = folder.path() / "p";
        write_file_atomic(broken, "no archive");
        for (const fs::path& file : {folder.path() / "none.tar.gz", broken}) {
            HAS(told({"open", file.string(), "--project", project.string()}), "4: ");
            QVERIFY(!fs::exists(project));
        }
        make_directories(project / "runs");
        HAS(told({"open", broken.string(), "--project", project.string()}), "4: ");
        QVERIFY(fs::is_directory(project / "runs"));  // it was there before
    }
    void a_damaged_analysis_of_one_run_keeps_no_other_from_being_compared() {
        const TemporaryDirectory project;
        for (const std::size_t i : {0U, 1U, 2U}) {
            const RunDirectory run = sample_run(project.path(), i);
            write_attempt(run, 1, 3, "finished");
            write_results(run, 1);
            write_similarity(run, 0.5);
            if (i == 2) overwrite(run.results() / "inter_task_similarity.json", "{\"pairs\":");
        }
        const Outcome compared = faceter::testing::faceter({"compare", "--project", project.path().string()});
        QCOMPARE(compared.code, 0);
        HAS(compared.err, "is left out: ");
        HAS(compared.out, "set0");
    }
    void links_out_of_a_run() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        fs::create_symlink(in("target"), run.folder() / "user.jsonl");
        HAS(told({"tag", run.info().id, "x", "--project", project.path().string()}), "5: ");
        QVERIFY(!fs::exists(in("target")));
    }
};

FACETER_TEST(TestHostile)
#include "test_hostile.moc"
