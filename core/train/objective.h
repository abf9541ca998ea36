#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter {

/// The embeddings of a batch of pairs and what a loss may want to know of them. Rows are as the model gives them (normalised or not).
struct PairEmbeddings {
    at::Tensor queries;                        ///< [B, D]
    at::Tensor documents;                      ///< [B, D]: row i is the positive of query i
    at::Tensor negatives;                      ///< [N, D] given hard negatives, or undefined
    std::vector<std::int64_t> negative_owner;  ///< [N]: the query that each was given for
    /// Hashes that say when two texts or labels are the same; all-ones in `labels` means none. Empty: unknown.
    std::vector<std::uint64_t> document_texts, negative_texts, labels, negative_labels;
    std::vector<std::int64_t> keep;  ///< [B] 0/1: rows with 0 give no loss but stay negatives of the others (empty: all)
    double temperature = 0.05;
    void move_to(const c10::Device& device);
};

/// Named numbers that are journaled beside a loss: scalars, on the loss's device or the host. They are read when the step is over: no step
/// waits for one.
using LossParts = std::map<std::string, at::Tensor>;

struct LossResult {
    at::Tensor loss;  ///< scalar
    LossParts parts;
    double count = 0;  ///< of a TokenObjective: what the loss and the parts are means over
};

class Objective {
  public:
    virtual ~Objective() = default;
    virtual LossResult operator()(const PairEmbeddings& batch) const = 0;
};

inline constexpr std::uint64_t no_label = ~std::uint64_t{0};

/// InfoNCE (methods.md, section 2; van den Oord et al., 2018):
///   -log( exp(sim(q, d+) / tau) / sum over d of exp(sim(q, d) / tau) ), mean over queries, d over the batch's positives and hard
///   negatives.
/// The same as sentence-transformers' MultipleNegativesRankingLoss with scale = 1 / tau.
struct InfoNceSettings {
    enum class Mask { none, same_text, same_label };
    enum class HardNegatives { none, own, all };  ///< which queries a hard negative counts for
    bool symmetric = false;                       ///< the mean of both directions
    bool cosine = true;
    Mask mask = Mask::same_text;
    HardNegatives hard_negatives = HardNegatives::all;
    static InfoNceSettings from_json(const Json& settings);
};

class InfoNce final : public Objective {
  public:
    explicit InfoNce(InfoNceSettings settings) : settings_(settings) {}
    LossResult operator()(const PairEmbeddings& batch) const override;

  private:
    /// [B, B + N] true where a column is a false negative of the row's query; undefined where nothing is masked.
    at::Tensor false_negatives(const PairEmbeddings& batch, std::int64_t columns) const;
    InfoNceSettings settings_;
};

/// Another objective summed over prefixes of the embedding (Kusupati et al., 2022; Nomic Embed v2, section 4.4): an embedding trained so
/// can be cut short. A prefix longer than the embedding is a settings error.
class Matryoshka final : public Objective {
  public:
    /// `weights`: one a prefix, or none for equal ones.
    Matryoshka(std::unique_ptr<Objective> around, std::vector<std::int64_t> dims, std::vector<double> weights);
    LossResult operator()(const PairEmbeddings& batch) const override;

  private:
    std::unique_ptr<Objective> around_;
    std::vector<std::int64_t> dims_;
    std::vector<double> weights_;
};

}  // namespace faceter
