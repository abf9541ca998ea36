#include "checkpoint/config_members.h"
#include "checkpoint/encoder_config.h"
#include "common/error.h"

// BERT and what shares its layout: post-norm, absolute positions, separate query, key and value (Devlin et al., 2019). MiniLM, E5, BGE, GTE
// and Contriever are BERTs; RoBERTa, XLM-R and CamemBERT differ in where positions start.

namespace faceter {
namespace {

EncoderNames bert_names(const char* prefix) {
    EncoderNames n;
    n.prefixes = {"", prefix};
    n.word = "embeddings.word_embeddings";
    n.position = "embeddings.position_embeddings";
    n.token_type = "embeddings.token_type_embeddings";
    n.embedding_norm = "embeddings.LayerNorm";
    n.block = "encoder.layer.{}.";
    n.qkv = {"attention.self.query", "attention.self.key", "attention.self.value"};
    n.attention_output = "attention.output.dense";
    n.attention_norm = "attention.output.LayerNorm";
    n.up = {"intermediate.dense"};
    n.down = "output.dense";
    n.mlp_norm = "output.LayerNorm";
    return n;
}

EncoderConfig read_bert(const Json& config, std::string_view name, const Weights&) {
    const auto positions = json_or<std::string>(config, "position_embedding_type", "absolute", name);
    refuse_unless(positions == "absolute", config, "position_embedding_type", name, "absolute");
    EncoderConfig c;
    read_common_sizes(c, config, name);
    refuse_unless(json_or<std::int64_t>(config, "embedding_size", c.hidden_dim, name) == c.hidden_dim, config, "embedding_size", name,
                  "hidden_size");
    c.max_positions = c.length_limit = size_member(config, "max_position_embeddings", name, 512);
    c.num_token_types = size_member(config, "type_vocab_size", name, 2);
    c.activation = activation_member(config, "hidden_act", name, "gelu");
    c.norm_epsilon = json_or<double>(config, "layer_norm_eps", 1e-12, name);
    c.dropout.set_hidden(probability_member(config, "hidden_dropout_prob", name, 0.1));
    c.dropout.attention = probability_member(config, "attention_probs_dropout_prob", name, 0.1);
    c.names = bert_names("bert.");
    return c;
}

/// Positions start behind the padding id.
EncoderConfig read_roberta(const Json& config, std::string_view name, const Weights& weights) {
    EncoderConfig c = read_bert(config, name, weights);
    c.names = bert_names("roberta.");
    const auto padding = json_or<std::int64_t>(config, "pad_token_id", 1, name);
    if (padding < -1 || padding >= c.max_positions - 1)
        throw data_error("{}: pad_token_id {} leaves none of the {} positions", name, padding, c.max_positions);
    c.first_position = padding + 1;
    c.length_limit = c.max_positions - c.first_position;
    return c;
}

/// MPNet: BERT with a relative position bias besides absolute positions, no token types (Song et al., 2020).
EncoderConfig read_mpnet(const Json& config, std::string_view name, const Weights& weights) {
    Json like_roberta = config;
    like_roberta["type_vocab_size"] = 1;
    like_roberta["pad_token_id"] = 1;  // transformers counts positions from there, whatever the configuration says
    EncoderConfig c = read_roberta(like_roberta, name, weights);
    c.num_token_types = 0;
    c.relative_buckets = size_member(config, "relative_attention_num_buckets", name, 32);
    refuse_unless(c.relative_buckets == 32, config, "relative_attention_num_buckets", name, "32");  // what transformers computes with
    EncoderNames& n = c.names;
    n.prefixes = {"", "mpnet."};
    n.token_type.clear();
    n.qkv = {"attention.attn.q", "attention.attn.k", "attention.attn.v"};
    n.attention_output = "attention.attn.o";
    n.attention_norm = "attention.LayerNorm";
    n.relative_bias = "encoder.relative_attention_bias";
    return c;
}

EncoderConfig read_distilbert(const Json& given, std::string_view name, const Weights&) {
    const Json config =
        under_own_names(given, {{"num_hidden_layers", "n_layers"}, {"hidden_size", "dim"}, {"num_attention_heads", "n_heads"}});
    EncoderConfig c;
    c.num_layers = size_member(config, "n_layers", name);
    c.hidden_dim = size_member(config, "dim", name);
    c.num_heads = size_member(config, "n_heads", name);
    c.intermediate_dim = size_member(config, "hidden_dim", name);
    c.vocab_size = size_member(config, "vocab_size", name);
    c.max_positions = c.length_limit = size_member(config, "max_position_embeddings", name, 512);
    c.activation = activation_member(config, "activation", name, "gelu");
    c.dropout.attention_output = DropoutRates::nowhere;
    c.dropout.set_hidden(probability_member(config, "dropout", name, 0.1));
    c.dropout.attention = probability_member(config, "attention_dropout", name, 0.1);
    c.head_dim = head_dim_member(c, name, "dim", "n_heads");
    EncoderNames& n = c.names = bert_names("distilbert.");
    n.token_type.clear();
    n.block = "transformer.layer.{}.";
    n.qkv = {"attention.q_lin", "attention.k_lin", "attention.v_lin"};
    n.attention_output = "attention.out_lin";
    n.attention_norm = "sa_layer_norm";
    n.up = {"ffn.lin1"};
    n.down = "ffn.lin2";
    n.mlp_norm = "output_layer_norm";
    return c;
}

const BackboneFamily bert("bert", read_bert), roberta("roberta", read_roberta), xlm_roberta("xlm-roberta", read_roberta),
    camembert("camembert", read_roberta), mpnet("mpnet", read_mpnet), distilbert("distilbert", read_distilbert);

const FamilyMembers bert_members(
    {"bert", "roberta", "xlm-roberta", "camembert"},
    "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings type_vocab_size hidden_act "
    "layer_norm_eps hidden_dropout_prob attention_probs_dropout_prob position_embedding_type embedding_size"),
    mpnet_members({"mpnet"},
                  "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings type_vocab_size "
                  "hidden_act layer_norm_eps hidden_dropout_prob attention_probs_dropout_prob position_embedding_type embedding_size "
                  "relative_attention_num_buckets"),
    distilbert_members({"distilbert"},
                       "n_layers dim n_heads hidden_dim vocab_size max_position_embeddings activation dropout attention_dropout "
                       "sinusoidal_pos_embds qa_dropout seq_classif_dropout num_hidden_layers hidden_size num_attention_heads");

}  // namespace
}  // namespace faceter
