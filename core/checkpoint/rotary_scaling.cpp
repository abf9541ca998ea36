#include "checkpoint/rotary_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "checkpoint/relative_position.h"
#include "common/error.h"

namespace faceter {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

double number_or(const Json& parameters, const char* key, std::string_view name, double fallback) {
    return parameters.contains(key) && !parameters.at(key).is_null() ? json_at<double>(parameters, key, name) : fallback;
}

double positive(double value, const char* key, std::string_view name) {
    if (!(value > 0 && value < 1e30))
        throw data_error("{}: the scaling of rotary positions has {} {}, expected a positive number", name, key, value);
    return value;
}

/// How much longer texts are than those that the model was first trained on.
double factor_of(const Json& parameters, std::string_view name, double usual) {
    return positive(number_or(parameters, "factor", name, usual), "factor", name);
}

double original_length(const Json& parameters, std::string_view name) {
    constexpr std::int64_t longest = 1 << 24;
    const auto length = json_at<double>(parameters, "original_max_position_embeddings", name);
    if (!(length >= 1 && length <= static_cast<double>(longest)))
        throw data_error("{}: the scaling of rotary positions has original_max_position_embeddings {}, expected 1 to {}", name, length,
                         longest);
    return length;
}

double magnitude(double factor, double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; }

double yarn_amplitude(const Json& parameters, std::string_view name, double factor) {
    const double numerator = number_or(parameters, "mscale", name, 0), denominator = number_or(parameters, "mscale_all_dim", name, 0);
    const double usual =
        numerator != 0 && denominator != 0 ? magnitude(factor, numerator) / magnitude(factor, denominator) : magnitude(factor, 1);
    return positive(number_or(parameters, "attention_factor", name, usual), "attention_factor", name);
}

/// The pairs between which frequencies go over from their own to the slower ones.
struct Ramp {
    double low, high;
    float at(std::int64_t i) const {
        const double end = high == low ? high + 0.001 : high;
        return std::clamp((static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(end - low), 0.0f, 1.0f);
    }
};

Ramp yarn_ramp(const Rotary& rotary, const Json& parameters, std::string_view name, std::int64_t rotary_dim) {
    const double original = original_length(parameters, name), dim = static_cast<double>(rotary_dim);
    const auto pair_that_turns = [&](const char* key, double usual) {  // so many times within the original length
        const double given = number_or(parameters, key, name, usual), times = positive(given == 0 ? usual : given, key, name);
        return dim * std::log(original / (times * two_pi)) / (2 * std::log(rotary.base));
    };
    Ramp ramp{pair_that_turns("beta_fast", 32), pair_that_turns("beta_slow", 1)};
    if (json_or<bool>(parameters, "truncate", true, name)) ramp = {std::floor(ramp.low), std::ceil(ramp.high)};
    return {std::max(ramp.low, 0.0), std::min(ramp.high, dim - 1)};
}

/// The member that says the type of the scaling, the one that counts where both do; null where none does.
const char* scaling_member(const Json& config) {
    for (const char* member : {"rope_scaling", "rope_parameters"})
        if (config.is_object() && config.contains(member) && config.at(member).is_object())
            if (const Json& said = config.at(member); said.contains("rope_type") || said.contains("type")) return member;
    return nullptr;
}

/// Empty where it is no text.
std::string scaling_type(const Json& parameters) {
    const Json& type = parameters.at(parameters.contains("rope_type") ? "rope_type" : "type");
    return type.is_string() ? type.get<std::string>() : "";
}

void scale_by_dynamic_ntk(EncoderConfig& encoder, const Json& parameters, std::string_view name) {
    if (encoder.rotary_dim <= 2)
        throw data_error("{}: rotary positions of type \"dynamic\" need heads of more than 2 elements, these have {}", name,
                         encoder.rotary_dim);
    encoder.rotary_scaling = factor_of(parameters, name, 0);
    encoder.trained_positions = std::exchange(encoder.length_limit, 0);
}

/// 1 / (factors[i] base^(2i / rotary_dim)).
std::vector<float> divided_frequencies(const EncoderConfig& encoder, const Json& parameters, const char* key, std::string_view name) {
    const auto factors = json_at<std::vector<double>>(parameters, key, name);
    const std::int64_t pairs = encoder.rotary_dim / 2;
    if (static_cast<std::int64_t>(factors.size()) != pairs)
        throw data_error("{}: {} of the scaling of rotary positions has {} numbers, expected {}, one for each pair of a head", name, key,
                         factors.size(), pairs);
    std::vector<float> frequencies;
    for (std::int64_t i = 0; i < pairs; ++i) {
        const double factor = positive(factors[static_cast<std::size_t>(i)], key, name);
        const float turn =
            std::pow(static_cast<float>(encoder.rotary.base), static_cast<float>(2 * i) / static_cast<float>(encoder.rotary_dim));
        frequencies.push_back(1 / (static_cast<float>(factor) * turn));
    }
    return frequencies;
}

void scale_by_longrope(EncoderConfig& encoder, const Json& parameters, std::string_view name) {
    const double original = original_length(parameters, name), longest = static_cast<double>(encoder.length_limit),
                 factor = factor_of(parameters, name, longest / original),
                 usual = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
    std::vector<float> both = divided_frequencies(encoder, parameters, "short_factor", name);
    const std::vector<float> beyond = divided_frequencies(encoder, parameters, "long_factor", name);
    both.insert(both.end(), beyond.begin(), beyond.end());
    encoder.rotary.frequencies = std::move(both);
    encoder.rotary.amplitude =
        static_cast<float>(positive(number_or(parameters, "attention_factor", name, usual), "attention_factor", name));
    encoder.rotary_scaling = 1;
    encoder.trained_positions = static_cast<std::int64_t>(original);
}

}  // namespace

bool grows_with_length(const Json& config) {
    const char* member = scaling_member(config);
    return member && scaling_type(config.at(member)) == "dynamic";
}

bool turns_by_length(const EncoderConfig& encoder, std::size_t named) {
    const auto beyond = [&](std::int64_t length) { return length > encoder.trained_positions; };
    return encoder.rotary_scaling > 0 &&
           (encoder.length_limit == 0 || beyond(encoder.length_limit) || beyond(static_cast<std::int64_t>(named)));
}

void take_original_length(Json& parameters, const Json& config, std::string_view name) {
    const char* key = "original_max_position_embeddings";
    if (config.contains(key))
        parameters[key] = config.at(key);
    else
        parameters.emplace(key, size_member(config, "max_position_embeddings", name, 1));
}

namespace {

bool says_something(const Json& config, const char* member) {
    return config.contains(member) && config.at(member).is_object() && !config.at(member).empty();
}

/// As transformers reads blocks that are all of one kind: rope_scaling in the place of rope_parameters, not beside it, and neither by kind.
Json without_rivals(const Json& config, std::string_view name, double usual_base) {
    Json plain = config;
    for (const char* member : {"rope_parameters", "rope_scaling"})
        if (says_something(config, member))
            for (const char* kind : {"full_attention", "sliding_attention"})
                refuse_unless(!says_something(config.at(member), kind), config, member, name, "one for all blocks alike");
    if (!says_something(config, "rope_scaling") || !says_something(config, "rope_parameters")) return plain;
    const Json &taken = config.at("rope_scaling"), &left = config.at("rope_parameters");
    const double base = number_or(taken, "rope_theta", name, number_or(config, "rope_theta", name, usual_base)),
                 other = number_or(left, "rope_theta", name, base);
    if (base != other)
        throw data_error(
            "{}: rope_scaling stands beside rope_parameters, which transformers then does not read: rope_theta would be {}, not {}; write "
            "the members of rope_scaling into rope_parameters",
            name, base, other);
    plain.erase("rope_parameters");
    return plain;
}

}  // namespace

void read_rotary(EncoderConfig& encoder, const Json& given, std::string_view name, double usual_base) {
    const Json config = without_rivals(given, name, usual_base);
    const char* member = scaling_member(config);
    const std::string type = member ? scaling_type(config.at(member)) : "";
    Json plain = config;
    if (type == "dynamic" || type == "longrope") plain.at(member)["rope_type"] = "default";
    encoder.rotary = rotary_member(plain, name, usual_base, encoder.rotary_dim);
    if (type == "dynamic") scale_by_dynamic_ntk(encoder, config.at(member), name);
    if (type != "longrope") return;
    Json parameters = config.at(member);
    take_original_length(parameters, config, name);
    scale_by_longrope(encoder, parameters, name);
}

void scale_by_yarn(Rotary& rotary, const Json& parameters, std::string_view name, std::int64_t rotary_dim, std::int64_t longest) {
    positive(rotary.base - 1, "rope_theta - 1", name);
    const double factor = factor_of(parameters, name, static_cast<double>(longest) / original_length(parameters, name));
    const Ramp ramp = yarn_ramp(rotary, parameters, name, rotary_dim);
    std::vector<float> frequencies;
    for (std::int64_t i = 0; i < rotary_dim / 2; ++i) {
        const float own = rotary_frequency(i, rotary_dim, rotary), slower = 1 / (static_cast<float>(factor) * (1 / own)),
                    kept = 1 - ramp.at(i);
        frequencies.push_back(slower * (1 - kept) + own * kept);
    }
    rotary.frequencies = std::move(frequencies);
    rotary.amplitude = static_cast<float>(yarn_amplitude(parameters, name, factor));
}

void scale_by_llama3(Rotary& rotary, const Json& parameters, std::string_view name, std::int64_t rotary_dim) {
    const double factor = positive(json_at<double>(parameters, "factor", name), "factor", name),
                 original = original_length(parameters, name),
                 low = positive(json_at<double>(parameters, "low_freq_factor", name), "low_freq_factor", name),
                 high = positive(json_at<double>(parameters, "high_freq_factor", name), "high_freq_factor", name);
    if (low >= high)
        throw data_error(
            "{}: the scaling of rotary positions has low_freq_factor {} and high_freq_factor {}, expected a smaller and a larger", name,
            low, high);
    std::vector<float> frequencies;
    for (std::int64_t i = 0; i < rotary_dim / 2; ++i) {
        const float own = rotary_frequency(i, rotary_dim, rotary), length = static_cast<float>(two_pi) / own,
                    slower = own / static_cast<float>(factor);
        const float share = (static_cast<float>(original) / length - static_cast<float>(low)) / static_cast<float>(high - low);
        const bool is_long = length > static_cast<float>(original / low), is_short = length < static_cast<float>(original / high);
        frequencies.push_back(is_long ? slower : is_short ? own : (1 - share) * own / static_cast<float>(factor) + share * own);
    }
    rotary.frequencies = std::move(frequencies);
}

}  // namespace faceter
