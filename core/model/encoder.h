#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/encoder_config.h"
#include "model/low_rank.h"
#include "model/ops.h"
#include "model/parameters.h"
#include "model/product_weights.h"
#include "model/routing.h"

namespace faceter {

/// Tokens of texts, packed.
struct PackedBatch {
    at::Tensor ids, positions;  ///< int64 [T], on the host
    LayoutPointer layout;
    std::vector<std::int64_t> skip;  ///< rows of each sequence that pooling leaves out; may be empty
};

/// What a forward pass may draw random numbers from. Without training there is no dropout.
struct ForwardContext {
    bool training = false;
    std::uint64_t seed = 0;
    std::int64_t step = 0;
    DropoutRates dropout;
    RoutingTrace* routing = nullptr;  ///< where token-routed blocks leave what their routers did; may be null
    bool recompute = false;           ///< keep the input of each block alone for backward, and run it again then
};

struct LinearWeights {
    at::Tensor weight, bias;    ///< an undefined bias: none
    ProductPointer prepared{};  ///< the weight laid out, where it is
};

struct NormParameter {
    at::Tensor gamma, beta;  ///< an undefined beta: none
};

/// The half of a block that task experts own (MoTE, section 3.1): the norm before the MLP, the MLP, and the norm behind it. In a post-norm
/// block the norm before closes the attention half; a pre-norm block has none behind, or one of what is added (Gemma).
struct Expert {
    NormParameter before;
    at::Tensor up, up_bias, down, down_bias;
    NormParameter behind;
    ProductPointer prepared_up{}, prepared_down{};  ///< laid out, where they are
    /// The tensors above that there are, in a fixed order.
    std::vector<at::Tensor> tensors() const;
    Expert clone() const;
};

/// A transformer block. `experts` holds one entry for a dense block, one a task expert for a mixture; of a token-routed block it holds the
/// norms alone. Beside task experts stands the dense block that they began as, for texts whose instruction has none (methods.md, section
/// 2); it is not trained.
struct Block {
    NormParameter first_norm;            ///< before attention, in a pre-norm block (undefined where the block has none)
    LinearWeights qkv;                   // [qkv_dim(), D]: query, key and value rows
    NormParameter query_norm, key_norm;  ///< of each head, [head_dim] (undefined where the block has none)
    LinearWeights attention_output;      // [D, heads * head_dim]
    NormParameter attention_behind;      ///< of what attention gives, before it is added (undefined where the block has none)
    std::vector<Expert> experts;
    std::optional<Expert> dense;  ///< of a mixture
    std::optional<TokenRouting> routing;
    bool shared_norms = false;  ///< experts own only their MLP; the norms are those of experts[0] (MoTE, appendix D.1)
    bool is_mixture() const { return experts.size() > 1; }
    /// What texts on this path go through.
    const Expert& on(const Path& path) const {
        if (!is_mixture()) return experts.front();
        return path.expert == Path::none ? dense.value() : experts[static_cast<std::size_t>(path.expert)];
    }
};

/// One matrix of weights of an encoder's blocks.
struct ProductPlace {
    std::size_t block;
    BlockLinear which;
    int expert;         ///< -1: not an expert's
    bool dense_beside;  ///< of the dense MLP beside task experts
    std::string name() const;
};

/// What stands behind pooling: a linear layer, perhaps tanh.
struct DenseHead {
    DenseModule module;
    LinearWeights linear;
};

/// How an encoder holds what a checkpoint keeps in bfloat16.
enum class KeptWeights {
    full,      ///< in its own type
    as_stored  ///< matrices of products and the table of words as they are; a product multiplies them in float32, or in bfloat16 where
               ///< asked
};

/// A transformer encoder on packed batches, composed as its configuration says. Made with zero weights; load_weights() reads a Hugging Face
/// folder's. Blocks may hold several experts; which one a row goes through is said by the layout's segments, or learned per token.
class Encoder {
  public:
    /// as_stored: its large tensors take no memory before load_weights(), and those that the checkpoint has in bfloat16 half of it then.
    Encoder(EncoderConfig config, std::vector<DenseModule> heads, at::ScalarType dtype, KeptWeights kept = KeptWeights::full);

