#include "checkpoint/hub_server.h"
#include "cli/program.h"
#include "cli/tiny_experiment.h"
#include "common/hash.h"
#include "data/parquet_file.h"
#include "packaging/command.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const std::string commit = "0123456789abcdef0123456789abcdef01234567";

/// org/tiny and org/teacher, both the tiny reference model, at one commit.
ServerAnswer tiny_hub(const ServerRequest& request) {
    const fs::path model = shared_folder() / "fixtures/bert";
    if (request.path.starts_with("/api/models/org/")) {
        Json listed = {{"sha", commit}, {"siblings", Json::array()}};
        for (const auto& entry : fs::recursive_directory_iterator(model))
            if (entry.is_regular_file()) listed["siblings"].push_back({{"rfilename", fs::relative(entry.path(), model).string()}});
        return {200, {}, listed.dump()};
    }
    const std::string start = "/resolve/" + commit + "/";
    const std::size_t at = request.path.find(start);
    if (!request.path.starts_with("/org/") || at == std::string::npos) return {404, {"X-Error-Code: RepoNotFound"}, ""};
    const std::string content = read_file(model / request.path.substr(at + start.size()));
    return {200, {"ETag: \"" + git_blob_id(content) + "\"", "X-Repo-Commit: " + commit}, content};
}

void write_medi(const fs::path& file) {
    std::ofstream out(file);
    for (int i = 0; i < 48; ++i) {
        const std::string set = i % 2 ? "nq" : "quora", instruction = "Represent the " + set + " text: ";
        const auto instructed = [&](const std::string& text) { return Json{instruction, text + std::to_string(i)}; };
        out << Json{{"task_name", set}, {"query", instructed("question ")}, {"pos", instructed("answer ")}, {"neg", instructed("nothing ")}}
            << '\n';
    }
}

void write_instructions(const fs::path& folder) {
    Json instances = Json::array();
    for (int i = 0; i < 24; ++i) {
        const std::string about = i % 2 ? "rain" : "sun";
        instances.push_back(
            {{"id", std::to_string(i)}, {"input", "sentence " + std::to_string(i) + " about " + about}, {"output", {about}}});
    }
    fs::create_directories(folder);
    write_file_atomic(folder / "task001_rain.json",
                      Json{{"Definition", {"Say what the sentence is about."}}, {"Instances", instances}}.dump());
}

void write_beir(const fs::path& folder) {
    fs::create_directories(folder / "qrels");
    write_file_atomic(folder / "corpus.jsonl", "{\"_id\": \"d1\", \"text\": \"a river\"}\n{\"_id\": \"d2\", \"text\": \"a tree\"}\n");
    write_file_atomic(folder / "queries.jsonl", "{\"_id\": \"q1\", \"text\": \"what flows?\"}\n");
    write_file_atomic(folder / "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n");
}

std::string experiment(const std::string& model, const std::string& tasks, const std::string& variants, const std::string& more,
                       const std::string& datasets = "{path: beir, as: one}") {
    return "name: staged\nmodel: " + model + "\nmax_length: 32\nthreads: 1\nseeds: [1]\ntasks:\n" + tasks + "variants:\n" + variants +
           "training: {batch_size: 8, steps: 2}\nevaluation: {baseline: false, datasets: [" + datasets + "]}\n" + more;
}

std::string task(const std::string& name, const std::string& source, const std::string& type = "retrieval") {
    return "  " + name + ": {type: " + type + ", instructions: {query: 'q: ', document: 'd: '}, train: [{" + source + "}]}\n";
}

/// Of each training set of a run: the fingerprint, and the noise that was put into it.
std::map<std::string, Json> noise_of(const fs::path& run) {
    std::map<std::string, Json> sets;
    std::ifstream lines(run / "journal/1/rank-0.jsonl");
    for (std::string line; std::getline(lines, line);) {
        const Json event = Json::parse(line);
        if (event.at("event") == "data" && event.at("use") == "training")
            sets[event.at("name")] = {event.at("card").at("fingerprint"), event.at("card").at("noise")};
    }
    return sets;
}

