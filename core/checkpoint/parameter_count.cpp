#include "checkpoint/parameter_count.h"

#include <optional>

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

}  // namespace

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
    if (const auto remark = remark_on_words(*tokenizer, name)) remarks.push_back(*remark);
    if (const auto remark = remark_on_home(folder.encoder_folder)) remarks.push_back(*remark);
    if (const auto remark = remark_on_steps(folder.encoder_folder)) remarks.push_back(*remark);
    return remarks;
}

}  // namespace faceter
