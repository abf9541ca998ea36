#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "common/hash.h"
#include "data/debian_views.h"
#include "data/sampling.h"

// Long descriptions with a class each: the section, or the one tag of a facet. Descriptions that stand under two classes are left out.

namespace faceter {
namespace {

/// A class with fewer descriptions in the whole archive, or in one split (as the many packages of one source have it), is left out.
constexpr std::size_t min_label_count = 40, min_label_count_in_a_split = 2;
constexpr std::size_t num_clustering_sets = 10;
constexpr std::size_t max_clustering_set = 2000;

using LabelOf = std::optional<std::string_view> (*)(const DebianContext& context, const DebianPackage& package);

std::optional<std::string_view> section_label(const DebianContext& context, const DebianPackage& package) {
    const std::string_view section = context.text(package.section);
    if (section.empty()) return std::nullopt;
    return section;
}

/// The package's only tag of the facet; "TODO" is how debtags marks what nobody has decided.
std::optional<std::string_view> only_tag(const DebianContext& context, const DebianPackage& package, std::string_view facet) {
    std::optional<std::string_view> found;
    for (const std::uint32_t id : context.index->tags(package)) {
        const std::string_view tag = context.text(id);
        if (!tag.starts_with(facet) || tag.ends_with("::TODO")) continue;
        if (found) return std::nullopt;
        found = tag.substr(facet.size());
    }
    return found;
}

std::optional<std::string_view> language_label(const DebianContext& context, const DebianPackage& package) {
    return only_tag(context, package, "implemented-in::");
}
std::optional<std::string_view> use_label(const DebianContext& context, const DebianPackage& package) {
    return only_tag(context, package, "use::");
}

/// Every different description with its class, of all splits, and the names of the classes that are big enough.
class LabelledDescriptions {
  public:
    LabelledDescriptions(DebianContext& context, LabelOf label_of) {
        for (const DebianSplit split : {DebianSplit::train, DebianSplit::validation, DebianSplit::test})
            for (const DebianPackage* package : context.packages(split)) add(context, *package, label_of(context, *package));
        std::map<std::string_view, std::array<std::size_t, 3>> sizes;
        for (const auto& [text, entry] : entries_)
            if (!entry.conflicting) ++sizes[entry.label][static_cast<std::size_t>(entry.split)];
        for (const auto& [label, size] : sizes)
            if (size[0] + size[1] + size[2] >= min_label_count && std::min({size[0], size[1], size[2]}) >= min_label_count_in_a_split)
                names_.emplace_back(label);
        if (names_.size() < 2)
            throw DataUnavailable(
                fmt::format("source debian: the view '{}' has {} classes with at least {} descriptions in this machine's package index; "
                            "two are needed; the data set is left out",
                            context.entry.view, names_.size(), min_label_count));
        context.report.counts["labels"] = names_.size();
        context.report.counts["rare_labels_left_out"] = sizes.size() - names_.size();
        context.report.counts["descriptions_under_two_labels"] = conflicting_;
    }

    LabelledTexts of(const DebianContext& context, DebianSplit split) const {
        LabelledTexts labelled;
        labelled.label_names = names_;
        for (const std::uint32_t id : order_) {
            const Entry& entry = entries_.at(id);
            const auto label = std::lower_bound(names_.begin(), names_.end(), entry.label);
            if (entry.conflicting || entry.split != split || label == names_.end() || *label != entry.label) continue;
            labelled.texts.add(context.text(id));
            labelled.labels.push_back(static_cast<std::int32_t>(label - names_.begin()));
        }
        return labelled;
    }

  private:
    struct Entry {
        std::string_view label;
        DebianSplit split;
        bool conflicting = false;
    };

    void add(const DebianContext& context, const DebianPackage& package, std::optional<std::string_view> label) {
        if (!label) return;
        const auto [at, is_new] = entries_.try_emplace(package.description, Entry{*label, package.split});
        if (is_new) order_.push_back(package.description);
        if (at->second.label == *label || at->second.conflicting) return;
        at->second.conflicting = true;
        ++conflicting_;
    }

