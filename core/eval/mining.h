#pragma once
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "data/training_set.h"
#include "eval/search.h"

namespace faceter {

/// Hard negatives by a teacher (Nomic Embed v2, section 4.3, Eq. 5): of the teacher's best documents for a query, those whose score lies
/// below margin * score of the positive (and below that score - absolute_margin).
struct MiningSettings {
    std::size_t negatives = 7;  ///< kept of each example, best first
    std::size_t depth = 100;    ///< documents that are looked at, positives and the query's own class not counted
    double margin = 0.95, absolute_margin = 0;

    /// What a negative's score must stay below. A positive below zero has its margin on the far side as well.
    double limit(double positive_score) const;
};

/// Counts of what became of documents and examples, by reason.
using Tally = std::map<std::string, std::size_t>;

/// The documents of all positives of each query text, by text id: none of them is a negative of that query, nor is one of its own class.
class Positives {
  public:
    explicit Positives(const TrainingSet& set);
    bool contains(std::uint32_t anchor, std::uint32_t text) const;
    /// Whether both texts stand in examples of one label.
    bool share_label(std::uint32_t anchor, std::uint32_t text) const;
    /// For a search whose query i is the text queries[i] and whose document i is documents[i], all of which must outlive it with this: a
    /// query's own class. However large that is, what comes behind it is found.
    PassedOver own_class(const std::vector<std::uint32_t>& queries, const std::vector<std::uint32_t>& documents) const;
    std::size_t most() const { return most_; }  ///< positives of one query

  private:
    std::unordered_map<std::uint32_t, std::unordered_set<std::uint32_t>> of_;
    std::vector<std::vector<std::int32_t>> labels_;  ///< of each text; empty: no example has one
    std::size_t most_ = 0;
};

/// A document that a search found, as a text of the set.
struct FoundText {
    std::uint32_t text;
    float score;
};

/// The negatives of one example out of `found` (ordered by score, descending, and without the query's own class): no positive of the query,
/// not the query's own text, below the limit.
std::vector<std::uint32_t> choose_negatives(std::span<const FoundText> found, const Example& example, double positive_score,
                                            const Positives& positives, const MiningSettings& settings, Tally& tally);

/// Consistency filtering (Nomic Embed v2, section 4.2): whether the document is among the k best of its query; documents that score the
/// same as the k-th count as among them, so that duplicates do not push a pair out.
bool is_consistent(std::span<const FoundText> found, std::uint32_t positive, float positive_score, std::size_t k);

}  // namespace faceter
