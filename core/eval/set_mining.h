#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checkpoint/model_folder.h"
#include "eval/mining.h"
#include "model/task.h"

namespace faceter {

/// Numbers for texts of a set in order of appearance.
class Numbering {
  public:
    std::uint32_t of(std::uint32_t text);
    /// The numbers here of another numbering's texts.
    std::vector<std::uint32_t> of(const Numbering& part);
    std::vector<std::string_view> views(const TextTable& table) const;
    std::vector<std::uint32_t> texts;

  private:
    std::unordered_map<std::uint32_t, std::uint32_t> number_;
};

std::span<const std::uint32_t> given_negatives(const TrainingSet& set, const Example& example);
/// Each of them once, in their order; `tally` counts what stands there again: learnt from twice it would count twice.
std::vector<std::uint32_t> each_once(std::span<const std::uint32_t> given, Tally& tally);
/// Hits of a search by this similarity whose document i is the text documents[i], with the model's scores.
std::vector<FoundText> as_texts(const std::vector<SearchHit>& hits, const std::vector<std::uint32_t>& documents, Similarity similarity);

/// What a teacher makes of some examples: the embeddings of their queries, positives and, where they are judged, given negatives.
class JudgedRows {
  public:
    JudgedRows(const TrainingSet& set, std::span<const Example> examples, bool with_given, Similarity similarity);
    void set_queries(at::Tensor rows) { q_ = rows.contiguous(); }    ///< float32 [anchors, D], comparable_rows
    void set_documents(at::Tensor rows) { d_ = rows.contiguous(); }  ///< float32 [documents, D], comparable_rows
    FeatureMatrix queries() const;
    FeatureMatrix document_rows() const;
    /// By the model's similarity: a distance has a minus.
    float score(std::uint32_t anchor, std::uint32_t document);
    Similarity similarity() const { return similarity_; }
    Numbering anchors, documents;

  private:
    at::Tensor q_, d_;
    Similarity similarity_;
};

/// The given negatives below the limit (Nomic Embed v2, Eq. 5 on negatives that a data set has already).
std::vector<std::uint32_t> filter_given(std::span<const std::uint32_t> given, std::uint32_t anchor, JudgedRows& rows, double limit,
                                        Tally& tally);

/// Embeds texts as a teacher does: float32 [N, D], comparable_rows() of its similarity.
struct TeacherEmbedder {
    std::function<at::Tensor(std::span<const std::string_view> texts, Role role)> embed;
    Similarity similarity = Similarity::dot;
};

/// Gives every example of `set` the hard negatives that the teacher finds among the set's documents (choose_negatives), in place of those
/// it has; with `only_given`, drops those it has that lie above the limit.
Tally mine_negatives(TrainingSet& set, const TeacherEmbedder& teacher, const MiningSettings& settings, bool only_given);
/// [begin, end) of the shards that `count` pairs are cut into: as few as hold at most `shard` each, of equal size but for one.
std::vector<std::pair<std::size_t, std::size_t>> shards_of(std::size_t count, std::size_t shard);
/// Keeps the examples whose document is among the teacher's `top_k` for its query (is_consistent) within its shard.
Tally filter_pairs(TrainingSet& set, const TeacherEmbedder& teacher, std::size_t top_k, std::size_t shard);

}  // namespace faceter
