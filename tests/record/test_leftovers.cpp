#include "record/leftovers.h"

#include <algorithm>
#include <chrono>

#include "record/state.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A file or folder that was last written so long ago.
void leave(const fs::path& path, std::chrono::hours ago, bool folder) {
    make_directories(folder ? path : path.parent_path());
    const fs::path file = folder ? path / "part" : path;
    overwrite(file, "x");
    for (const fs::path& one : {file, path}) fs::last_write_time(one, fs::file_time_type::clock::now() - ago);
}

const Leftover* of(const std::vector<Leftover>& all, const fs::path& path) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Leftover& one) { return one.path == path; });
    return found == all.end() ? nullptr : &*found;
}

constexpr auto long_ago = std::chrono::hours(48), just_now = std::chrono::hours(0);

}  // namespace

class TestLeftovers : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_project_that_is_whole_has_none() {
        const TemporaryDirectory folder;
        write_attempt(sample_run(folder.path()), 1, 5, "finished");
        sample_run(folder.path(), 2);
        QVERIFY(find_leftovers(Project(folder.path(), false)).empty());
    }
    void what_killed_processes_left_is_found_everywhere() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        write_attempt(run, 1, 5, "stopped");
        const fs::path folders[] = {run.folder() / ".model-123", run.checkpoints() / ".writing-123",
                                    folder.path() / "runs/.new-quick-em-s1-20260101-000000-abcd", folder.path() / "jobs/j-abcdef",
                                    folder.path() / "queue/q-abcdef"};
        const fs::path files[] = {run.results() / "scifact.json.tmp-123-0", run.control() / "job.json.tmp-123-4",
                                  run.folder() / "run.json.tmp-1-1", run.control() / ".probe-abcdef", folder.path() / "submitted-abcdef"};
        for (const fs::path& one : folders) leave(one, long_ago, true);
        for (const fs::path& one : files) leave(one, long_ago, false);
        make_directories(folder.path() / "trash/.removing-quick-em-s1-20260101-000000-abcd");
        make_directories(folder.path() / "runs/.removing-quick-em-s1-20260101-000000-abcd");
        const auto found = find_leftovers(Project(folder.path(), false));
        QCOMPARE(found.size(), std::size(folders) + std::size(files) + 2);
        for (const Leftover& one : found) {
            QVERIFY2(one.removable, one.path.c_str());
            remove_tree(one.path);
        }
        QVERIFY(find_leftovers(Project(folder.path(), false)).empty());
        QCOMPARE(read_state(run).phase, RunPhase::stopped);
    }
    void what_may_still_be_at_work_is_left() {
        const TemporaryDirectory folder;
        const RunDirectory idle = sample_run(folder.path(), 1), running = sample_run(folder.path(), 2);
        write_attempt(idle, 1, 5, "stopped");
        write_attempt(running, 1, 5, "");
        leave(idle.folder() / ".model-123", just_now, true);
        leave(folder.path() / "runs/.new-quick-em-s1-20260101-000000-abcd", just_now, true);
        leave(running.folder() / ".model-123", long_ago, true);
        const auto found = find_leftovers(Project(folder.path(), false));
        QCOMPARE(found.size(), std::size_t{2});
        for (const Leftover& one : found) QVERIFY2(!one.removable, one.path.c_str());
    }
    void copies_and_damaged_runs_are_named_and_never_removed() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path()), torn = sample_run(folder.path(), 2);
        fs::copy(run.folder(), folder.path() / "runs/copy", fs::copy_options::recursive);
        overwrite(torn.folder() / "run.json", "{");
        const auto found = find_leftovers(Project(folder.path(), false));
        QCOMPARE(found.size(), std::size_t{2});
        QVERIFY(of(found, folder.path() / "runs/copy") && !of(found, folder.path() / "runs/copy")->removable);
        QVERIFY(of(found, torn.folder()) && !of(found, torn.folder())->removable);
    }
};

FACETER_TEST(TestLeftovers)
#include "test_leftovers.moc"
