#include <unistd.h>

#include "packaging/command.h"

using namespace faceter;
using namespace faceter::packaging;

/// The bundle or the wheel as somebody else unpacked it, for all who use the machine.
class TestInstalledByAnother : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    fs::path in(const char* name) const { return folder_.path() / name; }
    void give(const fs::path& file, uid_t owner) const { QVERIFY2(::lchown(file.c_str(), owner, owner) == 0, file.c_str()); }

  private Q_SLOTS:
    void initTestCase() {
        if (::geteuid() != 0) QSKIP("only root gives files to somebody else");
        if (!fs::exists(binaries / "bin/faceter") || !fs::exists(binaries / "lib/faceter/plugins/mote.json"))
            QSKIP("programs are not built");
        for (const char* file : {"bin/faceter", "lib/libfaceter-base.so", "lib/faceter/plugins/mote.json"}) {
            fs::create_directories(in(file).parent_path());
            fs::copy_file(binaries / file, in(file));
        }
        for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
            give(entry.path(), 4711);
            fs::permissions(entry.path(), fs::perms::group_write, fs::perm_options::remove);  // whatever the umask is
        }
    }
    void its_methods_are_there() {
        const Outcome outcome = run(in("bin/faceter"), {"plugins"});
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.contains("mote") && !outcome.output.contains("belongs to another user"), qPrintable(outcome.output));
    }
    void what_trains_is_said_with_its_package_where_it_is_missing() {
        const Outcome outcome = run(in("bin/faceter"), {"doctor"}, {{"COLUMNS", "400"}, {"FACETER_WORKER", ""}});
        QVERIFY2(outcome.output.simplified().contains("is in the package faceter-worker"), qPrintable(outcome.output));
    }
    void what_a_third_one_put_there_is_left_out() {
        give(in("lib/faceter/plugins/mote.json"), 4712);
        const Outcome outcome = run(in("bin/faceter"), {"plugins"});
        QVERIFY2(outcome.output.contains("belongs to another user"), qPrintable(outcome.output));
        give(in("lib/faceter/plugins/mote.json"), 4711);
    }
    void a_group_that_may_write_the_program_may_write_its_plugins() {
        fs::permissions(in("lib/faceter/plugins"), fs::perms::group_write, fs::perm_options::add);
        QVERIFY(run(in("bin/faceter"), {"plugins"}).output.contains("may be written by another group"));
        fs::permissions(in("bin/faceter"), fs::perms::group_write, fs::perm_options::add);
        QVERIFY(!run(in("bin/faceter"), {"plugins"}).output.contains("may be written by another group"));
    }
};

FACETER_TEST(TestInstalledByAnother)
#include "test_installed_by_another.moc"
