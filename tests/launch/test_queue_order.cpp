#include "launch/queue_order.h"

#include "common/lock_file.h"
#include "record/state.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestQueueOrder : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_run_that_was_removed_by_hand_does_not_hide_the_others_of_its_queue() {
        const TemporaryDirectory folder;
        const Project project(folder.path(), true);
        qputenv("FACETER_WORKER", "/opt/faceter-worker");
        const std::vector<RunDirectory> runs{sample_run(folder.path(), 1), sample_run(folder.path(), 2), sample_run(folder.path(), 3)};
        const Queue queue = Queue::create(project, runs, 1);
        qunsetenv("FACETER_WORKER");
        LockFile supervisor(queue.lock_file());
        QCOMPARE(supervisor.try_lock(), LockOutcome::taken);
        write_attempt(runs[0], 1, 5, "");
        fs::remove_all(runs[1].folder());
        const std::vector<QueueState> live = live_queues(project);
        QCOMPARE(live.size(), std::size_t{1});
        QCOMPARE(live.front().running, std::vector<std::string>{runs[0].info().id});
        QCOMPARE(live.front().waiting, std::vector<std::string>{runs[2].info().id});
        overwrite(runs[2].folder() / "run.json", "{");
        QCOMPARE(live_queues(project).size(), std::size_t{1});
    }
};

FACETER_TEST(TestQueueOrder)
#include "test_queue_order.moc"
