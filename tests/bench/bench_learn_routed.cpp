// A token-routed block against dense ones with as many multiply-adds: quality.md asks for 1.05x of two dense blocks (8 experts, top-2, 8,192 tokens,
// forward and backward). Usage: bench_learn_routed [TOKENS [HIDDEN [INNER [ROUNDS]]]]
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "model/ops.h"

using namespace faceter;

namespace {

double median_ms(int rounds, const std::function<void()>& work, double& low, double& high) {
    std::vector<double> times;
    for (int i = 0; i < rounds + 1; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        if (i > 0) times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    low = times.front(), high = times.back();
    return times[times.size() / 2];
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
        dense.push_back({at::randn({inner, d}).mul_(0.03).requires_grad_(), at::randn({inner}).mul_(0.03).requires_grad_(), at::randn({d, inner}).mul_(0.03).requires_grad_()});
    const at::Tensor x = at::randn({tokens, d}).requires_grad_(), weight = at::randn({tokens, d});
    const std::vector<Segment> all{{0, 0, tokens}};
    double low = 0, high = 0;
    const double two = median_ms(rounds, [&] {
        for (const FeedForwardWeights& w : dense) (feed_forward(x, all, {w}, {}) * weight).sum().backward();
    }, low, high);
    fmt::print("two dense blocks     {:8.1f} ms ({:.1f} to {:.1f})\n", two, low, high);
    const double routed = median_ms(rounds, [&] { (routed_feed_forward(x, routing, {}, 0, nullptr) * weight).sum().backward(); }, low, high);
    fmt::print("8 experts, top-2     {:8.1f} ms ({:.1f} to {:.1f})   {:.3f}x of two dense\n", routed, low, high, routed / two);
    return 0;
}
