#include "checkpoint/encoder_config.h"

#include <cmath>
#include <map>

#include "checkpoint/parameter_count.h"
#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 24, largest_parameters = std::int64_t{1} << 36;

std::map<std::string, BackboneFamily::Reader>& families() {
    static std::map<std::string, BackboneFamily::Reader> known;
    return known;
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
    if (c.rotary_dim > 0 && !(c.rotary_base > 1 && c.local_rotary_base > 1))
        throw data_error("{}: a rotary base is {}, expected more than 1", name, c.rotary_base);
    if (parameters_at_least(c) > static_cast<double>(largest_parameters))
        throw data_error("{}: the sizes make a model of more than {} parameters", name, largest_parameters);
}

}  // namespace

BackboneFamily::BackboneFamily(std::string model_type, Reader read) { families()[std::move(model_type)] = read; }

EncoderConfig EncoderConfig::from_json(const Json& config, std::string_view name, const Weights& weights) {
    const auto type = json_or<std::string>(config, "model_type", "bert", name);
    const auto found = families().find(type);
    if (found == families().end()) {
        std::vector<std::string> known;
        for (const auto& [key, read] : families()) known.push_back(key);
        throw data_error("{}: model_type {} is not supported; known: {}", name, faceter::quoted(type), join(known, ", "));
    }
    EncoderConfig c = found->second(config, name, weights);
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

void read_common_sizes(EncoderConfig& config, const Json& json, std::string_view name) {
    config.num_layers = size_member(json, "num_hidden_layers", name);
    config.hidden_dim = size_member(json, "hidden_size", name);
    config.num_heads = size_member(json, "num_attention_heads", name);
    config.intermediate_dim = size_member(json, "intermediate_size", name);
    config.vocab_size = size_member(json, "vocab_size", name);
    config.head_dim = head_dim_member(config, name, "hidden_size", "num_attention_heads");
}

double probability_member(const Json& config, std::string_view key, std::string_view name, double fallback) {
    const double value = json_or<double>(config, key, fallback, name);
    if (!(value >= 0 && value < 1)) throw data_error("{}: member '{}' is {}, expected a probability below 1", name, key, value);
    return value;
}

Activation activation_member(const Json& config, std::string_view key, std::string_view name, const char* fallback) {
    static const std::map<std::string, Activation> known = {
        {"gelu", Activation::gelu},           {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
        {"gelu_fast", Activation::gelu_tanh}, {"relu", Activation::relu},          {"silu", Activation::silu},
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
