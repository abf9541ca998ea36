#pragma once
#include <compare>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "data/training_set.h"
#include "model/embedding_model.h"
#include "text/token_cache.h"
#include "train/curriculum.h"
#include "train/objective.h"
#include "train/process_group.h"

namespace faceter {

enum class PairSide { query, positive, negative };
/// How one side of a data set's pairs passes through a model: as its task does, under the set's own instruction (data/leaves.h) where it
/// brings one. A variant that puts no instruction in front of the task's texts puts none in front of the set's.
Route route_of(const EmbeddingModel& model, const TrainingSet& set, PairSide side);

/// Some pairs of a batch plan, ready for the encoder.
struct PairBatch {
    PackedBatch tokens;              ///< queries, documents and negatives packed, those of one path together
    std::vector<std::int64_t> rows;  ///< packed sequence of each text: queries, then documents, then negatives
    std::int64_t num_pairs = 0;
    PairEmbeddings pairs;  ///< all but the embeddings; of frozen documents these too
    UsedPaths used;        ///< what this batch goes through

    /// The embeddings [S, D] of the packed batch as queries, documents and negatives.
    PairEmbeddings assemble(const at::Tensor& embeddings) const;
};

/// Longest query and document in tokens; 0: the model's.
struct TokenLengths {
    std::size_t query = 0, document = 0;
    auto operator<=>(const TokenLengths&) const = default;
};

/// Tokens of all training texts under their tasks' instructions (memory-mapped), and batches made of them.
class PairBatcher {
  public:
    /// Tokenises what is not in `cache_folder` yet. Errors (settings): a length beyond the model's.
    PairBatcher(const EmbeddingModel& model, std::vector<const TrainingSet*> sets, const fs::path& cache_folder, int threads,
                const TokenLengths& lengths = {});
    /// Which way the two sides of a stage go, where not as their routes say.
    struct Sides {
        std::optional<int> query_adapter{}, document_adapter{};
        bool documents_frozen = false;  ///< documents are looked up (freeze_documents), only queries are packed
        bool negatives = true;          ///< whether the given negatives are taken along
        const Guide* guide = nullptr;   ///< whose rows build() takes along; null: none
    };
    PairBatch build(std::span<const ExampleReference> items, double temperature, const Sides& sides) const;
    PairBatch build(std::span<const ExampleReference> items, double temperature) const { return build(items, temperature, {}); }
    /// The same without tokens and rows: what every rank needs to know of the pairs that others embed.
    /// `used_tokens`, one a vocabulary entry or none, are set to 1 where a text has that token.
    PairBatch outline(std::span<const ExampleReference> items, double temperature, const Sides& sides,
                      std::span<char> used_tokens = {}) const;
    /// What an encoder multiplies for each pair, in tokens: those of long texts count more (a block's matrices take 24 hidden^2 operations
    /// a token, its attention 4 hidden for each token that it looks at).
    std::vector<double> work_of(std::span<const ExampleReference> items, const Sides& sides, std::int64_t hidden_dim) const;
    /// Embeds the documents, and where they are wanted the negatives, of these tasks (none: of all) once, without an adapter, for
    /// stages whose document side does not change: each rank its part, for all. What was embedded before is kept.
    void freeze_documents(const EmbeddingModel& model, const std::set<std::string>& tasks, bool with_negatives, ProcessGroup& group) const;

  private:
    struct Side {
        std::shared_ptr<const TokenCache> tokens;
        Route route;
        std::int64_t skip = 0;
    };
    struct Set {
        const TrainingSet* data;
        Side query, document, negative;
        std::uint64_t hash;                            ///< of the name, another for each set that has it: part of dropout keys and labels
        mutable at::Tensor frozen;                     ///< [documents, D]; undefined: none yet
        mutable std::vector<std::int64_t> frozen_row;  ///< of each text; -1: no document
    };
    /// Its given negatives, as far as the sides take them along.
    static std::span<const std::uint32_t> negatives_of(const Set& set, const Example& example, bool wanted);
    static std::uint64_t label_of(const Set& set, std::int32_t label);
    static SequenceInput input(const Side& side, const std::optional<int>& adapter, std::uint32_t text, std::uint64_t key);
    static at::Tensor embed_rows(const EmbeddingModel& model, const Side& side, const std::vector<std::uint32_t>& texts,
                                 ProcessGroup& group);
    std::vector<SequenceInput> collect(std::span<const ExampleReference> items, const Sides& sides, PairBatch& batch) const;
    static void pack(const std::vector<SequenceInput>& all, PairBatch& batch);
    void ask_guide(std::span<const ExampleReference> items, const Sides& sides, PairEmbeddings& pairs) const;
    std::vector<Set> sets_;
};

}  // namespace faceter
