#include "experiment/manifest.h"
#include "packaging/command.h"
#include "support/sample_runs.h"

using namespace faceter;
using namespace faceter::packaging;
using namespace faceter::testing;

/// `faceter plugin new`: each kind is written, built against an installed Faceter in folders with awkward names, and its experiment runs.
class SlowPlugins : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path prefix_ = folder_.path() / "préfix of mine";

    fs::path source(const QString& kind) const { return folder_.path() / "plügins" / ("my_" + kind.toStdString()); }
    fs::path built(const QString& kind) const { return source(kind) / "build" / "lib/faceter/plugins"; }
    static QString start_model() {
        const fs::path shared = faceter::testing::shared_folder();
        return text(shared.empty() ? faceter::testing::minilm_folder() : shared / "fixtures/bert");
    }
    Outcome build(const QString& kind) const {
        const QString folder = text(source(kind) / "build");
        const Outcome configured = run("cmake", {"-S", text(source(kind)), "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                                                 "-DCMAKE_PREFIX_PATH=" + text(prefix_), "-DSTART_MODEL=" + start_model()});
        return configured.code == 0 ? run("cmake", {"--build", folder}) : configured;
    }
    /// The objective, built against an installation in which that file was another.
    void is_refused_after(const char* file, const std::string& content, const QString& field) const {
        const std::string own = read_file(prefix_ / file);
        overwrite(prefix_ / file, content);
        const Outcome rebuilt = build("objective");
        overwrite(prefix_ / file, own);
        VERIFY_CODE(rebuilt, 0);
        const Outcome refused = run(prefix_ / "bin/faceter", {"check", text(source("objective") / "experiment.yaml"), "--set",
                                                              "model=" + start_model(), "--plugin-dir", text(built("objective"))});
        VERIFY_CODE(refused, 3);
        QVERIFY2(refused.output.contains("a plugin was rejected: ") && refused.output.contains("it was built with " + field),
                 qPrintable(refused.output));
        const Outcome examined = run(prefix_ / "bin/faceter", {"doctor", "--plugin-dir", text(built("objective"))});
        QVERIFY2(examined.output.simplified().contains("my_objective.json: it was built with " + field + ", this program with "),
                 qPrintable(examined.output));
    }

  private Q_SLOTS:
    void initTestCase() {
        if (read_file(binaries / "CMakeCache.txt").find("FACETER_SANITIZE:STRING=\n") == std::string::npos)
            QSKIP("a sanitized build is not installed");
        if (!fs::exists(binaries / "bin/faceter") || !fs::exists(binaries / "bin/faceter-worker")) QSKIP("programs are not built");
        VERIFY_CODE(run("cmake", {"--install", text(binaries), "--prefix", text(prefix_)}), 0);
    }
    void a_new_plugin_builds_and_its_experiment_runs_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"objective", "variant", "curriculum", "analysis"}) QTest::newRow(kind) << kind;
    }
    void a_new_plugin_builds_and_its_experiment_runs() {
        QFETCH(QString, kind);
        const QString name = "my_" + kind;
        VERIFY_CODE(run(prefix_ / "bin/faceter", {"plugin", "new", name, "--kind", kind, "--output", text(source(kind))}), 0);
        VERIFY_CODE(build(kind), 0);
        const Manifest own = read_manifest(built(kind) / (name.toStdString() + ".json"));
        const PluginList installed = find_plugins({prefix_ / "lib/faceter/plugins"});
        QVERIFY(!installed.manifests.empty());
        QCOMPARE(own.fingerprint, installed.manifests.at(0).fingerprint);
        QCOMPARE(own.abi, installed.manifests.at(0).abi);
        if (start_model().isEmpty()) QSKIP("there is neither a reference model nor all-MiniLM-L6-v2 for its experiment");
        VERIFY_CODE(
            run(prefix_ / "bin/faceter", {"run", text(source(kind) / "experiment.yaml"), "--project", text(source(kind) / "project"),
                                          "--smoke", "--set", "model=" + start_model(), "--plugin-dir", text(built(kind))}),
            0);
    }
    void a_new_objective_keeps_the_laws_that_ours_keep() {
        if (!fs::exists(built("objective") / "my_objective.so") || start_model().isEmpty()) QSKIP("the plugin was not built and run");
        const Outcome outcome = run(prefix_ / "bin/faceter", {"conform", "--model", start_model(), "--plugin-dir", text(built("objective")),
                                                              "--laws", "rerun,embed,export"});
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.contains("1 cells: 1 hold, 0 refused, 0 wrong"), qPrintable(outcome.output));
    }
    void the_figure_of_a_new_analysis_is_kept_with_the_run() {
        const fs::path runs = source("analysis") / "project/runs";
        if (!fs::exists(runs)) QSKIP("the analysis was not run");
        for (const auto& run : fs::directory_iterator(runs)) QVERIFY(fs::exists(run.path() / "figures/my_analysis.json"));
    }
    void a_plugin_shows_nothing_but_its_entry() {
        const fs::path library = built("objective") / "my_objective.so";
        if (!fs::exists(library)) QSKIP("the plugin was not built");
        const Outcome symbols = run("nm", {"--dynamic", "--defined-only", "--format=just-symbols", text(library)});
        VERIFY_CODE(symbols, 0);
        QCOMPARE(symbols.output.trimmed(), QString("faceter_plugin_entry"));
    }
    void two_new_plugins_are_configured_as_one_project() {
        const fs::path both = folder_.path() / "both";
        for (const char* name : {"first", "second"})
            VERIFY_CODE(run(prefix_ / "bin/faceter", {"plugin", "new", name, "--kind", "objective", "--output", text(both / name)}), 0);
        overwrite(both / "CMakeLists.txt",
                  "cmake_minimum_required(VERSION 3.25)\nproject(both LANGUAGES CXX)\nadd_subdirectory(first)\nadd_subdirectory(second)\n");
        VERIFY_CODE(run("cmake", {"-S", text(both), "-B", text(both / "build"), "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + text(prefix_)}), 0);
    }
    void a_plugin_of_another_version_is_refused_with_the_field_named() {
        if (!fs::exists(built("objective") / "my_objective.so") || start_model().isEmpty()) QSKIP("the plugin was not built and run");
        is_refused_after("lib/cmake/faceter/faceterConfigVersion.cmake", "set(PACKAGE_VERSION 0.0.1)\n", "faceter=0.0.1");
    }
    /// The number of the version stays while what plugins see changes.
    void a_plugin_of_other_headers_is_refused_with_the_field_named() {
        if (!fs::exists(built("objective") / "my_objective.so") || start_model().isEmpty()) QSKIP("the plugin was not built and run");
        is_refused_after("include/faceter/experiment/public_headers.h",
                         "#pragma once\n#define FACETER_PUBLIC_HEADERS \"0123456789abcdef\"\n", "headers=0123456789abcdef");
    }
};

FACETER_TEST(SlowPlugins)
#include "slow_plugins.moc"
