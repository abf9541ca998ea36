#include "matrix/harness/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/encoder_config.h"
#include "common/error.h"

namespace faceter::matrix {
namespace {

/// Sizes under the names that most families share.
Json common(const char* type, const char* architecture, const Json& more) {
    Json config = {{"architectures", {architecture}}, {"model_type", type},       {"hidden_size", 24},
                   {"num_hidden_layers", 3},          {"num_attention_heads", 3}, {"intermediate_size", 40},
                   {"max_position_embeddings", 48},   {"hidden_act", "gelu"},     {"layer_norm_eps", 1e-5}};
    config.update(more);
    return config;
}

Json nomic(const Json& more) {
    Json config = {{"architectures", {"NomicBertModel"}},
                   {"model_type", "nomic_bert"},
                   {"n_layer", 4},
                   {"n_embd", 24},
                   {"n_head", 3},
                   {"n_inner", 40},
                   {"n_positions", 96},
                   {"max_trained_positions", 96},
                   {"type_vocab_size", 2},
                   {"rotary_emb_base", 1000},
                   {"rotary_emb_fraction", 1.0},
                   {"activation_function", "swiglu"},
                   {"layer_norm_epsilon", 1e-5},
                   {"qkv_proj_bias", false},
                   {"mlp_fc1_bias", false},
                   {"mlp_fc2_bias", false}};
    config.update(more);
    return config;
}

/// Llama's sizes, with one head of keys for the three of queries.
Json llama_like(const char* type, const char* architecture, const Json& more) {
    Json config = {{"architectures", {architecture}},
                   {"model_type", type},
                   {"hidden_size", 24},
                   {"num_hidden_layers", 3},
                   {"num_attention_heads", 3},
                   {"num_key_value_heads", 1},
                   {"intermediate_size", 40},
                   {"max_position_embeddings", 96},
                   {"hidden_act", "silu"},
                   {"rms_norm_eps", 1e-5},
                   {"rope_theta", 10000.0}};
    config.update(more);
    return config;
}

Json t5(const char* type, const char* projection) {
    return {{"architectures", {type == std::string("mt5") ? "MT5EncoderModel" : "T5EncoderModel"}},
            {"model_type", type},
            {"num_layers", 3},
            {"d_model", 24},
            {"num_heads", 3},
            {"d_kv", 10},
            {"d_ff", 40},
            {"relative_attention_num_buckets", 8},
            {"relative_attention_max_distance", 20},
            {"feed_forward_proj", projection},
            {"is_encoder_decoder", true},
            {"decoder_start_token_id", 0},
            {"tie_word_embeddings", type == std::string("t5")}};
}

Row made(const char* name, Json config, Cutting cutting, Pooling pooling = Pooling::mean, bool normalize = true) {
    Row row;
    row.name = name;
    row.config = std::move(config);
    row.cutting = cutting;
    row.pooling = pooling;
    row.normalize = normalize;
    return row;
}

Row with_head(Row row, std::int64_t to, bool bias, bool tanh) {
    row.heads.push_back({"2_Dense", 24, to, bias, tanh});
    return row;
}

}  // namespace

std::vector<Row> made_rows() {
    return {
        made("bert", common("bert", "BertModel", {{"type_vocab_size", 2}}), Cutting::word_piece),
        made("bert cls dot", common("bert", "BertModel", {{"type_vocab_size", 2}}), Cutting::word_piece, Pooling::cls, false),
        made("roberta", common("roberta", "RobertaModel", {{"type_vocab_size", 1}}), Cutting::byte_pairs),
        made("xlm-roberta", common("xlm-roberta", "XLMRobertaModel", {{"type_vocab_size", 1}}), Cutting::unigram),
        made("camembert", common("camembert", "CamembertModel", {{"type_vocab_size", 1}}), Cutting::unigram, Pooling::cls),
        made("mpnet", common("mpnet", "MPNetModel", {{"relative_attention_num_buckets", 32}}), Cutting::byte_pairs),
        with_head(made("distilbert",
                       {{"architectures", {"DistilBertModel"}},
                        {"model_type", "distilbert"},
                        {"dim", 24},
                        {"n_layers", 3},
                        {"n_heads", 3},
                        {"hidden_dim", 40},
                        {"max_position_embeddings", 48},
                        {"activation", "gelu"}},
                       Cutting::word_piece, Pooling::mean, false),
                  20, true, true),
        made("nomic_bert", nomic(Json::object()), Cutting::word_piece),
        made("nomic_bert routed",
             nomic({{"activation_function", "gelu"},
                    {"qkv_proj_bias", true},
                    {"mlp_fc1_bias", true},
                    {"mlp_fc2_bias", true},
                    {"num_experts", 4},
                    {"moe_top_k", 2},
                    {"moe_every_n_layers", 2}}),
             Cutting::unigram),
        with_head(made("t5", t5("t5", "relu"), Cutting::unigram_t5), 16, false, false),
        made("t5 gated", t5("t5", "gated-gelu"), Cutting::unigram_t5, Pooling::mean, false),
        made("mt5", t5("mt5", "gated-gelu"), Cutting::unigram_t5),
        made("modernbert",
             {{"architectures", {"ModernBertModel"}},
              {"model_type", "modernbert"},
              {"hidden_size", 24},
              {"num_hidden_layers", 4},
              {"num_attention_heads", 3},
              {"intermediate_size", 40},
              {"max_position_embeddings", 96},
              {"local_attention", 8},
              {"global_attn_every_n_layers", 3},
              {"global_rope_theta", 160000.0},
              {"local_rope_theta", 10000.0}},
             Cutting::byte_pairs, Pooling::cls),
        made("qwen3", llama_like("qwen3", "Qwen3Model", {{"head_dim", 10}}), Cutting::byte_pairs_end, Pooling::last_token),
        made("qwen2 both ways", llama_like("qwen2", "Qwen2Model", {{"is_causal", false}}), Cutting::byte_pairs_qwen),
        made("mistral", llama_like("mistral", "MistralModel", {{"sliding_window", 6}}), Cutting::unigram, Pooling::last_token),
        made("llama", llama_like("llama", "LlamaModel", Json::object()), Cutting::unigram, Pooling::last_token, false),
        made("eurobert", llama_like("eurobert", "EuroBertModel", Json::object()), Cutting::byte_pairs),
        with_head(made("gemma3_text",
                       llama_like("gemma3_text", "Gemma3TextModel",
                                  {{"head_dim", 10},
                                   {"query_pre_attn_scalar", 12},
                                   {"hidden_activation", "gelu_pytorch_tanh"},
                                   {"sliding_window", 8},
                                   {"layer_types", {"sliding_attention", "full_attention", "sliding_attention"}},
                                   {"rope_local_base_freq", 500.0},
                                   {"use_bidirectional_attention", true}}),
                       Cutting::unigram),
                  16, false, false),
        made("gte",
             common("gte", "GteModel", {{"type_vocab_size", 1}, {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 20000.0}}}}),
             Cutting::unigram, Pooling::cls),
        made("jina_embeddings_v3",
             common("jina_embeddings_v3", "JinaEmbeddingsV3Model",
                    {{"type_vocab_size", 1}, {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 20000.0}}}}),
             Cutting::unigram),
        made("deberta-v2",
             common("deberta-v2", "DebertaV2Model",
                    {{"relative_attention", true},
                     {"position_buckets", 8},
                     {"pos_att_type", "p2c|c2p"},
                     {"norm_rel_ebd", "layer_norm"},
                     {"share_att_key", true},
                     {"position_biased_input", false},
                     {"type_vocab_size", 0}}),
             Cutting::unigram),
    };
}

