#include "data/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "common/error.h"
#include "common/hash.h"
#include "common/random.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::size_t most_tries = 1000;  // for one example: a set of a single label has nobody to exchange with, however long one looks

/// What is drawn for a set at a rate: the examples that get a wrong positive, and every example in the order in which it may give its own.
struct Draw {
    std::vector<std::uint32_t> order;  ///< the chosen ones first
    std::size_t chosen = 0;

    /// The number is rounded by chance: at 5 % a set of 16 pairs has one in four cases out of five, so that many small sets have the rate
    /// together.
    Draw(std::size_t examples, double rate, std::uint64_t seed, const std::string& name) : order(examples) {
        std::iota(order.begin(), order.end(), 0U);
        RandomStream random(seed, "data/noise/" + name);
        random.shuffle(order);
        chosen = std::min(examples, static_cast<std::size_t>(rate * static_cast<double>(examples) + random.uniform()));
    }
    std::vector<std::uint32_t> places() const { return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(chosen)}; }
};

/// The positives of a set as they are before any is exchanged.
class Exchange {
  public:
    explicit Exchange(const TrainingSet& set) : set_(set) {
        for (const Example& example : set.examples) own_.emplace(example.anchor, example.positive);
    }
    /// Whether another example's positive is wrong for this one: neither its query's nor of its label, and no negative of it.
    bool is_wrong(std::uint32_t example, std::uint32_t other) const {
        const Example &to = set_.examples[example], &from = set_.examples[other];
        if (to.label >= 0 && (to.label == from.label || to.label == set_.label_of(from.positive))) return false;
        if (from.positive == to.anchor || own_.contains({to.anchor, from.positive})) return false;
        const auto first = set_.negatives.begin() + to.first_negative;
        return std::find(first, first + to.num_negatives, from.positive) == first + to.num_negatives;
    }

  private:
    const TrainingSet& set_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> own_;  // (anchor, positive)
};

/// Lets the i-th of the chosen change givers with another of them, so that both get a wrong positive.
bool change_givers(std::size_t i, const std::vector<std::uint32_t>& chosen, const Exchange& exchange, std::vector<std::uint32_t>& givers) {
    for (std::size_t step = 1; step < std::min(chosen.size(), most_tries); ++step) {
        const std::size_t j = (i + step) % chosen.size();
        if (!exchange.is_wrong(chosen[i], givers[j]) || !exchange.is_wrong(chosen[j], givers[i])) continue;
        std::swap(givers[i], givers[j]);
        return true;
    }
    return false;
}

/// An example of the set, chosen or not, whose positive is wrong for the i-th of the chosen; that itself where none is found.
std::uint32_t any_giver(std::size_t i, const Draw& draw, const Exchange& exchange) {
    const std::size_t n = draw.order.size();
    for (std::size_t step = 1; step <= std::min(n, most_tries); ++step)
        if (const std::uint32_t other = draw.order[(i + n - step) % n]; exchange.is_wrong(draw.order[i], other)) return other;
    return draw.order[i];
}

/// Whose positive each of the chosen gets: the next one's; where that would be right for it, it changes with another of them, else that of
/// any example of the set.
std::vector<std::uint32_t> givers_of(const Draw& draw, const Exchange& exchange) {
    const auto chosen = draw.places();
    std::vector<std::uint32_t> givers = chosen;
    if (!givers.empty()) std::rotate(givers.begin(), givers.begin() + 1, givers.end());
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (!exchange.is_wrong(chosen[i], givers[i]) && !change_givers(i, chosen, exchange, givers))
            givers[i] = any_giver(i, draw, exchange);
    return givers;
}

void refuse_senseless(const TrainingSet& set) {
    const auto& all = set.examples;
    if (std::any_of(all.begin(), all.end(), [](const Example& example) { return !std::isnan(example.score); }))
        throw settings_error(
            "training set '{}': noise_rate exchanges positives, and its records have scores, which are of the positives that they came "
            "with; leave noise_rate out, or the scores",
            set.name);
    if (std::all_of(all.begin(), all.end(), [](const Example& example) { return example.anchor == example.positive; }))
        throw settings_error(
            "training set '{}': noise_rate exchanges positives, and its texts are pairs with themselves; leave noise_rate out", set.name);
}

/// Gives the chosen their wrong positives. The places of those that keep their own, in ascending order.
std::vector<std::uint32_t> exchange_positives(TrainingSet& set, const Draw& draw) {
    const Exchange exchange(set);
    const auto chosen = draw.places(), givers = givers_of(draw, exchange);
    std::vector<std::uint32_t> kept, positives;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        positives.push_back(set.examples[givers[i]].positive);
        if (givers[i] == chosen[i]) kept.push_back(chosen[i]);
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) set.examples[chosen[i]].positive = positives[i];
    std::sort(kept.begin(), kept.end());
    return kept;
}

}  // namespace

void inject_noise(TrainingSet& set, double rate, std::uint64_t seed) {
    if (!(rate > 0)) return;
    refuse_senseless(set);
    const Draw draw(set.examples.size(), rate, seed, set.name);
    const auto kept = exchange_positives(set, draw);
    Json noise = {{"rate", rate}, {"seed", seed}, {"of", set.examples.size()}, {"pairs", draw.chosen - kept.size()}};
    if (!kept.empty()) {
        noise["kept"] = kept;
        set.card["warnings"].push_back(
            fmt::format("{}: noise_rate chose {} pairs, and {} of them keep their positives: those of the other pairs are right for them "
                        "as well, or are "
                        "among their negatives",
                        set.name, draw.chosen, kept.size()));
    }
    set.fingerprint = hash128(set.fingerprint + noise.dump()).hex();
    set.card["noise"] = std::move(noise);
}

std::vector<char> noisy_examples(const TrainingSet& set) {
    if (!set.card.is_object() || !set.card.contains("noise")) return {};
    const Json& noise = set.card.at("noise");
    if (json_at<std::size_t>(noise, "of", set.name) != set.examples.size()) return {};
    std::vector<char> noisy(set.examples.size(), 0);
    const Draw draw(noisy.size(), json_at<double>(noise, "rate", set.name), json_at<std::uint64_t>(noise, "seed", set.name), set.name);
    for (const std::uint32_t place : draw.places()) noisy[place] = 1;
    for (const auto place : json_or<std::vector<std::uint32_t>>(noise, "kept", {}, set.name))
        if (place < noisy.size()) noisy[place] = 0;
    return noisy;
}

}  // namespace faceter
