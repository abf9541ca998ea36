#include "losses.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

FACETER_PLUGIN("distillation", [](faceter::Registry& registry) {
    registry.add_objective("margin_mse", faceter::make_margin_mse);
    registry.add_objective("kl", faceter::make_kl);
    registry.add_objective("cosine_to_teacher", faceter::make_cosine_to_teacher);
    registry.add_objective("gist", faceter::make_gist);
})
