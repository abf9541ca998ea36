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
        require_steps_of_the_processor(method, fixture.toStdString(), pretend::device());
    }
};

FACETER_TEST(TestPretendFamilies)
#include "test_pretend_families.moc"
