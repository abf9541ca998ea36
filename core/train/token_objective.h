#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "model/embedding_model.h"
#include "train/objective.h"
#include "train/pair_batch.h"

namespace faceter {

/// A loss on the tokens of texts rather than on embeddings: what pre-training needs.
class TokenObjective : public Objective {
  public:
    std::unique_ptr<GradientWay> way(const StepTools& tools) const override;
    bool reads_negatives() const override { return false; }
    bool fits_adapters() const override { return false; }

    /// The texts of a batch of pairs that it works on.
    virtual PackedBatch texts_of(const PairBatch& batch) const = 0;
    /// The mean over its tokens, and how many they are: the means of a batch's parts, so weighed, add up to that of the batch.
    virtual LossResult loss(const Encoder& encoder, const PackedBatch& texts, const ForwardContext& context) const = 0;
    /// What that number is called in the journal.
    virtual std::string counted() const = 0;
};

/// Masked-language modelling: guess tokens that are masked from those around them. Only they go through the decoder.
class MaskedLanguage final : public TokenObjective {
  public:
    explicit MaskedLanguage(const Json& settings);
    ~MaskedLanguage() override;
    std::string attach(const EmbeddingModel& model, std::uint64_t seed, const std::filesystem::path& kept) override;
    void keep(const std::filesystem::path& file) const override;
    std::vector<Parameter> parameters() const override;
    PackedBatch texts_of(const PairBatch& batch) const override;
    std::optional<ReadTexts> segmented() const override { return texts_; }
    /// Nats, mean over the guessed tokens; part: "masked_accuracy". No guessed token: 0.
    LossResult loss(const Encoder& encoder, const PackedBatch& texts, const ForwardContext& context) const override;
    std::string counted() const override { return "masked_tokens"; }
    std::string kept_as() const override;

  private:
    struct Attached;
    MaskedLanguage(const MaskedLanguage&) = delete;
    Json settings_;
    ReadTexts texts_;
    std::unique_ptr<Attached> attached_;
};

/// The file beside a model's weights, and in a run's folder, that holds the head of masked-language modelling.
inline constexpr const char* mlm_head_file = "mlm_head.safetensors";

}  // namespace faceter
