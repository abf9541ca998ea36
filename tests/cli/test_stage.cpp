#include <fstream>
#include <regex>
#include <set>

#include "cli/program.h"
#include "cli/tiny_experiment.h"
#include "common/hash.h"
#include "common/lock_file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* experiment = R"(name: tiny
model: models/tiny
max_length: 32
threads: 1
seeds: [1]
tasks:
  retrieval:
    instructions: {query: 'search query: ', document: 'search document: '}
    train: [{name: pairs, source: file, path: pairs.jsonl}, {source: file, path: pairs of others.jsonl}]
variants:
  IC: {method: instruction}
  MoTE: {method: mote}
objective: {method: gist, teacher: models/teacher}
training: {batch_size: 8, steps: 2, checkpoint_every_steps: 100}
evaluation: {baseline: true, datasets: [{path: beir, as: retrieval}]}
sweep:
  training.learning_rate: [1.0e-3, 2.0e-3]
)";

void put(const fs::path& file, const std::string& content) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
}

/// An experiment with its model, teacher and data beside it.
void write_source(const fs::path& folder) {
    fs::create_directories(folder / "models");
    fs::copy(fs::canonical(shared_folder() / "fixtures/bert"), folder / "models/tiny", fs::copy_options::recursive);
    fs::create_directory_symlink("tiny", folder / "models/teacher");
    put(folder / "models/tiny/.git/objects", "large");
    write_tiny_pairs(folder / "pairs.jsonl");
    write_tiny_pairs(folder / "pairs of others.jsonl");
    put(folder / "beir/corpus.jsonl", "{\"_id\": \"d1\", \"text\": \"an answer to 1\"}\n{\"_id\": \"d2\", \"text\": \"another\"}\n");
    put(folder / "beir/queries.jsonl", "{\"_id\": \"q1\", \"text\": \"question number 1\"}\n");
    put(folder / "beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n");
    put(folder / "mine.yaml", experiment);
}

}  // namespace

