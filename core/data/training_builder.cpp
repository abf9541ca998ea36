#include "data/training_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "common/hash.h"
#include "data/fingerprint.h"
#include "data/sampling.h"

namespace faceter {

TrainingBuilder::TrainingBuilder(std::string name, std::string task) {
    set_.name = std::move(name);
    set_.task = std::move(task);
}

void TrainingBuilder::add(std::string_view anchor, std::string_view positive, std::span<const std::string_view> negatives,
                          std::int32_t label, std::span<const float> scores) {
    Example example;
    example.anchor = set_.texts.intern(anchor);
    example.positive = set_.texts.intern(positive);
    example.first_negative = static_cast<std::uint32_t>(set_.negatives.size());
    example.num_negatives = static_cast<std::uint32_t>(negatives.size());
    example.label = label;
    if (!scores.empty()) example.score = scores[0];
    for (std::size_t n = 0; n < negatives.size(); ++n) {
        set_.negatives.push_back(set_.texts.intern(negatives[n]));
        set_.negative_scores.push_back(scores.empty() ? Example::no_score : scores[n + 1]);
    }
    scored_ |= !scores.empty();
    set_.examples.push_back(example);
}

void TrainingBuilder::label(std::string_view text, std::int32_t label) {
    constexpr std::int32_t none = -1, several = -2;
    const std::uint32_t id = set_.texts.intern(text);
    set_.text_labels.resize(set_.texts.size(), none);
    std::int32_t& own = set_.text_labels[id];
    own = own == none || own == label ? label : several;
}

void TrainingBuilder::keep(std::span<const std::uint32_t> positions) {
    TrainingSet all = std::move(set_);
    if (!all.text_labels.empty()) all.text_labels.resize(all.texts.size(), -1);
    set_ = {};
    set_.name = std::move(all.name);
    set_.task = std::move(all.task);
    set_.label_names = std::move(all.label_names);
    std::vector<std::string_view> negatives;
    for (const std::uint32_t position : positions) {
        const Example& example = all.examples[position];
        negatives.clear();
        for (std::uint32_t i = 0; i < example.num_negatives; ++i) negatives.push_back(all.texts[all.negatives[example.first_negative + i]]);
        add(all.texts[example.anchor], all.texts[example.positive], negatives, example.label, scores_of(all, example));
    }
    if (all.text_labels.empty()) return;
    set_.text_labels.assign(set_.texts.size(), -1);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const Example &before = all.examples[positions[i]], &now = set_.examples[i];
        set_.text_labels[now.anchor] = all.text_labels[before.anchor];
        set_.text_labels[now.positive] = all.text_labels[before.positive];
        for (std::uint32_t n = 0; n < now.num_negatives; ++n)
            set_.text_labels[set_.negatives[now.first_negative + n]] = all.text_labels[all.negatives[before.first_negative + n]];
    }
}

void TrainingBuilder::count(DataReport& report) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    std::size_t identical = 0;
    std::vector<std::size_t> by_label(set_.label_names.size());
    for (const Example& example : set_.examples) {
        pairs.emplace(example.anchor, example.positive);
        identical += example.anchor == example.positive;
        if (example.label >= 0) ++by_label[static_cast<std::size_t>(example.label)];
    }
    report.counts["examples"] = set_.examples.size();
    report.counts["texts"] = set_.texts.size();
    report.counts["hard_negatives"] = set_.negatives.size();
    if (scored_)
        report.counts["scored_examples"] = static_cast<std::size_t>(
            std::count_if(set_.examples.begin(), set_.examples.end(), [](const Example& example) { return !std::isnan(example.score); }));
    report.counts["repeated_pairs"] = set_.examples.size() - pairs.size();
    report.counts["anchor_equals_positive"] = identical;
    for (std::size_t label = 0; label < by_label.size(); ++label) report.counts["by_label"][set_.label_names[label]] = by_label[label];
}

/// The same for the same data, whatever else an example comes to hold.
std::string TrainingBuilder::fingerprint() const {
    Fingerprint fingerprint;
    fingerprint.add_texts(set_.texts);
    std::vector<std::array<std::uint32_t, 5>> examples;
    std::vector<float> scores;
    for (const Example& e : set_.examples) {
        examples.push_back({e.anchor, e.positive, e.first_negative, e.num_negatives, static_cast<std::uint32_t>(e.label)});
        scores.push_back(e.score);
    }
    fingerprint.add_values(std::span<const std::array<std::uint32_t, 5>>(examples));
    fingerprint.add_values(std::span<const std::uint32_t>(set_.negatives));
    if (!set_.text_labels.empty()) fingerprint.add_values(std::span<const std::int32_t>(set_.text_labels));
    if (!scored_) return fingerprint.hex();
    fingerprint.add_values(std::span<const float>(scores));
    fingerprint.add_values(std::span<const float>(set_.negative_scores));
    return fingerprint.hex();
}

TrainingSet TrainingBuilder::finish(const DataLimits& limits, DataReport& report, Json origin) {
    if (limits.max_examples > 0 && limits.max_examples < size()) {
        report.counts["examples_before_limit"] = size();
        std::vector<std::uint64_t> hashes;
        for (const Example& example : set_.examples)
            hashes.push_back(hash64(set_.texts[example.positive], sample_hash(set_.texts[example.anchor])));
        keep(stable_sample(hashes, limits.max_examples));
    }
    if (set_.examples.empty()) {
        const std::string path = json_or<std::string>(origin, "path", "", "origin");
        const std::size_t skipped = report.errors.num_skipped();
        throw data_error("training set '{}'{}: no example is left{}; check its path, split, labels and limits", set_.name,
                         path.empty() ? "" : fmt::format(" ({})", path),
                         skipped > 0 ? fmt::format(", and {} record{} skipped, the first at {}", skipped, skipped == 1 ? " was" : "s were",
                                                   report.errors.first())
                                     : "");
    }
    count(report);
    if (!set_.text_labels.empty()) set_.text_labels.resize(set_.texts.size(), -1);
    if (!scored_) set_.negative_scores.clear();
    set_.fingerprint = fingerprint();
    set_.card = report.card(std::move(origin));
    if (instructions_) give_instructions(set_, *instructions_);
    return std::move(set_);
}

}  // namespace faceter
