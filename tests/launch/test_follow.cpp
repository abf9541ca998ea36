#include "launch/follow.h"

#include "common/error.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Knows of no end; gives up at the third look.
class MuteSource : public FollowSource {
  public:
    int looks = 0;
    void refresh() override { ++looks; }
    std::optional<int> exit_code(const RunDirectory&, const RunState&) override { return std::nullopt; }
    std::string lost() override { return looks < 3 ? "" : "given up"; }
};

}  // namespace

class TestFollow : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_run_that_was_removed_is_not_waited_for() {
        const TemporaryDirectory folder;
        const RunDirectory removed = sample_run(folder.path(), 1), kept = sample_run(folder.path(), 2);
        fs::rename(removed.folder(), folder.path() / "elsewhere");
        MuteSource alone, both;
        QCOMPARE(follow_runs({removed}, alone), static_cast<int>(ExitCode::failed));
        QCOMPARE(alone.looks, 1);
        follow_runs({removed, kept}, both);
        QCOMPARE(both.looks, 3);
    }
};

FACETER_TEST(TestFollow)
#include "test_follow.moc"
