#pragma once
#include <cstdint>
#include <limits>
#include <optional>
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
    std::string relative_table, relative_norm;  ///< of disentangled attention
    std::string block;                          ///< "encoder.layer.{}.": in front of the names below
    std::vector<std::string> qkv, up;
    std::string attention_output, attention_norm, down, mlp_norm;
    std::string query_norm, key_norm;          ///< of each head, before rotary positions
    std::string attention_behind, mlp_behind;  ///< norms of what a half gives, before it is added (Gemma)
};

/// How many tokens before itself and behind itself a token sees.
struct Reach {
    static constexpr std::int64_t everything = std::numeric_limits<std::int32_t>::max();
    std::int64_t before = everything, after = everything;
    bool is_limited() const { return before < everything || after < everything; }
    /// Tokens that one in a text of `length` sees at most, itself included.
    std::int64_t seen(std::int64_t length) const;
};

/// Rotary positions of one kind of block: pair i of position p turns by p / stretch * base^(-2i / rotary_dim).
struct Rotary {
    double base = 10000, stretch = 1;
    std::vector<float> frequencies{};  ///< of each pair, where it turns by p * frequencies[i] instead (YaRN, Llama 3)
    float amplitude = 1;               ///< of cosines and sines (YaRN)
    bool operator==(const Rotary&) const = default;
};

/// Disentangled attention (DeBERTa; He et al., 2021, section 3.1): a table of distances, [2 span, hidden_dim], which each block projects
/// with its own query and key; a logit sums q_i k_j, q_i key[r] and query[r] k_j, r the row of i - j.
struct Disentangled {
    std::int64_t span = 0;                                          ///< 0: none
    bool query_reads_distance = false, key_reads_distance = false;  ///< "c2p", "p2c": which of the two terms there are
    /// Distances beyond half the buckets are logarithmic up to `max_distance` (DeBERTa-v2); 0 buckets: each has a row of its own.
    std::int64_t buckets = 0, max_distance = 0;
    bool operator==(const Disentangled&) const = default;
    /// The row of a distance i - j.
    std::int64_t row(std::int64_t distance) const;
};

/// Token-routed blocks that a checkpoint comes with (Nomic Embed v2).
struct RoutedBlocks {
    std::int64_t num_experts = 0, top_k = 1, every = 0;  ///< blocks i with i % every == 1; 0: none
    bool renormalise = false;                            ///< the kept probabilities sum to 1
    bool up_bias = false;                                ///< released checkpoints have no bias inside an expert, one behind the sum
};

/// Rates of dropout in training, by place, of config.json: where transformers' code drops; the 0 of others takes an experiment's rate too.
struct DropoutRates {
    static constexpr double nowhere = -1;  ///< the family does not drop there, whatever rate an experiment asks for
    double embeddings = 0;                 ///< of embeddings, and of the table of distances (DeBERTa)
    double attention = 0;                  ///< of the probabilities
    double attention_output = 0;
    double inner = nowhere;  ///< between the two products of a feed-forward; not inside experts that tokens are routed to
    double feed_forward_output = 0;
    double final_output = 0;  ///< behind the final norm

    /// `hidden` at each of the family's places but the probabilities.
    void set_hidden(double hidden);
    /// One rate at each of the family's places.
    DropoutRates everywhere(double rate) const;
    bool operator==(const DropoutRates&) const = default;
};

/// An encoder as a composition of parts, from its config.json: sizes, which parts there are, and what they are called. A family of
/// checkpoints is a function that fills this in (backbone_*.cpp), nothing else.
struct EncoderConfig {
    std::int64_t num_layers = 0, hidden_dim = 0, num_heads = 0, head_dim = 0, intermediate_dim = 0, vocab_size = 0;
    std::int64_t num_key_heads = 0;  ///< of keys and values; query head h reads key head h / (num_heads / num_key_heads)
    /// Rows of the table of absolute positions (0: none), and the row of the first token: RoBERTa's lies behind the padding id.
    std::int64_t max_positions = 0, first_position = 0;
    std::int64_t num_token_types = 0;
    std::int64_t length_limit = 0;  ///< tokens that positions allow; 0: no limit

