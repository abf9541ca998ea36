#include "checkpoint/parameter_count.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <optional>
#include <utility>

#include "checkpoint/hub.h"
#include "checkpoint/tokenizer_folder.h"
#include "common/error.h"
#include "common/strings.h"
#include "text/model_words.h"

namespace faceter {

namespace {

double routed_parameters(const EncoderConfig& c) {
    double total = 0;
    for (std::int64_t i = 0; i < c.num_layers; ++i)
        if (c.is_routed(i))
            total += static_cast<double>(c.routed.num_experts) * (c.gated ? 3.0 : 2.0) * static_cast<double>(c.hidden_dim) *
                     static_cast<double>(c.intermediate_dim);
    return total;
}

void require_chain(const EncoderConfig& config, const std::vector<DenseModule>& heads, std::string_view name) {
    std::int64_t width = config.hidden_dim;
    for (const DenseModule& head : heads) {
        if (head.in_features != width)
            throw data_error("{}: layer {} behind pooling takes {} features, and what is before it gives {}; it belongs to another model",
                             name, faceter::quoted(head.name), head.in_features, width);
        width = head.out_features;
    }
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// One that is there is of these sizes, and of numbers.
void require_shape(const Weights& weights, const std::string& tensor, const std::vector<std::int64_t>& shape, std::string_view name) {
    const TensorInfo* info = weights.find(tensor);
    if (!info) return;  // under another name; the loading says what is missing
    if (info->shape != shape)
        throw data_error("{}: makes tensor {} of shape {}, and in {} it has {}; they are not of the same model", name,
                         faceter::quoted(tensor), shape_text(shape), weights.description(), shape_text(info->shape));
    const DType type = info->dtype;
    if (type != DType::f32 && type != DType::f16 && type != DType::bf16 && type != DType::f64)
        throw data_error("{}: tensor {} is {}; F32, F16, BF16 or F64 was expected", weights.description(), faceter::quoted(tensor),
                         dtype_name(type));
}

void require_linears(const EncoderConfig& c, const Weights& weights, std::string_view name) {
    const auto [names, prefix] = names_in(weights, c);
    const auto joined = [](const std::vector<std::string>& parts, const std::vector<std::int64_t>& rows, std::size_t i) {
        return parts.size() == 1 ? std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) : rows[i];
    };
    const std::vector<std::int64_t> up(c.gated ? 2 : 1, c.intermediate_dim), qkv = c.qkv_dims();
    for (std::int64_t i = 0; i < c.num_layers; ++i) {
        const std::string block = prefix + fmt::format(fmt::runtime(names.block), i);
        const auto require = [&](const std::string& linear, std::int64_t rows, std::int64_t columns) {
            require_shape(weights, block + linear + ".weight", {rows, columns}, name);
        };
        if (names.qkv.size() == 1 || names.qkv.size() == qkv.size())
            for (std::size_t n = 0; n < names.qkv.size(); ++n) require(names.qkv[n], joined(names.qkv, qkv, n), c.hidden_dim);
        require(names.attention_output, c.hidden_dim, c.num_heads * c.head_dim);
        if (c.is_routed(i)) continue;
        if (names.up.size() == 1 || names.up.size() == up.size())
            for (std::size_t n = 0; n < names.up.size(); ++n) require(names.up[n], joined(names.up, up, n), c.hidden_dim);
        require(names.down, c.hidden_dim, c.intermediate_dim);
    }
}

/// A layer behind pooling has what its own config.json says, and nothing else: sentence-transformers refuses what it does not know.
void require_heads(const std::vector<DenseModule>& heads, const Weights& weights) {
    for (const DenseModule& head : heads) {
        const std::string linear = head.name + ".linear.", module = head.name + "/config.json";
        if (!weights.find(linear + "weight")) continue;  // a run with an encoder a task has one each, elsewhere in its file
        require_shape(weights, linear + "weight", {head.out_features, head.in_features}, module);
        if (head.bias == (weights.find(linear + "bias") != nullptr)) {
            require_shape(weights, linear + "bias", {head.out_features}, module);
            continue;
        }
        throw data_error("{}: {} says bias: {}, and {} has {}linear.bias; set it to what the file holds", weights.description(), module,
                         head.bias, head.name + "/model.safetensors", head.bias ? "no " : "a ");
    }
}

}  // namespace

std::string original_name(const std::string& name) {
    constexpr std::string_view ending = ".weight";
    if (!name.ends_with(ending)) return name;
    return name.substr(0, name.size() - ending.size()) + ".parametrizations.weight.original";
}

std::pair<const EncoderNames&, std::string> names_in(const Weights& weights, const EncoderConfig& config) {
    for (const EncoderNames* names : {&config.names, config.released ? &*config.released : nullptr}) {
        if (!names) continue;
        const std::string always = fmt::format(fmt::runtime(names->block), 0) + names->attention_output + ".weight";
        for (const std::string& prefix : names->prefixes)
            if (weights.find(prefix + always) || weights.find(original_name(prefix + always))) return {*names, prefix};
    }
    return {config.names, ""};
}

double parameters_at_least(const EncoderConfig& c) {
    const double hidden = static_cast<double>(c.hidden_dim), heads = static_cast<double>(c.num_heads),
                 attention = (2 * heads + 2 * static_cast<double>(c.num_key_heads)) * static_cast<double>(c.head_dim);
    const double mlp = (c.gated ? 3 : 2) * hidden * static_cast<double>(c.intermediate_dim);
    double total =
        hidden * (static_cast<double>(c.vocab_size) + static_cast<double>(c.max_positions) + static_cast<double>(c.num_token_types));
    total += static_cast<double>(c.relative_buckets) * heads + 2 * static_cast<double>(c.disentangled.span) * hidden;
    for (std::int64_t i = 0; i < c.num_layers; ++i) total += hidden * attention + (c.is_routed(i) ? 0 : mlp);
    return total + routed_parameters(c);
}

void require_held_by(const EncoderConfig& config, const std::vector<DenseModule>& heads, const Weights& weights, std::string_view name) {
    double wanted = parameters_at_least(config), held = 0;
    for (const DenseModule& head : heads) wanted += static_cast<double>(head.in_features) * static_cast<double>(head.out_features);
    for (const std::string& tensor : weights.names()) held += static_cast<double>(weights.find(tensor)->numel());
    if (wanted > held)
        throw data_error(
            "{}: the sizes make a model of {:.0f} parameters or more, but {} holds {:.0f} values; they are not of the same model, or the "
            "file is incomplete",
            name, wanted, weights.description(), held);
    require_chain(config, heads, name);
    require_linears(config, weights, name);
    require_heads(heads, weights);
}

std::unique_ptr<Tokenizer> load_model_tokenizer(const ModelFolder& folder, const EncoderConfig& config, std::string_view name) {
    return load_tokenizer_for(static_cast<std::size_t>(config.vocab_size), name, tokenizer_home(folder.encoder_folder),
                              folder.lowercase_first);
}

namespace {

std::optional<std::string> remark_on_length(const ModelFolder& folder, const EncoderConfig& config) {
    const auto trained = static_cast<std::size_t>(config.length_limit);
    if (trained == 0 || config.max_positions > 0 || folder.max_seq_length <= trained) return std::nullopt;
    return fmt::format(
        "{}: max_seq_length is {}, and the model was trained for {} positions; longer texts are read on, as sentence-transformers does, "
        "at positions that it never saw",
        folder.folder.string(), folder.max_seq_length, trained);
}

/// As sentence-transformers warns: of the hub's models by their names.
std::optional<std::string> remark_on_instructor(const ModelFolder& folder) {
    const std::string name = HubModel::name_of(folder.folder);
    if (!folder.include_prompt || lowercase_ascii(name.substr(name.find('/') + 1)).find("instructor") == std::string::npos)
        return std::nullopt;
    return fmt::format(
        "{}: {} is called as INSTRUCTOR's models are, which leave the instruction's tokens out of pooling, and its files do not say so; if "
        "it is one, set include_prompt to false in its pooling's config.json",
        folder.folder.string(), faceter::quoted(name));
}

std::optional<std::string> remark_on_words(const Tokenizer& tokenizer, std::string_view name) {
    const auto rows = static_cast<int>(tokenizer.vocab_size());
    const std::string first = tokenizer.id_to_piece(rows);
    if (first.empty()) return std::nullopt;
    return fmt::format(
        "{}: the tokenizer beside it has tokens from {} (id {}) on, and the model embeddings for {}; a text that holds one is refused",
        name, faceter::quoted(first), rows, rows);
}

}  // namespace

std::vector<std::string> check_model(const ModelFolder& folder) {
    const std::string name = (folder.encoder_folder / "config.json").string();
    const Weights weights = folder.weights();
    const EncoderConfig config = EncoderConfig::from_json(folder.config, name, weights);
    require_held_by(config, folder.dense, weights, name);
    const auto tokenizer = load_model_tokenizer(folder, config, name);
    std::vector<std::string> remarks = config.remarks;
    if (const auto remark = remark_on_length(folder, config)) remarks.push_back(*remark);
    if (const auto remark = remark_on_instructor(folder)) remarks.push_back(*remark);
    if (const auto remark = remark_on_words(*tokenizer, name)) remarks.push_back(*remark);
    if (const auto remark = remark_on_home(folder.encoder_folder)) remarks.push_back(*remark);
    if (const auto remark = remark_on_steps(folder.encoder_folder)) remarks.push_back(*remark);
    return remarks;
}

}  // namespace faceter