    std::unordered_map<std::uint32_t, Entry> entries_;  ///< by description
    std::vector<std::uint32_t> order_;
    std::vector<std::string> names_;
    std::size_t conflicting_ = 0;
};

void count(Json& counts, const std::string& key, const std::vector<std::int32_t>& labels, const std::vector<std::string>& names) {
    std::vector<std::size_t> by_label(names.size());
    for (const std::int32_t label : labels) ++by_label[static_cast<std::size_t>(label)];
    counts[key] = labels.size();
    for (std::size_t i = 0; i < names.size(); ++i) counts[key + "_by_label"][names[i]] = by_label[i];
}

ClassificationData classification(DebianContext& context, const LabelledDescriptions& all) {
    LabelledTexts train = all.of(context, DebianSplit::train), test = all.of(context, context.split);
    ClassificationData data;
    data.label_names = train.label_names;
    count(context.report.counts, "train", train.labels, data.label_names);
    count(context.report.counts, "test", test.labels, data.label_names);
    data.train = std::move(train.texts);
    data.train_labels = std::move(train.labels);
    data.test = std::move(test.texts);
    data.test_labels = std::move(test.labels);
    if (context.entry.examples_per_label > 0) data.examples_per_label = context.entry.examples_per_label;
    return data;
}

/// Several sets, as MTEB has them: each a sample of half the texts (at most 2,000), chosen by hash. The classes that a set has are numbered
/// from 0.
ClusteringData clustering(DebianContext& context, const LabelledDescriptions& all) {
    const LabelledTexts labelled = all.of(context, context.split);
    ClusteringData data;
    const std::size_t size = std::min(max_clustering_set, (labelled.texts.size() + 1) / 2);
    for (std::size_t number = 0; number < num_clustering_sets; ++number) {
        std::vector<std::uint64_t> hashes;
        for (std::uint32_t i = 0; i < labelled.texts.size(); ++i) hashes.push_back(hash64(labelled.texts[i], number));
        ClusteringData::Set set;
        std::map<std::int32_t, std::int32_t> used;
        const auto members = stable_sample(hashes, size);
        for (const std::uint32_t i : members) used.emplace(labelled.labels[i], 0);
        for (auto& [label, dense] : used) dense = set.num_labels++;
        for (const std::uint32_t i : members) {
            set.texts.add(labelled.texts[i]);
            set.labels.push_back(used.at(labelled.labels[i]));
        }
        data.sets.push_back(std::move(set));
    }
    count(context.report.counts, "texts", labelled.labels, labelled.label_names);
    context.report.counts["sets"] = data.sets.size();
    context.report.counts["sentences_per_set"] = size;
    return data;
}

template <LabelOf label_of>
void evaluation(DebianContext& context, EvaluationSet& set) {
    const LabelledDescriptions all(context, label_of);
    if (set.task_type == "classification")
        set.data = classification(context, all);
    else
        set.data = clustering(context, all);
}

template <LabelOf label_of>
TrainingSet training(DebianContext& context, const std::string& name, const std::string& task, Json origin) {
    const LabelledDescriptions all(context, label_of);
    return train_from_labels(all.of(context, context.split), context.entry, name, task, context.report, std::move(origin));
}

const std::vector<std::string> kinds{"classification", "clustering"};

const bool registered_section = register_debian_view({.name = "section",
                                                      .task = "classification",
                                                      .summary = "long description -> archive section",
                                                      .training = training<section_label>,
                                                      .evaluation = evaluation<section_label>,
                                                      .evaluated_as = kinds});
const bool registered_language = register_debian_view({.name = "implemented_in",
                                                       .task = "classification",
                                                       .summary = "long description -> programming language (debtags)",
                                                       .needs_tags = true,
                                                       .training = training<language_label>,
                                                       .evaluation = evaluation<language_label>,
                                                       .evaluated_as = kinds});
const bool registered_use = register_debian_view({.name = "use",
                                                  .task = "clustering",
                                                  .summary = "long descriptions by what the software is used for (debtags)",
                                                  .needs_tags = true,
                                                  .training = training<use_label>,
                                                  .evaluation = evaluation<use_label>,
                                                  .evaluated_as = kinds});

}  // namespace
}  // namespace faceter
