// usage: bench_learn_router MODEL TEXTS.jsonl [COUNT] [GATES] [ROUNDS]     (TEXTS: {"short", "long"} a line)
// Queries routed over gates by pilots (both passes and the choice) against two plain passes of the same queries, taken in turn.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "bench_texts.h"
#include "eval/embedder.h"
#include "router_retriever/router_model.h"

using namespace faceter;

namespace {

/// As many domains as gates, each a part of the queries; every instance is best served by its own domain's gate or, one in three, by the
/// next one's, so that there are two pilots a gate.
std::shared_ptr<const ExpertRouter> some_router(const EmbeddingModel& model, const at::Tensor& base, int gates) {
    Library library;
    library.base_fingerprint = model.base_fingerprint();
    for (int g = 0; g < gates; ++g) {
        GateInfo& gate = library.gates.emplace_back();
        gate.name = gate.domain = fmt::format("gate {}", g);
    }
    const at::Tensor nearest = at::mm(base, base.narrow(0, 0, gates).t()).argmax(1);
    for (int d = 0; d < gates; ++d) {
        Domain domain;
        domain.name = library.gates[static_cast<std::size_t>(d)].name;
        domain.base = base.index_select(0, at::nonzero(nearest == d).flatten());
        domain.queries.resize(static_cast<std::size_t>(domain.base.size(0)), "q");
        domain.relevant.resize(domain.queries.size());
        domain.documents = base.narrow(0, 0, 1);
        domain.scores = at::zeros({domain.base.size(0), gates + 1}, at::kDouble);
        domain.margins = at::zeros_like(domain.scores);
        for (std::int64_t i = 0; i < domain.base.size(0); ++i) domain.scores[i][(d + (i % 3 == 2)) % gates + 1] = 1;
        library.domains.push_back(std::move(domain));
    }
    return std::make_shared<RouterModel>(std::move(library), RouterSettings{}, false, false);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: bench_learn_router MODEL TEXTS.jsonl [COUNT] [GATES] [ROUNDS]\n");
        return 2;
    }
    const std::size_t count = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1000;
    const int gates = argc > 4 ? std::atoi(argv[4]) : 10, rounds = argc > 5 ? std::atoi(argv[5]) : 15;
    const auto model = EmbeddingModel::open(ModelFolder::open(resolve_model(argv[1])));
    const auto pairs = bench::read_pairs(argv[2], count);
    std::vector<std::string_view> queries;
    for (const auto& pair : pairs) queries.push_back(pair.query);
    const at::Tensor base = embed_texts(*model, queries, Route{});
    for (int g = 0; g < gates; ++g) {
        const std::size_t index = model->encoders.front()->add_adapter(fmt::format("gate {}", g), {8, 32, 0, false, {}, ""}, 1);
        for (const Parameter& p : model->encoders.front()->adapter_parameters(index)) p.tensor.normal_(0, 0.02);
    }
    model->router = some_router(*model, base, gates);
    const auto chosen = model->router->choose(base);
    const Route routed{"", 0, Path{}, true};
    embed_texts(*model, queries, routed);
    std::vector<double> plain, both, ratios;
    for (int round = 0; round < rounds; ++round) {
        plain.push_back(bench::seconds_of([&] { embed_texts(*model, queries, Route{}); }) +
                        bench::seconds_of([&] { embed_texts(*model, queries, Route{}); }));
        both.push_back(bench::seconds_of([&] { embed_texts(*model, queries, routed); }));
        ratios.push_back(both.back() / plain.back());
    }
    fmt::print(
        "router: {} queries, {} gates ({} in use): two plain passes {:.0f} ms, routed {:.0f} ms: {:.3f}x (median of {}; {:.3f} to "
        "{:.3f})\n",
        count, gates, std::set<Path>(chosen.begin(), chosen.end()).size(), 1000 * bench::median(plain), 1000 * bench::median(both),
        bench::median(ratios), rounds, *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()));
}
