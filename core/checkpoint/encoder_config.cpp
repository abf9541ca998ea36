#include "checkpoint/encoder_config.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "checkpoint/config_members.h"
#include "checkpoint/parameter_count.h"
#include "checkpoint/rotary_scaling.h"
#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 24, largest_parameters = std::int64_t{1} << 36;

std::map<std::string, BackboneFamily::Reader>& families() {
    static std::map<std::string, BackboneFamily::Reader> known;
    return known;
}

std::vector<std::pair<ReleasedLayout::Test, ReleasedLayout::Rewrite>>& layouts() {
    static std::vector<std::pair<ReleasedLayout::Test, ReleasedLayout::Rewrite>> known;
    return known;
}

void check_attention(const EncoderConfig& c, std::string_view name) {
    if (c.num_key_heads < 1 || c.num_heads % c.num_key_heads != 0)
        throw data_error("{}: {} heads of queries cannot share {} heads of keys evenly", name, c.num_heads, c.num_key_heads);
    if (!(std::isfinite(c.attention_scale) && c.attention_scale > 0))
        throw data_error("{}: the scale of attention is {}, expected a positive number", name, c.attention_scale);
    for (const Reach& reach : {c.reach, c.local_reach})
        if (reach.before < 0 || reach.after < 0)
            throw data_error("{}: a token sees {} tokens before and {} behind itself, expected none or more", name, reach.before,
                             reach.after);
    if (c.rotary_dim > 0)
        for (const Rotary& rotary : {c.rotary, c.local_rotary})
            if (!(rotary.base > 1 && rotary.base < 1e30 && rotary.stretch > 0 && rotary.stretch < 1e30))
                throw data_error("{}: rotary positions of base {} and factor {}, expected a base above 1 and a positive factor", name,
                                 rotary.base, rotary.stretch);
}

void check(const EncoderConfig& c, std::string_view name) {
    if (c.intermediate_dim < 1 || c.vocab_size < 1)
        throw data_error("{}: {} elements inside the MLP and a vocabulary of {}; at least 1 of each was expected", name, c.intermediate_dim,
                         c.vocab_size);
    if (c.num_layers > 1024) throw data_error("{}: {} layers, expected 1 to 1024", name, c.num_layers);
    if (c.rotary_dim % 2 != 0 || c.rotary_dim > c.head_dim)
        throw data_error("{}: {} rotated elements in heads of {}; an even number within the head was expected", name, c.rotary_dim,
                         c.head_dim);
    if (!(c.norm_epsilon > 0 && c.norm_epsilon < 1))
        throw data_error("{}: the norms' epsilon is {}, expected one between 0 and 1", name, c.norm_epsilon);
    check_attention(c, name);
    if (parameters_at_least(c) > static_cast<double>(largest_parameters))
        throw data_error("{}: the sizes make a model of more than {} parameters", name, largest_parameters);
}

std::string quoted_list(const std::vector<std::string>& keys) {
    std::vector<std::string> all;
    for (const std::string& key : keys) all.push_back(faceter::quoted(key, 40));
    constexpr std::size_t most = 12;
    if (all.size() > most) {
        all.resize(most);
        all.emplace_back("...");
    }
    return join(all, ", ");
}

/// What is known of families whose blocks ask for more than EncoderConfig can say.
std::string beyond_blocks(const std::string& type) {
    if (type != "embedding_gemma2") return "";
    return "; its values are normed, its full-attention blocks have heads of another size and number, and each block has a third, gated "
           "half "
           "that reads the words again, none of which a block here has. EmbeddingGemma (gemma3_text) is supported";
}

/// Names the family that is nearest, and what the configuration asks for that this one has not.
[[noreturn]] void throw_unknown_type(const Json& config, const std::string& type, std::string_view name, const Weights& weights) {
    std::vector<std::string> known;
    for (const auto& [key, read] : families()) known.push_back(key);
    const std::string near = nearest_family(config, type, known);
    if (const std::string why = beyond_blocks(type); !why.empty())
        throw data_error("{}: model_type {} is not supported{}", name, faceter::quoted(type), why);
    std::string message = fmt::format("{}: model_type {} is not supported{}", name, faceter::quoted(type), suggestion(type, known));
    if (near.empty()) throw data_error("{}", message);
    message += fmt::format("; the nearest family is {}", near);
    if (const auto unknown = unknown_members(config, near); !unknown.empty())
        message += fmt::format(", which has not what the configuration asks for by {}", quoted_list(unknown));
    try {
        refuse_foreign_members(config, near, "");
        families().at(near)(config, "", weights);
    } catch (const Error& error) {
        message += fmt::format("; read as {}{}", near, error.what());
    }
    throw data_error("{}", message);
}

