#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "common/random.h"
#include "data/debian_views.h"

// synopsis_description: the one-line synopsis of a package is the query, its long description the document; descriptions: plain texts.

namespace faceter {
namespace {

/// Packages that share a long description share a document; those that share a synopsis share a query, and all of their documents are
/// relevant.
void evaluation(DebianContext& context, EvaluationSet& set) {
    RetrievalData data;
    std::unordered_map<std::uint32_t, std::uint32_t> document_of, query_of;
    const auto packages = context.packages(context.split);
    for (const DebianPackage* package : packages) {
        const auto [document, new_document] =
            document_of.try_emplace(package->description, static_cast<std::uint32_t>(data.documents.size()));
        if (new_document) {
            data.documents.add(context.text(package->description));
            data.document_ids.emplace_back(context.text(package->name));
        }
        if (!context.in_sections(*package)) continue;
        const auto [query, new_query] = query_of.try_emplace(package->synopsis, static_cast<std::uint32_t>(data.queries.size()));
        if (new_query) {
            data.queries.add(context.text(package->synopsis));
            data.query_ids.push_back(fmt::format("synopsis of {}", context.text(package->name)));
            data.qrels.emplace_back();
        }
        auto& judged = data.qrels[query->second];
        if (std::find(judged.begin(), judged.end(), std::pair(document->second, 1)) == judged.end())
            judged.emplace_back(document->second, 1);
    }
    std::size_t judgements = 0;
    for (auto& judged : data.qrels) {
        std::sort(judged.begin(), judged.end());
        judgements += judged.size();
    }
    if (data.queries.empty()) throw data_error("source debian: this split of the package index is empty");
    context.report.counts["packages"] = packages.size();
    context.report.counts["merged_descriptions"] = packages.size() - data.documents.size();
    context.report.counts["merged_synopses"] = packages.size() - data.queries.size();
    context.report.counts["judgements"] = judgements;
    set.data = std::move(data);
}

/// Descriptions of other source packages in the same section.
class SectionNegatives {
  public:
    SectionNegatives(const std::vector<const DebianPackage*>& packages, const DataEntry& entry)
        : random_(entry.seed, "data/negatives/debian"), count_(std::max(entry.hard_negatives, 0)) {
        for (const DebianPackage* package : packages) by_section_[package->section].push_back(package);
    }
    std::vector<std::string_view> draw(const DebianPackage& package, const DebianContext& context) {
        std::vector<std::string_view> drawn;
        const auto& candidates = by_section_.at(package.section);
        for (int tries = 0; static_cast<int>(drawn.size()) < count_ && tries < 20 * count_; ++tries) {
            const DebianPackage* other = candidates[random_.below(candidates.size())];
            const std::string_view text = context.text(other->description);
            const bool usable =
                other->source != package.source && other->synopsis != package.synopsis && other->description != package.description;
            if (usable && std::find(drawn.begin(), drawn.end(), text) == drawn.end()) drawn.push_back(text);
        }
        return drawn;
    }

  private:
    std::map<std::uint32_t, std::vector<const DebianPackage*>> by_section_;
    RandomStream random_;
    int count_;
};

TrainingSet training(DebianContext& context, const std::string& name, const std::string& task, Json origin) {
    const auto packages = context.packages(context.split);
    SectionNegatives negatives(packages, context.entry);
    TrainingBuilder builder(name, task);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const DebianPackage* package : packages)
        if (seen.emplace(package->synopsis, package->description).second)
            builder.add(context.text(package->synopsis), context.text(package->description), negatives.draw(*package, context));
    context.report.counts["merged_pairs"] = packages.size() - seen.size();
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

const bool registered = register_debian_view({.name = "synopsis_description",
                                              .task = "retrieval",
                                              .summary = "synopsis of a package -> its long description",
                                              .training = training,
                                              .evaluation = evaluation,
                                              .evaluated_as = {"retrieval"}});
const bool registered_texts =
    register_debian_view({.name = "descriptions", .task = "texts", .summary = "long descriptions as plain texts"});

}  // namespace
}  // namespace faceter
