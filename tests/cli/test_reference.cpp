#include <QRegularExpression>

#include "common/command.h"
#include "common/file.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const std::string program = FACETER_BINARY_DIR "/bin/faceter";

CommandResult faceter_says(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program);
    return run_command(arguments);
}

bool here(const std::string& shell) { return run_command({"sh", "-c", "command -v " + shell}).code == 0; }

}  // namespace

/// Manual pages and completions, made from what the commands themselves declare.
class TestReference : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    /// What bash offers behind "faceter WORDS...", the last of which is being typed.
    std::string offered(const std::string& words, const std::string& before = "") const {
        const std::string script = before + "PATH='" FACETER_BINARY_DIR "/bin':$PATH; source '" +
                                   (folder_.path() / "faceter.bash").string() + "'; compopt() { :; }; COMP_WORDS=(faceter " + words +
                                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _faceter; echo \"${COMPREPLY[*]}\"";
        const CommandResult result = run_command({"bash", "-c", script});
        return result.output + result.complaint;
    }

  private Q_SLOTS:
    void initTestCase() {
        for (const char* form : {"bash", "zsh", "fish"}) {
            const CommandResult result =
                faceter_says({"reference", form, "--output", (folder_.path() / ("faceter." + std::string(form))).string()});
            QVERIFY2(result.code == 0, result.complaint.c_str());
        }
    }
    void bash_completes_commands_options_and_their_values() {
        QCOMPARE(offered("comp"), std::string("compare\n"));
        QCOMPARE(offered("stats wel"), std::string("welch\n"));
        QCOMPARE(offered("list --proj"), std::string("--project\n"));
        QCOMPARE(offered("list --format la"), std::string("latex\n"));
        QCOMPARE(offered("embed --comp"), std::string("--compute\n"));  // an option that the worker alone knows
        QCOMPARE(offered("embed --ta"), std::string("--task\n"));       // the first of an option's two names
        QCOMPARE(offered("data mine --mar"), std::string("--margin\n"));
        QCOMPARE(offered("reference zs"), std::string("zsh\n"));  // an argument that is one of some words
    }
    void bash_completes_names_of_the_projects_runs() {
        const std::string project = (folder_.path() / "my project").string(), named = "--project '" + project + "'";
        const std::string run = sample_run(project).info().shown_name(), begun = run.substr(0, 1);
        QVERIFY(run.ends_with("-1"));
        const std::string wanted = run + " " + run.substr(0, run.size() - 2) + "\n";  // and its variant, which stands for it
        QCOMPARE(offered("show " + named + " " + begun), wanted);
        QCOMPARE(offered("show --project = '" + project + "' " + begun), wanted);  // as bash parts --project=DIR
        QCOMPARE(offered("compare " + named + " ''"), wanted);
        QCOMPARE(offered("compare " + named + " --baseline ''"), wanted);
        QCOMPARE(offered("embed " + named + " --model " + begun), wanted);
        QCOMPARE(offered("report " + named + " --output " + begun), std::string("\n"));  // any file
        QCOMPARE(offered("run " + named + " --only " + begun), std::string("\n"));       // of the experiment
        QCOMPARE(offered("show --jso"), std::string("--json\n"));
        QCOMPARE(offered("show --project /nowhere " + begun), std::string("\n"));
    }
    void bash_completes_other_names() {
        write_file_atomic(folder_.path() / "my file.yaml", sample_experiment());
        write_file_atomic(folder_.path() / "torn.yaml", "variants: [");
        const std::string file = "'" + (folder_.path() / "my file.yaml").string() + "'";
        QCOMPARE(offered("manual own_"), std::string("own_data\n"));
        QCOMPARE(offered("plugins router_"), std::string("router_retriever\n"));
        QCOMPARE(offered("conform --method token_routed"), std::string("token_routed_moe\n"));
        QCOMPARE(offered("run " + file + " --only ''"), std::string("EM Mix\n"));
        QCOMPARE(offered("run " + (folder_.path() / "torn.yaml").string() + " --only ''"), std::string("\n"));
        make_directories(folder_.path() / "config/faceter/profiles");
        write_file_atomic(folder_.path() / "config/faceter/profiles/gpu.yaml", "kind: slurm\n");
        const std::string home = "XDG_CONFIG_HOME=" + (folder_.path() / "config").string();
        for (const char* words : {"profile check ", "doctor --profile ", "submit a.yaml --profile "})
            QCOMPARE(offered(words + std::string("gp"), "export " + home + "; "), std::string("gpu\n"));
    }
    void other_shells_understand_theirs() {
        if (!here("zsh") || !here("fish")) QSKIP("zsh and fish are not both installed");
        for (const char* shell : {"zsh", "fish"}) {
            const CommandResult result = run_command({shell, "-n", (folder_.path() / ("faceter." + std::string(shell))).string()});
            QVERIFY2(result.code == 0, result.complaint.c_str());
        }
    }
    /// 'list' is a command, and 'queue' has one of that name with other options.
    void fish_offers_the_options_of_the_command_that_was_typed() {
        const std::string script = read_file(folder_.path() / "faceter.fish");
        QVERIFY(script.find("-n '__fish_seen_subcommand_from list; and not __fish_seen_subcommand_from profile queue router' -l where") !=
                std::string::npos);
        QVERIFY(script.find("-n '__fish_seen_subcommand_from queue; and __fish_seen_subcommand_from list' -l json") != std::string::npos);
        QVERIFY(script.find("-n '__fish_seen_subcommand_from reference' -a 'bash zsh fish man markdown settings json'") !=
                std::string::npos);
        if (!here("fish")) QSKIP("fish is not installed");
        const auto offers = [&](const std::string& line) {
            return run_command({"fish", "--no-config", "-c",
                                "set -x PATH '" FACETER_BINARY_DIR "/bin' $PATH; source '" + (folder_.path() / "faceter.fish").string() +
                                    "'; complete -C '" + line + "'"})
                .output;
        };
        const std::string project = (folder_.path() / "project").string(), run = sample_run(project).info().shown_name();
        for (const char* form : {"faceter show --project ", "faceter show --project="})
            QVERIFY2(offers(form + project + " ").find(run + "\n") != std::string::npos, form);
        QVERIFY(offers("faceter list --whe").starts_with("--where"));
        QCOMPARE(offers("faceter queue list --whe"), std::string());
        QVERIFY(offers("faceter queue list --js").starts_with("--json"));
    }
    void the_commands_of_the_manual_say_what_help_says_of_defaults() {
        const std::string page = faceter_says({"reference", "markdown"}).output;
        for (const char* line : {"- `--jobs N`: runs at the same time (default: 1)\n", "- `--model NAME`: start model (default: minilm)\n",
                                 "- `--port UINT`: Port; 0: a free one (default: 8080)\n",
                                 "- `--device TEXT`: auto (a GPU where there is one), cpu or cuda (default: auto)\n",
                                 "- `--split TEXT`: Split to score (default: test)\n",
                                 "- `--format NAME`: text, csv, tsv, md, latex or json (default: text)\n"})
            QVERIFY2(page.find(line) != std::string::npos, line);
        QVERIFY(page.find("default: all cores (default: 0)") == std::string::npos);  // said once
        QVERIFY(faceter_says({"run", "--help"}).output.find("--jobs N=1") != std::string::npos);
        QVERIFY(faceter_says({"evaluate", "--help"}).output.find("--split TEXT=test") != std::string::npos);
    }
    void the_manuals_chapters_have_every_methods_settings_as_they_are() {
        QString chapters;
        for (const auto& entry : fs::directory_iterator(FACETER_SOURCE_DIR "/resources/manual"))
            if (entry.path().extension() == ".md" && entry.path().stem() != "settings")
                chapters += QString::fromStdString(read_file(entry.path())) + "\n## end\n";
        const QString settings = QString::fromStdString(faceter_says({"reference", "settings"}).output) + "\n## end";
        const QRegularExpression method("^(## (?:variant|curriculum|objective|analysis) .*?)(?=^## )",
                                        QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
        int methods = 0;
        for (auto match = method.globalMatch(settings); match.hasNext(); ++methods) {
            const QString section = match.next().captured(1).trimmed() + "\n\n## ";
            QVERIFY2(chapters.contains(section),
                     qPrintable("resources/manual lacks this, as faceter reference settings prints it:\n" + section));
        }
        QVERIFY(methods > 20);
    }
    void the_manual_has_all_commands_and_settings_as_they_are() {
        for (const auto& [chapter, form] : {std::pair{"commands", "markdown"}, {"settings", "settings"}}) {
            const std::string file = FACETER_SOURCE_DIR "/resources/manual/" + std::string(chapter) + ".md";
            QVERIFY2(read_file(file) == faceter_says({"reference", form}).output,
                     fmt::format("faceter reference {} --output {} writes it anew", form, file).c_str());
        }
    }
    void every_command_has_a_manual_page_that_man_reads_without_a_warning() {
        const fs::path pages = folder_.path() / "man1";
        QCOMPARE(faceter_says({"reference", "man", "--output", pages.string()}).code, 0);
        const Json tree = parse_untrusted_json(faceter_says({"reference", "json"}).output);
        for (const Json& command : tree.at("commands"))
            QVERIFY(fs::exists(pages / ("faceter-" + command.at("name").get<std::string>() + ".1")));
        if (!here("groff")) QSKIP("groff is not installed");
        for (const auto& page : fs::directory_iterator(pages)) {
            const CommandResult result = run_command({"groff", "-man", "-Tutf8", "-ww", "-z", page.path().string()});
            QVERIFY2(result.code == 0 && result.complaint.empty(), (page.path().string() + result.complaint).c_str());
        }
    }
    void pages_need_a_folder() {
        const CommandResult result = faceter_says({"reference", "man"});
        QCOMPARE(result.code, 2);
        QVERIFY(result.complaint.find("--output DIR") != std::string::npos);
    }
    void the_chapter_of_commands_has_what_people_type() {
        const std::string text = faceter_says({"reference", "markdown"}).output;
        QVERIFY2(is_valid_utf8(text), "examples are read after their text is gone");
        QVERIFY(text.find("faceter run --project DIR [OPTION...] [FILE]") != std::string::npos);  // not the worker's own 'run'
        QVERIFY(text.find("    Example:\n      faceter check experiments/quickstart.yaml") != std::string::npos);
        QVERIFY(text.find("--compute TEXT") != std::string::npos);
    }
    void the_chapter_of_settings_has_those_of_experiments_and_methods() {
        const std::string text = faceter_says({"reference", "settings"}).output;
        for (const char* row :
             {"| `training.batch_size` | `32` | >= 1 pairs |", "| `tasks.NAME.instructions.query` |", "| `stages[].filter.top_k` | `2` |",
              "| `stages[].mine.margin` | `0.95` |", "## variant mote", "## objective gist", "## analysis inter_task_similarity"})
            QVERIFY2(text.find(row) != std::string::npos, row);
    }
    void the_setup_says_what_it_takes() {
        const CommandResult result = faceter_says({"setup", "--from", "/no/such/folder"});
        QCOMPARE(result.code, 2);
        QVERIFY(result.complaint.find("--from needs a folder") != std::string::npos);
    }
};

FACETER_TEST(TestReference)
#include "test_reference.moc"
