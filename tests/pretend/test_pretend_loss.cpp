#include <ATen/ATen.h>

#include "model/device.h"
#include "support/pretend_device/pretend.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/objective.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const c10::Device there = pretend::device();
constexpr std::int64_t pairs = 16384;

PairEmbeddings many_pairs() {
    at::manual_seed(12);
    PairEmbeddings batch;
    batch.queries = at::randn({pairs, 4});
    batch.documents = at::randn({pairs, 4});
    batch.document_texts.resize(static_cast<std::size_t>(pairs));
    for (std::size_t i = 0; i < batch.document_texts.size(); ++i) batch.document_texts[i] = i / 2;
    return batch;
}

struct Computed {
    at::Tensor loss, dqueries, ddocuments;
    double masked;
};

Computed computed(PairEmbeddings batch, const c10::Device& device) {
    batch.queries = to_device(batch.queries, device).detach().requires_grad_();
    batch.documents = to_device(batch.documents, device).detach().requires_grad_();
    pretend::reset_counts();
    const LossResult result = InfoNce({})(batch);
    result.loss.backward();
    const auto counts = pretend::counts();
    qInfo("%s: %lld waits, %lld MiB at most", device.str().c_str(), static_cast<long long>(counts.waits),
          static_cast<long long>(counts.most >> 20));
    if (!device.is_cpu() && (counts.waits != 0 || counts.most > std::uint64_t{160} << 20)) return {};
    return {result.loss.detach().cpu(), batch.queries.grad().cpu(), batch.documents.grad().cpu(),
            result.parts.at("masked_negatives").item<double>()};
}

}  // namespace

/// The contrastive loss on the pretend accelerator.
class TestPretendLoss : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// All logits would be 1 GiB. Blocks of 16 MiB, what is computed of them, and no wait.
    void sixteen_thousand_pairs_are_bounded_and_equal_those_of_the_processor() {
        const Computed far = computed(many_pairs(), there);
        QVERIFY2(far.loss.defined(), "it waited, or took more than 160 MiB");
        const Computed here = computed(many_pairs(), c10::kCPU);
        QCOMPARE(far.masked, static_cast<double>(pairs));
        QVERIFY(relative_difference(far.loss, here.loss) < 1e-5);
        QVERIFY(relative_difference(far.dqueries, here.dqueries) < 1e-4);
        QVERIFY(relative_difference(far.ddocuments, here.ddocuments) < 1e-4);
    }
};

FACETER_TEST(TestPretendLoss)
#include "test_pretend_loss.moc"
