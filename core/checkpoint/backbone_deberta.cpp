#include <algorithm>
#include <cmath>

#include "checkpoint/config_members.h"
#include "checkpoint/encoder_config.h"
#include "common/error.h"
#include "common/strings.h"

// DeBERTa-v2 and v3, mDeBERTa (He et al., 2021 and 2023): BERT's block whose attention reads the distance of two tokens from a table, which
// each block projects with its own query and key.

namespace faceter {
namespace {

EncoderNames deberta_names() {
    EncoderNames n;
    n.prefixes = {"", "deberta."};
    n.word = "embeddings.word_embeddings";
    n.embedding_norm = "embeddings.LayerNorm";
    n.block = "encoder.layer.{}.";
    n.qkv = {"attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj"};
    n.attention_output = "attention.output.dense";
    n.attention_norm = "attention.output.LayerNorm";
    n.up = {"intermediate.dense"};
    n.down = "output.dense";
    n.mlp_norm = "output.LayerNorm";
    return n;
}

/// The parts of "p2c|c2p", which newer files give as a list.
std::vector<std::string> parts_member(const Json& config, const char* key, std::string_view name) {
    if (!config.contains(key) || config.at(key).is_null()) return {};
    if (!config.at(key).is_string()) return json_at<std::vector<std::string>>(config, key, name);
    const std::string all = lowercase_ascii(config.at(key).get<std::string>());
    std::vector<std::string> parts;
    for (const std::string_view part : split(all, '|')) parts.emplace_back(trim(part));
    return parts;
}

void read_distances(EncoderConfig& c, const Json& config, std::string_view name) {
    std::int64_t terms = 1;
    for (const std::string& part : parts_member(config, "pos_att_type", name)) {
        refuse_unless(part == "c2p" || part == "p2c", config, "pos_att_type", name, "c2p, p2c or both");
        bool& term = part == "c2p" ? c.disentangled.query_reads_distance : c.disentangled.key_reads_distance;
        terms += term ? 0 : 1;
        term = true;
    }
    c.attention_scale = 1 / std::sqrt(static_cast<double>(c.head_dim * terms));
    if (!json_or<bool>(config, "relative_attention", false, name)) {
        c.disentangled = {};
        return;
    }
    refuse_unless(terms > 1, config, "pos_att_type", name, "c2p, p2c or both");
    refuse_unless(json_or<bool>(config, "share_att_key", false, name), config, "share_att_key", name, "true");
    auto& d = c.disentangled;
    const auto given = json_or<std::int64_t>(config, "max_relative_positions", -1, name);
    d.max_distance =
        given < 1 ? size_member(config, "max_position_embeddings", name, 512) : size_member(config, "max_relative_positions", name);
    d.buckets = std::max<std::int64_t>(0, json_or<std::int64_t>(config, "position_buckets", -1, name));
    d.span = d.buckets > 0 ? size_member(config, "position_buckets", name) : d.max_distance;
    if (d.buckets > 0 && (d.buckets < 4 || d.max_distance - 1 <= d.buckets / 2))
        throw data_error("{}: {} position_buckets up to a distance of {}; at least 4, and a distance beyond half of them, were expected",
                         name, d.buckets, d.max_distance);
    c.names.relative_table = "encoder.rel_embeddings";
}

void read_table_norm(EncoderConfig& c, const Json& config, std::string_view name) {
    for (const std::string& part : parts_member(config, "norm_rel_ebd", name)) {
        refuse_unless(part == "layer_norm" || part == "none", config, "norm_rel_ebd", name, "layer_norm or none");
        if (part == "layer_norm" && c.disentangled.span > 0) c.names.relative_norm = "encoder.LayerNorm";
    }
}

EncoderConfig read_deberta(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c;
    read_common_sizes(c, config, name);
    refuse_unless(json_or<std::int64_t>(config, "embedding_size", c.hidden_dim, name) == c.hidden_dim, config, "embedding_size", name,
                  "hidden_size");
    refuse_unless(json_or<std::int64_t>(config, "attention_head_size", c.head_dim, name) == c.head_dim, config, "attention_head_size", name,
                  "hidden_size / num_attention_heads");
    refuse_unless(json_or<std::int64_t>(config, "conv_kernel_size", 0, name) == 0, config, "conv_kernel_size", name, "0");
    c.names = deberta_names();
    c.length_limit = size_member(config, "max_position_embeddings", name, 512);
    if (json_or<bool>(config, "position_biased_input", true, name)) {
        c.max_positions = c.length_limit;
        c.names.position = "embeddings.position_embeddings";
    }
    c.num_token_types = json_or<std::int64_t>(config, "type_vocab_size", 0, name);
    refuse_unless(c.num_token_types >= 0 && c.num_token_types <= 1024, config, "type_vocab_size", name, "0 to 1024");
    if (c.num_token_types > 0) c.names.token_type = "embeddings.token_type_embeddings";
    c.activation = activation_member(config, "hidden_act", name, "gelu");
    c.norm_epsilon = json_or<double>(config, "layer_norm_eps", 1e-7, name);
    c.dropout.set_hidden(probability_member(config, "hidden_dropout_prob", name, 0.1));
    c.dropout.attention = probability_member(config, "attention_probs_dropout_prob", name, 0.1);
    read_distances(c, config, name);
    read_table_norm(c, config, name);
    return c;
}

const BackboneFamily deberta("deberta-v2", read_deberta);

const FamilyMembers members({"deberta-v2"},
                            "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings "
                            "type_vocab_size hidden_act layer_norm_eps hidden_dropout_prob attention_probs_dropout_prob "
                            "position_embedding_type embedding_size relative_attention max_relative_positions position_buckets "
                            "norm_rel_ebd share_att_key pos_att_type position_biased_input attention_head_size conv_kernel_size legacy");

}  // namespace
}  // namespace faceter
