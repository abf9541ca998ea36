#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "data/training_set.h"
#include "model/parameters.h"
#include "model/task.h"

namespace faceter {

/// The embeddings of a batch of pairs and what a loss may want to know of them. Rows are as the model gives them (normalised or not).
struct PairEmbeddings {
    at::Tensor queries;                        ///< [B, D]
    at::Tensor documents;                      ///< [B, D]: row i is the positive of query i
    at::Tensor negatives;                      ///< [N, D] given hard negatives, or undefined
    std::vector<std::int64_t> negative_owner;  ///< [N]: the query that each was given for
    /// Hashes that say when two texts or labels are the same; all-ones in `labels` means none. Empty: unknown.
    std::vector<std::uint64_t> query_texts, document_texts, negative_texts, labels, negative_labels;
    std::vector<std::int64_t> keep;  ///< [B] 0/1: rows with 0 give no loss but stay negatives of the others (empty: all)
    /// What a teacher, or people, said of each query with its positive, and of each negative with its query; Example::no_score: nothing.
    std::vector<double> scores, negative_scores;
    at::Tensor guide_queries, guide_documents, guide_negatives;  ///< [., D'] of the objective's guide; undefined: it has none
    double temperature = 0.05;
    void move_to(const c10::Device& device);
};

/// Named numbers that are journaled beside a loss: scalars, on the loss's device or the host. They are read when the step is over: no step
/// waits for one.
using LossParts = std::map<std::string, at::Tensor>;
/// How the names of parts begin that are losses themselves, of prefixes ("prefix_loss/16"): over the batches of a step they are averaged as
/// the loss is. All other parts of a PairObjective count something, and add up.
inline constexpr std::string_view loss_of_prefix = "prefix_loss/";
/// How the names of a routing loss's parts begin that count something, and add up over the batches of a step too; its others are means.
inline constexpr std::string_view dropped_assignments = "dropped_assignments";

struct LossResult {
    at::Tensor loss;  ///< scalar
    LossParts parts;
    double count = 0;  ///< of a TokenObjective: what the loss and the parts are means over
};

/// A finished model that an objective looks at while it trains another.
class Guide {
  public:
    virtual ~Guide() = default;
    /// float32 [N, dim()] on the host: each text as one of the task that is named beside it. The same text of a task has the same row
    /// whenever it is asked for.
    virtual at::Tensor embed(std::span<const std::string_view> texts, std::span<const std::string_view> tasks, Role role) const = 0;
    virtual std::int64_t dim() const = 0;
};

/// The mean of one loss a row [N] over the rows that are kept (empty: all).
at::Tensor mean_of_kept(const at::Tensor& losses, const std::vector<std::int64_t>& keep);
/// PairEmbeddings::keep for its hard negatives: each as its query.
std::vector<std::int64_t> keep_of_negatives(const PairEmbeddings& batch);
/// The query's row for each hard negative: [N, D].
at::Tensor queries_of_negatives(const PairEmbeddings& batch);

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
    /// Errors (data): the set lacks what every one of its examples needs (scores, negatives), with what to do about it.
    virtual void check(const TrainingSet& set) const;

    /// Called once before training, on every rank: makes its parameters for the model, opens its guide. `kept`: what an earlier stage of
    /// the run left (keep()); need not exist. Returns a line that says where they come from; empty: it has none. Errors (settings): a model
    /// that it has no form for.
    virtual std::string attach(const EmbeddingModel& model, std::uint64_t seed, const std::filesystem::path& kept);
    virtual std::vector<Parameter> parameters() const { return {}; }
    /// The name of the file in a run's folder that keeps its parameters between stages; empty: it has none.
    virtual std::string kept_as() const { return {}; }
    /// Writes its parameters, where it has any, as a safetensors file under their checkpoint names.
    virtual void keep(const std::filesystem::path& file) const;
    /// Whose rows PairEmbeddings has as guide_*; null: it looks at none. From attach() on.
    virtual const Guide* guide() const { return nullptr; }
};

/// A loss on the embeddings of a batch of pairs.
class PairObjective : public Objective {
  public:
    virtual LossResult operator()(const PairEmbeddings& batch) const = 0;
    /// The loss of each prefix of the embeddings, which is made of length 1 first, under every similarity (sentence-transformers'
    /// MatryoshkaLoss).
    virtual std::vector<LossResult> over_prefixes(const PairEmbeddings& batch, const std::vector<std::int64_t>& dims) const;
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
    std::int64_t block_rows = 0;  ///< of the logits at a time; 0: what fits 16 MiB. The loss is the same
    static InfoNceSettings from_json(const Json& settings);
};

class InfoNce final : public PairObjective {
  public:
    explicit InfoNce(InfoNceSettings settings) : settings_(settings) {}
    LossResult operator()(const PairEmbeddings& batch) const override;
    std::vector<LossResult> over_prefixes(const PairEmbeddings& batch, const std::vector<std::int64_t>& dims) const override;
    bool reads_negatives() const override { return settings_.hard_negatives != InfoNceSettings::HardNegatives::none; }

  private:
    std::vector<LossResult> losses(const PairEmbeddings& batch, const std::vector<std::int64_t>& dims, bool normalised) const;
    InfoNceSettings settings_;
};

/// Another objective summed over prefixes of the embedding (Kusupati et al., 2022; Nomic Embed v2, section 4.4): an embedding trained so
/// can be cut short. Its guide's rows stay whole. A prefix longer than the embedding is a settings error.
class Matryoshka final : public PairObjective {
  public:
    /// `weights`: one a prefix, or none for equal ones.
    Matryoshka(std::unique_ptr<PairObjective> around, std::vector<std::int64_t> dims, std::vector<double> weights);
    LossResult operator()(const PairEmbeddings& batch) const override;
    bool reads_negatives() const override { return around_->reads_negatives(); }
    bool fits_adapters() const override { return around_->fits_adapters(); }
    void check(const TrainingSet& set) const override { around_->check(set); }
    std::string attach(const EmbeddingModel& model, std::uint64_t seed, const std::filesystem::path& kept) override {
        return around_->attach(model, seed, kept);
    }
    std::vector<Parameter> parameters() const override { return around_->parameters(); }
    std::string kept_as() const override { return around_->kept_as(); }
    void keep(const std::filesystem::path& file) const override { around_->keep(file); }
    const Guide* guide() const override { return around_->guide(); }

  private:
    std::unique_ptr<PairObjective> around_;
    std::vector<std::int64_t> dims_;
    std::vector<double> weights_;
};

}  // namespace faceter
