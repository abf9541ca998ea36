#include <QTemporaryDir>

#include "common/error.h"
#include "model/embedding_model.h"
#include "plugin/loader.h"
#include "plugin/registry.h"
#include "support/backbones.h"
#include "support/ops_forms.h"
#include "support/rounding.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/checkpoint.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

TokenRouting some_routing(std::int64_t experts, std::int64_t top_k, bool renormalise, bool gated = false, bool bias = true) {
    at::manual_seed(3);
    const std::int64_t d = 24, inner = 20, upper = gated ? 2 * inner : inner;
    TokenRouting r;
    r.router = at::randn({experts, d});
    r.up = 0.3 * at::randn({experts * upper, d});
    if (bias) r.up_bias = 0.3 * at::randn({experts * upper});
    r.down = 0.3 * at::randn({experts * d, inner});
    if (bias) r.bias = 0.3 * at::randn({d});
    r.num_experts = experts;
    r.top_k = top_k;
    r.renormalise = renormalise;
    return r;
}

/// Every expert on every token, then the chosen ones: the equation as it stands.
at::Tensor dense_reference(const at::Tensor& x, const TokenRouting& r, const FeedForwardForm& form) {
    const at::Tensor p = at::linear(x, r.router).softmax(-1);
    const auto [best, chosen] = p.topk(r.top_k, -1);
    const at::Tensor kept = at::zeros_like(p).scatter(1, chosen, 1);
    at::Tensor weight = p * kept;
    if (r.renormalise) weight = weight / weight.sum(-1, true);
    const auto ups = r.up.chunk(r.num_experts), downs = r.down.chunk(r.num_experts);
    at::Tensor y;
    for (std::int64_t e = 0; e < r.num_experts; ++e) {
        at::Tensor u = at::linear(x, ups[e]);
        if (r.up_bias.defined()) u = u + r.up_bias.chunk(r.num_experts)[e];
        const std::int64_t inner = downs[e].size(1);
        at::Tensor g = form.activation == Activation::silu ? at::silu(u.narrow(1, 0, inner)) : at::gelu(u.narrow(1, 0, inner));
        if (form.gated) g = g * u.narrow(1, inner, inner);
        const at::Tensor part = at::linear(g, downs[e]) * weight.narrow(1, e, 1);
        y = e == 0 ? part : y + part;
    }
    return r.bias.defined() ? y + r.bias : y;
}

std::vector<at::Tensor> leaves(const TokenRouting& r) {
    std::vector<at::Tensor> all{r.router, r.up, r.down};
    for (const at::Tensor& t : {r.up_bias, r.bias})
        if (t.defined()) all.push_back(t);
    return all;
}

TokenRouting in_double(const TokenRouting& r) {
    TokenRouting copy = r;
    for (at::Tensor* t : {&copy.router, &copy.up, &copy.up_bias, &copy.down, &copy.bias})
        if (t->defined()) *t = t->detach().to(at::kDouble).requires_grad_();
    return copy;
}

std::unique_ptr<EmbeddingModel> model_of(const std::string& family) {
    auto model = std::make_unique<EmbeddingModel>();
    model->encoders.push_back(std::make_unique<Encoder>(small_config(family), std::vector<DenseModule>{}, at::kFloat));
    fill(*model->encoders.front());
    model->tasks = read_tasks(Json{{"retrieval", {{"instructions", {{"query", "q: "}, {"document", "d: "}}}}}});
    return model;
}

}  // namespace

