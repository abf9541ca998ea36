#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/weights.h"
#include "common/json.h"
#include "model/ops.h"
#include "model/parameters.h"

namespace faceter {

/// The sizes and constants of a BERT-family encoder, from its config.json.
struct EncoderConfig {
    std::int64_t num_layers = 0, hidden_dim = 0, num_heads = 0, intermediate_dim = 0;
    std::int64_t vocab_size = 0, max_positions = 0, num_token_types = 0;
    double norm_epsilon = 1e-12, hidden_dropout = 0.1, attention_dropout = 0.1;
    /// Errors (data): a member is missing, of a wrong type, not supported or out of any sane range.
    static EncoderConfig from_json(const Json& config, std::string_view name);
};

/// Tokens of texts, packed.
struct PackedBatch {
    at::Tensor ids, positions;          ///< int64 [T]
    LayoutPointer layout;
    std::vector<std::int64_t> skip;     ///< rows of each sequence that pooling leaves out; may be empty
};

/// What a forward pass may draw random numbers from. Without training there is no dropout.
struct ForwardContext {
    bool training = false;
    std::uint64_t seed = 0;
    std::int64_t step = 0;
    double hidden_dropout = 0, attention_dropout = 0;
};

struct LinearWeights {
    at::Tensor weight, bias;
};

/// The half of a block that task experts own: the norm before the MLP, the MLP, the norm behind it (MoTE, section 3.1; in a post-norm block
/// the norm before the MLP closes the attention half).
struct Expert {
    at::Tensor attention_gamma, attention_beta;       // norm before
    at::Tensor up, up_bias, down, down_bias;          // MLP
    at::Tensor output_gamma, output_beta;             // norm behind
    /// The tensors above in a fixed order with their checkpoint suffixes.
    std::vector<NamedTensor> tensors() const;
    Expert clone() const;
};

/// A post-norm transformer block. `experts` holds one entry for a dense block, one a task expert otherwise.
struct Block {
    LinearWeights qkv;                // [3 D, D]: query, key and value rows
    LinearWeights attention_output;
    std::vector<Expert> experts;
    bool shared_norms = false;        ///< experts own only their MLP; the norms are those of experts[0] (MoTE, appendix D.1)
    bool is_mixture() const { return experts.size() > 1; }
};

/// BERT with absolute positions on packed batches. Made with zero weights; load_weights() reads a Hugging Face folder's ("bert." prefixes are
/// understood, poolers left out). Blocks may hold several experts; which one a row goes through is said by the layout's segments.
class Encoder {
  public:
    Encoder(EncoderConfig config, at::ScalarType dtype);

    /// [T, D] hidden states of the last block.
    at::Tensor forward(const PackedBatch& batch, const ForwardContext& context) const;

    const EncoderConfig& config() const { return config_; }
    std::vector<Block>& blocks() { return blocks_; }
    const std::vector<Block>& blocks() const { return blocks_; }

    /// Leaves for the optimiser, in a fixed order.
    std::vector<Parameter> parameters() const;
    /// Every tensor under its Hugging Face name; experts beyond the dense form as "encoder.layer.I.experts.E.<suffix>".
    std::vector<NamedTensor> named_tensors() const;
    /// The tensors of the dense encoder that goes through expert `expert` in every mixture block.
    std::vector<NamedTensor> dense_tensors(int expert) const;
    /// Reads named_tensors() from a checkpoint. Errors (data): a tensor is missing or has another shape.
    void load_weights(const Weights& weights, const std::string& prefix = "");
    /// The same for a dense encoder out of a checkpoint with mixture blocks: expert `expert` of each becomes the block.
    void load_dense(const Weights& weights, const std::string& prefix, int expert);
    void require_grad(bool on);

    /// A copy of everything, in another type where wanted; gradients are not required.
    std::unique_ptr<Encoder> clone() const { return clone(dtype_); }
    std::unique_ptr<Encoder> clone(at::ScalarType dtype) const;
    at::ScalarType dtype() const { return dtype_; }
    /// Total parameters, and those that a token meets.
    std::int64_t total_parameters() const;
    std::int64_t active_parameters() const;
    /// Multiply-adds a token in a text of `length` tokens.
    std::int64_t multiply_adds_per_token(std::int64_t length) const;

  private:
    void read_tensor(const Weights& weights, const std::string& name, const at::Tensor& destination) const;
    at::Tensor embed(const PackedBatch& batch, const ForwardContext& context) const;
    at::Tensor block_forward(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const ForwardContext& context) const;
    void visit(const std::function<void(const std::string&, at::Tensor&, bool decay, int expert)>& visitor);

    EncoderConfig config_;
    at::ScalarType dtype_;
    at::Tensor word_, position_, token_type_, embedding_gamma_, embedding_beta_;
    std::vector<Block> blocks_;
};

/// One text of a packed batch. Those of one expert must be neighbours.
struct SequenceInput {
    const std::int32_t* ids;
    std::int64_t length;
    std::uint64_t key = 0;
    int expert = 0;
    std::int64_t skip = 0;
};
PackedBatch make_packed_batch(const std::vector<SequenceInput>& sequences);

}  // namespace faceter
