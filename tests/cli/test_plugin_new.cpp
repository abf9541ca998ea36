#include "cli/program.h"
#include "common/command.h"
#include "common/file.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::Outcome;

/// `faceter plugin new` and `faceter --version`. What is written is built and run by tests/packaging/slow_plugins.cpp.
class TestPluginNew : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    Outcome write(const std::string& name, const std::string& kind, const fs::path& folder) const {
        return faceter::testing::faceter({"plugin", "new", name, "--kind", kind, "--output", folder.string()});
    }

  private Q_SLOTS:
    void every_kind_is_written_with_its_name_filled_in() {
        for (const std::string kind : {"variant", "curriculum", "objective", "analysis"}) {
            const fs::path folder = folder_.path() / kind;
            const Outcome outcome = write("an_" + kind + "2", kind, folder);
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
            QCOMPARE(outcome.out, folder.string() + "\n");
            for (const std::string file : {"CMakeLists.txt", "README.md", "settings.cpp", "experiment.yaml", "texts.jsonl"})
                QVERIFY2(fs::exists(folder / file), file.c_str());
            QVERIFY(fs::exists(folder / ("an_" + kind + "2.cpp")));
            for (const auto& entry : fs::directory_iterator(folder)) {
                const std::string text = read_file(entry.path());
                QVERIFY2(text.find("@NAME@") == std::string::npos && text.find("@CLASS@") == std::string::npos, entry.path().c_str());
            }
        }
        HAS(read_file(folder_.path() / "objective/an_objective2.cpp"), "class AnObjective2 final");
    }
    void what_would_not_work_is_refused_and_writes_nothing() {
        const fs::path folder = folder_.path() / "refused";
        for (const auto& [name, complaint] :
             std::map<std::string, std::string>{{"My-Loss", "small letters, digits and '_'"},
                                                {"2nd", "small letters, digits and '_'"},
                                                {"infonce", "objective 'infonce' is offered by 'core' already"},
                                                {"mote", "there is a plugin 'mote' already"}}) {
            const Outcome outcome = write(name, "objective", folder);
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, complaint);
        }
        QCOMPARE(write("mine", "loss", folder).code, 2);
        QVERIFY(!fs::exists(folder));
    }
    void a_folder_that_is_there_is_left_alone() {
        const fs::path folder = folder_.path() / "there";
        make_directories(folder);
        const Outcome outcome = write("mine", "variant", folder);
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "it is there already");
        QVERIFY(fs::is_empty(folder));
    }

    void the_version_names_commit_libtorch_compiler_and_plugins() {
        const std::string text = faceter::testing::faceter({"--version"}).out;
        QVERIFY2(text.starts_with("faceter "), text.c_str());
        HAS(text, "\nlibtorch  2.11.");
        HAS(text, "\ncompiler  ");
        HAS(text, "\nplugins   ");
        HAS(text, "mote ");
        const bool is_checkout = fs::exists(fs::path(FACETER_SOURCE_DIR) / ".git") &&
                                 run_command({"sh", "-c", "git -C \"$1\" rev-parse HEAD", "sh", FACETER_SOURCE_DIR}).code == 0;
        QCOMPARE(text.find("\ncommit    ") != std::string::npos, is_checkout);
    }
    void the_commits_file_is_written_only_where_it_changes() {
        const fs::path script = fs::path(FACETER_SOURCE_DIR) / "packaging/cmake/write_commit.cmake",
                       source = folder_.path() / "no checkout", file = folder_.path() / "commit.cpp";
        make_directories(source);
        const auto look_up = [&] {
            return run_command({"cmake", "-DSOURCE=" + source.string(), "-DOUTPUT=" + file.string(), "-P", script.string()}).code;
        };
        QCOMPARE(look_up(), 0);
        HAS(read_file(file), "build_commit = \"\";");  // without git, or in a release's archive
        const fs::file_time_type written = fs::last_write_time(file) - std::chrono::hours(1);
        fs::last_write_time(file, written);
        QCOMPARE(look_up(), 0);
        QVERIFY(fs::last_write_time(file) == written);
    }
};

FACETER_TEST(TestPluginNew)
#include "test_plugin_new.moc"