class TestTokenRouting : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_block_and_its_gradients_equal_every_expert_on_every_token_data() {
        QTest::addColumn<int>("experts");
        QTest::addColumn<int>("top_k");
        QTest::addColumn<bool>("renormalise");
        QTest::addColumn<bool>("gated");
        QTest::addColumn<OpsForm>("form");
        for (const auto& [name, form] : ops_forms) {
            QTest::addRow("switch, %s", name) << 4 << 1 << false << false << form;
            QTest::addRow("two of eight, %s", name) << 8 << 2 << false << false << form;
            QTest::addRow("two of eight, renormalised, %s", name) << 8 << 2 << true << false << form;
            QTest::addRow("three of five, gated, %s", name) << 5 << 3 << true << true << form;
        }
    }
    void a_block_and_its_gradients_equal_every_expert_on_every_token() {
        QFETCH(int, experts);
        QFETCH(int, top_k);
        QFETCH(bool, renormalise);
        QFETCH(bool, gated);
        QFETCH(OpsForm, form);
        const InForm in_form(form);
        const FeedForwardForm mlp{gated ? Activation::silu : Activation::gelu, gated};
        TokenRouting routing = some_routing(experts, top_k, renormalise, gated, !gated);
        const TokenRouting reference = in_double(routing);
        for (at::Tensor& leaf : leaves(routing)) leaf.requires_grad_();
        const at::Tensor x = at::randn({57, 24}).requires_grad_(), x64 = x.detach().to(at::kDouble).requires_grad_(),
                         weight = at::randn({57, 24});
        const at::Tensor y = routed_feed_forward(x, routing, mlp, {}, nullptr);
        (y * weight).sum().backward();
        const at::Tensor y64 = dense_reference(x64, reference, mlp);
        (y64 * weight.to(at::kDouble)).sum().backward();
        QVERIFY2(relative_difference(y, y64) < 1e-5, std::to_string(relative_difference(y, y64)).c_str());
        QVERIFY(relative_difference(x.grad(), x64.grad()) < 1e-4);
        const auto got = leaves(routing), expected = leaves(reference);
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double difference = relative_difference(got[i].grad(), expected[i].grad());
            QVERIFY2(difference < 1e-4, (std::to_string(i) + ": " + std::to_string(difference)).c_str());
        }
    }

    void router_noise_of_a_sequence_is_the_same_in_every_batch_and_within_its_bounds() {
        const PackedLayout both({7, 5}, {11, 22}, {Path{}, Path{}}), alone({5}, {22}, std::vector<Path>(1));
        const at::Tensor noise = router_noise(at::empty({12, 24}), both, 0.1, 9);
        QVERIFY(at::equal(noise.narrow(0, 7, 5), router_noise(at::empty({5, 24}), alone, 0.1, 9)));
        QVERIFY(!at::equal(noise.narrow(0, 7, 5), router_noise(at::empty({5, 24}), alone, 0.1, 10)));
        QVERIFY(noise.min().item<double>() >= 0.9 && noise.max().item<double>() <= 1.1 && noise.std().item<double>() > 0.04);
    }

    void a_capacity_drops_the_last_assignments_and_says_how_many_data() {
        QTest::addColumn<OpsForm>("form");
        for (const auto& [name, form] : ops_forms) QTest::newRow(name) << form;
    }
    void a_capacity_drops_the_last_assignments_and_says_how_many() {
        QFETCH(OpsForm, form);
        const InForm in_form(form);
        TokenRouting routing = some_routing(4, 1, false, false, false);
        routing.capacity = 1;
        const at::Tensor x = at::randn({40, 24});
        RouterOutput output;
        const at::Tensor y = routed_feed_forward(x, routing, {}, {}, &output);
        const auto* load = output.load.data_ptr<double>();
        double beyond = 0;
        for (int e = 0; e < 4; ++e) beyond += std::max(0.0, load[e] - 10);
        QVERIFY(beyond > 0);
        QCOMPARE(output.dropped.item<double>(), beyond);
        QCOMPARE((y.abs().sum(1) == 0).sum().item<double>(), output.dropped.item<double>());
    }

    void upcycled_with_renormalised_weights_it_starts_as_the_dense_model_data() {
        QTest::addColumn<QString>("family");
        for (const char* family : backbone_families) QTest::newRow(family) << family;
    }
    void upcycled_with_renormalised_weights_it_starts_as_the_dense_model() {
        QFETCH(QString, family);
        const auto dense = model_of(family.toStdString()), routed = model_of(family.toStdString());
        registry().make_variant("token_routed_moe", {{"experts", 4}, {"top_k", 2}, {"weights", "renormalised"}})->prepare(*routed);
        QVERIFY(!routed->encoders.front()->blocks()[0].routing && routed->encoders.front()->blocks()[1].routing);
        const c10::AutoGradMode no_grad(false);
        const PackedBatch batch = some_batch(std::vector<int>(9, 0));
        const Encoder &parent = *dense->encoders.front(), &child = *routed->encoders.front();
        QVERIFY(relative_difference(child.clone(at::kDouble)->forward(batch, {}), parent.clone(at::kDouble)->forward(batch, {})) < 1e-12);
        const double difference = relative_difference(child.forward(batch, {}), parent.forward(batch, {}));
        QVERIFY2(difference < noise_factor * float32_noise(parent, batch), std::to_string(difference).c_str());
        QVERIFY(child.total_parameters() > parent.total_parameters());
    }

    void it_trains_in_both_forms_alike_data() { upcycled_with_renormalised_weights_it_starts_as_the_dense_model_data(); }
    /// Whether both send every token to the same experts: a tie within rounding may fall either way.
    static bool choose_alike(const Encoder& one, const Encoder& other, const PackedBatch& batch) {
        const c10::AutoGradMode no_grad(false);
        RoutingTrace of_one, of_other;
        ForwardContext context;
        context.routing = &of_one;
        one.forward(batch, context);
        context.routing = &of_other;
        other.forward(batch, context);
        for (std::size_t i = 0; i < of_one.size(); ++i)
            if (!at::equal(of_one[i].experts, of_other[i].experts)) return false;
        return true;
    }
    void it_trains_in_both_forms_alike() {
        QFETCH(QString, family);
        const PackedBatch batch = some_batch(std::vector<int>(9, 0));
        std::unique_ptr<EmbeddingModel> model;
        std::unique_ptr<Encoder> reference;
        for (int seed = 1; seed <= 20; ++seed) {  // routers of some start choose alike in both precisions
            model = model_of(family.toStdString());
            registry()
                .make_variant("token_routed_moe", {{"experts", 4}, {"top_k", 2}, {"router_scale", 1.0}, {"seed", seed}})
                ->prepare(*model);
            reference = model->encoders.front()->clone(at::kDouble);
            if (choose_alike(*model->encoders.front(), *reference, batch)) break;
        }
        const Encoder& encoder = *model->encoders.front();
        QVERIFY(choose_alike(encoder, *reference, batch));
        // Not the sum of squares: behind a norm it hardly changes, and its gradient is rounding.
        at::manual_seed(11);
        const at::Tensor towards = at::randn({batch.ids.size(0), encoder.config().hidden_dim}, at::kDouble);
        const auto pass = [&](const Encoder& one) {
            const at::Tensor hidden = one.forward(batch, {});
            return (hidden * towards.to(hidden.scalar_type())).sum();
        };
        QCOMPARE(beyond_float32(encoder, pass, [](const Encoder& one) { return one.parameters(); }), std::string());
    }

    void a_saved_nomic_bert_with_experts_opens_as_a_checkpoint_of_its_own() {
        const auto model = model_of("nomic_bert");
        model->folder.model_type = "nomic_bert";
        model->folder.config = {{"model_type", "nomic_bert"},
                                {"n_layer", 4},
                                {"n_embd", 24},
                                {"n_head", 3},
                                {"vocab_size", 100},
                                {"type_vocab_size", 2},
                                {"n_positions", 64},
                                {"rotary_emb_base", 1000},
                                {"activation_function", "swiglu"}};
        registry().make_variant("token_routed_moe", {{"experts", 3}, {"top_k", 2}, {"router_scale", 1.0}})->prepare(*model);
        fill(*model->encoders.front());
        const QTemporaryDir folder;
        const std::filesystem::path file = std::filesystem::path(folder.path().toStdString()) / "model.safetensors";
        write_tensors(file, model->encoders.front()->named_tensors());
        const Weights weights(std::vector<std::filesystem::path>{file});
        Encoder opened(EncoderConfig::from_json(model->folder.config, "config.json", weights), {}, at::kFloat);
        opened.load_weights(weights);
        const c10::AutoGradMode no_grad(false);
        const PackedBatch batch = some_batch(std::vector<int>(5, 0));
        QCOMPARE(max_difference(opened.forward(batch, {}), model->encoders.front()->forward(batch, {})), 0.0);
    }

    void the_balance_loss_and_its_gradients_equal_the_reference_data() {
        QTest::addColumn<bool>("contrastors");
        QTest::newRow("megablocks") << false;
        QTest::newRow("contrastors") << true;
    }
    void the_balance_loss_and_its_gradients_equal_the_reference() {
        NEED_SHARED();
        QFETCH(bool, contrastors);
        const auto path = shared_folder() / "fixtures/nomic_moe";
        const ModelFolder folder = ModelFolder::open(path);
        Encoder encoder(EncoderConfig::from_json(folder.config, "config.json", folder.weights()), {}, at::kFloat);
        encoder.load_weights(folder.weights());
        encoder.require_grad(true);
        const SafetensorsFile expected(path / "expected.safetensors");
        const Json about = read_json(path / "expected.json");
        const auto ids = about.at("token_ids").get<std::vector<std::vector<std::int32_t>>>();
        std::vector<SequenceInput> inputs;
        for (const auto& text : ids) inputs.push_back({text.data(), static_cast<std::int64_t>(text.size())});
        RoutingTrace trace;
        ForwardContext context;
        context.routing = &trace;
        encoder.forward(make_packed_batch(inputs), context);
        RoutingTotals totals;
        totals.add(trace);
        const LossResult loss =
            routing_loss(contrastors ? Json{{"balance_per_choice", false}, {"balance_layers", "joined"}} : Json::object())(trace, totals);
        const double wanted = about.at("aux").at(contrastors ? "contrastors" : "switch_mean_over_layers").get<double>();
        QVERIFY2(std::abs(loss.loss.item<double>() - wanted) < 1e-5, std::to_string(loss.loss.item<double>() - wanted).c_str());
        if (contrastors) return;
        loss.loss.backward();
        const auto holder = encoder.clone();
        const auto from = encoder.parameters(), to = holder->parameters();
        for (std::size_t i = 0; i < from.size(); ++i)
            if (from[i].tensor.grad().defined()) to[i].tensor.copy_(from[i].tensor.grad());
        int compared = 0;
        for (const NamedTensor& tensor : holder->named_tensors())
            if (expected.find("auxgrad." + tensor.name)) {
                const double difference = relative_difference(tensor.tensor, read_tensor(expected, "auxgrad." + tensor.name));
                QVERIFY2(difference < 1e-4, (tensor.name + " " + std::to_string(difference)).c_str());
                ++compared;
            }
        QVERIFY(compared >= 4);
    }

    void the_losses_of_the_parts_of_a_batch_add_up_to_that_of_the_whole() {
        const auto model = model_of("bert");
        const Json settings = {{"experts", 4}, {"top_k", 2}, {"router_scale", 1.0}, {"z_loss", 0.1}};
        registry().make_variant("token_routed_moe", settings)->prepare(*model);
        const auto trace_of = [&](const std::vector<int>& experts) {
            RoutingTrace trace;
            ForwardContext context;
            context.routing = &trace;
            model->encoders.front()->forward(some_batch(experts), context);
            return trace;
        };
        const RoutingTrace whole = trace_of(std::vector<int>(8, 0)), first = trace_of(std::vector<int>(3, 0));
        // The rest of the same batch: some_batch(n) starts with the texts of some_batch(m < n).
        RoutingTrace rest = whole;
        for (std::size_t i = 0; i < rest.size(); ++i) {
            const std::int64_t begin = first[i].probabilities.size(0), count = whole[i].probabilities.size(0) - begin;
            rest[i].probabilities = whole[i].probabilities.narrow(0, begin, count);
            rest[i].logits = whole[i].logits.narrow(0, begin, count);
            rest[i].load = whole[i].load - first[i].load;
        }
        RoutingTotals totals;
        totals.add(first);
        totals.add(rest);
        const RoutingLoss loss = routing_loss(settings);
        const LossResult parts[] = {loss(first, totals), loss(rest, totals)}, all = loss(whole, totals);
        const double sum = parts[0].loss.item<double>() + parts[1].loss.item<double>();
        QVERIFY(std::abs(sum - all.loss.item<double>()) < 1e-5);
        std::map<std::string, double> shares;  // of each block
        for (const auto& [name, value] : all.parts) {
            if (!name.starts_with("expert_load/") && !name.starts_with("router_entropy/")) continue;
            const double added = parts[0].parts.at(name).item<double>() + parts[1].parts.at(name).item<double>();
            QVERIFY2(std::abs(added - value.item<double>()) < 1e-5, name.c_str());
            if (name.starts_with("expert_load/")) shares[name.substr(0, name.rfind('/'))] += value.item<double>();
        }
        QCOMPARE(shares.size(), whole.size());
        for (const auto& [block, share] : shares) QVERIFY2(std::abs(share - 1) < 1e-9, block.c_str());
    }

    void what_a_capacity_drops_is_said_of_each_block_and_in_all() {
        for (const double capacity : {0.0, 0.5}) {
            const auto model = model_of("bert");
            const Json settings = {{"experts", 4}, {"router_scale", 1.0}, {"capacity", capacity}, {"placement", "every"}};
            registry().make_variant("token_routed_moe", settings)->prepare(*model);
            RoutingTrace trace;
            ForwardContext context;
            context.training = true;
            context.routing = &trace;
            model->encoders.front()->forward(some_batch(std::vector<int>(8, 0)), context);
            RoutingTotals totals;
            totals.add(trace);
            const LossResult loss = routing_loss(settings)(trace, totals);
            double of_blocks = 0;
            std::size_t blocks = 0;
            for (const auto& [name, value] : loss.parts)
                if (name.starts_with("dropped_assignments/block ")) of_blocks += value.item<double>(), ++blocks;
            QCOMPARE(blocks, capacity > 0 ? trace.size() : std::size_t{0});
            QCOMPARE(loss.parts.at("dropped_assignments").item<double>(), of_blocks);
            QCOMPARE(of_blocks > 0, capacity > 0);
        }
    }

    void more_choices_than_experts_are_refused() {
        QVERIFY_THROWS_EXCEPTION(Error, registry().make_variant("token_routed_moe", {{"experts", 2}, {"top_k", 3}}));
    }

  private:
    static RoutingLoss routing_loss(const Json& settings) {
        const auto model = model_of("bert");
        return registry().make_variant("token_routed_moe", settings)->stages(*model).front().routing_loss;
    }
};

FACETER_TEST(TestTokenRouting)
#include "test_token_routing.moc"
