#include "experiment/manifest.h"
#include "packaging/command.h"

using namespace faceter;
using namespace faceter::packaging;

/// `cmake --install` into a folder with an awkward name, and a plugin built against nothing but that folder.
class SlowInstall : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path prefix_ = folder_.path() / "préfix of mine", build_ = folder_.path() / "plügin build";

  private Q_SLOTS:
    void initTestCase() {
        if (read_file(binaries / "CMakeCache.txt").find("FACETER_SANITIZE:STRING=\n") == std::string::npos)
            QSKIP("a sanitized build is not installed");
        VERIFY_CODE(run("cmake", {"--install", text(binaries), "--prefix", text(prefix_)}), 0);
    }
    void programs_run_from_where_they_are_installed() {
        for (const char* program : {"faceter", "faceter-worker"}) {
            if (!fs::exists(binaries / "bin" / program)) QSKIP("programs are not built");
            VERIFY_CODE(run(prefix_ / "bin" / program, {"--help"}), 0);
        }
    }
    void installed_plugins_have_their_manifests() {
        const PluginList plugins = find_plugins({prefix_ / "lib/faceter/plugins"});
        QVERIFY(plugins.rejected.empty());
        QVERIFY(!plugins.manifests.empty());
        for (const Manifest& manifest : plugins.manifests) QVERIFY2(fs::exists(manifest.library()), manifest.library().c_str());
    }
    void a_plugin_is_built_out_of_tree() {
        const fs::path source = folder_.path() / "my plugin";
        fs::copy(project / "tests/packaging/example_plugin", source);
        VERIFY_CODE(run("cmake", {"-S", text(source), "-B", text(build_), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                                  "-DCMAKE_PREFIX_PATH=" + text(prefix_)}),
                    0);
        VERIFY_CODE(run("cmake", {"--build", text(build_)}), 0);
        const Manifest own = read_manifest(build_ / "lib/faceter/plugins/margin.json");
        QVERIFY(fs::exists(own.library()));
        const PluginList installed = find_plugins({prefix_ / "lib/faceter/plugins"});
        QCOMPARE(own.fingerprint, installed.manifests.at(0).fingerprint);
        QCOMPARE(own.abi, installed.manifests.at(0).abi);
    }
    void the_plugins_objective_is_put_to_the_laws_that_ours_keep() {
        NEED_SHARED();
        const fs::path plugins = build_ / "lib/faceter/plugins", faceter = prefix_ / "bin/faceter";
        if (!fs::exists(plugins / "margin.so") || !fs::exists(faceter)) QSKIP("the plugin or the program was not built");
        const Outcome outcome = run(faceter, {"conform", "--model", text(faceter::testing::shared_folder() / "fixtures/bert"),
                                              "--plugin-dir", text(plugins), "--laws", "rerun,embed,export"});
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.contains("1 cells: 1 hold, 0 refused, 0 wrong"), qPrintable(outcome.output));
    }
    void a_plugin_shows_nothing_but_its_entry() {
        const fs::path library = build_ / "lib/faceter/plugins/margin.so";
        if (!fs::exists(library)) QSKIP("the plugin was not built");
        const Outcome symbols = run("nm", {"--dynamic", "--defined-only", "--format=just-symbols", text(library)});
        VERIFY_CODE(symbols, 0);
        QCOMPARE(symbols.output.trimmed(), QString("faceter_plugin_entry"));
    }
};

FACETER_TEST(SlowInstall)
#include "slow_install.moc"