/// Of a configuration in transformers' own layout. The reader of nomic_bert follows the code that its releases name.
bool names_other_code(const Json& config, const std::string& type) {
    if (type == "nomic_bert" || !config.contains("auto_map")) return false;
    const Json& map = config.at("auto_map");
    return map.contains("AutoModel") || map.contains("AutoConfig");
}

}  // namespace

void DropoutRates::set_hidden(double hidden) {
    for (double* rate : {&embeddings, &attention_output, &inner, &feed_forward_output, &final_output})
        if (*rate != nowhere) *rate = hidden;
}

DropoutRates DropoutRates::everywhere(double rate) const {
    DropoutRates all = *this;
    all.set_hidden(rate);
    all.attention = rate;
    return all;
}

BackboneFamily::BackboneFamily(std::string model_type, Reader read) { families()[std::move(model_type)] = read; }

ReleasedLayout::ReleasedLayout(Test is, Rewrite native) { layouts().emplace_back(is, native); }

Json native_config(const Json& config, std::string_view name) {
    for (const auto& [is, native] : layouts())
        if (is(config)) return native(config, name);
    return config;
}

std::int64_t Reach::seen(std::int64_t length) const { return std::min(length, std::min(before, length) + std::min(after, length) + 1); }

/// DeBERTa-v2's buckets: distances up to half of them are exact, the rest logarithmic (in float32 and rounded up, as the released code has
/// it).
std::int64_t Disentangled::row(std::int64_t distance) const {
    const std::int64_t exact = buckets / 2, away = std::abs(distance);
    std::int64_t bucket = distance;
    if (buckets > 0 && away > exact) {
        const auto middle = static_cast<float>(exact);
        const float share = std::log(static_cast<float>(away) / middle) / std::log(static_cast<float>(max_distance - 1) / middle);
        const auto beyond = static_cast<std::int64_t>(std::ceil(share * static_cast<float>(exact - 1))) + exact;
        bucket = distance < 0 ? -beyond : beyond;
    }
    return std::clamp<std::int64_t>(bucket + span, 0, 2 * span - 1);
}

EncoderConfig EncoderConfig::from_json(const Json& given, std::string_view name, const Weights& weights) {
    const Json config = native_config(given, name);
    const auto type = json_or<std::string>(config, "model_type", "bert", name);
    const auto found = families().find(type);
    if (found == families().end()) throw_unknown_type(config, type, name, weights);
    refuse_foreign_members(config, type, name);
    EncoderConfig c = found->second(config, name, weights);
    if (const auto unknown = unknown_members(config, type); !unknown.empty())
        c.remarks.push_back(fmt::format("{}: {} has no such members, which are not looked at: {}", name, type, quoted_list(unknown)));
    if (names_other_code(config, type))
        c.remarks.push_back(
            fmt::format("{}: auto_map names code of the model's own, which is not run; computed as transformers' own {}", name, type));
    if (c.num_key_heads == 0) c.num_key_heads = c.num_heads;
    if (c.attention_scale == 0) c.attention_scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim));
    check(c, name);
    return c;
}

std::int64_t size_member(const Json& config, std::string_view key, std::string_view name, std::int64_t fallback) {
    const std::int64_t value = fallback > 0 ? json_or<std::int64_t>(config, key, fallback, name) : json_at<std::int64_t>(config, key, name);
    if (value < 1 || value > largest_size) throw data_error("{}: member '{}' is {}, expected 1 to {}", name, key, value, largest_size);
    return value;
}

std::int64_t head_dim_member(const EncoderConfig& config, std::string_view name, std::string_view hidden_key, std::string_view heads_key) {
    if (config.hidden_dim % config.num_heads != 0)
        throw data_error("{}: {} {} is not a multiple of {} {}", name, hidden_key, config.hidden_dim, heads_key, config.num_heads);
    return config.hidden_dim / config.num_heads;
}

namespace {

void read_sizes(EncoderConfig& config, const Json& json, std::string_view name) {
    config.num_layers = size_member(json, "num_hidden_layers", name);
    config.hidden_dim = size_member(json, "hidden_size", name);
    config.num_heads = size_member(json, "num_attention_heads", name);
    config.intermediate_dim = size_member(json, "intermediate_size", name);
    config.vocab_size = size_member(json, "vocab_size", name);
}

bool has_member(const Json& json, const char* key) { return json.contains(key) && !json.at(key).is_null(); }

/// An empty object where the member is missing.
Json object_member(const Json& json, const char* key, std::string_view name) {
    Json member = json_or<Json>(json, key, Json::object(), name);
    if (!member.is_object()) throw_json_member(name, key, "is no object");
    return member;
}

}  // namespace

