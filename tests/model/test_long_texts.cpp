#include <ATen/ATen.h>

#include "model/ops.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr std::int64_t heads = 2, width = 8;

/// What a token of a text sees, and what is added to its logits.
struct Sight {
    const char* name;
    Reach reach;
    bool biased;
};
const Sight sights[] = {
    {"all", {}, false}, {"before it", {Reach::everything, 0}, false}, {"near it", {90, 70}, false}, {"all, by distance", {}, true}};

AttentionForm form_of(const Sight& sight, std::int64_t longest) {
    AttentionForm form;
    form.heads = form.key_heads = heads;
    form.scale = 0.7;
    form.reach = sight.reach;
    if (sight.biased) form.position_bias = at::randn({heads, 2 * longest - 1});
    return form;
}

struct Attended {
    at::Tensor out, gradient;
};

/// In float32 by the own kernels, in float64 by the equation.
Attended attended(const at::Tensor& qkv, const LayoutPointer& layout, AttentionForm form, at::ScalarType type) {
    const at::Tensor x = qkv.to(type).clone().requires_grad_(true);
    if (form.position_bias.defined()) form.position_bias = form.position_bias.to(type);
    const at::Tensor out = packed_attention(x.clone(), layout, form, {});
    out.cos().sum().backward();
    return {out.detach(), x.grad()};
}

}  // namespace

/// Attention over texts that are longer than the block of keys that its kernels take at a time.
class TestLongTexts : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void keys_in_blocks_give_what_the_equation_gives_data() {
        QTest::addColumn<int>("sight");
        for (int i = 0; i < static_cast<int>(std::size(sights)); ++i) QTest::newRow(sights[i].name) << i;
    }
    void keys_in_blocks_give_what_the_equation_gives() {
        QFETCH(int, sight);
        at::manual_seed(3);
        const std::vector<std::int64_t> lengths{1300, 513, 512, 511, 7};
        const auto layout = std::make_shared<const PackedLayout>(lengths, std::vector<std::uint64_t>(5, 1), std::vector<Path>(5));
        const at::Tensor qkv = at::randn({layout->num_tokens(), 3 * heads * width});
        qkv.narrow(0, 700, 20).mul_(6);  // the largest logits are not in the first block
        const AttentionForm form = form_of(sights[sight], 1300);
        const Attended found = attended(qkv, layout, form, at::kFloat), expected = attended(qkv, layout, form, at::kDouble);
        QVERIFY(max_difference(found.out, expected.out) < 2e-6 * expected.out.abs().max().item<double>() + 2e-6);
        QVERIFY(max_difference(found.gradient, expected.gradient) < 2e-5 * expected.gradient.abs().max().item<double>());
    }
};

FACETER_TEST(TestLongTexts)
#include "test_long_texts.moc"
