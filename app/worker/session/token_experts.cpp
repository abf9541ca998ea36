#include <ATen/ATen.h>

#include "common/error.h"
#include "eval/embedder.h"
#include "plugin/run_model.h"
#include "session/seen_text.h"
#include "session/session_data.h"

namespace faceter::worker {
namespace {

constexpr std::size_t max_shown_tokens = 512;

Json pieces_of(const EmbeddingModel& model, const Route& route, std::string_view text) {
    std::vector<std::int32_t> ids;
    model.tokenizer->encode(route.instruction + std::string(text), model.max_length, ids);
    if (ids.size() > max_shown_tokens)
        throw usage_error("token_experts: the text has {} tokens; at most {} can be shown, shorten it", ids.size(), max_shown_tokens);
    Json pieces = Json::array();
    for (const std::int32_t id : ids) pieces.push_back(model.tokenizer->id_to_piece(id));
    return pieces;
}

/// Of the first choice of every token.
Json routed_block(const RouterOutput& router) {
    const at::Tensor probabilities = router.probabilities.to(at::kCPU, at::kDouble), first = router.experts.cpu().select(1, 0).contiguous();
    const at::Tensor chosen = probabilities.gather(1, first.unsqueeze(1)).squeeze(1).contiguous();
    const auto* experts = first.data_ptr<std::int64_t>();
    const auto* shares = chosen.data_ptr<double>();
    return {{"block", router.block},
            {"experts", std::vector<std::int64_t>(experts, experts + first.numel())},
            {"probabilities", std::vector<double>(shares, shares + chosen.numel())},
            {"entropy", router.entropy_sum().item<double>() / static_cast<double>(std::max<std::int64_t>(1, first.numel()))}};
}

}  // namespace

/// {"model": folder of a run, "task": "retrieval.query", "text"} -> {"instruction", "pieces": [token ...], "num_tokens": of the whole text,
/// of which the pieces are those that reach the model, "num_experts", "by": "token", "instruction" or "nothing", "blocks": [{"block",
/// "experts": [of each token], "probabilities": the router's for it, or null, "entropy": mean in nats, or null}]}. Usage error: a model
/// without the task.
Json token_experts(const Json& params, SessionData& data, Request& request) {
    ModelOptions options;
    options.model = json_at<std::string>(params, "model", "token_experts");
    request.progress("open the model", 0, 0);
    const EmbeddingModel& model = *data.named_model(options).model;
    const auto served = parse_route(json_at<std::string>(params, "task", "token_experts"), model.tasks);
    const Route route = model.route(served.task, served.role);
    const auto text = json_at<std::string>(params, "text", "token_experts");
    Json pieces = pieces_of(model, route, text), blocks = Json::array();
    if (pieces.empty()) throw usage_error("token_experts: the text has no token; type another one");
    std::int64_t num_experts = 0;
    EmbedOptions embed;
    embed.routing = [&](const RoutingTrace& trace) {
        for (const RouterOutput& router : trace) {
            blocks.push_back(routed_block(router));
            num_experts = router.probabilities.size(1);
        }
    };
    const std::string_view view = text;
    embed_texts(model, {&view, 1}, route, embed);
    const bool by_token = !blocks.empty();
    const auto& all = model.encoders[static_cast<std::size_t>(route.encoder)]->blocks();
    for (std::size_t b = 0; b < all.size() && route.path.expert >= 0; ++b)
        if (all[b].is_mixture()) {
            num_experts = static_cast<std::int64_t>(all[b].experts.size());
            blocks.push_back({{"block", b},
                              {"experts", std::vector<int>(pieces.size(), route.path.expert)},
                              {"probabilities", nullptr},
                              {"entropy", nullptr}});
        }
    return {{"instruction", route.instruction},
            {"pieces", std::move(pieces)},
            {"num_tokens", num_tokens_of(model, route.instruction, text)},
            {"num_experts", num_experts},
            {"by", by_token         ? "token"
                   : blocks.empty() ? "nothing"
                                    : "instruction"},
            {"blocks", std::move(blocks)}};
}

}  // namespace faceter::worker
