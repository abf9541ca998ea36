#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/strings.h"
#include "data/debian_views.h"
#include "data/leaves.h"
#include "data/sampling.h"

// source: debian_leaves - the Debian archive as many tasks: each section, or each value of a debtags facet, is one, from synopsis to
// description.

namespace faceter {
namespace {

using Packages = std::vector<const DebianPackage*>;

DebianSplit split_of(const DataEntry& entry) {
    if (entry.split.empty() || entry.split == "train") return DebianSplit::train;
    if (entry.split == "validation") return DebianSplit::validation;
    if (entry.split == "test") return DebianSplit::test;
    throw settings_error("data entry: source debian_leaves has no split {}; it has train, validation and test",
                         faceter::quoted(entry.split));
}

DebianContext open_index(const DataRequest& request) {
    DataEntry entry(request);
    if (entry.view.empty())
        throw settings_error(
            "data entry: source debian_leaves needs a view: section, or a debtags facet such as use, works-with or interface");
    const DebianSplit split = split_of(entry);
    const auto policy = entry.on_error;
    DebianContext context{DebianPackages::open(entry.folder_or_file), std::move(entry), split, DataReport(policy)};
    if (context.entry.view != "section" && !context.index->has_tags())
        throw DataUnavailable(
            fmt::format("source debian_leaves: the facet '{}' needs debtags, and this machine's package index has none (Ubuntu leaves them "
                        "out); the data set is left out",
                        context.entry.view));
    return context;
}

/// Packages by section or by value of the facet; one with several values is in each.
std::map<std::string, Packages> packages_by_leaf(const DebianContext& context) {
    std::map<std::string, Packages> leaves;
    const std::string facet = context.entry.view + "::";
    for (const DebianPackage* package : context.packages(context.split)) {
        if (context.entry.view == "section") {
            if (const auto section = context.text(package->section); !section.empty()) leaves[std::string(section)].push_back(package);
            continue;
        }
        for (const std::uint32_t id : context.index->tags(*package)) {
            const std::string_view tag = context.text(id);
            if (tag.starts_with(facet) && !tag.ends_with("::TODO")) leaves[std::string(tag.substr(facet.size()))].push_back(package);
        }
    }
    return leaves;
}

/// Descriptions of other sources of the same leaf, beginning at a place that the package's name gives.
std::vector<std::string_view> negatives_of(const DebianContext& context, const DebianPackage& package, const Packages& leaf) {
    std::vector<std::string_view> chosen;
    const auto wanted = static_cast<std::size_t>(std::max(context.entry.hard_negatives, 0));
    const std::size_t start = sample_hash(context.text(package.name)) % leaf.size();
    for (std::size_t i = 0; i < leaf.size() && chosen.size() < wanted; ++i) {
        const DebianPackage& other = *leaf[(start + i) % leaf.size()];
        const std::string_view text = context.text(other.description);
        if (other.source != package.source && other.synopsis != package.synopsis && other.description != package.description &&
            std::find(chosen.begin(), chosen.end(), text) == chosen.end())
            chosen.push_back(text);
    }
    return chosen;
}

std::size_t add_pairs(const DebianContext& context, const Packages& leaf, TrainingBuilder& builder) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const DebianPackage* package : leaf)
        if (seen.emplace(package->synopsis, package->description).second)
            builder.add(context.text(package->synopsis), context.text(package->description), negatives_of(context, *package, leaf));
    return seen.size();
}

SetInstructions instructions_for(const DataRequest& request, const std::string& view, const std::string& leaf) {
    if (const auto own = entry_instructions(request.settings, leaf)) return *own;
    const std::string kind = view == "section" ? fmt::format("the archive section {}", leaf) : fmt::format("{}: {}", view, leaf);
    const std::string document = fmt::format("Represent the description of a software package ({}) for retrieval: ", kind);
    return {fmt::format("Represent the synopsis of a software package ({}) for finding its description: ", kind), document, document};
}

Json origin_of(const DebianContext& context, const std::string& leaf) {
    return {{"source", "debian_leaves"}, {"view", context.entry.view}, {"leaf", leaf}, {"index", context.index->card()}};
}

std::vector<TrainingSet> training_leaves(const DataRequest& request, const std::string& task) {
    DebianContext context = open_index(request);
    const auto smallest = json_or<std::size_t>(request.settings, "min_examples", 20, "data entry");
    const std::string prefix = context.entry.name.empty() ? context.entry.view : context.entry.name;
    std::vector<TrainingSet> sets;
    std::size_t left_out = 0;
    for (const auto& [leaf, packages] : packages_by_leaf(context)) {
        DataReport report(context.entry.on_error);
        TrainingBuilder builder(prefix + "/" + leaf, task);
        if (packages.size() < smallest || add_pairs(context, packages, builder) < smallest) {
            ++left_out;
            continue;
        }
        sets.push_back(builder.finish(context.entry.limits, report, origin_of(context, leaf)));
        give_instructions(sets.back(), instructions_for(request, context.entry.view, leaf));
    }
    if (sets.empty())
        throw settings_error(
            "data entry: source debian_leaves finds no value of '{}' with at least {} packages ({} have fewer); choose section or another "
            "debtags facet, or lower min_examples",
            context.entry.view, smallest, left_out);
    sets.front().card["leaves_left_out"] = left_out;
    return sets;
}

TrainingSet training_in_one(const DataRequest& request, const std::string& task) {
    DebianContext context = open_index(request);
    TrainingBuilder builder(context.entry.name.empty() ? context.entry.view : context.entry.name, task);
    for (const auto& [leaf, packages] : packages_by_leaf(context)) add_pairs(context, packages, builder);
    return builder.finish(context.entry.limits, context.report, origin_of(context, ""));
}

const bool registered = register_leaf_source(
    {"debian_leaves", "the package index as many tasks: one a section, or a value of a debtags facet", training_leaves, training_in_one,
     "source debian_leaves is for training; score with source debian, such as view: synopsis_description"});

}  // namespace
}  // namespace faceter
