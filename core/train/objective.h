#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/json.h"
#include "model/parameters.h"

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

class EmbeddingModel;
class GradientWay;
struct StepTools;

/// The texts of pairs that a loss on single texts reads.
enum class ReadTexts { documents, queries, both };

/// What a stage minimises: a PairObjective on embeddings, or a TokenObjective on the tokens of texts. It may have parameters of its own,
/// which the trainer steps with the encoder's and keeps in its checkpoints.
class Objective {
  public:
    virtual ~Objective() = default;
    /// How a batch becomes gradients; `tools` and this must outlive it.
    virtual std::unique_ptr<GradientWay> way(const StepTools& tools) const = 0;
    /// Whether the hard negatives that are given with a pair count: where not, they are not embedded.
    virtual bool reads_negatives() const { return true; }
    /// Whether a stage of a low-rank adapter can be trained by it.
    virtual bool fits_adapters() const { return true; }
    /// Where texts beyond the longest length are read in segments, each an example of its own: which; else they are cut.
    virtual std::optional<ReadTexts> segmented() const { return std::nullopt; }

    /// Called once before training: makes its parameters for the model's only encoder. `kept`: what an earlier stage of the run left
    /// (keep()); need not exist. Returns a line that says where they come from; empty: it has none. Errors (settings): a model with several
    /// encoders, or of a family that it has no form for.
    virtual std::string attach(const EmbeddingModel& model, std::uint64_t seed, const std::filesystem::path& kept);
    virtual std::vector<Parameter> parameters() const { return {}; }
    /// Writes its parameters, where it has any, as a safetensors file under their checkpoint names.
    virtual void keep(const std::filesystem::path& file) const;
};

/// A loss on the embeddings of a batch of pairs.
class PairObjective : public Objective {
  public:
    virtual LossResult operator()(const PairEmbeddings& batch) const = 0;
    std::unique_ptr<GradientWay> way(const StepTools& tools) const override;
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

class InfoNce final : public PairObjective {
  public:
    explicit InfoNce(InfoNceSettings settings) : settings_(settings) {}
    LossResult operator()(const PairEmbeddings& batch) const override;
    bool reads_negatives() const override { return settings_.hard_negatives != InfoNceSettings::HardNegatives::none; }

  private:
    /// [B, B + N] true where a column is a false negative of the row's query; undefined where nothing is masked.
    at::Tensor false_negatives(const PairEmbeddings& batch, std::int64_t columns) const;
    InfoNceSettings settings_;
};

/// Another objective summed over prefixes of the embedding (Kusupati et al., 2022; Nomic Embed v2, section 4.4): an embedding trained so
/// can be cut short. A prefix longer than the embedding is a settings error.
class Matryoshka final : public PairObjective {
  public:
    /// `weights`: one a prefix, or none for equal ones.
    Matryoshka(std::unique_ptr<PairObjective> around, std::vector<std::int64_t> dims, std::vector<double> weights);
    LossResult operator()(const PairEmbeddings& batch) const override;
    bool reads_negatives() const override { return around_->reads_negatives(); }

  private:
    std::unique_ptr<PairObjective> around_;
    std::vector<std::int64_t> dims_;
    std::vector<double> weights_;
};

}  // namespace faceter