/// `faceter stage`, and what runs from it when the model, the data and every cache are gone.
class TestStage : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path source_ = folder_.path() / "söurce of mine", staged_ = folder_.path() / "staged";

    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    /// A home of its own each, so that no cache of this machine helps; libtorch is the programs' own.
    Outcome call(const std::vector<std::string>& arguments, const std::string& home = "home") const {
        return faceter::testing::faceter(
            arguments, {"HOME=" + in(home), "XDG_CACHE_HOME=", "FACETER_CACHE=", "HF_HUB_OFFLINE=1", "FACETER_SHARED=/nowhere"});
    }
    void refuses(const std::vector<std::string>& pieces, int code, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments{"run", "--staged", staged_.string(), "--project", in("refused")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = call(arguments);
        QVERIFY2(outcome.code == code, (std::to_string(outcome.code) + ": " + outcome.err).c_str());
        for (const std::string& piece : pieces) HAS(outcome.err, piece);
        QVERIFY(!fs::exists(in("refused/runs")));
    }
    /// What is changed in the staged folder is put back.
    void refuses_changed(const std::string& file, const std::string& content, const std::vector<std::string>& pieces) const {
        const fs::path path = staged_ / file;
        const bool was_there = fs::exists(path);
        const std::string before = was_there ? read_file(path) : "";
        OutputFile(path, OutputFile::Mode::truncate).write(content);
        refuses(pieces, 4);
        fs::remove(path);
        if (was_there) OutputFile(path, OutputFile::Mode::truncate).write(before);
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        fs::create_directories(in("home"));
        write_source(source_);
        const Outcome outcome = call({"stage", (source_ / "mine.yaml").string(), "--output", staged_.string(), "--json"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QCOMPARE(json_of(outcome)["runs"], Json(5));          // the start model, 2 variants x 2 points
        QCOMPARE(json_of(outcome)["token_caches"], Json(2));  // two instructions; the two files hold the same texts
        QVERIFY(!fs::exists(staged_ / "models/1/tiny/.git"));
        fs::rename(source_, folder_.path() / "moved away");
    }
    void what_is_staged_runs_with_everything_else_gone() {
        const Outcome outcome = call({"run", "--staged", staged_.string(), "--project", in("project"), "--json"}, "node");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QCOMPARE(json_of(outcome)["runs"].size(), std::size_t{5});
        const Project project(in("project"), false);
        const std::string text = read_file(project.find_run("MoTE-1").folder() / "run.json");
        QVERIFY2(text.find("moved away") == std::string::npos && text.find("mine/") == std::string::npos, text.c_str());
        QVERIFY(text.find(staged_.string()) != std::string::npos);
        QCOMPARE(read_file(project.find_run("MoTE-1").folder() / "experiment.yaml").substr(0, 11), std::string("name: tiny\n"));
        QVERIFY(fs::exists(project.find_run("IC-1").results() / "beir.json"));
    }
    void some_of_what_is_staged_are_run_alone() {
        const auto only = [&](const std::string& name) {
            return call({"run", "--staged", staged_.string(), "--project", in("some"), "--json", "--only", name}, "node");
        };
        const Outcome none = only("EM");
        QCOMPARE(none.code, 2);
        HAS(none.err, "has no run 'EM'; its runs are start/seed=1, IC/");
        QVERIFY(!fs::exists(in("some")));
        const Outcome outcome = only("start");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QCOMPARE(json_of(outcome)["runs"].size(), std::size_t{1});
        QVERIFY(fs::exists(Project(in("some"), false).find_run("start").results() / "beir.json"));
    }
    void a_model_of_another_alphabet_gets_a_folder_that_no_program_takes_for_an_option() {
        const std::string model = in("moved away/models/\u6a21\u578b b");
        fs::copy(in("moved away/models/tiny"), model, fs::copy_options::recursive);
        const Outcome outcome = call({"stage", in("moved away/mine.yaml"), "--output", in("named"), "--set", "model=" + model});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QVERIFY(fs::exists(in("named/models/1/b/config.json")));
    }
    void a_model_whose_name_on_the_hub_says_how_it_pools_keeps_it() {
        const std::string snapshot = "models--hkunlp--instructor-base/snapshots/0123456789abcdef0123456789abcdef01234567";
        fs::create_directories(fs::path(in("hub/" + snapshot)).parent_path());
        fs::copy(in("moved away/models/tiny"), in("hub/" + snapshot), fs::copy_options::recursive);
        const Outcome outcome =
            call({"stage", in("moved away/mine.yaml"), "--output", in("instructor"), "--set", "model=" + in("hub/" + snapshot)});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QVERIFY(fs::exists(in("instructor/models/1/" + snapshot + "/config.json")));
    }
    void the_node_reads_the_tokens_that_were_staged_and_makes_none() {
        if (!fs::exists(in("node/.cache/faceter/tokens"))) QSKIP("nothing ran");
        std::set<std::string> made, staged;
        for (const auto& entry : fs::directory_iterator(in("node/.cache/faceter/tokens"))) made.insert(entry.path().filename());
        for (const auto& entry : fs::directory_iterator(staged_ / "tokens")) staged.insert(entry.path().filename());
        QCOMPARE(made, staged);
    }
    void scores_are_those_of_the_experiment_itself() {
        if (!fs::exists(in("project/runs"))) QSKIP("nothing ran");
        const Outcome outcome = call({"run", in("moved away/mine.yaml"), "--project", in("direct"), "--set",
                                      "objective.teacher=" + in("moved away/models/teacher")});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        const Project direct(in("direct"), false), staged(in("project"), false);
        for (const char* run : {"start-1", "IC-1", "MoTE-2"}) {
            const auto score = [&](const Project& project) {
                return read_json(project.find_run(run).results() / "beir.json").at("score").dump();
            };
            QCOMPARE(score(staged), score(direct));
        }
    }
    void changes_after_staging_are_refused() {
        const std::string usage = "give --set, --seeds and --smoke to faceter stage";
        refuses({usage}, 2, {"--set", "training.steps=3"});
        refuses({usage}, 2, {"--seeds", "5"});
        refuses({usage}, 2, {"--smoke"});
        refuses({"name an experiment file, or --staged DIR"}, 2, {in("moved away/mine.yaml")});
    }
    void what_is_missing_or_another_is_refused_with_the_file() {
        const std::string pairs = read_file(staged_ / "data/2/pairs.jsonl");
        std::string same_size = pairs;
        same_size[20] ^= 1;
        refuses_changed("data/2/pairs.jsonl", same_size, {"pairs.jsonl", "SHA-256 differs", "copy the folder again"});
        refuses_changed("data/2/pairs.jsonl", pairs + "\n", {"pairs.jsonl", "were staged"});
        refuses_changed("models/1/tiny/extra.json", "{}", {"extra.json", "was not staged"});
        refuses_changed("runs.json", "[]", {"runs.json"});
        fs::rename(staged_ / "models/1/tiny/config.json", in("config.json"));
        refuses({"models/1/tiny/config.json", "is missing"}, 4);
        fs::create_symlink(in("config.json"), staged_ / "models/1/tiny/config.json");
        refuses({"is missing"}, 4);  // a link leads out of the folder
        fs::remove(staged_ / "models/1/tiny/config.json");
        fs::rename(in("config.json"), staged_ / "models/1/tiny/config.json");
    }
    void another_version_and_names_that_lead_elsewhere_are_refused() {
        const std::string card = read_file(staged_ / "staged.json");
        const auto with = [&](const std::string& old, const std::string& now) { return std::regex_replace(card, std::regex(old), now); };
        refuses_changed("staged.json", with("\"faceter\": \"[^\"]*\"", "\"faceter\": \"0.0.1\""),
                        {"Faceter 0.0.1 staged it", "stage it again"});
        refuses_changed("staged.json", with("experiment\\.yaml", "../../evil"), {"leaves the folder"});
        refuses_changed("staged.json", card.substr(0, card.size() / 2), {"staged.json"});
        std::string runs = read_file(staged_ / "runs.json");
        const std::string before = runs;
        runs = std::regex_replace(runs, std::regex("models/1/tiny"), "/etc");
        OutputFile(staged_ / "runs.json", OutputFile::Mode::truncate).write(runs);
        const std::string sealed = std::regex_replace(with(sha256_hex(before), sha256_hex(runs)), std::regex(std::to_string(before.size())),
                                                      std::to_string(runs.size()));
        refuses_changed("staged.json", sealed, {"'/etc'", "was not staged"});
        OutputFile(staged_ / "runs.json", OutputFile::Mode::truncate).write(before);
    }
    void what_is_no_staged_folder_is_refused() {
        const Outcome outcome = call({"run", "--staged", in("home"), "--project", in("refused")});
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "'faceter stage FILE --output DIR' makes one");
    }
    void a_cluster_gets_the_staged_runs_and_ssh_is_refused() {
        fs::create_directories(in("home/.config/faceter/profiles"));
        put(in("home/.config/faceter/profiles/gpu.yaml"), "kind: slurm\n");
        std::ofstream(in("home/.config/faceter/profiles/far.yaml")) << "kind: ssh\nhost: far\nfolder: /far/p\nfaceter: /far/faceter\n";
        const std::vector<std::string> submit{"submit", "--staged", staged_.string(), "--project", in("cluster"), "--profile"};
        auto with = [&](std::vector<std::string> more) {
            std::vector<std::string> all = submit;
            all.insert(all.end(), more.begin(), more.end());
            return call(all);
        };
        const Outcome dry = with({"gpu", "--dry-run"});
        QVERIFY2(dry.code == 0, dry.err.c_str());
        HAS(dry.out, "0-4");
        HAS(json_of(with({"gpu", "--dry-run", "--json"})).at("submission").get<std::string>(), "0-4");
        const Outcome far = with({"far"});
        QCOMPARE(far.code, 2);
        HAS(far.err, "copy it there and call 'faceter run --staged'");
    }
    void a_folder_that_another_is_writing_is_left_to_it() {
        const fs::path half = in(".busy.new");
        make_directories(half);
        write_file_atomic(half / "of-the-other", "x");
        {
            LockFile other(half);
            QCOMPARE(other.try_lock(), LockOutcome::taken);
            const Outcome outcome = call({"stage", in("moved away/mine.yaml"), "--output", in("busy")});
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, "another 'faceter stage' is writing it");
            QVERIFY(fs::exists(half / "of-the-other"));
        }
        remove_tree(half);
    }
    void a_stop_while_texts_are_tokenised_leaves_nothing() {
        write_file_atomic(in("worker"), "#!/bin/sh\nexec sleep 100\n");
        fs::permissions(in("worker"), fs::perms::owner_all);
        QProcess process;
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert(QStringLiteral("FACETER_WORKER"), QString::fromStdString(in("worker")));
        process.setProcessEnvironment(variables);
        process.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"),
                      {QStringLiteral("stage"), QString::fromStdString(in("moved away/mine.yaml")), QStringLiteral("--output"),
                       QString::fromStdString(in("ended"))});
        QByteArray said;
        QTRY_VERIFY_WITH_TIMEOUT((said += process.readAllStandardError()).contains("tokenising"), 60000);
        process.terminate();
        QVERIFY(process.waitForFinished(60000));
        said += process.readAllStandardError();
        QCOMPARE(process.exitCode(), 6);
        QVERIFY2(said.contains("stopped; nothing of the folder was left") && !said.contains(in("worker").c_str()), said);
        QVERIFY(!fs::exists(in("ended")) && !fs::exists(in(".ended.new")));
    }
    void staging_overwrites_nothing_and_leaves_nothing_half_made() {
        const Outcome again = call({"stage", in("moved away/mine.yaml"), "--output", staged_.string()});
        QCOMPARE(again.code, 2);
        HAS(again.err, "it is there already");
        const Outcome missing = call({"stage", in("moved away/mine.yaml"), "--output", in("none"), "--set", "model=nobody/nothing"});
        QCOMPARE(missing.code, 4);
        HAS(missing.err, "'nobody/nothing' was not found");
        for (const auto& entry : fs::directory_iterator(folder_.path()))
            QVERIFY(entry.path().filename().string().find("none") == std::string::npos);
    }
};

FACETER_TEST(TestStage)
#include "test_stage.moc"
