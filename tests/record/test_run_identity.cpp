#include <algorithm>
#include <map>

#include "common/error.h"
#include "launch/elsewhere.h"
#include "launch/supervisor.h"
#include "record/launch.h"
#include "record/state.h"
#include "record/trash_folders.h"
#include "store/store.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using Files = std::map<std::string, std::string>;

Files files_of(const fs::path& folder) {
    Files files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
    return files;
}

/// A project with a run that is done, and a copy of its folder under another name.
struct Copied {
    TemporaryDirectory folder;
    RunDirectory original = sample_run(folder.path(), 3);
    Project project{folder.path(), false};
    std::string copy = "quick-mix-copy";
    Copied() {
        write_attempt(original, 1, 20, "finished");
        write_results(original, 1);
        fs::copy(original.folder(), folder.path() / "runs" / copy, fs::copy_options::recursive);
    }
    fs::path copied() const { return project.runs_folder() / copy; }
};

}  // namespace

class TestRunIdentity : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_copy_under_another_name_is_no_run_and_the_error_names_both() {
        const Copied c;
        const std::string id = c.original.info().id;
        EXPECT_ERROR(RunDirectory(c.copied()), c.copy.c_str(), id.c_str(), "a copy of run");
        EXPECT_ERROR(c.project.find_run(c.copy), c.copy.c_str(), id.c_str());
        QCOMPARE(c.project.find_run(id).folder(), c.original.folder());
        QCOMPARE(c.project.find_run("mix").folder(), c.original.folder());
    }
    void a_folder_that_was_renamed_may_be_all_there_is_and_is_to_be_renamed_back() {
        const Copied c;
        const std::string id = c.original.info().id, name = c.original.info().name;
        fs::remove_all(c.original.folder());
        for (const std::string& called : {c.copy, id, name})
            EXPECT_ERROR(c.project.find_run(called), c.copied().string(), std::string("under another name"),
                         "Rename the folder to '" + id + "'");
        try {
            RunDirectory run(c.copied());
            QVERIFY(false);
        } catch (const Error& error) {
            QVERIFY2(std::string(error.what()).find("emove") == std::string::npos, error.what());
        }
        fs::rename(c.copied(), c.original.folder());
        QCOMPARE(c.project.find_run(name).folder(), c.original.folder());
        c.project.trash(id);
        fs::copy(find_in_trash(c.project, id), c.copied(), fs::copy_options::recursive);
        EXPECT_ERROR(RunDirectory(c.copied()), "a copy of run");  // which can be restored
        EXPECT_ERROR(c.project.find_run(name), "is in the trash");
    }
    void nothing_that_is_done_to_a_copy_reaches_the_original() {
        const Copied c;
        const Files before = files_of(c.original.folder());
        EXPECT_ERROR(c.project.trash(c.copy), "a copy of run");
        EXPECT_ERROR(c.project.remove(c.copy), "a copy of run");
        EXPECT_ERROR(stop_run(RunDirectory(c.copied())), "a copy of run");
        EXPECT_ERROR(prepare_resume({RunDirectory(c.copied())}), "a copy of run");
        QCOMPARE(files_of(c.original.folder()) == before, true);
        QVERIFY(c.project.trashed().empty());
    }
    void a_copied_project_does_not_wait_for_the_supervisor_of_the_original() {
        const TemporaryDirectory folder, other;
        const RunDirectory run = sample_run(folder.path());
        const fs::path place = fs::path("runs") / run.info().id;
        write_supervisor(run, ProcessIdentity::own());
        QVERIFY(waits_in_queue(run, read_state(run)));
        fs::create_directory_symlink(folder.path(), other.path() / "link");
        const RunDirectory same(other.path() / "link" / place);
        QVERIFY(waits_in_queue(same, read_state(same)));
        make_directories(other.path() / "runs");
        fs::copy(run.folder(), other.path() / place, fs::copy_options::recursive);
        const RunDirectory copy(other.path() / place);
        const RunState state = read_state(copy);
        QCOMPARE(state.phase, RunPhase::dead);
        QVERIFY2(state.cause.find("faceter resume") != std::string::npos, state.cause.c_str());
        prepare_resume({copy});
        Project(other.path(), false).trash(copy.info().id);
        QVERIFY(waits_in_queue(run, read_state(run)));
    }
    void a_copy_is_named_in_lists_and_taken_in_nowhere() {
        const Copied c;
        Store store(c.folder.path());
        const std::vector<std::string> warnings = store.ingest_all();
        QCOMPARE(warnings.size(), std::size_t{1});
        QVERIFY2(warnings[0].find("a copy of run") != std::string::npos, warnings[0].c_str());
        QCOMPARE(store.runs().size(), std::size_t{1});
        QCOMPARE(store.runs()[0].info.id, c.original.info().id);
    }
    void a_copy_in_the_trash_is_not_restored_over_anything() {
        const Copied c;
        make_directories(c.project.trash_folder());
        fs::rename(c.copied(), c.project.trash_folder() / c.copy);
        QVERIFY(c.project.trashed().empty());
        EXPECT_ERROR(c.project.restore(c.copy), "no run");
        EXPECT_ERROR(c.project.restore(c.original.info().id), "no run");
    }
    void a_run_outside_of_the_project_is_not_reached_by_a_path() {
        const Copied c;
        const TemporaryDirectory other;
        const RunDirectory far = sample_run(other.path());
        EXPECT_ERROR(c.project.trash("../../" + other.path().filename().string() + "/runs/" + far.info().id), "no run of");
        QVERIFY(fs::exists(far.folder() / "run.json"));
    }
    void one_damaged_run_does_not_hide_the_others_from_a_look_up_by_variant() {
        const TemporaryDirectory folder;
        const RunDirectory em = sample_run(folder.path(), 1), torn = sample_run(folder.path(), 2), mix = sample_run(folder.path(), 3);
        overwrite(torn.folder() / "run.json", "{\"faceter_run\": 1, \"id\"");
        const Project project(folder.path(), false);
        QCOMPARE(project.find_run("mix").folder(), mix.folder());
        QCOMPARE(project.find_run("EM").folder(), em.folder());
        EXPECT_ERROR(project.find_run(torn.info().id), "run.json");
    }
    void a_removal_that_is_cut_short_leaves_no_half_of_a_run() {
        const Copied c;
        const std::string id = c.original.info().id;
        set_file_fault_hook([](FileOperation operation, const fs::path& path) {
            return operation == FileOperation::remove && path.filename() == "run.json" ? EIO : 0;
        });
        EXPECT_ERROR(c.project.remove(id), "cannot remove");
        set_file_fault_hook(nullptr);
        QVERIFY(!fs::exists(c.original.folder()));
        QVERIFY(c.project.trashed().empty());
        QCOMPARE(c.project.empty_trash(0), 0);
        QCOMPARE(fs::exists(c.project.runs_folder() / (".removing-" + id)), false);
    }
    void a_copy_of_a_project_does_not_cancel_the_jobs_of_the_original() {
        const TemporaryDirectory folder, other;
        const RunDirectory run = sample_run(folder.path());
        const fs::path job = folder.path() / "jobs/j-abcdef";
        make_directories(job);
        write_launch(run, {"slurm", "gpu", "7_0", job});
        write_job(run, {"7_0", "PENDING", "", "", 0});
        fs::copy(folder.path(), other.path() / "copy", fs::copy_options::recursive);
        const RunDirectory copy(other.path() / "copy/runs" / run.info().id);
        EXPECT_ERROR(stop_run(copy), "SLURM job 7_0", folder.path().c_str());
        QVERIFY(!copy.requested("stop"));
    }
};

FACETER_TEST(TestRunIdentity)
#include "test_run_identity.moc"
