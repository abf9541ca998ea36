#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include "common/error.h"
#include "common/hash.h"
#include "expert_load.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"
#include "routing_loss.h"

namespace faceter {
namespace {

/// Instruction conditioning plus token-routed blocks (MoTE, section 5.1: TLR; Nomic Embed v2, section 3).
class TokenRoutedMoe final : public Variant {
  public:
    explicit TokenRoutedMoe(const Json& settings)
        : settings_(settings),
          experts_(integer("experts")),
          top_k_(integer("top_k")),
          seed_(json_at<std::uint64_t>(settings, "seed", "variant")) {
        if (top_k_ > experts_) throw settings_error("variant.top_k is {}, more than the {} experts", top_k_, experts_);
    }

    void prepare(EmbeddingModel& model) const override {
        model.route_by_instruction();
        const bool every = json_at<std::string>(settings_, "placement", "variant") == "every";
        auto& blocks = model.encoders.front()->blocks();
        const bool routed_already = std::any_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.routing.has_value(); });
        if (!every && !routed_already && blocks.size() < 2)
            throw settings_error("the start model has one block, and placement: every_other begins at the second; use placement: every");
        for (std::size_t i = every ? 0 : 1; i < blocks.size() && !routed_already; i += every ? 1 : 2) upcycle(blocks[i], i);
        for (Block& block : blocks)
            if (block.routing) {
                block.routing->jitter = json_at<double>(settings_, "jitter", "variant");
                block.routing->capacity = json_at<double>(settings_, "capacity", "variant");
            }
        if (!routed_already && model.folder.model_type == "nomic_bert")
            describe(model.folder.config, model.encoders.front()->config(), every);
    }

    std::vector<Stage> stages(const EmbeddingModel&) const override {
        Stage stage;
        stage.routing_loss = make_routing_loss(settings_);
        return {stage};
    }

  private:
    std::int64_t integer(const char* key) const { return json_at<std::int64_t>(settings_, key, "variant"); }
    bool renormalised() const { return json_at<std::string>(settings_, "weights", "variant") == "renormalised"; }

    /// Every expert starts as a copy of the dense MLP, the router at random (sparse upcycling, Komatsuzaki et al., 2023).
    void upcycle(Block& block, std::size_t index) const {
        const at::NoGradGuard no_grad;
        if (block.is_mixture())
            throw settings_error(
                "block {} of the start model has task experts, which cannot become token-routed ones; choose a dense start model", index);
        TokenRouting routing;
        const std::int64_t width = block.qkv.weight.size(1);
        const auto generator = at::detail::createCPUGenerator(hash64(fmt::format("router {}", index), seed_));
        routing.router = at::randn({experts_, width}, generator, at::TensorOptions(at::kFloat))
                             .mul_(json_at<double>(settings_, "router_scale", "variant"));
        routing.num_experts = experts_;
        routing.top_k = top_k_;
        routing.renormalise = renormalised();
        Encoder::route_tokens(block, std::move(routing));
    }

    /// The keys of released checkpoints with such blocks, so that a saved model is one.
    void describe(Json& config, const EncoderConfig& encoder, bool every) const {
        config["num_experts"] = experts_;
        config["moe_top_k"] = top_k_;
        config["moe_every_n_layers"] = every ? 1 : 2;
        config["moe_normalize_expert_weights"] = renormalised();
        config["moe_impl"] = "megablocks";
        config["n_inner"] = encoder.intermediate_dim;
        config["router_aux_loss_coef"] = json_at<double>(settings_, "balance", "variant");
    }

    Json settings_;
    std::int64_t experts_, top_k_;
    std::uint64_t seed_;  ///< of the run: routers start by it
};

void register_all(Registry& registry) {
    registry.add_variant("token_routed_moe", [](const Json& settings) { return std::make_unique<TokenRoutedMoe>(settings); });
    registry.add_analysis("expert_load", [](const Json&) { return make_expert_load(); });
}

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("token_routed_moe", faceter::register_all)
