#include <unistd.h>

#include <fstream>

#include "packaging/command.h"
#include "support/sample_runs.h"

using namespace faceter;
using namespace faceter::packaging;
using namespace faceter::testing;

namespace {

/// The programs that the launcher calls, and how they find glibc: all that the site below has beside a torch wheel.
const char* const site_script = R"sh(
set -e
root=$1
mkdir -p "$root/bin" "$root/lib64" "$root/tmp" "$root/torch" "$root/nvidia" "$root/proc" "$root/dev"
for program in sh dirname readlink basename sed grep sort head tail cut cat getconf; do
    file=$(readlink -f "$(command -v $program)")
    cp "$file" "$root/bin/$program"
    ldd "$file" | sed -n 's/.*[[:space:]]\(\/[^ ]*\) (0x.*/\1/p' | while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -Ln "$library" "$root$library"
    done
done
libc=$(ldd /bin/sh | sed -n 's/.*=> \(.*\/libc\.so\.6\) .*/\1/p')
for name in libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0 libutil.so.1 libresolv.so.2; do
    cp -Ln "$(dirname "$libc")/$name" "$root$(dirname "$libc")/$name"
done
)sh";

const char* const inside_script = R"sh(
set -e
root=$1 torch=$2
shift 2
mount --rbind "$torch/torch" "$root/torch"
mount --rbind "$torch/nvidia" "$root/nvidia"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
exec chroot "$root" /bin/sh -c 'cd /; export HOME=/tmp; exec "$@"' sh "$@"
)sh";

}  // namespace

