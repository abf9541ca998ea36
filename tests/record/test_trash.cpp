#include <algorithm>
#include <cmath>
#include <utility>

#include "common/stable_order.h"
#include "store/store.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestTrash : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_run_goes_to_the_trash_and_comes_back_as_it_was() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        write_attempt(run, 1, 20, "finished");
        write_results(run, 1);
        run.append_user_event({{"tag", "paper"}});
        const Project project(folder.path(), false);
        Store store(folder.path());
        store.ingest_all();
        const std::string before = store.dump();
        project.trash(run.info().id);
        QVERIFY(!fs::exists(run.folder()));
        store.ingest_all();
        QVERIFY(store.runs().empty());
        const std::vector<TrashedRun> trashed = project.trashed();
        QCOMPARE(trashed.size(), std::size_t{1});
        QCOMPARE(trashed[0].info.id, run.info().id);
        QVERIFY(trashed[0].when > 1.7e9);
        QCOMPARE(project.restore(run.info().id), run.info().id);
        store.ingest_all();
        QCOMPARE(store.dump(), before);
        QVERIFY(project.trashed().empty());
    }
    void what_was_deleted_together_has_one_order() {
        const TemporaryDirectory folder;
        std::vector<RunInfo> made;
        for (std::size_t i = 0; i < 6; ++i) made.push_back(sample_run(folder.path(), i % 3).info());
        const Project project(folder.path(), false);
        for (const RunInfo& info : made) {
            project.trash(info.id);
            RunDirectory(project.trash_folder() / info.id).append_user_event({{"trashed", 1.8e9}});
        }
        std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return is_older(b, a); });
        std::vector<std::string> expected, listed;
        for (const RunInfo& info : made) expected.push_back(info.id);
        for (const TrashedRun& run : project.trashed()) listed.push_back(run.info.id);
        QCOMPARE(listed, expected);
    }
    /// Where a run was gone when its turn came, a path of nothing was renamed, and the trash was not emptied of the others.
    void what_is_restored_while_the_trash_is_emptied_stays_and_holds_up_nothing() {
        for (const std::size_t restored : {0, 1}) {  // the one that is just renamed, the next
            const TemporaryDirectory folder;
            std::vector<std::string> ids;
            for (std::size_t i = 0; i < 3; ++i) ids.push_back(sample_run(folder.path(), i).info().id);
            const Project project(folder.path(), false);
            for (const std::string& id : ids) project.trash(id);
            const std::string id = project.trashed().at(restored).info.id;
            bool done = false;
            set_file_fault_hook([&](FileOperation operation, const fs::path&) {
                if (operation != FileOperation::rename || std::exchange(done, true)) return 0;
                fs::rename(project.trash_folder() / id, project.runs_folder() / id);
                return 0;
            });
            const int removed = project.empty_trash(-1);
            set_file_fault_hook(nullptr);
            QCOMPARE(removed, 2);
            QCOMPARE(project.run_ids(), std::vector<std::string>{id});
            QVERIFY(project.trashed().empty());
        }
    }
    void what_goes_from_the_trash_while_it_is_restored_is_said_to_be_gone() {
        const TemporaryDirectory folder;
        const std::string id = sample_run(folder.path()).info().id, other = sample_run(folder.path(), 1).info().id;
        const Project project(folder.path(), false);
        for (const std::string& run : {id, other}) project.trash(run);
        bool done = false;
        set_file_fault_hook([&](FileOperation operation, const fs::path& path) {
            if (operation == FileOperation::rename && path.filename() == id && !std::exchange(done, true))
                fs::remove_all(project.trash_folder() / id);
            return 0;
        });
        const auto clear = qScopeGuard([] { set_file_fault_hook(nullptr); });
        EXPECT_ERROR(project.restore(id), id, std::string("another program has just removed it for good"));
        QVERIFY(done);
        QVERIFY(project.run_ids().empty());
        QCOMPARE(project.restore(other), other);
    }
    void a_running_run_is_refused() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        JournalWriter journal(run, run.begin_attempt(), {});
        EXPECT_ERROR(Project(folder.path(), false).trash(run.info().id), "is running", "faceter stop");
        QVERIFY(fs::exists(run.folder() / "run.json"));
    }
    void a_run_that_waits_for_a_living_supervisor_is_refused() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        write_supervisor(run, ProcessIdentity::own());
        EXPECT_ERROR(Project(folder.path(), false).trash(run.info().id), "waiting in a queue");
    }
    void a_store_that_was_not_told_finds_out_by_itself() {
        const TemporaryDirectory folder;
        const RunDirectory kept = sample_run(folder.path(), 0), run = sample_run(folder.path(), 1);
        { Store(folder.path()).ingest_all(); }
        const Project project(folder.path(), false);
        project.trash(run.info().id);  // and here the program dies, before the store hears of it
        Store store(folder.path());
        QCOMPARE(store.runs().size(), std::size_t{2});
        store.ingest_changed();
        QCOMPARE(store.runs().size(), std::size_t{1});
        QCOMPARE(store.runs()[0].info.id, kept.info().id);
        project.restore(run.info().id);
        store.ingest_changed();
        QCOMPARE(store.runs().size(), std::size_t{2});
    }
    void a_crash_before_the_rename_leaves_the_run_where_it_is() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        const Project project(folder.path(), false);
        set_file_fault_hook([](FileOperation operation, const fs::path&) { return operation == FileOperation::rename ? EIO : 0; });
        EXPECT_ERROR(project.trash(run.info().id), "rename");
        set_file_fault_hook(nullptr);
        QVERIFY(project.trashed().empty());
        Store store(folder.path());
        QVERIFY(store.ingest_all().empty());
        QCOMPARE(store.runs().size(), std::size_t{1});
        project.trash(run.info().id);
        QCOMPARE(project.trashed().size(), std::size_t{1});
    }
    void restoring_never_overwrites_and_says_what_it_looked_for() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        const Project project(folder.path(), false);
        project.trash(run.info().id);
        fs::copy(folder.path() / "trash" / run.info().id, run.folder(), fs::copy_options::recursive);
        EXPECT_ERROR(project.restore(run.info().id), "a run of this name is there");
        EXPECT_ERROR(project.trash(run.info().id), "already there");
        EXPECT_ERROR(project.restore("nothing"), "no run 'nothing'", "faceter trash");
        EXPECT_ERROR(project.restore(".."), "no run");
    }
    void emptying_removes_what_is_old_enough_and_finishes_what_was_cut_short() {
        const TemporaryDirectory folder;
        const RunDirectory a = sample_run(folder.path(), 0), b = sample_run(folder.path(), 1);
        const Project project(folder.path(), false);
        project.trash(a.info().id);
        project.trash(b.info().id);
        QCOMPARE(project.empty_trash(3600), 0);
        QCOMPARE(project.empty_trash(std::nan("")), 0);
        RunDirectory(folder.path() / "trash" / a.info().id).append_user_event({{"trashed", 1e9}});
        make_directories(folder.path() / "trash/.removing-old/results");
        QCOMPARE(project.empty_trash(3600), 1);
        QCOMPARE(project.trashed().size(), std::size_t{1});
        QVERIFY(!fs::exists(folder.path() / "trash/.removing-old"));
        QCOMPARE(project.empty_trash(0), 1);
        QVERIFY(fs::is_empty(folder.path() / "trash"));
    }
    void runs_on_a_disk_of_their_own_have_their_trash_there() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        const std::string id = run.info().id;
        const Project project(folder.path(), false);
        const auto far = [&](FileOperation operation, const fs::path& to) {
            return operation == FileOperation::rename && to.parent_path() == folder.path() / "trash" ? EXDEV : 0;
        };
        set_file_fault_hook(far);
        project.trash(id);
        QVERIFY(fs::exists(project.runs_folder() / ".trash" / id / "run.json"));
        QVERIFY(project.run_ids().empty());
        QCOMPARE(project.trashed().size(), std::size_t{1});
        EXPECT_ERROR(project.find_run("EM-1"), "is in the trash", "faceter restore");
        QCOMPARE(project.restore("EM-1"), id);
        project.trash(id);
        QCOMPARE(project.restore(project.trashed().front().info.variant), id);  // as delete takes it
        project.trash(id);
        QCOMPARE(project.empty_trash(0), 1);
        QVERIFY(fs::is_empty(project.runs_folder() / ".trash"));
        set_file_fault_hook(nullptr);
    }
    void a_run_is_removed_where_the_trash_cannot_be_made() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        set_file_fault_hook([](FileOperation operation, const fs::path&) {
            return operation == FileOperation::make_directory || operation == FileOperation::write ? ENOSPC : 0;  // a disk that is full
        });
        Project(folder.path(), false).remove(run.info().id);
        set_file_fault_hook(nullptr);
        QVERIFY(fs::is_empty(folder.path() / "runs"));
    }
    void a_full_disk_keeps_no_run_from_the_trash() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        const Project project(folder.path(), false);
        make_directories(project.trash_folder());
        const auto full = [](FileOperation operation, const fs::path&) { return operation == FileOperation::write ? ENOSPC : 0; };
        set_file_fault_hook(full);
        project.trash(run.info().id);
        set_file_fault_hook(nullptr);
        QVERIFY(project.trashed().at(0).when > 1.7e9);
        QCOMPARE(project.empty_trash(3600), 0);  // it has come just now, though nothing says so
        project.restore(run.info().id);
        run.append_user_event({{"trashed", 1e9}});
        set_file_fault_hook(full);
        EXPECT_ERROR(project.trash(run.info().id), "No space left on device");  // it would seem to lie there since then
        set_file_fault_hook(nullptr);
    }
    void of_two_that_delete_a_run_one_is_told_so() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        const Project project(folder.path(), false);
        set_file_fault_hook([&](FileOperation operation, const fs::path& path) {
            if (operation == FileOperation::open && path.filename() == "user.jsonl") fs::rename(run.folder(), folder.path() / "elsewhere");
            return 0;
        });
        EXPECT_ERROR(project.trash(run.info().id), "another program has just deleted it");
        set_file_fault_hook(nullptr);
    }
    void pins_are_kept_with_the_run() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        QVERIFY(!run.user_state().pinned);
        run.append_user_event({{"pinned", true}});
        Store store(folder.path());
        store.ingest_all();
        QVERIFY(store.runs()[0].pinned);
        run.append_user_event({{"pinned", false}});
        store.ingest_all();
        QVERIFY(!store.runs()[0].pinned);
    }
};

FACETER_TEST(TestTrash)
#include "test_trash.moc"