void read_common_sizes(EncoderConfig& config, const Json& json, std::string_view name) {
    read_sizes(config, json, name);
    config.head_dim = head_dim_member(config, name, "hidden_size", "num_attention_heads");
}

void read_grouped_sizes(EncoderConfig& config, const Json& json, std::string_view name, std::int64_t usual_head_dim,
                        std::int64_t usual_key_heads) {
    read_sizes(config, json, name);
    if (has_member(json, "head_dim") || usual_head_dim > 0)
        config.head_dim = size_member(json, "head_dim", name, usual_head_dim);
    else
        config.head_dim = head_dim_member(config, name, "hidden_size", "num_attention_heads");
    const bool missing = !json.contains("num_key_value_heads") && usual_key_heads > 0;
    config.num_key_heads = missing ? usual_key_heads : size_member(json, "num_key_value_heads", name, config.num_heads);
}

Rotary rotary_member(const Json& config, std::string_view name, double usual_base, std::int64_t rotary_dim, const char* kind) {
    Rotary rotary;
    Json parameters = object_member(config, "rope_parameters", name);
    if (has_member(parameters, kind)) parameters = object_member(parameters, kind, name);
    parameters.update(object_member(config, "rope_scaling", name));
    rotary.base = json_or<double>(parameters, "rope_theta", json_or<double>(config, "rope_theta", usual_base, name), name);
    const auto type = json_or<std::string>(parameters, "rope_type", json_or<std::string>(parameters, "type", "default", name), name);
    refuse_unless(json_or<double>(parameters, "partial_rotary_factor", 1, name) == 1, parameters, "partial_rotary_factor", name, "1");
    if (type == "default") return rotary;
    if (type == "linear") {
        rotary.stretch = json_at<double>(parameters, "factor", name);
        return rotary;
    }
    if ((type != "yarn" && type != "llama3") || rotary_dim == 0)
        throw data_error("{}: {} asks for rotary positions of type {}, which are not supported; default, linear{} are", name,
                         has_member(config, "rope_scaling") ? "rope_scaling" : "rope_parameters", faceter::quoted(type),
                         rotary_dim > 0 ? ", yarn and llama3" : "");
    const std::int64_t longest = size_member(config, "max_position_embeddings", name, 1);
    take_original_length(parameters, config, name);
    type == "yarn" ? scale_by_yarn(rotary, parameters, name, rotary_dim, longest) : scale_by_llama3(rotary, parameters, name, rotary_dim);
    return rotary;
}

std::optional<std::vector<bool>> local_member(const EncoderConfig& config, const Json& json, std::string_view name) {
    if (!has_member(json, "layer_types")) return std::nullopt;
    const auto types = json_at<std::vector<std::string>>(json, "layer_types", name);
    if (static_cast<std::int64_t>(types.size()) != config.num_layers)
        throw data_error("{}: layer_types names {} blocks, num_hidden_layers {}", name, types.size(), config.num_layers);
    std::vector<bool> local;
    for (const std::string& type : types) {
        if (type != "sliding_attention" && type != "full_attention")
            throw data_error("{}: layer_types has {}; full_attention and sliding_attention are supported", name, faceter::quoted(type));
        local.push_back(type == "sliding_attention");
    }
    return local;
}

double probability_member(const Json& config, std::string_view key, std::string_view name, double fallback) {
    const double value = json_or<double>(config, key, fallback, name);
    if (!(value >= 0 && value < 1)) throw data_error("{}: member '{}' is {}, expected a probability below 1", name, key, value);
    return value;
}

Activation activation_member(const Json& config, std::string_view key, std::string_view name, const char* fallback) {
    static const std::map<std::string, Activation> known = {{"gelu", Activation::gelu},
                                                            {"gelu_new", Activation::gelu_tanh},
                                                            {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                                            {"gelu_fast", Activation::gelu_tanh},
                                                            {"gelu_accurate", Activation::gelu_tanh},
                                                            {"gelu_python", Activation::gelu},
                                                            {"relu", Activation::relu},
                                                            {"silu", Activation::silu},
                                                            {"swish", Activation::silu}};
    const auto value = json_or<std::string>(config, key, fallback, name);
    const auto found = known.find(value);
    if (found == known.end())
        throw data_error("{}: {} {} is not supported; gelu, gelu_new, relu and silu are", name, key, faceter::quoted(value));
    return found->second;
}

void refuse_unless(bool supported, const Json& config, std::string_view key, std::string_view name, std::string_view expected) {
    if (supported) return;
    const auto at = config.find(std::string(key));
    throw data_error("{}: {} {} is not supported; {} is", name, key, at == config.end() ? "null" : at->dump(), expected);
}

}  // namespace faceter
