#include "checkpoint/native_config.h"

#include "checkpoint/rotary_scaling.h"
#include "common/json_document.h"

namespace faceter {
namespace {

/// transformers, models/qwen2/tokenization_qwen2.py.
constexpr const char* qwen2_split =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// What `like` says is so in `json`, whatever else that has.
bool says(const Json& json, const Json& like) {
    if (!like.is_object()) return json == like;
    if (!json.is_object()) return false;
    for (const auto& [key, value] : like.items())
        if (!json.contains(key) || !says(json[key], value)) return false;
    return true;
}

const char* native_name(Activation activation) {
    switch (activation) {
        case Activation::silu:
            return "silu";
        case Activation::relu:
            return "relu";
        case Activation::gelu_tanh:
            return "gelu_pytorch_tanh";
        case Activation::gelu:
            break;
    }
    return "gelu";
}

Json native_rotary(const Rotary& rotary) {
    Json parameters = {{"rope_theta", rotary.base}, {"rope_type", rotary.stretch == 1 ? "default" : "linear"}};
    if (rotary.stretch != 1) parameters["factor"] = rotary.stretch;
    return parameters;
}

}  // namespace

Json with_native_members(const Json& config, const EncoderConfig& encoder) {
    if (json_or<std::string>(config, "model_type", "", "config.json") != "nomic_bert") return config;
    Json native = config;
    native.update({{"vocab_size", encoder.vocab_size},
                   {"hidden_size", encoder.hidden_dim},
                   {"num_hidden_layers", encoder.num_layers},
                   {"num_attention_heads", encoder.num_heads},
                   {"intermediate_size", encoder.intermediate_dim},
                   {"hidden_act", native_name(encoder.activation)},
                   {"hidden_dropout_prob", encoder.dropout.attention_output},
                   {"attention_probs_dropout_prob", encoder.dropout.attention},
                   {"layer_norm_eps", encoder.norm_epsilon},
                   {"type_vocab_size", encoder.num_token_types},
                   {"rope_parameters", native_rotary(encoder.rotary)}});
    if (encoder.length_limit > 0) native["max_position_embeddings"] = encoder.length_limit;
    if (!native.contains("pad_token_id") || native["pad_token_id"].is_null()) native["pad_token_id"] = 0;
    return native;
}

std::string beyond_native_code(const std::string& model_type, const EncoderConfig& encoder, std::size_t longest) {
    if (model_type != "nomic_bert") return "";
    if (!encoder.gated) return "its MLP is not gated, which transformers' own NomicBERT cannot hold";
    if (encoder.qkv_bias || encoder.attention_output_bias || encoder.up_bias || encoder.down_bias)
        return "its linear layers have biases, which transformers' own NomicBERT cannot hold";
    if (encoder.rotary_dim != encoder.head_dim) return "it rotates a part of each head, which transformers' own NomicBERT cannot do";
    if (turns_by_length(encoder, longest))
        return "its rotary positions are stretched for long texts, which transformers' own NomicBERT does not do";
    if (encoder.num_token_types < 1) return "it has no token types, without which transformers' own NomicBERT does not work";
    return "";
}

bool renames_layers(const std::string& model_type) { return model_type == "nomic_bert"; }

Json tokenizer_rules(std::string_view text, std::string_view name) {
    Json rules = Json::object();
    with_json_document(text, name, [&](simdjson::dom::element root) {
        for (const char* key : {"normalizer", "pre_tokenizer"}) {
            simdjson::dom::element member;
            if (root.is_object() && !root[key].get(member)) rules[key] = parse_json(simdjson::minify(member), name);
        }
    });
    return rules;
}

std::string beyond_native_tokenizer(const std::string& model_type, const Json& rules) {
    if (model_type != "qwen2") return "";
    const Json splits = {{"type", "Split"}, {"pattern", {{"Regex", qwen2_split}}}, {"behavior", "Isolated"}, {"invert", false}};
    const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    const Json splitting = json_or<Json>(rules, "pre_tokenizer", Json(), "tokenizer.json");
    const Json steps = splitting.is_object() ? json_or<Json>(splitting, "pretokenizers", Json::array(), "tokenizer.json") : Json::array();
    const bool own = says(json_or<Json>(rules, "normalizer", Json(), "tokenizer.json"), {{"type", "NFC"}}) && steps.size() == 2 &&
                     says(steps[0], splits) && says(steps[1], bytes);
    return own ? "" : "its tokenizer is not Qwen2's, by whose rules transformers splits the texts of every qwen2 model";
}

}  // namespace faceter