    bool pre_norm = false;  ///< x + f(norm(x)) instead of norm(x + f(x))
    Norm norm = Norm::layer;
    bool norm_plus_one = false;  ///< norms scale with 1 + weight (Gemma)
    bool norm_bias = true, qkv_bias = true, attention_output_bias = true, up_bias = true, down_bias = true;
    bool first_attention_norm = true;  ///< false: block 0 has no norm before its attention (ModernBERT)
    double norm_epsilon = 1e-12;
    Activation activation = Activation::gelu;
    bool gated = false;        ///< down(activation(a) * b), where a | b are the halves of up(x)
    bool gate_second = false;  ///< down(a * activation(b))

    double word_scale = 1;        ///< of the word embeddings
    double attention_scale = 0;   ///< of the logits; 1/sqrt(head_dim) where a family says nothing else
    std::int64_t rotary_dim = 0;  ///< leading elements of a head that are rotated; 0: no rotary positions
    Rotary rotary, local_rotary;  ///< of global and of local blocks
    /// Dynamic NTK: beyond `trained_positions` the base grows with a text's own length, whatever its batch holds. 0: off.
    double rotary_scaling = 0;
    std::int64_t trained_positions = 0;
    std::int64_t relative_buckets = 0, relative_max_distance = 128;  ///< T5's position bias, shared by all blocks; 0 buckets: none
    Disentangled disentangled;
    Reach reach, local_reach;  ///< of global and of local blocks
    std::vector<bool> local;   ///< which blocks are local; empty: none

    DropoutRates dropout;
    RoutedBlocks routed;
    EncoderNames names;
    std::vector<std::string> remarks;      ///< what whoever uses this checkpoint should know, a sentence each
    std::optional<EncoderNames> released;  ///< what the family's first releases call the parts; read, never written

    /// Columns of queries, of keys and of values in the joined q | k | v.
    std::vector<std::int64_t> qkv_dims() const { return {num_heads * head_dim, num_key_heads * head_dim, num_key_heads * head_dim}; }
    std::int64_t qkv_dim() const { return (num_heads + 2 * num_key_heads) * head_dim; }
    bool is_local(std::int64_t i) const { return !local.empty() && local[static_cast<std::size_t>(i)]; }
    const Reach& reach_of(std::int64_t i) const { return is_local(i) ? local_reach : reach; }
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

/// A release that came with code of its own, before transformers had the family: how its config.json is told, and the same as transformers'
/// class has it, without what only that code reads. A file that defines one makes it known.
struct ReleasedLayout {
    using Test = bool (*)(const Json& config);
    using Rewrite = Json (*)(const Json& config, std::string_view name);
    ReleasedLayout(Test is, Rewrite native);
};
/// config.json in transformers' own layout: as it is, or rewritten by a ReleasedLayout. What a folder is written with.
Json native_config(const Json& config, std::string_view name);

/// Checked members, for the readers.
std::int64_t size_member(const Json& config, std::string_view key, std::string_view name, std::int64_t fallback = 0);
/// hidden_dim / num_heads; one that is no whole number is refused, by the names that the family has for both.
std::int64_t head_dim_member(const EncoderConfig& config, std::string_view name, std::string_view hidden_key, std::string_view heads_key);
/// The sizes under the names that most families share: layers, hidden, heads, intermediate, vocabulary.
void read_common_sizes(EncoderConfig& config, const Json& json, std::string_view name);
/// The same where a head's size and the number of key heads may be given (head_dim, num_key_value_heads). 0: what such a family does
/// without a member is hidden_size / num_attention_heads, and as many key heads as heads.
void read_grouped_sizes(EncoderConfig& config, const Json& json, std::string_view name, std::int64_t usual_head_dim = 0,
                        std::int64_t usual_key_heads = 0);
/// Rotary positions: rope_parameters (of `kind` of block where they are given by kind), else rope_theta and rope_scaling. Plain, linear,
/// yarn and llama3 are read, the last two where `rotary_dim` says how many elements are turned; whatever else is asked for is refused.
Rotary rotary_member(const Json& config, std::string_view name, double usual_base, std::int64_t rotary_dim = 0,
                     const char* kind = "full_attention");
/// layer_types, as which blocks are local; nothing where it is missing. Errors: a type that is not known, another number than of blocks.
std::optional<std::vector<bool>> local_member(const EncoderConfig& config, const Json& json, std::string_view name);
double probability_member(const Json& config, std::string_view key, std::string_view name, double fallback);
Activation activation_member(const Json& config, std::string_view key, std::string_view name, const char* fallback);
/// The value must be `expected`; what else the family's configurations may ask for is refused.
void refuse_unless(bool supported, const Json& config, std::string_view key, std::string_view name, std::string_view expected);

}  // namespace faceter
