// A token-routed block against dense ones with as many multiply-adds: quality.md asks for 1.05x of two dense blocks (8 experts, top-2,
// 8,192 tokens, forward and backward). Usage: bench_learn_routed [TOKENS [HIDDEN [INNER [ROUNDS]]]]
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "model/ops.h"

using namespace faceter;

namespace {

double milliseconds(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void print(const char* what, std::vector<double> times) {
    const auto [low, high] = std::minmax_element(times.begin(), times.end());
    fmt::print("{:<20} {:8.1f} ms ({:.1f} to {:.1f})\n", what, median(times), *low, *high);
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int i, std::int64_t fallback) { return argc > i ? std::stoll(argv[i]) : fallback; };
    const std::int64_t tokens = number(1, 8192), d = number(2, 384), inner = number(3, 4 * d), experts = 8, top_k = 2;
    const int rounds = static_cast<int>(number(4, 7));
    at::manual_seed(1);
    TokenRouting routing;
    routing.router = at::randn({experts, d}).mul_(0.1).requires_grad_();
    routing.up = at::randn({experts * inner, d}).mul_(0.03).requires_grad_();
    routing.up_bias = at::randn({experts * inner}).mul_(0.03).requires_grad_();
    routing.down = at::randn({experts * d, inner}).mul_(0.03).requires_grad_();
    routing.num_experts = experts;
    routing.top_k = top_k;
    std::vector<FeedForwardWeights> dense;
    for (int i = 0; i < 2; ++i)
        dense.push_back({at::randn({inner, d}).mul_(0.03).requires_grad_(), at::randn({inner}).mul_(0.03).requires_grad_(),
                         at::randn({d, inner}).mul_(0.03).requires_grad_()});
    const at::Tensor x = at::randn({tokens, d}).requires_grad_(), weight = at::randn({tokens, d});
    const std::vector<Segment> all{{Path{}, 0, tokens}};
    const auto forget = [&] {  // as a step does: a gradient is stored where there is none, not added
        for (at::Tensor t : {x, routing.router, routing.up, routing.up_bias, routing.down}) t.mutable_grad().reset();
        for (const FeedForwardWeights& w : dense)
            for (at::Tensor t : {w.up, w.up_bias, w.down}) t.mutable_grad().reset();
    };
    std::vector<double> two, routed, ratios;
    for (int round = -1; round < rounds; ++round) {  // in turn, since the machine's speed drifts
        forget();
        const double plain = milliseconds([&] {
            for (const FeedForwardWeights& w : dense) (feed_forward(x, all, {w}, {}) * weight).sum().backward();
        });
        forget();
        const double by_token = milliseconds([&] { (routed_feed_forward(x, routing, {}, {}, nullptr) * weight).sum().backward(); });
        if (round < 0) continue;
        two.push_back(plain), routed.push_back(by_token), ratios.push_back(by_token / plain);
    }
    print("two dense blocks", two);
    print("8 experts, top-2", routed);
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    fmt::print("ratio                {:8.3f}    ({:.3f} to {:.3f})\n", median(ratios), *low, *high);
    return 0;
}
