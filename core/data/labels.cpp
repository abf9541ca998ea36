#include <algorithm>
#include <numeric>

#include "common/random.h"
#include "common/strings.h"
#include "data/sampling.h"
#include "data/training_builder.h"

namespace faceter {

std::int32_t LabelIndex::add(std::string_view key, std::string_view name) {
    if (const auto at = by_key_.find(key); at != by_key_.end()) return at->second;
    const auto number = static_cast<std::int32_t>(labels_.size());
    if (number >= 1'000'000) throw data_error("more than a million labels; check which member of the records is the label");
    by_key_.emplace(std::string(key), number);
    labels_.emplace_back(std::string(key), std::string(name.empty() ? key : name));
    return number;
}

std::vector<std::int32_t> LabelIndex::finish(std::vector<std::string>& names) const {
    std::vector<std::size_t> order(labels_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool integers = std::all_of(labels_.begin(), labels_.end(), [](const auto& label) { return parse_int(label.first).has_value(); });
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (integers && *parse_int(labels_[a].first) != *parse_int(labels_[b].first))
            return *parse_int(labels_[a].first) < *parse_int(labels_[b].first);
        return labels_[a].first < labels_[b].first;
    });
    std::vector<std::int32_t> final_number(labels_.size());
    names.clear();
    for (const std::size_t i : order) {
        final_number[i] = static_cast<std::int32_t>(names.size());
        names.push_back(labels_[i].second);
    }
    return final_number;
}

void renumber(std::vector<std::int32_t>& labels, const std::vector<std::int32_t>& final_number) {
    for (std::int32_t& label : labels) label = final_number[static_cast<std::size_t>(label)];
}

namespace {

/// Different texts of each label, and all of them with their label, for drawing.
struct Population {
    explicit Population(const LabelledTexts& labelled) : by_label(labelled.label_names.size()) {
        TextTable distinct;
        for (std::uint32_t i = 0; i < labelled.texts.size(); ++i) {
            const std::string_view text = labelled.texts[i];
            const auto label = static_cast<std::size_t>(labelled.labels[i]);
            const std::size_t before = distinct.size();
            if (distinct.intern(fmt::format("{} {}", label, text)) == before) by_label[label].push_back(i);
        }
    }
    std::vector<std::vector<std::uint32_t>> by_label;
};

/// Up to `count` different texts whose label is another one, by number.
std::vector<std::uint32_t> draw_negatives(const LabelledTexts& labelled, std::int32_t label, int count, RandomStream& random) {
    std::vector<std::uint32_t> drawn;
    for (int tries = 0; static_cast<int>(drawn.size()) < count && tries < 20 * count; ++tries) {
        const auto i = static_cast<std::uint32_t>(random.below(labelled.texts.size()));
        const auto is_same = [&](std::uint32_t other) { return labelled.texts[other] == labelled.texts[i]; };
        if (labelled.labels[i] != label && std::none_of(drawn.begin(), drawn.end(), is_same)) drawn.push_back(i);
    }
    return drawn;
}

/// An example, and the class of each of its texts.
void add_labelled(const LabelledTexts& labelled, std::uint32_t anchor, std::uint32_t positive, const std::vector<std::uint32_t>& negatives,
                  TrainingBuilder& builder) {
    std::vector<std::string_view> texts;
    for (const std::uint32_t n : negatives) texts.push_back(labelled.texts[n]);
    builder.add(labelled.texts[anchor], labelled.texts[positive], texts, labelled.labels[anchor]);
    for (const std::uint32_t i : {anchor, positive}) builder.label(labelled.texts[i], labelled.labels[i]);
    for (const std::uint32_t i : negatives) builder.label(labelled.texts[i], labelled.labels[i]);
}

}  // namespace

TrainingSet train_from_labels(const LabelledTexts& labelled, const DataEntry& entry, const std::string& name, const std::string& task,
                              DataReport& report, Json origin) {
    const Population population(labelled);
    std::vector<std::uint32_t> anchors;
    std::vector<std::string> single;
    for (std::size_t label = 0; label < population.by_label.size(); ++label) {
        const auto& members = population.by_label[label];
        if (members.size() >= 2) anchors.insert(anchors.end(), members.begin(), members.end());
        if (members.size() == 1) single.push_back(labelled.label_names[label]);
    }
    std::sort(anchors.begin(), anchors.end());
    std::vector<std::uint64_t> hashes;
    for (const std::uint32_t anchor : anchors) hashes.push_back(sample_hash(labelled.texts[anchor]));
    TrainingBuilder builder(name, task);
    builder.name_labels(labelled.label_names);
    if (labelled.instructions) builder.instruct(*labelled.instructions);
    RandomStream positives(entry.seed, "data/positives/" + name), negatives(entry.seed, "data/negatives/" + name);
    for (const std::uint32_t position : stable_sample(hashes, entry.limits.max_examples)) {
        const std::uint32_t anchor = anchors[position];
        const std::int32_t label = labelled.labels[anchor];
        const auto& members = population.by_label[static_cast<std::size_t>(label)];
        const auto own = static_cast<std::size_t>(std::lower_bound(members.begin(), members.end(), anchor) - members.begin());
        const std::size_t other = (own + 1 + positives.below(members.size() - 1)) % members.size();
        add_labelled(labelled, anchor, members[other], draw_negatives(labelled, label, std::max(entry.hard_negatives, 0), negatives),
                     builder);
    }
    report.counts["labelled_texts"] = labelled.texts.size();
    report.counts["labels_with_one_text"] = single.size();
    if (!single.empty())
        report.warnings.push_back(fmt::format("{} labels of '{}' have a single text and give no example: {}", single.size(), name,
                                              faceter::quoted(join(single, ", "), 200)));
    return builder.finish({}, report, std::move(origin));
}

}  // namespace faceter
