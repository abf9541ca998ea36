#include "matrix/harness/columns.h"

namespace faceter::matrix {
namespace {

using conform::Column;

Column routing(const char* name, Json settings) { return {std::string("TLR ") + name, "token_routed_moe", std::move(settings)}; }

Column adapters(const char* name, Json settings) { return {std::string("LoRA ") + name, "task_lora", std::move(settings)}; }

/// By another objective than infonce; `teacher` stands for the start model.
Column objective(const char* name, Json settings, const char* method = "instruction", Json variant = Json::object()) {
    return {std::string("objective ") + name, method, std::move(variant), std::move(settings)};
}

Column unscored(Column column) {
    column.unscored = true;
    return column;
}

Column gates(const char* name, Json settings) { return {std::string("router ") + name, "router_retriever", std::move(settings)}; }

}  // namespace

std::vector<conform::Column> columns() {
    return {
        {"EM", "dense"},
        {"IC", "instruction"},
        {"SEM", "specialists"},
        {"SEM instructed", "specialists", {{"instructions", true}}},
        {"MoTE every own", "mote", {{"placement", "every"}, {"expert_norms", "own"}}},
        {"MoTE every shared", "mote", {{"placement", "every"}, {"expert_norms", "shared"}}},
        {"MoTE other own", "mote", {{"placement", "every_other"}, {"expert_norms", "own"}}},
        {"MoTE other shared", "mote", {{"placement", "every_other"}, {"expert_norms", "shared"}}},
        {"MoTE one expert for two", "mote", {{"experts", {{"retrieval.document", "texts"}, {"classification", "texts"}}}}},
        {"MoTE averaged", "mote", {{"placement", "every"}, {"final_form", "averaged"}}},
        routing("top 1", {{"top_k", 1}}),
        routing("top 2", {{"top_k", 2}, {"placement", "every"}}),
        routing("top 2 renormalised", {{"top_k", 2}, {"weights", "renormalised"}}),
        routing("capacity", {{"top_k", 1}, {"capacity", 1.0}}),
        adapters("by side", Json::object()),
        adapters("role instructed", {{"adapters", "role"}, {"instructions", true}}),
        adapters("one by one", {{"training", "one_by_one"}}),
        adapters("with base", {{"base_rate", 0.1}}),
        adapters("averaged", {{"final_form", "averaged"}}),
        objective("cosent", {{"method", "cosent"}}),
        objective("angle", {{"method", "angle"}}),
        objective("triplet", {{"method", "triplet"}, {"distance", "cosine"}, {"margin", 0.3}}),
        objective("cosine_similarity", {{"method", "cosine_similarity"}}),
        unscored(objective("contrastive", {{"method", "contrastive"}})),
        unscored(objective("online_contrastive", {{"method", "online_contrastive"}})),
        objective("margin_mse", {{"method", "margin_mse"}}, "mote", {{"placement", "every"}}),
        objective("kl", {{"method", "kl"}, {"similarity", "cosine"}}, "task_lora"),
        objective("gist", {{"method", "gist"}, {"teacher", ""}}),
        objective("cosine_to_teacher", {{"method", "cosine_to_teacher"}, {"teacher", ""}}, "token_routed_moe", {{"top_k", 1}}),
        objective("gist over gates", {{"method", "gist"}, {"teacher", ""}}, "router_retriever", {{"router", "pilot"}}),
        gates("pilot", {{"router", "pilot"}}),
        gates("expert_classifier", {{"router", "expert_classifier"}}),
        gates("classification_head", {{"router", "classification_head"}}),
        gates("dataset", {{"router", "dataset"}}),
        gates("random", {{"router", "random"}}),
        gates("fixed", {{"router", "fixed"}, {"fixed_gate", "retrieval"}}),
        gates("both sides", {{"router", "pilot"}, {"sides", "both"}, {"base_gate", true}}),
        gates("every layer dot", {{"router", "pilot"}, {"targets", {"all-linear"}}, {"similarity", "dot"}}),
    };
}

}  // namespace faceter::matrix
