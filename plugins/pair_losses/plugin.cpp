#include "losses.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

FACETER_PLUGIN("pair_losses", [](faceter::Registry& registry) {
    registry.add_objective("cosent", faceter::make_cosent);
    registry.add_objective("angle", faceter::make_angle);
    registry.add_objective("triplet", faceter::make_triplet);
    registry.add_objective("cosine_similarity", faceter::make_cosine_similarity);
    registry.add_objective("contrastive", faceter::make_contrastive);
    registry.add_objective("online_contrastive", faceter::make_online_contrastive);
})
