#include "common/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "common/abandoned.h"
#include "common/error.h"
#include "common/shown_place.h"
#include "support/deaths.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// A folder `place` of two files that agree, and a new one beside it.
struct TwoFolders {
    TwoFolders() {
        for (const auto& [made, text] : {std::pair{place(), "old"}, {fresh(), "new"}}) {
            fs::create_directory(made);
            for (const char* name : {"a", "b"}) write_file_atomic(made / name, text);
        }
    }
    fs::path place() const { return folder.path() / "model"; }
    fs::path fresh() const { return folder.path() / ".model-1"; }
    void check_whole() const {
        const std::string text = read_file(place() / "a");
        QVERIFY(text == "old" || text == "new");
        QCOMPARE(read_file(place() / "b"), text);
    }
    TemporaryDirectory folder;
};

}  // namespace

class TestAtomicFile : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void nothing_is_seen_before_the_commit() {
        const TemporaryDirectory folder;
        const fs::path path = folder.path() / "a.bin";
        write_file_atomic(path, "old");
        AtomicFile file(path);
        file.write("new ");
        file.write("content", 7);
        QCOMPARE(read_file(path), std::string("old"));
        file.commit();
        QCOMPARE(read_file(path), std::string("new content"));
        QCOMPARE(files_in(folder.path()), std::size_t{1});
    }
    void a_file_keeps_its_permissions_also_while_it_is_replaced() {
        const TemporaryDirectory folder;
        const fs::path path = folder.path() / "notes.json";
        for (const unsigned mode : {0600u, 0640u, 0755u}) {
            write_file_atomic(path, "old");
            fs::permissions(path, fs::perms(mode));
            AtomicFile file(path);
            file.write("new");
            for (const auto& entry : fs::directory_iterator(folder.path())) QCOMPARE(unsigned(entry.status().permissions()), mode);
            file.commit();
            QCOMPARE(unsigned(fs::status(path).permissions()), mode);
        }
    }
    void what_killed_processes_left_goes_with_the_next_that_writes_there() {
        const TemporaryDirectory folder;
        const pid_t dead = ::fork();
        if (dead == 0) ::_exit(0);
        ::waitpid(dead, nullptr, 0);
        const auto now = fs::file_time_type::clock::now();
        const auto lay = [&](const std::string& name, pid_t process, std::chrono::minutes age, bool is_folder) {
            const fs::path path = folder.path() / (name + std::to_string(process));
            if (is_folder) make_directories(path);
            write_file_atomic(is_folder ? path / "a" : path, "half");
            for (const fs::path& part : {path / "a", path})
                if (fs::exists(part)) fs::last_write_time(part, now - age);
            return path;
        };
        const auto old = std::chrono::minutes(61), fresh = std::chrono::minutes(50);
        const fs::path file = folder.path() / fmt::format("v.npy.tmp-{}-3", dead);
        fs::rename(lay("v.npy.tmp-", dead, old, false), file);
        const std::vector<fs::path> gone = {file, lay(".model.tmp-", dead, old, true)},
                                    kept = {lay("v.npy.tmp-", ::getpid(), old, false), lay("v.npy.tmp-", dead, fresh, false),
                                            lay(".model.tmp-", ::getpid(), old, true), lay("other.npy.tmp-", dead, old, false),
                                            lay("v.npy.tmp-x", dead, old, false)};
        make_directories(folder.path() / "model");
        fs::rename(gone[1], folder.path() / "model" / gone[1].filename());  // as beside it
        for (const char* place : {"v.npy", "model", "nothing/at/all"}) remove_abandoned(folder.path() / place);
        QVERIFY(!fs::exists(gone[0]));
        QVERIFY(fs::is_empty(folder.path() / "model"));
        for (const fs::path& path : kept) QVERIFY2(fs::exists(path), path.c_str());
    }
    void without_a_commit_nothing_is_left() {
        const TemporaryDirectory folder;
        { AtomicFile(folder.path() / "a.bin").write("lost"); }
        QCOMPARE(files_in(folder.path()), std::size_t{0});
    }
    void two_at_once_do_not_meet() {
        const TemporaryDirectory folder;
        const fs::path path = folder.path() / "a.bin";
        AtomicFile first(path), second(path);
        first.write("first");
        second.write("second");
        second.commit();
        first.commit();
        QCOMPARE(read_file(path), std::string("first"));
    }
    void a_failure_at_any_step_leaves_the_old_content_alone() {
        for (const FileOperation failing : {FileOperation::open, FileOperation::write, FileOperation::sync, FileOperation::rename}) {
            const TemporaryDirectory folder;
            const fs::path path = folder.path() / "a.bin";
            write_file_atomic(path, "old");
            set_file_fault_hook([=](FileOperation operation, const fs::path&) { return operation == failing ? ENOSPC : 0; });
            EXPECT_ERROR(write_file_atomic(path, "new"), path.string() + ": cannot ", std::string("free some space"));
            set_file_fault_hook(nullptr);
            QCOMPARE(read_file(path), std::string("old"));
            QCOMPARE(files_in(folder.path()), std::size_t{1});
        }
    }
    void an_error_names_the_place_that_was_asked_for() {
        const TemporaryDirectory folder;
        const fs::path made = folder.path() / ".out.tmp-1", place = folder.path() / "out",
                       own = folder.path() / fmt::format("a.tmp-{}-0.bin", ::getpid());  // a user's, of a name like ours
        make_directories(made / "onnx");
        set_file_fault_hook([](FileOperation operation, const fs::path&) { return operation == FileOperation::write ? EIO : 0; });
        const ShownPlace shown(made, place);
        EXPECT_ERROR(write_file_atomic(made / "onnx/a.bin", "x"), (place / "onnx/a.bin").string() + ": cannot write", std::string("Input"));
        EXPECT_ERROR(write_file_atomic(own, "x"), own.string() + ": cannot write", std::string("Input"));
        { AtomicFile(folder.path() / "b.bin").commit(); }
        EXPECT_ERROR(OutputFile(own, OutputFile::Mode::truncate).write("x"), own.string() + ": cannot write", std::string("Input"));
        set_file_fault_hook(nullptr);
    }
    void what_is_no_file_is_written_to_and_stays_what_it_is() {
        const TemporaryDirectory folder;
        const fs::path device = folder.path() / "device", pipe = folder.path() / "pipe";
        fs::create_symlink("/dev/null", device);
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        for (const fs::path& path : {device, pipe}) write_file_atomic(path, "text");
        char got[8] = {};
        QCOMPARE(::read(reader, got, sizeof got), ssize_t{4});
        ::close(reader);
        QVERIFY(fs::is_symlink(fs::symlink_status(device)) && fs::is_fifo(fs::status(pipe)));
        QCOMPARE(files_in(folder.path()), std::size_t{2});
        EXPECT_ERROR(write_file_atomic("/dev/full", "text"), "/dev/full", "No space left");
        QVERIFY(fs::is_character_file("/dev/full"));
    }
    void a_copy_is_whole_or_not_there() {
        const TemporaryDirectory folder;
        const fs::path from = folder.path() / "from", to = folder.path() / "to";
        write_file_atomic(from, std::string(3'000'000, 'x') + "end");
        set_file_fault_hook([](FileOperation operation, const fs::path&) { return operation == FileOperation::sync ? EIO : 0; });
        EXPECT_ERROR(copy_file_atomic(from, to), "cannot sync");
        set_file_fault_hook(nullptr);
        QVERIFY(!fs::exists(to));
        copy_file_atomic(from, to);
        QVERIFY(read_file(to) == read_file(from));
        EXPECT_ERROR(copy_file_atomic(folder.path() / "none", to), "none");
    }
    void half_of_a_write_is_gone_on_with() {
        const TemporaryDirectory folder;
        set_file_fault_hook([](FileOperation operation, const fs::path&) { return operation == FileOperation::write ? short_write : 0; });
        write_file_atomic(folder.path() / "a.bin", "some text");
        set_file_fault_hook(nullptr);
        QCOMPARE(read_file(folder.path() / "a.bin"), std::string("some text"));
    }
    void a_missing_folder_is_named_as_the_reason() {
        const TemporaryDirectory folder;
        const fs::path missing = folder.path() / "missing";
        const std::string named = "there is no folder " + missing.string();
        EXPECT_ERROR(AtomicFile(missing / "deep/a.bin"), (missing / "deep/a.bin").string() + ": cannot create", named + ", make it first",
                     "mkdir -p '" + (missing / "deep").string() + "'");
        EXPECT_ERROR(OutputFile(missing / "a.bin", OutputFile::Mode::truncate), "a.bin: cannot create", named.c_str());
        EXPECT_ERROR(read_file(missing / "deep/a.bin"), "a.bin: cannot open: No such file", named.c_str());
        write_file_atomic(folder.path() / "file", "");
        EXPECT_ERROR(AtomicFile(folder.path() / "file/a.bin"), "file/a.bin: cannot create: Not a directory", "a file stands where");
    }
    void a_link_that_leads_nowhere_is_named_with_its_target() {
        const TemporaryDirectory folder;
        fs::create_symlink("gone/weights.bin", folder.path() / "model.bin");
        EXPECT_ERROR(read_file(folder.path() / "model.bin"), "model.bin: cannot open", "a link to gone/weights.bin, which is missing");
        EXPECT_ERROR(read_file(folder.path() / "other.bin"), "other.bin: cannot open: No such file or directory");
    }
    void a_folder_takes_the_place_of_another_whole() {
        const TwoFolders scene;
        replace_folder(scene.fresh(), scene.place());
        QCOMPARE(read_file(scene.place() / "a"), std::string("new"));
        QCOMPARE(files_in(scene.folder.path()), std::size_t{1});
        fs::rename(scene.place(), scene.fresh());
        replace_folder(scene.fresh(), scene.place());
        QCOMPARE(files_in(scene.place()), std::size_t{2});
    }
    void one_of_the_two_folders_is_there_whole_after_a_death_or_a_failure_at_any_operation() {
        const auto replace = [](TwoFolders& scene) { replace_folder(scene.fresh(), scene.place()); };
        const auto whole = [](TwoFolders& scene) { scene.check_whole(); };
        QVERIFY(die_everywhere<TwoFolders>(replace, whole) >= 2);
        QVERIFY(fail_everywhere<TwoFolders>(replace, whole) >= 2);
    }
};

FACETER_TEST(TestAtomicFile)
#include "test_atomic_file.moc"
