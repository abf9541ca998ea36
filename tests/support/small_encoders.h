#pragma once
#include <QTest>

#include "model/embedding_model.h"
#include "support/backbones.h"
#include "support/rounding.h"
#include "support/tensors.h"
#include "train/objective.h"

/// Small encoders of each family, and a loss of theirs.
namespace faceter::testing {

/// The encoder of a family; `kind`: "dense", "mixture" (two task experts in every other block) or "routed" (four experts by token there).
inline std::unique_ptr<Encoder> some_encoder(const std::string& family, const std::string& kind) {
    auto encoder = std::make_unique<Encoder>(small_config(family), std::vector<DenseModule>{}, at::kFloat);
    fill(*encoder);
    for (std::size_t i = 1; i < encoder->blocks().size(); i += 2) {
        Block& block = encoder->blocks()[i];
        if (kind == "mixture") block.experts.push_back(block.experts.front().clone());
        if (kind != "routed") continue;
        TokenRouting routing;
        routing.num_experts = 4;
        routing.top_k = 2;
        routing.router = at::randn({4, 24});
        Encoder::route_tokens(block, std::move(routing));
    }
    encoder->require_grad(true);
    return encoder;
}

/// Loss of two queries against two documents, as a step has it.
inline at::Tensor loss_of(const Encoder& encoder, const PackedBatch& batch, const ForwardContext& context = {}) {
    const at::Tensor rows = pool(encoder.forward(batch, context), batch.layout, Pooling::mean, {})
                                .to(encoder.dtype() == at::kDouble ? at::kDouble : at::kFloat);
    PairEmbeddings pairs;
    pairs.queries = rows.narrow(0, 0, 2);
    pairs.documents = rows.narrow(0, 2, 2);
    pairs.document_texts = {1, 2};
    return InfoNce({})(pairs).loss;
}

/// The experts of each token in each routed block.
inline std::vector<at::Tensor> choices(const Encoder& encoder, const PackedBatch& batch) {
    const at::NoGradGuard no_grad;
    RoutingTrace trace;
    ForwardContext context;
    context.routing = &trace;
    encoder.forward(batch, context);
    std::vector<at::Tensor> experts;
    for (const RouterOutput& router : trace) experts.push_back(router.experts);
    return experts;
}

/// One whose tokens go the same way in bfloat16: a token between two experts may go either, and then other weights get its gradient.
inline std::unique_ptr<Encoder> encoder_that_chooses_alike(const std::string& family, const std::string& kind, const PackedBatch& batch) {
    for (int seed = 0; seed < 200; ++seed) {
        auto encoder = some_encoder(family, kind);
        at::manual_seed(static_cast<std::uint64_t>(seed));
        for (Block& block : encoder->blocks())
            if (const at::NoGradGuard no_grad; block.routing) block.routing->router.copy_(at::randn({4, 24}));
        const auto wide = choices(*encoder, batch), narrow = choices(*encoder->lowered(at::kBFloat16), batch);
        if (std::equal(wide.begin(), wide.end(), narrow.begin(), [](const auto& a, const auto& b) { return at::equal(a, b); }))
            return encoder;
    }
    throw std::runtime_error("no router sends all tokens the same way in bfloat16");
}

/// Gradients in float32 on the processor, and how far rounding to bfloat16 moves them.
struct ExactGradients {
    std::vector<std::string> names;
    std::vector<at::Tensor> exact;
    std::vector<std::vector<at::Tensor>> moved;

    ExactGradients(const Encoder& encoder, const PackedBatch& batch) {
        const auto trained = [](const Encoder& one) { return one.parameters(); };
        const auto pass = [&](const Encoder& one) { return loss_of(one, batch); };
        for (const Parameter& p : encoder.parameters()) names.push_back(p.name);
        exact = gradients_of(encoder, pass, trained);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const auto copy = encoder.clone();
            move_weights(*copy, last_place_bf16, seed);
            copy->require_grad(true);
            moved.push_back(gradients_of(*copy, pass, trained));
        }
    }
    /// Rounding moves a weight by half of its last place at most (seen: up to 0.8 of what these moves do); a gradient that is lost is off
    /// by 1.9 to 8.1 times that (first to last decile).
    std::string differs(const std::vector<at::Tensor>& got) const { return beyond_rounding(names, got, exact, moved, last_place_bf16, 2); }
};

/// On the host; undefined where there is none.
inline std::vector<at::Tensor> gradients_now(const Encoder& encoder) {
    std::vector<at::Tensor> all;
    for (const Parameter& p : encoder.parameters()) all.push_back(p.tensor.grad().defined() ? p.tensor.grad().cpu() : at::Tensor());
    return all;
}

inline void every_kind() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("kind");
    for (const char* family : backbone_families)
        for (const char* kind : {"dense", "mixture", "routed"}) QTest::addRow("%s, %s", family, kind) << family << kind;
}

}  // namespace faceter::testing
