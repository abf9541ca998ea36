#pragma once
#include "common/json.h"
#include "train/trainer.h"

namespace faceter {

/// The losses over routers that the variant's settings ask for (methods.md, section 3):
///   balance = alpha * E * sum_i r_i p_i, r_i the share of assignments to expert i (no gradient), p_i its mean probability, both over the
///   whole batch; z       = beta * mean of logsumexp(logits)^2 (Zoph et al., 2022, Eq. 5).
/// Journaled beside them: the entropy of the probabilities, over all blocks and of each (`router_entropy/block 3`), the share of each
/// expert (`expert_load/block 3/expert 0`) and the largest load, 1 where all experts have the same.
RoutingLoss make_routing_loss(const Json& settings);

}  // namespace faceter
