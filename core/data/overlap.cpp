#include "data/overlap.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::size_t most_examples = 20, between_ticks = 4096;

void tick_at(std::size_t place, const OverlapCounter::Tick& tick) {
    if (tick && place % between_ticks == 0) tick();
}

using TextSet = std::unordered_set<Hash128, Hash128Hasher>;

TextSet hashes_of_training(const TrainingSet& set, const OverlapCounter::Tick& tick) {
    TextSet hashes;
    for (std::uint32_t id = 0; id < set.texts.size(); ++id) {
        tick_at(id, tick);
        if (const std::string form = overlap_form(set.texts[id]); !form.empty()) hashes.insert(hash128(form));
    }
    return hashes;
}

/// Different held-out texts: hash -> the first text that has it.
std::unordered_map<Hash128, std::string_view, Hash128Hasher> hashes_of_evaluation(const EvaluationSet& set,
                                                                                  const OverlapCounter::Tick& tick) {
    std::unordered_map<Hash128, std::string_view, Hash128Hasher> hashes;
    std::size_t place = 0;
    for (const std::string_view text : held_out_texts(set)) {
        tick_at(place++, tick);
        if (const std::string form = overlap_form(text); !form.empty()) hashes.try_emplace(hash128(form), text);
    }
    return hashes;
}

/// The first ones in the order of bytes.
std::vector<std::string> first_of(std::vector<std::string_view> texts) {
    const std::size_t count = std::min(texts.size(), most_examples);
    std::partial_sort(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(count), texts.end());
    return {texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

struct OverlapCounter::Training {
    std::string name;
    TextSet hashes;
};

OverlapCounter::OverlapCounter() = default;
OverlapCounter::~OverlapCounter() = default;

void OverlapCounter::add(const TrainingSet& set, const Tick& tick) { training_.push_back({set.name, hashes_of_training(set, tick)}); }

std::vector<Overlap> OverlapCounter::count(const EvaluationSet& set, const Tick& tick) const {
    const auto held_out = hashes_of_evaluation(set, tick);
    std::vector<Overlap> found;
    for (const Training& training : training_) {
        std::vector<std::string_view> shared;
        for (const auto& [hash, text] : held_out)
            if (training.hashes.contains(hash)) shared.push_back(text);
        const std::size_t count = shared.size();
        found.push_back({training.name, set.name, count, training.hashes.size(), held_out.size(), first_of(std::move(shared))});
    }
    return found;
}

std::string overlap_form(std::string_view text) {
    std::string form;
    form.reserve(text.size());
    for (const char c : text) {
        if (c >= 'A' && c <= 'Z')
            form += static_cast<char>(c - 'A' + 'a');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80)
            form += c;
    }
    return form;
}

std::vector<Overlap> count_overlap(std::span<const TrainingSet> training, std::span<const EvaluationSet> evaluation) {
    OverlapCounter counter;
    for (const TrainingSet& set : training) counter.add(set);
    std::vector<Overlap> found;
    for (const EvaluationSet& set : evaluation)
        for (Overlap& one : counter.count(set))
            if (one.shared_texts > 0) found.push_back(std::move(one));
    std::stable_sort(found.begin(), found.end(), [](const Overlap& a, const Overlap& b) { return a.shared_texts > b.shared_texts; });
    return found;
}

Json to_json(const Overlap& overlap) {
    return {{"training", overlap.training},
            {"evaluation", overlap.evaluation},
            {"shared_texts", overlap.shared_texts},
            {"training_texts", overlap.training_texts},
            {"evaluation_texts", overlap.evaluation_texts},
            {"example", overlap.examples.empty() ? Json() : Json(overlap.examples.front())},
            {"examples", overlap.examples}};
}

std::string describe_overlap(const Overlap& overlap) {
    return fmt::format("{} of {} test texts of '{}' stand in the training set '{}' too, for example {}", overlap.shared_texts,
                       overlap.evaluation_texts, overlap.evaluation, overlap.training, faceter::quoted(overlap.examples.front(), 60));
}

}  // namespace faceter
