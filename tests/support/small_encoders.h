#pragma once
#include <QTest>

#include "model/embedding_model.h"
#include "support/backbones.h"
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

inline void every_kind() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("kind");
    for (const char* family : backbone_families)
        for (const char* kind : {"dense", "mixture", "routed"}) QTest::addRow("%s, %s", family, kind) << family << kind;
}

}  // namespace faceter::testing
