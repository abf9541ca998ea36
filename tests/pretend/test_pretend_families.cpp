#include "support/ops_forms.h"
#include "training.h"

using namespace faceter;
using namespace faceter::testing;

/// Every method from every start model on the pretend accelerator.
class TestPretendFamilies : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void steps_equal_those_of_the_processor_data() { every_start_model(); }
    /// In float64. A method that refuses a start model does so on both.
    void steps_equal_those_of_the_processor() {
        NEED_SHARED();
        QFETCH(QString, fixture);
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        const Trained far = trained(one, fixture.toStdString(), pretend::device());
        const InForm in_form(OpsForm::device);
        const Trained here = trained(one, fixture.toStdString(), c10::kCPU);
        QCOMPARE(far.refused, here.refused);
        if (!here.refused.empty()) QSKIP(here.refused.c_str());
        QVERIFY(largest_difference(far.losses, here.losses) < 1e-8);
        QVERIFY(largest_difference(far.weights, here.weights) < 1e-8);
    }
};

FACETER_TEST(TestPretendFamilies)
#include "test_pretend_families.moc"
