#include "train/checkpoint.h"

#include <ATen/ops/full.h>

#include "support/deaths.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Writes one whose only tensor holds its step.
fs::path save(const CheckpointStore& store, std::int64_t step) {
    const std::vector<NamedTensor> tensors{{"w", at::full({4}, static_cast<double>(step))}};
    return store.save({0, step, Json::object()}, tensors, tensors);
}

void damage(const fs::path& checkpoint) {
    const std::string whole = read_file(checkpoint / "model.safetensors");
    OutputFile(checkpoint / "model.safetensors", OutputFile::Mode::truncate).write(whole.substr(0, whole.size() / 2));
}

std::int64_t newest_step(const CheckpointStore& store) {
    std::vector<std::string> warnings;
    const auto newest = store.newest(warnings);
    return newest ? newest->state.step : -1;
}

/// A run that has one checkpoint, and is to write the next.
struct Checkpointed {
    TemporaryDirectory folder;
    CheckpointStore store{folder.path(), 1};
    Checkpointed() { save(store, 10); }
    void check() const {
        const std::int64_t step = newest_step(store);
        QVERIFY(step == 10 || step == 20);
        remove_leftovers(folder.path());
        QVERIFY(fs::exists(save(store, 30)));
        QCOMPARE(newest_step(store), std::int64_t{30});
    }
};

}  // namespace

class TestCheckpoint : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_newest_are_kept() {
        const TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 2);
        const fs::path first = save(store, 10);
        save(store, 20);
        QVERIFY(fs::exists(first));
        save(store, 30);
        QVERIFY(!fs::exists(first));
        QCOMPARE(newest_step(store), std::int64_t{30});
    }
    void none_is_written_at_the_old_place_of_a_run_that_was_moved() {
        const TemporaryDirectory folder;
        const fs::path run = folder.path() / "run";
        make_directories(run);
        const CheckpointStore store(run / "checkpoints", 2);
        save(store, 10);
        fs::rename(run, folder.path() / "moved");
        EXPECT_ERROR(save(store, 20), "was moved or removed", "faceter resume");
        QVERIFY(!fs::exists(run));
        QCOMPARE(newest_step(CheckpointStore(folder.path() / "moved/checkpoints", 2)), std::int64_t{10});
    }
    void a_damaged_checkpoint_of_a_later_step_does_not_push_out_each_new_one() {
        for (const std::size_t keep : {1, 2}) {
            const TemporaryDirectory folder;
            const CheckpointStore store(folder.path(), keep);
            damage(save(store, 100));
            QVERIFY(fs::exists(save(store, 10)));
            QCOMPARE(newest_step(store), std::int64_t{10});
            QVERIFY(fs::exists(save(store, 20)));
            QCOMPARE(newest_step(store), std::int64_t{20});
        }
    }
    void a_damaged_one_does_not_count_among_those_that_are_kept() {
        const TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 2);
        const fs::path whole = save(store, 10);
        damage(save(store, 20));
        damage(save(store, 30));
        QVERIFY(fs::exists(whole));
        QCOMPARE(newest_step(store), std::int64_t{10});
    }
    void one_whose_state_is_not_of_its_folder_is_passed_over() {
        const TemporaryDirectory folder;
        const CheckpointStore store(folder.path(), 2);
        save(store, 10);
        const fs::path later = save(store, 20), far = folder.path() / "stage-000-step-999999999";
        fs::rename(later, far);
        std::vector<std::string> warnings;
        const auto newest = store.newest(warnings);
        QVERIFY(newest && newest->state.step == 10);
        QCOMPARE(warnings.size(), std::size_t{1});
        QVERIFY2(warnings[0].find("stage 0, step 20") != std::string::npos, warnings[0].c_str());
    }
    void a_death_or_an_error_at_any_operation_leaves_the_old_or_the_new() {
        const std::function<void(Checkpointed&)> body = [](Checkpointed& scene) { save(scene.store, 20); };
        const std::function<void(Checkpointed&)> check = [](Checkpointed& scene) { scene.check(); };
        QVERIFY(die_everywhere(body, check) > 15);
        QVERIFY(fail_everywhere(body, check) > 15);
    }
};

FACETER_TEST(TestCheckpoint)
#include "test_checkpoint.moc"
