#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const std::string sample = sample_experiment();

}  // namespace

/// What a stage says itself, and what it has from the experiment.
class TestStageSettings : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_stage_changes_a_loss_or_an_order_whole_with_its_method() {
        const std::string own = "objective: {method: infonce, symmetric: true}\nstages: [{name: a, ";
        EXPECT_ERROR(parse_sample(sample + own + "objective: {hard_negatives: own}}]\n"),
                     "/base/quick.yaml:17:", "stages[0].objective.method is missing", "infonce");
        EXPECT_ERROR(parse_sample(sample + own + "curriculum: {}}]\n"), "stages[0].curriculum.method is missing", "task_aware");
        const Json settings = parse_sample(sample + own + "objective: null, curriculum: null}]\n").runs()[1].settings;
        for (const char* part : {"objective", "curriculum"}) QCOMPARE(settings["stages"][0][part], settings[part]);
    }
    void a_stage_takes_over_what_it_does_not_repeat_of_early_stopping() {
        const Json settings = parse_sample(sample +
                                           "training: {evaluate_every_steps: 5, early_stopping: {patience: 7, min_delta: 0.5}}\nstages:\n"
                                           "  - {name: a, training: {early_stopping: {patience: 2}}}\n"
                                           "  - {name: b, training: {early_stopping: null}}\n")
                                  .runs()[1]
                                  .settings;
        const Json& first = settings["stages"][0]["training"]["early_stopping"];
        QCOMPARE(first["patience"].get<int>(), 2);
        QCOMPARE(first["min_delta"].get<double>(), 0.5);
        QVERIFY(settings["stages"][1]["training"]["early_stopping"].is_null());
    }
};

FACETER_TEST(TestStageSettings)
#include "test_stage_settings.moc"
