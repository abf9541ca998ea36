#include <ATen/ATen.h>

#include "model/device.h"
#include "model/mlm_head.h"
#include "plugin/loader.h"
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

/// Some pairs with hard negatives, and a guide's rows.
PairEmbeddings guided_pairs() {
    at::manual_seed(13);
    PairEmbeddings batch;
    for (at::Tensor* rows : {&batch.queries, &batch.documents, &batch.guide_queries, &batch.guide_documents}) *rows = at::randn({24, 8});
    for (at::Tensor* rows : {&batch.negatives, &batch.guide_negatives}) *rows = at::randn({10, 8});
    for (std::int64_t i = 0; i < 10; ++i) batch.negative_owner.push_back(i);
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
    /// They are made of the guide's rows and joined there.
    void masks_of_gist_are_made_on_the_device_without_a_wait() {
        const auto gist = registry().make_objective("gist", {{"teacher", ""}, {"margin_kind", "relative"}, {"margin", 0.1}});
        const auto& objective = dynamic_cast<const PairObjective&>(*gist);
        std::vector<double> masked;
        std::vector<at::Tensor> losses, gradients;
        for (const c10::Device& device : {there, c10::Device(c10::kCPU)}) {
            PairEmbeddings batch = guided_pairs();
            batch.move_to(device);
            batch.queries = batch.queries.detach().requires_grad_();
            pretend::reset_counts();
            const LossResult result = objective(batch);
            result.loss.backward();
            QCOMPARE(pretend::counts().waits, std::int64_t{0});
            masked.push_back(result.parts.at("masked_negatives").item<double>());
            losses.push_back(result.loss.detach().cpu());
            gradients.push_back(batch.queries.grad().cpu());
        }
        QCOMPARE(masked[0], masked[1]);
        QVERIFY(masked[0] > 100);
        QVERIFY(relative_difference(losses[0], losses[1]) < 1e-5);
        QVERIFY(relative_difference(gradients[0], gradients[1]) < 1e-4);
    }

    void prefixes_share_their_masks_and_give_the_losses_of_the_processor() {
        const auto losses_on = [](const c10::Device& device, const std::vector<std::int64_t>& dims) {
            PairEmbeddings batch = guided_pairs();
            for (std::uint64_t i = 0; i < 24; ++i) batch.document_texts.push_back(i / 2);
            batch.move_to(device);
            pretend::reset_counts();
            std::vector<at::Tensor> losses;
            for (const LossResult& one : InfoNce({}).over_prefixes(batch, dims)) losses.push_back(one.loss);
            return at::stack(losses);
        };
        const auto masks_made = [] {
            std::int64_t times = 0;
            for (const auto& [name, count] : pretend::operators_by_name())
                if (name.starts_with("aten::bitwise_or")) times += count;
            return times;
        };
        losses_on(there, {8});
        const std::int64_t of_one = masks_made();
        QVERIFY(of_one > 0);
        const at::Tensor far = losses_on(there, {8, 4, 2});
        QCOMPARE(masks_made(), of_one);
        QCOMPARE(pretend::counts().waits, std::int64_t{0});
        QVERIFY(relative_difference(far.cpu(), losses_on(c10::kCPU, {8, 4, 2})) < 1e-5);
    }

    /// All logits would be 128 MiB. In bfloat16, as a GPU trains.
    void the_decoder_of_masked_tokens_is_bounded_and_waits_for_nothing() {
        constexpr std::int64_t rows = 4096, words = 8192, width = 16, at_a_time = 256;
        const auto gradient_on = [](const c10::Device& device) {
            at::manual_seed(14);
            const at::Tensor x = to_device(at::randn({rows, width}).to(at::kBFloat16), device).requires_grad_();
            const at::Tensor weight = to_device(at::randn({words, width}), device).requires_grad_();
            const at::Tensor bias = to_device(at::zeros({words}), device).requires_grad_();
            const at::Tensor targets = to_device(at::arange(rows, at::kLong), device);
            pretend::reset_counts();
            const TokenLoss loss = token_cross_entropy(x, weight, bias, targets, at_a_time);
            loss.loss.backward();
            return weight.grad();
        };
        const at::Tensor far = gradient_on(there);
        const auto counts = pretend::counts();
        qInfo("%lld waits, %lld MiB at most", static_cast<long long>(counts.waits), static_cast<long long>(counts.most >> 20));
        QCOMPARE(counts.waits, std::int64_t{0});
        QVERIFY(counts.most < std::uint64_t{64} << 20);
        QVERIFY(relative_difference(far.cpu(), gradient_on(c10::kCPU)) < 0.02);
    }

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
