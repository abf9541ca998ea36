#include "eval/group_embedding.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "common/error.h"
#include "common/json.h"

namespace faceter {
namespace {

constexpr std::size_t few_texts = 64;

/// A line of JSON, then the texts end to end. No texts: the end.
std::string request_of(std::span<const std::string_view> texts, const Route& route) {
    std::vector<std::size_t> sizes;
    for (const std::string_view text : texts) sizes.push_back(text.size());
    std::string request = Json{{"instruction", route.instruction},
                               {"encoder", route.encoder},
                               {"expert", route.path.expert},
                               {"adapter", route.path.adapter},
                               {"sizes", sizes}}
                              .dump() +
                          "\n";
    for (const std::string_view text : texts) request += text;
    return request;
}

struct Request {
    std::string bytes;
    std::vector<std::string_view> texts;  // into `bytes`
    Route route;

    explicit Request(std::string received) : bytes(std::move(received)) {
        const std::size_t line = bytes.find('\n');
        const Json head = parse_json(std::string_view(bytes).substr(0, line), "the request of another process");
        route = {head.at("instruction").get<std::string>(), head.at("encoder").get<int>(),
                 Path::of_expert(head.at("expert").get<int>()).with_adapter(head.at("adapter").get<int>())};
        std::size_t at = line + 1;
        for (const std::size_t size : head.at("sizes").get<std::vector<std::size_t>>()) {
            texts.push_back(std::string_view(bytes).substr(at, size));
            at += size;
        }
    }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
};

/// Which texts each rank embeds, in the order of ranks: dealt out from the longest to the shortest, so that all have as much to do.
std::vector<std::vector<std::size_t>> deal(std::span<const std::string_view> texts, int ranks) {
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return texts[a].size() > texts[b].size(); });
    std::vector<std::vector<std::size_t>> dealt(static_cast<std::size_t>(ranks));
    for (std::size_t i = 0; i < order.size(); ++i) dealt[i % dealt.size()].push_back(order[i]);
    return dealt;
}

/// All rows; of rank 0's texts first, then those of the next.
at::Tensor embed_share(const EmbeddingModel& model, ProcessGroup& group, std::span<const std::string_view> texts,
                       const std::vector<std::vector<std::size_t>>& dealt, const Route& route, const EmbedOptions& options) {
    std::vector<std::string_view> some;
    for (const std::size_t i : dealt[static_cast<std::size_t>(group.rank())]) some.push_back(texts[i]);
    std::vector<std::int64_t> counts;
    for (const auto& of_rank : dealt) counts.push_back(static_cast<std::int64_t>(of_rank.size()));
    return group.all_gather_rows(embed_texts(model, some, route, options), counts);
}

}  // namespace

at::Tensor embed_on_all_ranks(const EmbeddingModel& model, ProcessGroup& group, std::span<const std::string_view> texts, const Route& route,
                              const EmbedOptions& options) {
    if (group.size() == 1 || texts.size() < few_texts || route.routed) return embed_texts(model, texts, route, options);
    group.barrier();  // the others wait here for as long as rank 0 is at something else
    text_of_root(group, request_of(texts, route));
    const auto dealt = deal(texts, group.size());
    const at::Tensor gathered = embed_share(model, group, texts, dealt, route, options), rows = at::empty_like(gathered);
    std::vector<std::int64_t> places;
    for (const auto& of_rank : dealt) places.insert(places.end(), of_rank.begin(), of_rank.end());
    rows.index_copy_(0, at::tensor(places, at::kLong), gathered);
    return rows;
}

void serve_embeddings(const EmbeddingModel& model, ProcessGroup& group) {
    for (;;) {
        group.barrier();
        const Request request(text_of_root(group, ""));
        if (request.texts.empty()) return;
        embed_share(model, group, request.texts, deal(request.texts, group.size()), request.route, {});
    }
}

void let_servers_go(ProcessGroup& group) {
    if (group.size() == 1) return;
    group.barrier();
    text_of_root(group, request_of({}, {}));
}

}  // namespace faceter