std::vector<Row> fixture_rows(const fs::path& fixtures) {
    std::vector<Row> rows;
    if (!fs::is_directory(fixtures)) return rows;
    for (const fs::directory_entry& entry : fs::directory_iterator(fixtures)) {
        const fs::path& folder = entry.path();
        if (!fs::exists(folder / "config.json") || !fs::exists(folder / "model.safetensors")) continue;
        Row row;
        row.name = "fixture " + folder.filename().string();
        row.folder = fs::canonical(folder);
        row.config = read_json(folder / "config.json");
        rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
    return rows;
}

std::vector<std::string> traits(const Row& row) {
    try {
        Json config = row.config;
        if (row.folder.empty()) config["vocab_size"] = 1;
        const bool made = row.folder.empty();
        const ModelFolder folder = made ? ModelFolder() : ModelFolder::open(row.folder);
        const EncoderConfig c = EncoderConfig::from_json(config, row.name, made ? Weights(std::vector<fs::path>{}) : folder.weights());
        const bool heads = !(made ? row.heads : folder.dense).empty();
        return {fmt::format("positions: {}", c.rotary_dim > 0          ? "rotary"
                                             : c.relative_buckets > 0  ? "relative"
                                             : c.disentangled.span > 0 ? "disentangled"
                                                                       : "absolute"),
                fmt::format("norm: {}", c.pre_norm ? "before" : "behind"),
                fmt::format("blocks: {}", c.routed.every > 0 ? "routed"
                                          : c.gated          ? "gated"
                                                             : "plain"),
                fmt::format("read: {}", c.reach.after == 0 ? "forwards" : "both ways"),
                fmt::format("pooling: {}", pooling_name(made ? row.pooling : folder.pooling)),
                fmt::format("layers behind pooling: {}", heads ? "some" : "none")};
    } catch (const Error&) {
        return {"family: unknown"};
    }
}

}  // namespace faceter::matrix