    /// [T, D] hidden states of the last block, behind the final norm where there is one.
    at::Tensor forward(const PackedBatch& batch, const ForwardContext& context) const;
    /// The dense heads on pooled rows: [S, D] -> [S, dim()].
    at::Tensor apply_heads(at::Tensor pooled) const;

    const EncoderConfig& config() const { return config_; }
    /// Of the embedding.
    std::int64_t dim() const { return heads_.empty() ? config_.hidden_dim : heads_.back().module.out_features; }
    std::vector<Block>& blocks() { return blocks_; }
    const std::vector<Block>& blocks() const { return blocks_; }

    /// Leaves for the optimiser, in a fixed order.
    std::vector<Parameter> parameters() const;
    /// Every tensor under its Hugging Face name; task experts beyond the dense form as "<block>experts.E.<name>".
    std::vector<NamedTensor> named_tensors() const;
    /// Reads named_tensors() from a checkpoint. Where that has mixture blocks and this encoder none, expert `expert` of each becomes the
    /// block. Errors (data): a tensor is missing or has another shape.
    void load_weights(const Weights& weights, const std::string& prefix = "", int expert = Path::none);
    void require_grad(bool on);

    /// A copy of everything, in another type where wanted; gradients are not required.
    std::unique_ptr<Encoder> clone() const { return clone(dtype_); }
    std::unique_ptr<Encoder> clone(at::ScalarType dtype) const;
    /// The same encoder with its products in half precision: weights are casts of this one's, through which their gradients come back, so
    /// it serves until these change. Tables of embeddings and routers stay as they are.
    std::unique_ptr<Encoder> lowered(at::ScalarType dtype) const;
    void move_to(const c10::Device& device);  ///< weights are in dtype() on any device but the CPU
    /// Turns what is kept in bfloat16 into dtype(): before it is trained or changed.
    void widen();
    at::ScalarType dtype() const { return dtype_; }
    c10::Device device() const { return word_.device(); }
    /// Lays every product of the blocks out as `lay_out` says, for passes without gradients; what changes the weights drops it. `release`:
    /// each weight is given up when it is laid out, and reads as NaN.
    void lay_out_products(const std::function<ProductPointer(const ProductPlace&, const at::Tensor& weight)>& lay_out,
                          bool release = false);
    void drop_prepared();
    /// Gives up the weights that are laid out.
    void release_prepared();
    /// Total parameters, and those that a token meets.
    std::int64_t total_parameters() const;
    std::int64_t active_parameters() const;
    /// Multiply-adds a token in a text of `length` tokens.
    std::int64_t multiply_adds_per_token(std::int64_t length) const;

    // Low-rank adapters: a sequence goes through that of its path in every linear layer that it targets.

    const std::vector<Adapter>& adapters() const { return adapters_; }
    /// Adds one that changes nothing yet (B = 0; A uniform as PEFT draws it, from `seed`). Returns its index. Errors (settings): a target
    /// that no linear layer's name ends with; the MLP of a mixture block.
    std::size_t add_adapter(const std::string& name, AdapterConfig config, std::uint64_t seed);
    /// Adds one of a PEFT folder. Errors (data): it changes a layer that this encoder lacks, or one of another shape.
    std::size_t add_adapter(const std::string& name, const AdapterFolder& folder);
    /// Adds one that is made already, of this encoder's places and type.
    std::size_t add_adapter(Adapter adapter);
    /// The numbers of those behind it fall by one.
    void remove_adapter(std::size_t index);
    /// W + weight scale B A in place of each W that it targets; then it is removed.
    void merge_adapter(std::size_t index, double weight = 1);
    /// Writes it as a PEFT folder (which must exist).
    void write_adapter(std::size_t index, const std::filesystem::path& folder) const;
    /// Leaves for the optimiser: "adapters.NAME.MODULE.lora_A.weight"; it is their owner.
    std::vector<Parameter> adapter_parameters(std::size_t index) const;
    std::vector<NamedTensor> adapter_tensors() const;
    /// Reads adapter_tensors() from a checkpoint, whose names have `prefix` in front.
    void load_adapters(const Weights& weights, const std::string& prefix = "");
    /// Every linear layer of the blocks.
    std::vector<LinearPlace> linears() const;
    /// Every table of embeddings that an adapter may change.
    std::vector<TablePlace> tables() const;