/// The bundle, in a root folder that has glibc, a shell and a torch wheel, and nothing else of this machine.
class SlowBundle : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path site_ = folder_.path() / "site", torch_;

    /// A program of the bundle inside the site.
    Outcome inside(const QString& program, const QStringList& arguments) const {
        return run(
            "unshare",
            QStringList{"--map-root-user", "--mount", "sh", "-c", inside_script, "sh", text(site_), text(torch_), program} + arguments);
    }

  private Q_SLOTS:
    void initTestCase() {
        const std::string cache = read_file(binaries / "CMakeCache.txt");
        if (cache.find("FACETER_SANITIZE:STRING=\n") == std::string::npos) QSKIP("a sanitized build is not bundled");
        NEED_MINILM();
        if (run("unshare", {"--map-root-user", "--mount", "true"}).code != 0)
            QSKIP("this machine lets nobody make a root folder of one's own (unshare)");
        const Outcome found = run("sh", {"-c", "ldd '" + text(binaries / "bin/faceter-worker") +
                                                   "' | sed -n 's/.*=> \\(.*\\)\\/torch\\/lib\\/libtorch_cpu.so .*/\\1/p'"});
        torch_ = found.output.trimmed().toStdString();
        QVERIFY2(fs::exists(torch_ / "torch/version.py"), torch_.c_str());
        VERIFY_CODE(run(project / "packaging/bundle.sh", {"--build", text(binaries), text(folder_.path() / "bundle.tar.gz")}), 0);
        VERIFY_CODE(run("sh", {"-c", site_script, "sh", text(site_)}), 0);
        VERIFY_CODE(run("tar", {"xf", text(folder_.path() / "bundle.tar.gz"), "-C", text(site_), "--transform", "s,^[^/]*,bundle,S"}), 0);
        fs::copy(minilm_folder(), site_ / "minilm", fs::copy_options::recursive);
        std::ofstream pairs(site_ / "pairs.jsonl");
        for (int i = 0; i < 40; ++i) pairs << "{\"query\": \"question " << i << "\", \"document\": \"an answer to " << i << "\"}\n";
        std::ofstream(site_ / "e.yaml")
            << "name: bundle\nmodel: /minilm\nmax_length: 16\ntasks:\n  retrieval:\n    instructions: {query: \"q: \", document: \"d: \"}\n"
               "    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
               "variants:\n  IC: {method: instruction}\n  MoTE: {method: mote}\n  TLR: {method: token_routed_moe, experts: 2}\n"
               "training: {batch_size: 4, steps: 3}\nevaluation: {baseline: false, datasets: []}\n";
    }
    void nothing_in_it_names_a_folder_of_the_machine_that_made_it() {
        const Outcome paths =
            run("sh", {"-c", "find '" + text(site_ / "bundle") +
                                 "' -type f \\( -path '*/bin/*' -o -name '*.so*' \\) -exec patchelf --print-rpath {} \\; | sort -u"});
        VERIFY_CODE(paths, 0);
        for (const QString& path : paths.output.split('\n', Qt::SkipEmptyParts)) QVERIFY2(path.startsWith("$ORIGIN"), qPrintable(path));
    }
    /// As the licences of what is copied ask for.
    void every_library_that_came_from_a_package_has_its_copyright_beside_it() {
        const Outcome libraries = run("sh", {"-c", "ls '" + text(site_ / "bundle/lib") + "' '" + text(site_ / "bundle/lib/stdcxx") + "'"});
        VERIFY_CODE(libraries, 0);
        for (const auto& [library, package] : std::map<QString, const char*>{
                 {"libz.so.1", "zlib1g"}, {"libgcc_s.so.1", "libgcc-s1"}, {"libstdc++.so.6", "libstdc++6"}, {"libzstd.so.1", "libzstd1"}})
            if (libraries.output.contains(library))
                QVERIFY2(fs::exists(site_ / "bundle/share/doc/faceter" / ("copyright-" + std::string(package))), package);
        QVERIFY(libraries.output.contains("libgcc_s.so.1"));
    }
    /// What is started from the bundle may need a newer one, which the machine has.
    void libcrypto_lies_apart_so_that_the_one_of_the_machine_can_be_taken() {
        QVERIFY(fs::exists(site_ / "bundle/lib/crypto/libcrypto.so.3"));
        QVERIFY(!fs::exists(site_ / "bundle/lib/libcrypto.so.3"));
    }
    void it_trains_where_only_a_torch_wheel_is_present() {
        const Outcome outcome = inside("/bundle/faceter", {"--torch", "/torch", "run", "/e.yaml", "--project", "/tmp/p"});
        VERIFY_CODE(outcome, 0);
        int models = 0;
        for (const auto& run : fs::directory_iterator(site_ / "tmp/p/runs")) models += fs::exists(run.path() / "model/model.safetensors");
        QCOMPARE(models, 3);
    }
    void another_torch_is_refused_before_it_is_opened() {
        const auto refused = [&](const char* name, const std::string& version) {
            make_directories(site_ / name / "lib");
            overwrite(site_ / name / "lib/libtorch_cpu.so", "x");
            overwrite(site_ / name / "version.py", version);
            return inside("/bundle/faceter-worker", {"--torch", QString("/") + name, "--help"});
        };
        const Outcome old = refused("old", "__version__ = '2.4.1+cu121'\n");
        VERIFY_CODE(old, 5);
        QVERIFY2(old.output.contains("torch 2.4.1+cu121; Faceter needs 2.11"), qPrintable(old.output));
        VERIFY_CODE(refused("unknown", ""), 5);
        const Outcome none = inside("/bundle/faceter-worker", {"--help"});
        VERIFY_CODE(none, 5);
        QVERIFY2(none.output.contains("--torch DIR"), qPrintable(none.output));
        VERIFY_CODE(inside("/bundle/faceter", {"--torch", "/nowhere", "list"}), 5);
    }
    void an_older_glibc_is_named() {
        const std::string floor = read_file(site_ / "bundle/lib/glibc-floor");
        QVERIFY2(QString::fromStdString(floor).startsWith("2."), floor.c_str());
        overwrite(site_ / "bundle/lib/glibc-floor", "2.99\n");
        const Outcome outcome = inside("/bundle/faceter", {"--torch", "/torch", "--help"});
        overwrite(site_ / "bundle/lib/glibc-floor", floor);
        VERIFY_CODE(outcome, 5);
        QVERIFY2(outcome.output.contains("the bundle needs 2.99"), qPrintable(outcome.output));
    }
};

FACETER_TEST(SlowBundle)
#include "slow_bundle.moc"
