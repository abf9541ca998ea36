#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <random>

#include "model/compute.h"
#include "support/backbones.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

struct Text {
    std::vector<std::int32_t> ids;
    Path path;
};

/// A small model without a tokenizer, and the paths that texts can take through it.
struct Subject {
    EmbeddingModel model;
    std::vector<Path> paths{Path{}};
    Encoder& encoder() { return *model.encoders.front(); }

    explicit Subject(const std::string& family, std::vector<DenseModule> heads = {}) {
        model.encoders.push_back(std::make_unique<Encoder>(small_config(family), std::move(heads), at::kFloat));
        fill(encoder());
        model.folder.pooling = Pooling::mean;
        model.folder.normalize = true;
    }
    void add_adapters() {
        for (int a = 0; a < 2; ++a) {
            AdapterConfig config;
            config.rank = 3;
            config.targets = {"all-linear"};
            encoder().add_adapter("a" + std::to_string(a), config, 3);
            for (const Parameter& p : encoder().adapter_parameters(static_cast<std::size_t>(a)))
                p.tensor.copy_(0.2 * at::randn(p.tensor.sizes()));
            paths.push_back(Path::of_adapter(a));
        }
    }
    /// Task experts in every other block.
    void add_experts() {
        for (std::size_t b = 0; b < encoder().blocks().size(); b += 2) {
            Block& block = encoder().blocks()[b];
            block.dense = block.experts.front().clone();
            for (int e = 0; e < 2; ++e) block.experts.push_back(block.experts.front().clone());
            for (Expert& expert : block.experts)
                for (const at::Tensor& t : expert.tensors()) t.add_(0.1 * at::randn(t.sizes()));
        }
        for (int e = 0; e < 3; ++e) paths.push_back(Path::of_expert(e));
    }
    void route_tokens() {
        for (std::size_t b = 1; b < encoder().blocks().size(); b += 2) {
            Block& block = encoder().blocks()[b];
            const Expert dense = block.experts.front();
            TokenRouting r;
            r.num_experts = 4, r.top_k = 2;
            r.router = at::randn({4, dense.up.size(1)});
            r.up = dense.up.repeat({4, 1}) + 0.1 * at::randn({4 * dense.up.size(0), dense.up.size(1)});
            if (dense.up_bias.defined()) r.up_bias = dense.up_bias.repeat({4});
            r.down = dense.down.repeat({4, 1}) + 0.1 * at::randn({4 * dense.down.size(0), dense.down.size(1)});
            Encoder::route_tokens(block, r);
        }
    }
    at::Tensor embedded(const std::vector<const Text*>& texts) const {
        std::vector<SequenceInput> inputs;
        for (const Text* text : texts) inputs.push_back({text->ids.data(), static_cast<std::int64_t>(text->ids.size()), 0, text->path, 0});
        return model.embed(*model.encoders.front(), make_packed_batch(inputs), {});
    }
    void prepare(ProductForm form) {
        encoder().lay_out_products(
            [&](const ProductPlace&, const at::Tensor& w) { return std::make_shared<const ProductWeights>(w, form); });
    }
};

std::vector<Text> some_texts(const std::vector<Path>& paths, std::mt19937& random) {
    std::vector<Text> texts;
    for (std::size_t i = 0; i < 24; ++i) {
        Text text{{}, paths[i % paths.size()]};
        const std::size_t length = 1 + random() % (i % 5 == 0 ? 30 : 9);
        for (std::size_t t = 0; t < length; ++t) text.ids.push_back(static_cast<std::int32_t>(random() % 100));
        texts.push_back(std::move(text));
    }
    return texts;
}