    /// A dense block's MLP becomes the start of every token-routed expert of it; the router is given. The norms stay.
    static void route_tokens(Block& block, TokenRouting routing);

  private:
    struct Slot;    // one parameter: its tensor, its names in a checkpoint, what the optimiser may do with it
    struct Stream;  // what flows between blocks
    struct Shared;  // what all blocks of a pass share: rotary tables, position bias

    void visit(const std::function<void(const Slot&)>& visitor) { visit(config_.names, visitor); }
    void visit(const EncoderNames& names, const std::function<void(const Slot&)>& visitor);
    /// Puts each(tensor, exact) in the place of every tensor, adapters' too; `exact`: of a table or a router.
    void replace(const std::function<at::Tensor(const at::Tensor&, bool exact)>& each);
    void visit_block(const EncoderNames& names, std::size_t index, const std::function<void(const Slot&)>& visitor);
    void make_room(const Weights& weights, const Slot& slot, const std::vector<std::string>& names) const;
    void read_slot(const Weights& weights, const Slot& slot, const std::vector<std::string>& names) const;

    NormWeights weights_of(const NormParameter& norm, const at::Tensor& bias = {}) const;
    at::Tensor with_table_updates(const at::Tensor& rows, const PackedBatch& batch, EmbeddingTable table) const;
    at::Tensor embed(const PackedBatch& batch, const ForwardContext& context) const;
    Shared shared_inputs(const PackedBatch& batch, const ForwardContext& context) const;
    void share_distances(Shared& shared, const PackedBatch& batch, const ForwardContext& context) const;
    std::shared_ptr<const RelativeTerms> relative_terms(std::size_t index, const PackedBatch& batch, const Shared& shared,
                                                        const ForwardContext& context) const;
    at::Tensor behind(const at::Tensor& branch, const std::vector<NormWeights>& weights, bool by_expert, const PackedBatch& batch) const;
    void seed_part(const ForwardContext& context, const PackedBatch& batch, std::size_t part) const;
    at::Tensor attend(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const Shared& shared,
                      const ForwardContext& context) const;
    at::Tensor mlp(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const ForwardContext& context) const;
    std::vector<LowRankPart> low_rank_parts(std::size_t index, BlockLinear which, const PackedLayout& layout) const;
    at::Tensor adapted(std::size_t index, BlockLinear which, const at::Tensor& y, const at::Tensor& x, const PackedBatch& batch,
                       const ForwardContext& context) const;
    /// Between the two products of a block's feed-forward.
    DropoutSite inner_dropout(std::size_t index, const ForwardContext& context) const;
    at::Tensor adapted_mlp(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const ForwardContext& context) const;
    const at::Tensor& weight_of(const LinearPlace& place) const;
    void run_block(std::size_t index, Stream& stream, const PackedBatch& batch, const Shared& shared, const ForwardContext& context) const;
    void run_block_again(std::size_t index, Stream& stream, const PackedBatch& batch, const Shared& shared,
                         const ForwardContext& context) const;
    void post_norm_block(std::size_t index, Stream& stream, const PackedBatch& batch, const Shared& shared,
                         const ForwardContext& context) const;
    void pre_norm_block(std::size_t index, Stream& stream, const PackedBatch& batch, const Shared& shared,
                        const ForwardContext& context) const;

    EncoderConfig config_;
    at::ScalarType dtype_;
    KeptWeights kept_;
    at::Tensor word_, position_, token_type_, relative_bias_, relative_table_;
    NormParameter embedding_norm_, relative_norm_, final_norm_;
    std::vector<Block> blocks_;
    std::vector<DenseHead> heads_;
    std::vector<Adapter> adapters_;
};

/// One text of a packed batch. Those of one path must be neighbours.
struct SequenceInput {
    const std::int32_t* ids;
    std::int64_t length;
    std::uint64_t key = 0;
    Path path{};
    std::int64_t skip = 0;
};
PackedBatch make_packed_batch(const std::vector<SequenceInput>& sequences);

}  // namespace faceter