const std::string pairs = task("one", "name: pairs, source: file, path: pairs.jsonl");

}  // namespace

/// `faceter stage` of everything that experiments may name; then `run --staged` with no network and with all of it gone.
class TestStageSources : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::unique_ptr<HttpServer> hub_;

    fs::path source() const { return folder_.path() / "source"; }
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    std::vector<std::string> variables(const std::string& home) const {
        return {"HOME=" + in(home), "XDG_CACHE_HOME=",  "FACETER_CACHE=", "HF_HOME=",
                "HF_HUB_CACHE=",    "HF_HUB_OFFLINE=0", "HF_TOKEN=",      "HF_ENDPOINT=" + (hub_ ? hub_->url() : "")};
    }
    Outcome call(const std::vector<std::string>& arguments) const { return faceter::testing::faceter(arguments, variables("home")); }

    /// On a node: another home, no network, and the folder with the sources under another name.
    void stages_and_runs(const std::string& name, const std::string& text, std::size_t num_runs) {
        write_file_atomic(source() / (name + ".yaml"), text);
        const Outcome staged = call({"stage", (source() / (name + ".yaml")).string(), "--output", in(name), "--json"});
        QVERIFY2(staged.code == 0, staged.err.c_str());
        QCOMPARE(json_of(staged)["runs"], Json(num_runs));
        fs::rename(source(), in("away"));
        std::map<QString, QString> node;
        for (const std::string& pair : variables("node of " + name))
            node[QString::fromStdString(pair.substr(0, pair.find('=')))] = QString::fromStdString(pair.substr(pair.find('=') + 1));
        const auto ran = packaging::run("unshare",
                                        {"--map-root-user", "--net", FACETER_BINARY_DIR "/bin/faceter", "run", "--staged",
                                         packaging::text(in(name)), "--project", packaging::text(in("project of " + name))},
                                        node);
        fs::rename(in("away"), source());
        QVERIFY2(ran.code == 0, qPrintable(ran.output));
        std::size_t done = 0;
        for (const auto& run : fs::directory_iterator(in("project of " + name) + "/runs")) {
            done += fs::exists(run.path() / "results");
            const std::string record = read_file(run.path() / "run.json");
            QVERIFY2(record.find(source().string() + "/") == std::string::npos, record.c_str());
        }
        QCOMPARE(done, num_runs);
    }
    /// The folder of a run of `text`, made here.
    fs::path trained(const std::string& name, const std::string& text) {
        write_file_atomic(source() / (name + ".yaml"), text);
        const Outcome ran = call({"run", (source() / (name + ".yaml")).string(), "--project", (source() / name).string()});
        if (ran.code != 0) throw failure("{}", ran.err);
        return fs::directory_iterator(source() / name / "runs")->path();
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        if (packaging::run("unshare", {"--map-root-user", "--net", "true"}).code != 0)
            QSKIP("this machine lets nobody make a network namespace");
        for (const char* name : {"home", "source"}) fs::create_directories(in(name));
        fs::copy(shared_folder() / "fixtures/bert", source() / "tiny", fs::copy_options::recursive);
        write_tiny_pairs(source() / "pairs.jsonl");
        write_beir(source() / "beir");
    }
    void models_and_teachers_of_the_hub_are_fetched_once_and_staged() {
        hub_ = std::make_unique<HttpServer>(tiny_hub);
        stages_and_runs("hub",
                        experiment("org/tiny", pairs, "  EM: {method: dense}\n  IC: {method: instruction}\n",
                                   "objective: {method: gist, teacher: org/teacher@main}\n"),
                        2);
        const std::size_t asked = hub_->requests().size();
        QVERIFY(asked > 0);
        QVERIFY(fs::exists(in("hub/models/1/tiny/model.safetensors")));
        hub_.reset();
        for (const auto& entry : fs::recursive_directory_iterator(in("node of hub")))
            QVERIFY2(entry.path().string().find("huggingface") == std::string::npos, entry.path().c_str());
    }
    void data_sets_with_many_tasks_and_a_curriculum_s_teacher_are_staged() {
        write_medi(source() / "medi.jsonl");
        write_instructions(source() / "super");
        stages_and_runs("many",
                        experiment("./tiny",
                                   pairs + task("medi", "source: medi, path: medi.jsonl") +
                                       task("super", "source: natural_instructions, path: super", "classification"),
                                   "  IC: {method: instruction}\n", "curriculum: {method: data_cube, teacher: ./tiny}\n"),
                        1);
    }
    void wrong_pairs_are_the_same_ones_where_they_were_staged() {
        write_medi(source() / "medi.jsonl");
        const std::string text = experiment("./tiny",
                                            task("one", "name: pairs, source: file, path: pairs.jsonl, noise_rate: 0.5") +
                                                task("medi", "source: medi, path: medi.jsonl, noise_rate: 0.25"),
                                            "  IC: {method: instruction}\n", "");
        const auto here = noise_of(trained("noisy", text));
        QCOMPARE(here.size(), std::size_t{3});
        for (const auto& [name, seen] : here) QVERIFY2(seen.at(1).at("pairs").get<int>() > 0, name.c_str());
        stages_and_runs("noise", text, 1);
        QVERIFY(noise_of(fs::directory_iterator(in("project of noise") + "/runs")->path()) == here);
    }
    void parquet_is_staged() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        fs::copy(FACETER_SOURCE_DIR "/tests/data/parquet/classes", source() / "classes", fs::copy_options::recursive);
        stages_and_runs("parquet", experiment("./tiny", pairs, "  EM: {method: dense}\n", "", "{path: classes, as: one}"), 1);
    }
    void gates_and_the_base_of_other_runs_are_staged() {
        const std::string tasks = pairs + task("two", "name: more, source: file, path: pairs.jsonl");
        const fs::path base = trained("base", experiment("tiny", pairs, "  EM: {method: dense}\n", ""));
        const fs::path gates =
            trained("router", experiment(base.string(), tasks, "  R: {method: router_retriever, multi_task: false}\n", ""));
        write_file_atomic(
            source() / "contexts.jsonl",
            Json{{"query", "q"}, {"contexts", {{{"text", "a"}, {"kind", "original"}}, {{"text", "b"}, {"kind", "conflicting"}}}}}.dump() +
                "\n");
        stages_and_runs(
            "gates",
            experiment(base.string(), tasks,
                       "  R: {method: router_retriever, multi_task: false, gates: {one: " + (gates / "gates/one").string() + "}}\n",
                       "analyses: [{method: context_preference, path: contexts.jsonl}]\n"),
            1);
    }
    void a_model_whose_tokenizer_lies_in_the_folder_above_takes_it_along() {
        const fs::path above = source() / "training";
        fs::copy(source() / "tiny", above, fs::copy_options::recursive);
        fs::create_directories(above / "checkpoint-500");
        fs::rename(above / "model.safetensors", above / "checkpoint-500/model.safetensors");
        fs::copy(above / "config.json", above / "checkpoint-500/config.json");
        fs::copy(above / "checkpoint-500/model.safetensors", above / "model.safetensors");
        stages_and_runs("above", experiment("training/checkpoint-500", pairs, "  EM: {method: dense}\n", ""), 1);
        QVERIFY(fs::exists(in("above/models/1/tokenizer.json")) && !fs::exists(in("above/models/1/model.safetensors")));
        QVERIFY(!fs::exists(in("above/models/1/checkpoint-500/tokenizer.json")));
    }
    void what_is_not_there_is_refused_by_name() {
        write_file_atomic(source() / "none.yaml",
                          experiment("./tiny", pairs, "  R: {method: router_retriever, gates: {one: router/gates/none}}\n", ""));
        const Outcome outcome = call({"stage", (source() / "none.yaml").string(), "--output", in("none")});
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "router/gates/none: no such file or folder");
        QVERIFY(!fs::exists(in("none")));
    }
};

FACETER_TEST(TestStageSources)
#include "test_stage_sources.moc"
