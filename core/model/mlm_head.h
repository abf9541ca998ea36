#pragma once
#include <string>
#include <vector>

#include "checkpoint/model_folder.h"
#include "model/encoder.h"

namespace faceter {

/// The head of masked-language modelling (Devlin et al., 2019, section 3.1): logits = norm(activation(W h + b)) E^T + c, where E are the
/// encoder's own word embeddings (tied). Its tensors have the names of transformers' ...ForMaskedLM classes: cls.predictions.* (BERT,
/// NomicBERT), lm_head.* (RoBERTa, XLM-R, MPNet), vocab_* (DistilBERT), head.* (ModernBERT).
class MlmHead {
  public:
    /// A fresh one for an encoder of this family: W normal with deviation 0.02 drawn from `seed`, everything else as nothing had been
    /// learnt. Errors (settings): a family without such a head (T5).
    MlmHead(const Encoder& encoder, const std::string& model_type, std::uint64_t seed);

    /// Takes the head that the weights hold; false where they hold none. Errors (data): a part is missing or has another shape; the decoder
    /// is not tied
    /// (`config`: the checkpoint's config.json).
    bool load(const Weights& weights, const Json& config = Json::object());

    /// Hidden states of masked tokens [M, D] -> what the decoder gets [M, D].
    at::Tensor transform(const at::Tensor& hidden) const;
    /// [V]: the decoder's own bias.
    const at::Tensor& bias() const { return bias_; }

    /// Leaves for the optimiser; the word embeddings are the encoder's.
    std::vector<Parameter> parameters() const;
    /// Under the names above.
    std::vector<NamedTensor> named_tensors() const { return tensors_; }

  private:
    std::vector<NamedTensor> tensors_;
    at::Tensor dense_, dense_bias_, gamma_, beta_, bias_;  // members of tensors_; the first bias and beta may be undefined
    std::string model_type_;
    Activation activation_;
    double epsilon_;
};

/// The encoder's table of word embeddings [V, D], a leaf.
at::Tensor word_embeddings(const Encoder& encoder);

struct TokenLoss {
    at::Tensor loss;      ///< scalar, mean over rows, nats
    at::Tensor accuracy;  ///< float64 scalar: share of rows whose largest logit is the target's
};
/// Cross entropy of softmax(x weight^T + bias) with `targets` (int64 [M]); x [M, D], weight [V, D], bias [V]. Logits exist for some rows at
/// a time only and the gradients are formed with them, so memory does not grow with M times V (250,000 words of XLM-R). `rows_at_a_time` 0:
/// as many as make 128 MiB of logits.
TokenLoss token_cross_entropy(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& targets,
                              std::int64_t rows_at_a_time = 0);

}  // namespace faceter
