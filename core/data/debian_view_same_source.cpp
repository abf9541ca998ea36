#include <algorithm>
#include <map>

#include "common/hash.h"
#include "data/debian_views.h"
#include "data/sampling.h"

// same_source: do two packages come from one source package? Synopses are compared (the long descriptions of one source mostly share their
// first paragraph word by word, which would make the task trivial); the other text is always from the same section, so that topic alone
// does not decide.

namespace faceter {
namespace {

constexpr std::size_t max_positives = 5, max_negatives = 20;

struct SourceGroup {
    std::vector<const DebianPackage*> packages;  ///< with different synopses, by hash
};

std::uint64_t order_of(const DebianContext& context, const DebianPackage& package) { return sample_hash(context.text(package.name)); }

/// Packages of each source that has at least two different synopses, in the order of the sources' names.
class Sources {
  public:
    Sources(const DebianContext& context, DebianSplit split) {
        std::map<std::string_view, std::map<std::uint32_t, const DebianPackage*>> by_source;  // synopsis -> package
        for (const DebianPackage* package : context.packages(split)) {
            by_source[context.text(package->source)].try_emplace(package->synopsis, package);
            by_section_[package->section].push_back(package);
        }
        const auto by_hash = [&](const DebianPackage* a, const DebianPackage* b) { return order_of(context, *a) < order_of(context, *b); };
        for (const auto& [source, packages] : by_source) {
            if (packages.size() < 2) continue;
            groups_.emplace_back();
            for (const auto& [synopsis, package] : packages) groups_.back().packages.push_back(package);
            std::sort(groups_.back().packages.begin(), groups_.back().packages.end(), by_hash);
        }
        for (auto& [section, packages] : by_section_) std::sort(packages.begin(), packages.end(), by_hash);
        if (groups_.empty()) throw data_error("source debian: no source package of this split has two packages with different synopses");
    }
    const std::vector<SourceGroup>& groups() const { return groups_; }

    /// Up to `count` packages of other sources in the same section: those that follow a place given by the package's name.
    std::vector<const DebianPackage*> others(const DebianContext& context, const DebianPackage& package, std::size_t count) const {
        const auto& section = by_section_.at(package.section);
        std::vector<const DebianPackage*> chosen;
        const std::size_t start = hash64(context.text(package.name), 1) % section.size();
        for (std::size_t i = 0; i < section.size() && chosen.size() < count; ++i) {
            const DebianPackage* other = section[(start + i) % section.size()];
            if (other->source != package.source && other->synopsis != package.synopsis) chosen.push_back(other);
        }
        return chosen;
    }

  private:
    std::vector<SourceGroup> groups_;
    std::map<std::uint32_t, std::vector<const DebianPackage*>> by_section_;
};

/// One positive pair a source, and one negative with the same first text.
PairData pairs(DebianContext& context) {
    PairData data;
    const Sources sources(context, context.split);
    const auto add = [&](const DebianPackage& first, const DebianPackage& second, double score) {
        data.first.push_back(data.texts.intern(context.text(first.synopsis)));
        data.second.push_back(data.texts.intern(context.text(second.synopsis)));
        data.scores.push_back(score);
    };
    for (const SourceGroup& group : sources.groups()) {
        const auto others = sources.others(context, *group.packages[0], 1);
        if (others.empty()) continue;
        add(*group.packages[0], *group.packages[1], 1);
        add(*group.packages[0], *others[0], 0);
    }
    context.report.counts["pairs"] = data.first.size();
    context.report.counts["positive_pairs"] = data.first.size() / 2;
    return data;
}

RerankingData reranking(DebianContext& context) {
    RerankingData data;
    const Sources sources(context, context.split);
    std::size_t candidates = 0;
    for (const SourceGroup& group : sources.groups()) {
        RerankingData::Query query;
        query.query = data.texts.intern(context.text(group.packages[0]->synopsis));
        for (std::size_t i = 1; i < group.packages.size() && i <= max_positives; ++i)
            query.positive.push_back(data.texts.intern(context.text(group.packages[i]->synopsis)));
        for (const DebianPackage* other : sources.others(context, *group.packages[0], max_negatives))
            query.negative.push_back(data.texts.intern(context.text(other->synopsis)));
        if (query.negative.empty()) continue;
        candidates += query.positive.size() + query.negative.size();
        data.queries.push_back(std::move(query));
    }
    context.report.counts["queries"] = data.queries.size();
    context.report.counts["candidates"] = candidates;
    return data;
}

void evaluation(DebianContext& context, EvaluationSet& set) {
    if (set.task_type == "reranking")
        set.data = reranking(context);
    else
        set.data = pairs(context);
}

TrainingSet training(DebianContext& context, const std::string& name, const std::string& task, Json origin) {
    const Sources sources(context, context.split);
    TrainingBuilder builder(name, task);
    std::vector<std::string_view> negatives;
    for (const SourceGroup& group : sources.groups()) {
        negatives.clear();
        for (const DebianPackage* other :
             sources.others(context, *group.packages[0], static_cast<std::size_t>(std::max(context.entry.hard_negatives, 0))))
            negatives.push_back(context.text(other->synopsis));
        builder.add(context.text(group.packages[0]->synopsis), context.text(group.packages[1]->synopsis), negatives);
    }
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

const bool registered = register_debian_view({.name = "same_source",
                                              .task = "pair_classification",
                                              .summary = "synopses of one source package or of two",
                                              .training = training,
                                              .evaluation = evaluation,
                                              .evaluated_as = {"pair_classification", "reranking"}});

}  // namespace
}  // namespace faceter