/// Every text alone on one thread, then in random batches of random order on random numbers of threads: the same bits.
void bits_are_the_same(const Subject& subject, int num_batches, const char* what) {
    const at::NoGradGuard no_grad;
    std::mt19937 random(7);
    const int threads = at::get_num_threads();
    const auto texts = some_texts(subject.paths, random);
    at::set_num_threads(1);
    std::vector<at::Tensor> alone;
    for (const Text& text : texts) alone.push_back(subject.embedded({&text})[0].clone());
    for (int b = 0; b < num_batches; ++b) {
        std::vector<std::size_t> chosen(texts.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
        std::shuffle(chosen.begin(), chosen.end(), random);
        chosen.resize(1 + random() % chosen.size());
        std::stable_sort(chosen.begin(), chosen.end(), [&](auto x, auto y) { return texts[x].path < texts[y].path; });
        std::vector<const Text*> batch;
        for (const std::size_t i : chosen) batch.push_back(&texts[i]);
        at::set_num_threads(b % 8 == 0 ? 1 + static_cast<int>(random() % 4) : 1);
        const at::Tensor rows = subject.embedded(batch);
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (!at::equal(rows[static_cast<std::int64_t>(i)], alone[chosen[i]])) {
                at::set_num_threads(threads);
                QFAIL(qPrintable(QString("%1: text %2 of %3 tokens differs by %4 in batch %5 of %6")
                                     .arg(what)
                                     .arg(chosen[i])
                                     .arg(texts[chosen[i]].ids.size())
                                     .arg(max_difference(rows[static_cast<std::int64_t>(i)], alone[chosen[i]]))
                                     .arg(b)
                                     .arg(chosen.size())));
            }
    }
    at::set_num_threads(threads);
}

}  // namespace

/// A text's vector does not depend on its company: the same bits alone, in any batch and order, on any number of threads.
class TestCompany : public QObject {
    Q_OBJECT

    static void families() {
        QTest::addColumn<QString>("family");
        for (const char* family : backbone_families) QTest::addRow("%s", family) << family;
    }

  private Q_SLOTS:
    void a_text_has_the_same_bits_in_any_company_data() { families(); }
    void a_text_has_the_same_bits_in_any_company() {
        QFETCH(QString, family);
        Subject subject(family.toStdString());
        bits_are_the_same(subject, 150, "laid out for each product");
        for (const ProductForm form : {ProductForm::float32, ProductForm::widened, ProductForm::bf16, ProductForm::int8}) {
            subject.prepare(form);
            bits_are_the_same(subject, 30, qPrintable(QString("form %1").arg(int(form))));
        }
    }
    void so_it_has_beside_texts_of_other_adapters_data() { families(); }
    void so_it_has_beside_texts_of_other_adapters() {
        QFETCH(QString, family);
        at::manual_seed(9);
        Subject subject(family.toStdString());
        subject.add_adapters();
        bits_are_the_same(subject, 60, "adapters");
    }
    void so_it_has_beside_texts_of_other_experts_data() { families(); }
    void so_it_has_beside_texts_of_other_experts() {
        QFETCH(QString, family);
        at::manual_seed(10);
        Subject subject(family.toStdString());
        subject.add_experts();
        bits_are_the_same(subject, 60, "task experts");
    }
    void so_it_has_where_tokens_are_routed_data() { families(); }
    void so_it_has_where_tokens_are_routed() {
        QFETCH(QString, family);
        at::manual_seed(11);
        Subject subject(family.toStdString());
        subject.route_tokens();
        bits_are_the_same(subject, 60, "token routing");
        subject.prepare(ProductForm::int8);
        bits_are_the_same(subject, 30, "token routing, int8");
    }
    void so_it_has_behind_heads_and_other_poolings() {
        at::manual_seed(12);
        DenseModule head;
        head.in_features = 24, head.out_features = 17, head.tanh = true, head.bias = true;
        for (const Pooling pooling :
             {Pooling::mean, Pooling::cls, Pooling::last_token, Pooling::max, Pooling::mean_sqrt_length, Pooling::weighted_mean}) {
            Subject subject("bert", {head});
            subject.model.folder.pooling = pooling;
            bits_are_the_same(subject, 60, "a head");
        }
    }
    /// What one pass makes of a text is what another makes of it that keeps its graph: training sees what serving gives.
    void a_pass_with_gradients_gives_the_bits_of_one_without_data() { families(); }
    void a_pass_with_gradients_gives_the_bits_of_one_without() {
        QFETCH(QString, family);
        Subject subject(family.toStdString());
        std::mt19937 random(5);
        const auto texts = some_texts(subject.paths, random);
        std::vector<const Text*> batch;
        for (const Text& text : texts) batch.push_back(&text);
        at::Tensor without;
        {
            const at::NoGradGuard no_grad;
            without = subject.embedded(batch);
        }
        subject.encoder().require_grad(true);
        QVERIFY(at::equal(subject.embedded(batch), without));
    }
};

FACETER_TEST(TestCompany)
#include "test_company.moc"
