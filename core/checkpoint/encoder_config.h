#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/weights.h"
#include "common/json.h"

namespace faceter {

enum class Norm { layer, rms };
enum class Activation { gelu, gelu_tanh, relu, silu };

/// What a family's checkpoints call the parts of an encoder, without ".weight" and ".bias"; an empty name: the family has no such part. A
/// part that checkpoints keep in several tensors (query, key and value; the halves of a gated layer) lists them in the order in which their
/// rows are joined here.
struct EncoderNames {
    std::vector<std::string> prefixes{""};  ///< one of these stands in front of every name, the first that fits
    std::string word, word_alias;           ///< the alias is what some checkpoints call the same table
    std::string position, token_type, embedding_norm, final_norm, relative_bias;
    std::string block;  ///< "encoder.layer.{}.": in front of the names below
    std::vector<std::string> qkv, up;
    std::string attention_output, attention_norm, down, mlp_norm;
};

/// Token-routed blocks that a checkpoint comes with (Nomic Embed v2).
struct RoutedBlocks {
    std::int64_t num_experts = 0, top_k = 1, every = 0;  ///< blocks i with i % every == 1; 0: none
    bool renormalise = false;                            ///< the kept probabilities sum to 1
    bool up_bias = false;                                ///< released checkpoints have no bias inside an expert, one behind the sum
};

/// An encoder as a composition of parts, from its config.json: sizes, which parts there are, and what they are called. A family of
/// checkpoints is a function that fills this in (backbone_*.cpp), nothing else.
struct EncoderConfig {
    std::int64_t num_layers = 0, hidden_dim = 0, num_heads = 0, head_dim = 0, intermediate_dim = 0, vocab_size = 0;
    /// Rows of the table of absolute positions (0: none), and the row of the first token: RoBERTa's lies behind the padding id.
    std::int64_t max_positions = 0, first_position = 0;
    std::int64_t num_token_types = 0;
    std::int64_t length_limit = 0;  ///< tokens that positions allow; 0: no limit

    bool pre_norm = false;  ///< x + f(norm(x)) instead of norm(x + f(x))
    Norm norm = Norm::layer;
    bool norm_bias = true, qkv_bias = true, attention_output_bias = true, up_bias = true, down_bias = true;
    bool first_attention_norm = true;  ///< false: block 0 has no norm before its attention (ModernBERT)
    double norm_epsilon = 1e-12;
    Activation activation = Activation::gelu;
    bool gated = false;  ///< down(activation(a) * b), where a | b are the halves of up(x)

    double attention_scale = 0;   ///< of the logits; 1/sqrt(head_dim) in all families but T5
    std::int64_t rotary_dim = 0;  ///< leading elements of a head that are rotated; 0: no rotary positions
    double rotary_base = 10000, local_rotary_base = 10000;
    /// Dynamic NTK: beyond `trained_positions` the base grows with the longest text of the batch, as the released code has it. 0: off.
    double rotary_scaling = 0;
    std::int64_t trained_positions = 0;
    std::int64_t relative_buckets = 0, relative_max_distance = 128;  ///< T5's position bias, shared by all blocks; 0 buckets: none
    std::int64_t local_window = 0,
                 global_every =
                     1;  ///< a token of a local block sees those at most `local_window` away; block i is global when i % global_every == 0

    double hidden_dropout = 0, attention_dropout = 0;
    RoutedBlocks routed;
    EncoderNames names;

    /// 0 where block `i` sees the whole text.
    std::int64_t window(std::int64_t i) const { return local_window > 0 && i % global_every != 0 ? local_window : 0; }
    bool is_routed(std::int64_t i) const { return routed.every > 0 && i % routed.every == 1 % routed.every; }
    bool has_attention_norm(std::int64_t i) const { return i > 0 || first_attention_norm; }

    /// Reads config.json; `weights` gives the sizes that released code rounds up. Errors (data): a family that is not known (with those
    /// that are), a member that is missing, of a wrong type, not supported or out of any sane range.
    static EncoderConfig from_json(const Json& config, std::string_view name, const Weights& weights);
};

/// One family: config.json's model_type and its reader. A file that defines one makes the family known.
struct BackboneFamily {
    using Reader = EncoderConfig (*)(const Json& config, std::string_view name, const Weights& weights);
    BackboneFamily(std::string model_type, Reader read);
};

/// Checked members, for the readers.
std::int64_t size_member(const Json& config, std::string_view key, std::string_view name, std::int64_t fallback = 0);
/// hidden_dim / num_heads; one that is no whole number is refused, by the names that the family has for both.
std::int64_t head_dim_member(const EncoderConfig& config, std::string_view name, std::string_view hidden_key, std::string_view heads_key);
/// The sizes under the names that most families share: layers, hidden, heads, intermediate, vocabulary.
void read_common_sizes(EncoderConfig& config, const Json& json, std::string_view name);
double probability_member(const Json& config, std::string_view key, std::string_view name, double fallback);
Activation activation_member(const Json& config, std::string_view key, std::string_view name, const char* fallback);
/// The value must be `expected`; what else the family's configurations may ask for is refused.
void refuse_unless(bool supported, const Json& config, std::string_view key, std::string_view name, std::string_view expected);

}  // namespace faceter
