#include <fmt/format.h>

#include <cmath>

#include "cli/program.h"
#include "common/file.h"
#include "common/strings.h"
#include "experiment/manifest.h"
#include "support/checkout.h"
#include "support/sample_model.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

std::string numbers(const Json& list) {
    std::string text;
    for (const Json& number : list) text += number.dump() + "\n";
    return text;
}

/// A plugin folder with the methods of the sample experiment.
void write_sample_plugin(const fs::path& folder) {
    Manifest manifest;
    manifest.id = "demo";
    manifest.version = "1.0";
    manifest.summary = "A demonstration.";
    manifest.abi = 1;
    manifest.fingerprint = "none";
    manifest.variants.push_back({"dense", "Dense.", {}});
    manifest.variants.push_back(
        {"mixture",
         "Mixture.",
         {"",
          "",
          {choice("placement", {"every", "every_other"}, "every",
                  "Which blocks are upcycled to a mixture: every one, or every other one, beginning with the second; the paper "
                  "finds that the second, fourth and sixth are enough.")}}});
    write_manifest(manifest, folder / "demo.json");
}

}  // namespace

class TestCli : public QObject {
    Q_OBJECT

    TemporaryDirectory folder_;
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    Outcome check(const std::string& experiment, const std::vector<std::string>& more = {}) const {
        write_file_atomic(in("e.yaml"), experiment);
        std::vector<std::string> arguments = {"check", in("e.yaml"), "--plugin-dir", in("plugins"), "--set", "model=" + in("model")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return faceter::testing::faceter(arguments);
    }

  private Q_SLOTS:
    void initTestCase() {
        make_directories(in("plugins"));
        write_sample_model(in("model"));
        write_scifact(folder_.path());
        write_sample_plugin(in("plugins"));
        write_file_atomic(in("pairs.tsv"), "a\tb\n");
    }

    void help_teaches_by_example_and_documents_exit_codes() {
        const Outcome help = faceter::testing::faceter({"--help"});
        QCOMPARE(help.code, 0);
        HAS(help.out, "faceter run experiments/quickstart.yaml --project");
        HAS(help.out, "Exit codes: 0 done, 2 wrong usage");
        for (const char* command :
             {"run", "check", "list",   "show",   "compare", "similarity", "tokenize", "resume", "rerun", "stop", "ingest",
              "tag", "note",  "delete", "doctor", "plugins", "schema",     "conform",  "stats",  "study", "data", "merge"}) {
            const Outcome one = faceter::testing::faceter({command, "--help"});
            QCOMPARE(one.code, 0);
            HAS(one.out, std::string("faceter ") + command);
            QVERIFY2(widest_line(one.out) <= 100, one.out.c_str());
        }
        HAS(faceter::testing::faceter({"compare", "--help"}).out, "wilcoxon-seeds");  // the words that an option takes
        HAS(faceter::testing::faceter({"conform", "--help"}).out, "company");
        QVERIFY2(widest_line(help.out) <= 100, help.out.c_str());
        QCOMPARE(faceter::testing::faceter({"--version"}).code, 0);
    }
    void help_is_a_word_as_well() {
        for (const std::vector<std::string>& command : {std::vector<std::string>{}, {"list"}, {"stats", "welch"}, {"embed"}}) {
            std::vector<std::string> asked{"help"}, known = command;
            asked.insert(asked.end(), command.begin(), command.end());
            known.push_back("--help");
            const Outcome outcome = faceter::testing::faceter(asked);
            QCOMPARE(outcome.code, 0);
            QCOMPARE(outcome.out, faceter::testing::faceter(known).out);
        }
        HAS(faceter::testing::faceter({"help", "compar"}).err, "did you mean 'compare'?");
    }
    void unknown_commands_and_flags_name_the_nearest() {
        const Outcome command = faceter::testing::faceter({"compar"});
        QCOMPARE(command.code, 2);
        HAS(command.err, "unknown command 'compar'; did you mean 'compare'?");
        const Outcome flag = faceter::testing::faceter({"list", "--projct", "x"});
        QCOMPARE(flag.code, 2);
        HAS(flag.err, "unknown flag '--projct' of list; did you mean '--project'?");
        const Outcome nested = faceter::testing::faceter({"stats", "welsh"});
        QCOMPARE(nested.code, 2);
        HAS(nested.err, "did you mean 'welch'?");
        HAS(faceter::testing::faceter({"stats", "welch", "a.txt"}).err,
            "unexpected argument 'a.txt' of stats welch; see faceter stats welch --help");
        HAS(faceter::testing::faceter({"data"}).err, "data is followed by one of duplicates, overlap, show, mine, filter, score");
        HAS(faceter::testing::faceter({"data", "filte"}).err, "did you mean 'filter'?");
        QCOMPARE(faceter::testing::faceter({}).code, 2);
        QCOMPARE(faceter::testing::faceter({"stats", "welch", "--a", "x"}).code, 2);
        HAS(faceter::testing::faceter({"--projct"}).err, "unknown flag '--projct' of faceter");
    }
    void what_the_worker_serves_names_the_nearest_as_well() {
        HAS(faceter::testing::faceter({"serve", "--prot", "80", "m"}).err, "unknown flag '--prot' of serve; did you mean '--port'?");
        HAS(faceter::testing::faceter({"router", "explian"}).err, "unknown command 'explian'; did you mean 'explain'?");
        HAS(faceter::testing::faceter({"router"}).err,
            "router is followed by one of list, explain, add, remove; see faceter router --help");
        HAS(faceter::testing::faceter({"data", "mine", "--modle", "x"}).err, "did you mean '--model'?");
        HAS(faceter::testing::faceter({"data", "mine", "no_such_file"}).err, "see faceter data mine --help");
    }
    void welch_gives_scipys_values() {
        NEED_SHARED();
        const Json fixture = read_json(shared_folder() / "fixtures/stats/stats.json");
        int cases = 0;
        for (const Json& one : fixture["welch_t"]["cases"]) {
            write_file_atomic(in("a.txt"), numbers(one["a"]));
            write_file_atomic(in("b.txt"), numbers(one["b"]));
            for (const auto& [alternative, expected] : one["results"].items()) {
                const Outcome outcome = faceter::testing::faceter(
                    {"stats", "welch", "--a", in("a.txt"), "--b", in("b.txt"), "--alternative", alternative, "--json"});
                QCOMPARE(outcome.code, 0);
                const Json json = json_of(outcome);
                // SciPy loses digits of a mean difference under a common offset of 1e8; the exact value is ours (tests/stats).
                const double tolerance = one["name"] == "large_offset" ? 1e-6 : 1e-10;
                for (const char* key : {"t", "df", "p"}) {
                    if (!expected.contains(key) || !expected[key].is_number()) continue;
                    QVERIFY2(json[key].is_number(), one["name"].get<std::string>().c_str());
                    const double want = expected[key], got = json[key];
                    QVERIFY(std::abs(want - got) <= tolerance * std::max(1.0, std::abs(want)));
                }
                QCOMPARE(json["n_a"].get<std::size_t>(), one["a"].size());
                QVERIFY(json.contains("mean_a") && json.contains("mean_b") && json.contains("n_b"));
                ++cases;
            }
        }
        QVERIFY(cases >= 3);
    }
    void a_line_that_is_no_number_is_named() {
        write_file_atomic(in("good.txt"), "1\n2\n\n3.5e1\n");
        write_file_atomic(in("bad.txt"), "1\n2,5\n");
        const Outcome outcome = faceter::testing::faceter({"stats", "welch", "--a", in("good.txt"), "--b", in("bad.txt")});
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "bad.txt:2: '2,5' is not a number");
        QCOMPARE(faceter::testing::faceter({"stats", "welch", "--a", in("missing.txt"), "--b", in("good.txt")}).code, 4);
        QCOMPARE(faceter::testing::faceter({"stats", "welch", "--a", in("good.txt"), "--b", in("good.txt"), "--alternative", "lss"}).code,
                 2);
    }
    void a_value_that_there_is_not_is_nan_without_a_sign() {
        write_file_atomic(in("one.txt"), "1\n");
        write_file_atomic(in("same.txt"), "2\n2\n2\n");
        for (const std::vector<std::string>& test : {std::vector<std::string>{"welch"}, {"paired"}, {"tost", "--margin", "0.5"}}) {
            for (const char* file : {"one.txt", "same.txt"}) {
                std::vector<std::string> command = {"stats"};
                command.insert(command.end(), test.begin(), test.end());
                command.insert(command.end(), {"--a", in(file), "--b", in(file)});
                const std::string out = faceter::testing::faceter(command).out;
                QVERIFY2(out.find("-nan") == std::string::npos, out.c_str());
            }
        }
        HAS(faceter::testing::faceter({"stats", "welch", "--a", in("same.txt"), "--b", in("same.txt")}).out, "t = nan, df = 1, p = nan");
        HAS(faceter::testing::faceter({"stats", "paired", "--a", in("same.txt"), "--b", in("same.txt")}).out,
            "Wilcoxon:  no difference is other than zero");
    }
    void a_planned_test_says_how_many_seeds_it_needs() {
        const Outcome wanted =
            faceter::testing::faceter({"stats", "power", "--test", "welch", "--effect", "0.5", "--power", "0.8", "--json"});
        QVERIFY2(wanted.code == 0, wanted.err.c_str());
        QCOMPARE(json_of(wanted)["n"].get<int>(), 64);
        const Outcome given =
            faceter::testing::faceter({"stats", "power", "--effect", "-0.8", "--n", "12", "--alternative", "less", "--json"});
        QVERIFY2(given.code == 0, given.err.c_str());
        QVERIFY(std::abs(json_of(given)["power"].get<double>() - 0.8289808640) < 1e-7);
        QCOMPARE(faceter::testing::faceter({"stats", "power", "--effect", "0.5"}).code, 2);
        QCOMPARE(faceter::testing::faceter({"stats", "power", "--effect", "0.5", "--n", "5", "--power", "0.8"}).code, 2);
    }
    void equivalence_of_two_files_is_tested() {
        write_file_atomic(in("one.txt"), "42.9\n42.2\n43.1\n42.5\n43.3\n");
        write_file_atomic(in("two.txt"), "42.7\n42.5\n42.8\n42.6\n42.9\n");
        const std::vector<std::string> command = {"stats", "tost", "--a", in("one.txt"), "--b", in("two.txt"), "--margin", "0.5", "--json"};
        QVERIFY(std::abs(json_of(faceter::testing::faceter(command))["p"].get<double>() - 0.05910062231) < 1e-9);
        auto pairs = command;
        pairs.push_back("--paired");
        QVERIFY(std::abs(json_of(faceter::testing::faceter(pairs))["p"].get<double>() - 0.01868542117) < 1e-9);
        write_file_atomic(in("two.txt"), "42.7\n");
        QCOMPARE(faceter::testing::faceter(pairs).code, 2);
        QVERIFY(json_of(faceter::testing::faceter(command))["p"].is_null());
    }
    /// Each file dropped its own, so that later values were paired with the wrong ones.
    void a_blank_line_among_pairs_is_refused() {
        write_file_atomic(in("one.txt"), "1\n\n3\n4\n");
        write_file_atomic(in("two.txt"), "1\n2\n3\n\n \n");
        for (const std::vector<std::string>& test : {std::vector<std::string>{"paired"}, {"tost", "--margin", "0.5", "--paired"}}) {
            std::vector<std::string> command = {"stats"};
            command.insert(command.end(), test.begin(), test.end());
            command.insert(command.end(), {"--a", in("one.txt"), "--b", in("two.txt")});
            const Outcome outcome = faceter::testing::faceter(command);
            QCOMPARE(outcome.code, 4);
            HAS(outcome.err, "one.txt:2: is blank, and numbers follow");
        }
        for (const std::string test : {"welch", "paired"})  // at the end it stands for nothing
            QCOMPARE(faceter::testing::faceter({"stats", test, "--a", in("two.txt"), "--b", in("two.txt")}).code, 0);
        HAS(faceter::testing::faceter({"stats", "welch", "--a", in("one.txt"), "--b", in("two.txt")}).out, "(n = 3)");
    }
    void both_samples_are_not_standard_input() {
        const Outcome outcome = faceter::testing::faceter({"stats", "welch", "--a", "-", "--b", "-"}, {}, "1\n2\n");
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "--a and --b cannot both be standard input");
    }
    void numbers_do_not_depend_on_the_locale() {
        write_file_atomic(in("one.txt"), "1.5\n2.5\n4.0\n");
        write_file_atomic(in("two.txt"), "0.5\n0.25\n1\n");
        const std::vector<std::string> arguments = {"stats", "welch", "--a", in("one.txt"), "--b", in("two.txt"), "--json"};
        QCOMPARE(faceter::testing::faceter(arguments, {"LC_ALL=de_DE.UTF-8"}).out, faceter::testing::faceter(arguments, {"LC_ALL=C"}).out);
    }
    /// 'faceter bundle --plugin-dir D EM-1' packed all runs.
    void the_word_behind_a_plugin_folder_is_the_commands() {
        const Outcome one = faceter::testing::faceter({"plugins", "--plugin-dir", in("plugins"), "demo"});
        QCOMPARE(one.out, faceter::testing::faceter({"plugins", "demo", "--plugin-dir", in("plugins")}).out);
        HAS(one.out, "placement");
        HAS(faceter::testing::faceter({"run", "--project", in("none"), "--plugin-dir", in("plugins"), in("missing.yaml")}).err,
            "missing.yaml");
    }
    void the_query_of_a_table_is_what_asks_or_stands_beside_a_known_name() {
        for (const std::string header : {"frage,antwort", "hinweis,answer"}) {  // texts of the first column are longer
            const char* end = header.starts_with("frage") ? "?" : ".";
            std::string table = header + "\n";
            for (int i = 0; i < 60; ++i) table += fmt::format("how is it that thing {0} stands still{1},press knob {0}\n", i, end);
            write_file_atomic(in("half.csv"), table);
            const std::string file = in(header.substr(0, 5) + ".yaml");
            const Outcome outcome = faceter::testing::faceter({"init", in("half.csv"), "--output", file, "--yes"});
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
            HAS(outcome.err, "columns: query=" + header.substr(0, header.find(',')) + ", document=a");
        }
    }
    void settings_of_a_plugin_are_wrapped_not_cut() {
        const Outcome narrow = faceter::testing::faceter({"plugins", "demo", "--plugin-dir", in("plugins")}, {"COLUMNS=80"});
        QCOMPARE(narrow.code, 0);
        QVERIFY2(widest_line(narrow.out) <= 80, narrow.out.c_str());
        QVERIFY(narrow.out.find("…") == std::string::npos);
        for (const char* word : {"blocks", "are", "upcycled", "mixture", "the", "sixth"}) HAS(narrow.out, word);
    }
    void a_link_in_a_citation_is_not_cut() {
        const std::string link = "https://example.org/" + std::string(80, 'a');
        Manifest manifest;
        manifest.id = "cited";
        manifest.abi = 1;
        manifest.fingerprint = "none";
        manifest.citation = "Somebody, 2025. " + link;
        make_directories(in("cited"));
        write_manifest(manifest, fs::path(in("cited")) / "cited.json");
        HAS(faceter::testing::faceter({"plugins", "cited", "--plugin-dir", in("cited")}, {"COLUMNS=60"}).out, "\n  " + link + "\n");
    }
    void check_lists_the_runs_that_a_file_makes() {
        const Outcome outcome = check(sample_experiment(), {"--json"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        const Json json = json_of(outcome);
        QCOMPARE(json["runs"].size(), std::size_t{5});
        QCOMPARE(json["runs"][3]["plugin"].get<std::string>(), std::string("demo"));
        HAS(check(sample_experiment()).out, "quick makes 5 runs");
    }
    void check_tells_the_negatives_of_a_batch() {
        const std::string experiment = std::string(sample_experiment()) + "training: {batch_size: 16}\n";
        const Outcome outcome = check(experiment);
        HAS(outcome.out, "negatives of each query, at most");
        HAS(outcome.out, "as given");
        QVERIFY2(widest_line(outcome.out) <= 100, outcome.out.c_str());
        const Json runs = json_of(check(experiment, {"--json", "--devices", "4"}))["runs"];
        QVERIFY(runs[0]["negatives"].empty());  // the start model is not trained
        const Json& negatives = runs[1]["negatives"][0];
        QCOMPARE(negatives["tasks"], Json({"retrieval"}));
        QCOMPARE(negatives["in_batch"].get<int>(), 15);
        QCOMPARE(negatives["pairs_per_process"].get<int>(), 4);
        QVERIFY(negatives["hard"].is_null());
    }
    void only_some_of_the_runs_are_made() {
        const Json runs = json_of(check(sample_experiment(), {"--json", "--only", "Mix", "--only", "EM/seed=2"}))["runs"];
        QCOMPARE(runs.size(), std::size_t{3});
        QCOMPARE(runs[0]["name"].get<std::string>(), std::string("EM/seed=2"));
        const Outcome outcome = check(sample_experiment(), {"--only", "Mux"});
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "makes no run 'Mux'");
        HAS(outcome.err, "Mix/seed=1");
        HAS(check(sample_experiment(), {"--only", "Mix/seed=1"}).out, "quick makes 1 run\n");
        HAS(check(sample_experiment(), {"--only", "Mix", "--memory"}).err, "leave --only out");
        HAS(check(sample_experiment(), {"--only", "mix"}).err, "makes no run 'mix'; did you mean 'Mix'? its runs are");
    }
    void a_point_is_chosen_by_its_whole_name() {
        write_sample_model(in("model/other"));
        const std::string first = "model=" + in("model"), second = first + "/other";
        const std::string sweep =
            std::string(sample_experiment()) + "sweep: {model: ['" + in("model") + "', '" + in("model/other") + "']}\n";
        const Json runs = json_of(check(sweep, {"--json", "--only", "Mix/" + first}))["runs"];
        QCOMPARE(runs.size(), std::size_t{2});
        for (const Json& run : runs) QCOMPARE(run["point"].get<std::string>(), first);
        QCOMPARE(json_of(check(sweep, {"--json", "--only", "Mix/" + second + "/seed=2"}))["runs"].size(), std::size_t{1});
    }
    void a_wrong_key_is_one_clear_error_and_exit_code_3() {
        const Outcome outcome = check(std::string(sample_experiment()) + "training: {bach_size: 3}\n");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "e.yaml:16:12: unknown setting 'bach_size' in training; did you mean 'batch_size'?");
        QCOMPARE(check("tasks: [\n").code, 3);
        QCOMPARE(faceter::testing::faceter({"check", in("missing.yaml")}).code, 3);
    }
    void missing_data_and_models_are_exit_code_4() {
        fs::rename(in("pairs.tsv"), in("gone.tsv"));
        const Outcome outcome = check(sample_experiment());
        fs::rename(in("gone.tsv"), in("pairs.tsv"));
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "pairs.tsv");
        HAS(outcome.err, "tasks.retrieval.train[0]");
        QCOMPARE(check(sample_experiment(), {"--set", "model=" + in("nothing")}).code, 4);
    }
    void the_schema_and_the_plugins_are_printed() {
        QVERIFY(json_of(faceter::testing::faceter({"schema", "--plugin-dir", in("plugins")}))["properties"].contains("training"));
        const Outcome plugin = faceter::testing::faceter({"plugins", "demo", "--plugin-dir", in("plugins")});
        QCOMPARE(plugin.code, 0);
        HAS(plugin.out, "placement");
        HAS(plugin.out, "every | every_other");
        const Outcome unknown = faceter::testing::faceter({"plugins", "dmo", "--plugin-dir", in("plugins")});
        QCOMPARE(unknown.code, 2);
        HAS(unknown.err, "did you mean 'demo'?");
    }
    void doctor_says_what_the_machine_has() {
        const Json json = json_of(faceter::testing::faceter({"doctor", "--json"}));
        QVERIFY(json["cores"].get<int>() > 0);
        QVERIFY(json["memory_bytes"].get<double>() > 1e6);
        QVERIFY(json.contains("problems"));
    }
    void output_that_cannot_be_written_is_a_failure() {
        for (const QStringList& arguments : {QStringList{"schema"}, QStringList{"--help"}, QStringList{"profile", "template", "slurm"}}) {
            QProcess process;
            process.setStandardOutputFile("/dev/full");
            process.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"), arguments);
            process.waitForFinished(120'000);
            QCOMPARE(process.exitCode(), 5);
            HAS(process.readAllStandardError().toStdString(), "standard output cannot be written: No space left");
        }
    }
    void a_closed_or_full_standard_error_changes_no_exit_code() {
        for (const char* redirection : {"2>&-", "2>/dev/full", ">&- 2>&- <&-"}) {
            const auto code = [&](const std::string& words) {
                return QProcess::execute("sh", {"-c", QString::fromStdString("exec " FACETER_BINARY_DIR "/bin/faceter " + words + " " +
                                                                             redirection + " >/dev/null")});
            };
            QCOMPARE(code("lst"), 2);
            QCOMPARE(code("check /no/such.yaml"), 3);
            QCOMPARE(code("list --project /no/such"), 4);
        }
    }
    void two_forms_of_one_table_are_refused() {
        for (const std::vector<std::string>& command : {std::vector<std::string>{"list"}, {"compare"}, {"diff", "a", "b"}})
            for (const bool json_first : {true, false}) {
                std::vector<std::string> words = command;
                if (json_first) words.push_back("--json");
                words.insert(words.end(), {"--format", "csv"});
                if (!json_first) words.push_back("--json");
                const Outcome outcome = faceter::testing::faceter(words);
                QCOMPARE(outcome.code, 2);
                HAS(outcome.err, "--json excludes --format csv");
            }
        HAS(faceter::testing::faceter({"list", "--json", "--format", "json", "--project", in("none")}).err, in("none"));
    }
    void numbers_that_are_none_are_refused() {
        for (const char* seeds : {"-1", "1.5", "99999999999999999999", "1,-2", "0x10", "nan", "1,,2", "1,", ",", ""}) {
            const Outcome outcome = check(sample_experiment(), {"--seeds", seeds});
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, "is no whole number of at least 0");
        }
        const Outcome plain = check(sample_experiment(), {"--seeds", "010", "--json"});
        QCOMPARE(json_of(plain)["runs"][1]["seed"].get<int>(), 10);
        const Outcome file = faceter::testing::faceter({"run", "--project", in("none"), "--seeds", "1,2", in("missing.yaml")});
        HAS(file.err, "missing.yaml");
        QCOMPARE(file.code, 3);  // the file, and no third seed
        const Outcome twice = check(sample_experiment(), {"--seeds", "3,3"});
        QCOMPARE(twice.code, 3);
        HAS(twice.err, "seed 3 stands twice");
        for (const char* days : {"nan", "inf", "-1", "1e400"}) {
            const Outcome outcome = faceter::testing::faceter({"trash", "--empty", "--older-than", days, "--project", in("model")});
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, "is no number of at least 0");
        }
        QCOMPARE(faceter::testing::faceter({"tokenize", "--model", in("model"), "--max-length", "-1", "-"}).code, 2);
    }
    void a_list_of_no_runs_has_its_columns_for_programs() {
        make_directories(in("bare/runs"));
        HAS(faceter::testing::faceter({"list", "--format", "csv", "--project", in("bare")}).out, "run,variant,seed,state");
        HAS(faceter::testing::faceter({"list", "--format", "tsv", "--columns", "variant,seed", "--project", in("bare")}).out,
            "run\tvariant\tseed");
        QCOMPARE(faceter::testing::faceter({"list", "--project", in("bare")}).out, std::string());
    }
    void a_column_whose_name_has_a_comma_stands_in_quotes() {
        make_directories(in("bare/runs"));
        const auto listed = [&](const std::string& columns) {
            return faceter::testing::faceter({"list", "--format", "tsv", "--columns", columns, "--project", in("bare")});
        };
        HAS(listed("\"variant\",seed").out, "run\tvariant\tseed");
        for (const auto& [columns, name] : {std::pair("\"Law, German\",seed", "Law, German"), {"seed,\"a, \"\"b\"\"\"", "a, \"b\""}})
            HAS(listed(columns).err, faceter::quoted(std::string(name)));
        HAS(listed("\"Law, German,seed").err, "is not closed");
    }
    void lists_with_empty_members_are_refused() {
        for (const char* list : {"variant,,seed", ",variant", "variant,", ",", ""})
            for (const std::vector<std::string>& words :
                 {std::vector<std::string>{"--columns", list}, {std::string("--columns=") + list}}) {
                if (words.size() == 1 && !*list) continue;  // CLI11 takes "--columns=" for a value that is missing
                std::vector<std::string> arguments{"list", "--project", in("model")};
                arguments.insert(arguments.end(), words.begin(), words.end());
                const Outcome outcome = faceter::testing::faceter(arguments);
                QCOMPARE(outcome.code, 2);
                HAS(outcome.err, "--columns: a member of the list is empty");
            }
        const Outcome prefixes = faceter::testing::faceter({"evaluate", "--model", in("model"), "--data", in("x"), "--prefix", "16,,32"});
        QCOMPARE(prefixes.code, 2);
        HAS(prefixes.err, "--prefix: a member of the list is empty");
        HAS(faceter::testing::faceter({"list", "[a,,b]"}).err, "unexpected argument '[a,,b]' of list");
    }
    void numbers_out_of_their_range_are_refused_with_it() {
        write_file_atomic(in("t.txt"), "a text\n");
        const auto refused = [](std::vector<std::string> words, const std::string& option, const std::string& value,
                                const std::string& range) {
            words.insert(words.end(), {option, value});
            const Outcome outcome = faceter::testing::faceter(words);
            return outcome.code == 2 && outcome.err.find(option) != std::string::npos && outcome.err.find(range) != std::string::npos;
        };
        const std::vector<std::string> serve{"serve", in("model")}, power{"stats", "power", "--effect", "1"},
            embed{"embed", "--model", in("model"), "--output", in("t.npy"), in("t.txt")},
            evaluate{"evaluate", "--model", in("model"), "--data", in("scifact")};
        for (const char* port : {"-1", "65536", "http"}) QVERIFY2(refused(serve, "--port", port, "0 to 65535"), port);
        for (const char* length : {"-1", "0", "1000000000"}) {
            QVERIFY2(refused(serve, "--max-length", length, "1 to 16777216"), length);
            QVERIFY2(refused(embed, "--max-length", length, "1 to 16777216"), length);
        }
        for (const char* option : {"--max-examples", "--max-documents", "--max-queries"})
            QVERIFY2(refused(evaluate, option, "-1", "0 to 1073741824"), option);
        for (const char* seconds : {"nan", "0", "inf"}) QVERIFY2(refused(serve, "--read-timeout", seconds, "0.1 to 86400"), seconds);
        for (const char* option : {"--power", "--alpha"}) QVERIFY2(refused(power, option, "nan", "is no number from"), option);
    }
    void threads_that_no_machine_has_are_refused() {
        write_file_atomic(in("t.txt"), "a text\n");
        HAS(faceter::testing::faceter({"tokenize", "--model", in("model"), "--threads", "4097", in("t.txt")}).err, "from 0 to 4096");
        for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
                 {"embed", "--model", in("model"), "--output", in("t.npy"), in("t.txt")}, {"serve", in("model")}, {"diagnose", "some-run"}})
            for (const char* threads : {"-1", "4097", "1000000000"}) {
                std::vector<std::string> arguments = command;
                arguments.insert(arguments.begin() + 1, {"--threads", threads});
                const Outcome outcome = faceter::testing::faceter(arguments);
                QCOMPARE(outcome.code, 2);
                HAS(outcome.err, "not in range 0 to 4096");
            }
    }
    void an_empty_word_is_no_project() {
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"delete", "x"}, {"list"}, {"doctor"}, {"run", in("e.yaml")}}) {
            std::vector<std::string> arguments = words;
            arguments.insert(arguments.end(), {"--project", ""});
            const Outcome outcome = faceter::testing::faceter(arguments);
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, "--project: an empty word was given");
        }
    }
    void a_folder_that_is_no_project_is_named() {
        const Outcome outcome = faceter::testing::faceter({"list", "--project", in("model")});
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "not a project");
        QCOMPARE(faceter::testing::faceter({"list"}, {"FACETER_PROJECT="}).code, 2);
    }
    void tokenize_prints_ids_a_line() {
        NEED_MINILM();
        const Outcome lines = faceter::testing::faceter({"tokenize", "--model", "minilm", "-"}, {}, "hello world\n\nhello");
        QVERIFY2(lines.code == 0, lines.err.c_str());
        QCOMPARE(lines.out, std::string("[101,7592,2088,102]\n[101,102]\n[101,7592,102]\n"));
        write_file_atomic(in("t.jsonl"), "{\"text\": \"hello world\", \"x\": 1}\n{\"text\": \"\"}\n");
        QCOMPARE(faceter::testing::faceter({"tokenize", "--model", "minilm", in("t.jsonl")}).out,
                 std::string("[101,7592,2088,102]\n[101,102]\n"));
        QCOMPARE(faceter::testing::faceter({"tokenize", "--model", "minilm", "--max-length", "3", in("t.jsonl")}).out,
                 std::string("[101,7592,102]\n[101,102]\n"));
        write_file_atomic(in("bad.jsonl"), "{\"text\": \"a\"}\n{\"text\": \n");
        const Outcome bad = faceter::testing::faceter({"tokenize", "--model", "minilm", in("bad.jsonl")});
        QCOMPARE(bad.code, 4);
        HAS(bad.err, "bad.jsonl:2");
        QCOMPARE(faceter::testing::faceter({"tokenize", "--model", in("nothing"), in("t.jsonl")}).code, 4);
    }
    void tokenize_needs_only_the_tokenizers_files() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        write_file_atomic(in("t.txt"), "Hello World\n");
        const Outcome whole = faceter::testing::faceter({"tokenize", "--model", model.string(), in("t.txt")});
        QVERIFY2(whole.code == 0, whole.err.c_str());
        for (const char* file : {"tokenizer.json", "vocab.txt"}) {
            const TemporaryDirectory alone;
            fs::copy_file(model / file, alone.path() / file);
            const Outcome outcome = faceter::testing::faceter({"tokenize", "--model", alone.path().string(), in("t.txt")});
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
            QCOMPARE(outcome.out, whole.out);
        }
        const TemporaryDirectory nested;
        make_directories(nested.path() / "0_Transformer");
        fs::copy_file(model / "tokenizer.json", nested.path() / "0_Transformer/tokenizer.json");
        write_file_atomic(nested.path() / "modules.json",
                          R"([{"idx": 0, "path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}])");
        QCOMPARE(faceter::testing::faceter({"tokenize", "--model", nested.path().string(), in("t.txt")}).out, whole.out);
    }
    void help_of_what_the_worker_serves_begins_with_faceter() {
        for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{"embed"},
                                                                                             {"evaluate"},
                                                                                             {"export"},
                                                                                             {"convert"},
                                                                                             {"describe"},
                                                                                             {"serve"},
                                                                                             {"memory"},
                                                                                             {"router"},
                                                                                             {"data", "mine"},
                                                                                             {"data", "filter"},
                                                                                             {"data", "score"}}) {
            std::vector<std::string> arguments = command;
            arguments.push_back("--help");
            const Outcome help = faceter::testing::faceter(arguments);
            QCOMPARE(help.code, 0);
            std::string usage = "Usage: faceter";
            for (const std::string& part : command) usage += " " + part;
            HAS(help.out, usage);
            QVERIFY2(widest_line(help.out) <= 100, help.out.c_str());
            QVERIFY2(help.out.find("faceter-worker") == std::string::npos, help.out.c_str());
        }
    }
    /// The examples below are as they are typed.
    void help_keeps_to_a_narrow_terminal() {
        for (const char* command : {"run", "compare", "serve", "evaluate"}) {
            const std::string help = faceter::testing::faceter({command, "--help"}, {"COLUMNS=60"}).out;
            const std::string options = help.substr(0, help.find("\nExample"));
            const std::size_t begin = options.find("Options:");
            QVERIFY2(begin != std::string::npos, help.c_str());
            QVERIFY2(widest_line(options.substr(begin)) <= 60, options.c_str());
        }
    }
    void a_table_that_init_cannot_read_is_not_to_be_mended_by_a_setting_that_init_has_not() {
        write_file_atomic(in("torn.csv"), "text,label\na,b\nc,d,e\n");
        const Outcome outcome = faceter::testing::faceter({"init", in("torn.csv"), "--output", in("torn.yaml"), "--yes"});
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "torn.csv:3: more cells than columns");
        HAS(outcome.err, "correct the record, or take it out of the file\n");
        QVERIFY2(outcome.err.find("on_error") == std::string::npos, outcome.err.c_str());
    }
    void errors_of_what_the_worker_serves_begin_with_faceter() {
        const Outcome outcome = faceter::testing::faceter({"describe", "--model", in("nowhere")});
        QVERIFY2(outcome.code != 0 && outcome.err.starts_with("faceter: "), outcome.err.c_str());
    }
};

FACETER_TEST(TestCli)
#include "test_cli.moc"
