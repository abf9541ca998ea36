#include "experiment/manifest.h"
#include "packaging/command.h"

using namespace faceter;
using namespace faceter::packaging;

/// `cmake --install` into a folder with an awkward name. Plugins that are built against it: slow_plugins.cpp.
class SlowInstall : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path prefix_ = folder_.path() / "préfix of mine";

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
};

FACETER_TEST(SlowInstall)
#include "slow_install.moc"
