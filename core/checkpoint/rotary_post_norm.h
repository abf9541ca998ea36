#pragma once
#include "checkpoint/encoder_config.h"

namespace faceter {

/// What a family of the frame below does where its configuration is silent.
struct RotaryPostNorm {
    std::int64_t length_limit;
    double norm_epsilon, rotary_base, attention_dropout;
};

/// Its members, for FamilyMembers.
inline constexpr const char* rotary_post_norm_members =
    "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings type_vocab_size hidden_act "
    "layer_norm_eps hidden_dropout_prob attention_probs_dropout_prob rope_theta rope_scaling rope_parameters head_dim num_key_value_heads";

/// What transformers calls its parts but for the feed-forward's, which families name.
EncoderNames rotary_post_norm_names();

/// BERT's block, norms behind each half, with rotary positions in place of a table: what gte and jina-embeddings-v3 share. All but the
/// feed-forward is read and named. Errors: as the members' readers.
EncoderConfig read_rotary_post_norm(const Json& config, std::string_view name, const RotaryPostNorm& usual);

}  // namespace faceter
