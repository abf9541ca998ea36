#include "experiment/manifest.h"

namespace faceter {
namespace {

/// Read where there is a load-balancing loss.
Field of_balance(Field field) {
    field.names_where = "balance!=0";
    return field;
}

}  // namespace

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "token_routed_moe";
    manifest.version = FACETER_VERSION;
    manifest.summary = "Token-routed mixture of experts: a learned router picks experts for every token.";
    manifest.citation = "Training Sparse Mixture Of Experts Text Embedding Models; Beyond instruction-conditioning, MoTE (TLR baseline)";
    manifest.variants = {
        {"token_routed_moe",
         "TLR: instruction conditioning plus blocks whose expert a router picks for each token. A start model that has such blocks keeps "
         "them.",
         {"token_routed_moe",
          "",
          {
              integer("experts", 4, "Experts of each token-routed block.")
                  .at_least(2)
                  .at_most(4096)
                  .where_start_is_dense()
                  .from("MoTE, section 5.1: as many as MoTE has; Nomic Embed v2: 8"),
              integer("top_k", 1, "Experts that a token goes through.")
                  .at_least(1)
                  .at_most_that_of("experts")
                  .where_start_is_dense()
                  .from("paper-silent in MoTE: 1, so that active parameters are equal; Nomic Embed v2: 2"),
              choice("placement", {"every", "every_other"}, "every_other", "Which blocks: every one, or every other from the second.")
                  .where_start_is_dense()
                  .from("Nomic Embed v2, section 4.3"),
              choice("weights", {"raw", "renormalised"}, "raw",
                     "Outputs are weighted by the router's probabilities, or by these divided by their sum over the chosen; renormalised, "
                     "an upcycled model starts as its dense parent, and with top_k 1 each weight is 1, so that the loss teaches the router "
                     "nothing.")
                  .where_start_is_dense()
                  .from("Switch Transformer, Nomic Embed v2: raw"),
              real("balance", 1, "Weight of the load-balancing loss; 0: none.").at_least(0).from("Nomic Embed v2, section 4.3: 1"),
              of_balance(choice("balance_factor", {"experts", "one"}, "experts",
                                "Whether the loss is multiplied by the number of experts (Switch) or not (as the paper prints it).")
                             .from("Switch Transformer, Eq. 4")),
              of_balance(boolean("balance_per_choice", true,
                                 "Divide the fractions by top_k, so that they sum to 1 (megablocks); contrastors does not.")),
              of_balance(choice("balance_layers", {"mean", "sum", "joined"}, "mean",
                                "The loss of several blocks: their mean, their sum, or one loss over their tokens joined (contrastors).")),
              real("z_loss", 0, "Weight of the router z-loss, the mean of squared log-sum-exp of the logits.")
                  .at_least(0)
                  .from("ST-MoE, section 3.3: 0.001"),
              real("jitter", 0, "In training the router sees its input times uniform noise in 1 - jitter to 1 + jitter.")
                  .at_least(0)
                  .at_most(0.5)
                  .from("Switch Transformer, section 2.2: 0.01"),
              real("capacity", 0,
                   "In training an expert takes at most capacity * tokens * top_k / experts assignments of a batch, later ones are "
                   "dropped; 0: no "
                   "limit.")
                  .at_least(0)
                  .excludes("objective.gradient_cache_chunk",
                            "each chunk would drop other tokens than the whole batch does; leave one of them out")
                  .excludes("devices",
                            "each would drop other tokens of its share than one process does of the whole batch; start it with one "
                            "(--devices 1), or leave the setting out"),
              real("router_scale", 0.02, "Standard deviation of the router's random start.").above(0).where_start_is_dense(),
          }},
         /*dense_start=*/false,
         /*two_blocks=*/"placement=every_other"},
    };
    manifest.analyses = {{"expert_load",
                          "Which experts the tokens of a text go through under each task's instruction: load and entropy, by block.",
                          {"expert_load", "", {}}}};
    manifest.analyses.front().embeds_texts = true;
    return manifest;
}

}  // namespace faceter
