#include <algorithm>

#include "support/backbones.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// What transformers' Trainer leaves out of weight decay (get_decay_parameter_names): layer norms, and what a name calls a bias or a norm.
bool is_left_out(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name.find("bias") != std::string::npos || name.find("norm") != std::string::npos || name == "emb_ln.weight";
}

}  // namespace

class TestParameters : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void what_decays_is_what_decays_in_transformers_data() {
        QTest::addColumn<QString>("family");
        for (const char* family : backbone_families) QTest::addRow("%s", family) << family;
    }
    void what_decays_is_what_decays_in_transformers() {
        QFETCH(QString, family);
        const Encoder encoder(small_config(family.toStdString()), {}, at::kFloat);
        for (const Parameter& p : encoder.parameters()) QVERIFY2(p.decay != is_left_out(p.name), p.name.c_str());
    }
};

FACETER_TEST(TestParameters)
#include "test_parameters.moc"
