#include "model/rotary_conversion.h"

#include <ATen/ATen.h>

#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

void refuse_others(const EncoderConfig& c, const std::string& type) {
    if (c.max_positions == 0 || c.pre_norm || c.rotary_dim > 0)
        throw data_error(
            "a model of type {} has no table of absolute positions to replace; BERT, RoBERTa, XLM-R, CamemBERT and DistilBERT have",
            faceter::quoted(type));
    if (c.relative_buckets > 0 || c.disentangled.span > 0)
        throw data_error(
            "a model of type {} reads relative positions beside its absolute positions, which NomicBERT's layout has no place for",
            faceter::quoted(type));
    if (c.activation != Activation::gelu || c.gated)
        throw data_error("the model's activation is not gelu, the only one that NomicBERT's layout has without gates");
    if (c.head_dim % 2 != 0)
        throw data_error("heads of {} elements cannot be turned pair by pair; an even number was expected", c.head_dim);
}

/// What the hub's NomicBERT configurations say of a form that is always the same.
Json fixed_members() {
    return {{"architectures", Json::array({"NomicBertModel"})},
            {"auto_map",
             {{"AutoConfig", "nomic-ai/nomic-bert-2048--configuration_hf_nomic_bert.NomicBertConfig"},
              {"AutoModel", "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel"},
              {"AutoModelForMaskedLM", "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertForPreTraining"}}},
            {"model_type", "nomic_bert"},
            {"activation_function", "gelu"},
            {"causal", false},
            {"mlp_fc1_bias", true},
            {"mlp_fc2_bias", true},
            {"pad_vocab_size_multiple", 1},
            {"parallel_block", false},
            {"prenorm", false},
            {"qkv_proj_bias", true},
            {"rotary_emb_fraction", 1.0},
            {"rotary_emb_interleaved", false},
            {"rotary_emb_scale_base", nullptr},
            {"rotary_scaling_factor", nullptr},
            {"scale_attn_weights", true},
            {"torch_dtype", "float32"},
            {"use_rms_norm", false}};
}

}  // namespace

Json rotary_config(const EncoderConfig& c, const Json& config, const RotaryConversion& conversion) {
    refuse_others(c, json_or<std::string>(config, "model_type", "bert", "config.json"));
    Json json = fixed_members();
    json["n_layer"] = c.num_layers;
    json["n_embd"] = c.hidden_dim;
    json["n_head"] = c.num_heads;
    json["n_inner"] = c.intermediate_dim;
    json["vocab_size"] = c.vocab_size;
    json["type_vocab_size"] = c.num_token_types;
    json["n_positions"] = json["max_trained_positions"] = conversion.max_positions;
    json["rotary_emb_base"] = conversion.base;
    json["layer_norm_epsilon"] = c.norm_epsilon;
    json["embd_pdrop"] = json["resid_pdrop"] = c.dropout.feed_forward_output;
    json["attn_pdrop"] = c.dropout.attention;
    for (const char* key : {"pad_token_id", "bos_token_id", "eos_token_id"})
        if (config.contains(key)) json[key] = config.at(key);
    return json;
}

std::unique_ptr<Encoder> with_rotary_positions(const Encoder& from, const Json& rotary_config, const std::vector<DenseModule>& heads) {
    auto to = std::make_unique<Encoder>(
        EncoderConfig::from_json(rotary_config, "config.json", Weights(std::vector<std::filesystem::path>{})), heads, from.dtype());
    std::vector<at::Tensor> kept;
    for (const Parameter& p : from.parameters())
        if (p.name != from.config().names.position + ".weight") kept.push_back(p.tensor.detach());
    const auto parameters = to->parameters();  // both encoders list their parts in one order
    if (parameters.size() != kept.size())
        throw failure("the encoder has {} parameters beside its positions, NomicBERT's layout {}", kept.size(), parameters.size());
    for (std::size_t i = 0; i < kept.size(); ++i) parameters[i].tensor.detach().copy_(kept[i]);
    return to;
}

}  // namespace faceter
