#include "gates.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "router_model.h"
#include "study.h"

namespace faceter {
namespace {

void register_all(Registry& registry) {
    registry.add_variant(router_method_name, make_router_retriever);
    registry.add_analysis("router_study", make_router_study);
    registry.add_analysis("context_preference", make_context_preference);
    registry.add_router(router_method_name, open_router_model, edit_router_model);
}

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("router_retriever", faceter::register_all)
