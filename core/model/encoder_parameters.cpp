#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "model/encoder.h"

namespace faceter {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 24;

std::int64_t size_member(const Json& config, std::string_view key, std::string_view name, std::int64_t fallback = 0) {
    const std::int64_t value = fallback > 0 ? json_or<std::int64_t>(config, key, fallback, name) : json_at<std::int64_t>(config, key, name);
    if (value < 1 || value > largest_size) throw data_error("{}: member '{}' is {}, expected 1 to {}", name, key, value, largest_size);
    return value;
}

double probability_member(const Json& config, std::string_view key, std::string_view name) {
    const double value = json_or<double>(config, key, 0.1, name);
    if (!(value >= 0 && value < 1)) throw data_error("{}: member '{}' is {}, expected a probability below 1", name, key, value);
    return value;
}

bool is_decayed(const std::string& name) { return name.find("LayerNorm") == std::string::npos && !name.ends_with(".bias"); }

/// The q, k and v rows of a fused tensor, under Hugging Face's names.
std::vector<NamedTensor> split_qkv(const std::string& prefix, const LinearWeights& qkv, std::int64_t dim) {
    static constexpr const char* parts[] = {"query", "key", "value"};
    std::vector<NamedTensor> tensors;
    for (std::int64_t i = 0; i < 3; ++i) {
        tensors.push_back({prefix + "attention.self." + parts[i] + ".weight", qkv.weight.detach().narrow(0, i * dim, dim)});
        tensors.push_back({prefix + "attention.self." + parts[i] + ".bias", qkv.bias.detach().narrow(0, i * dim, dim)});
    }
    return tensors;
}

/// LayerNorm's parameters as the first BERT checkpoints call them.
std::string first_bert_name(std::string name) {
    if (const auto at = name.find("LayerNorm.weight"); at != std::string::npos) name.replace(at, 16, "LayerNorm.gamma");
    if (const auto at = name.find("LayerNorm.bias"); at != std::string::npos) name.replace(at, 14, "LayerNorm.beta");
    return name;
}

}  // namespace

EncoderConfig EncoderConfig::from_json(const Json& config, std::string_view name) {
    const std::string type = json_or<std::string>(config, "model_type", "bert", name);
    if (type != "bert") throw data_error("{}: model_type '{}' is not supported; known: bert", name, type);
    if (const auto kind = json_or<std::string>(config, "position_embedding_type", "absolute", name); kind != "absolute")
        throw data_error("{}: position_embedding_type '{}' is not supported; known: absolute", name, kind);
    if (const auto act = json_or<std::string>(config, "hidden_act", "gelu", name); act != "gelu")
        throw data_error("{}: hidden_act '{}' is not supported; known: gelu", name, act);
    EncoderConfig c;
    c.num_layers = size_member(config, "num_hidden_layers", name);
    c.hidden_dim = size_member(config, "hidden_size", name);
    c.num_heads = size_member(config, "num_attention_heads", name);
    c.intermediate_dim = size_member(config, "intermediate_size", name);
    c.vocab_size = size_member(config, "vocab_size", name);
    c.max_positions = size_member(config, "max_position_embeddings", name, 512);
    c.num_token_types = size_member(config, "type_vocab_size", name, 2);
    c.norm_epsilon = json_or<double>(config, "layer_norm_eps", 1e-12, name);
    c.hidden_dropout = probability_member(config, "hidden_dropout_prob", name);
    c.attention_dropout = probability_member(config, "attention_probs_dropout_prob", name);
    if (c.num_layers > 1024) throw data_error("{}: member 'num_hidden_layers' is {}, expected 1 to 1024", name, c.num_layers);
    if (c.hidden_dim % c.num_heads != 0)
        throw data_error("{}: hidden_size {} is not a multiple of num_attention_heads {}", name, c.hidden_dim, c.num_heads);
    return c;
}

void Encoder::visit(const std::function<void(const std::string&, at::Tensor&, bool, int)>& visitor) {
    const auto shared = [&](const std::string& name, at::Tensor& tensor) { visitor(name, tensor, is_decayed(name), -1); };
    shared("embeddings.word_embeddings.weight", word_);
    shared("embeddings.position_embeddings.weight", position_);
    shared("embeddings.token_type_embeddings.weight", token_type_);
    shared("embeddings.LayerNorm.weight", embedding_gamma_);
    shared("embeddings.LayerNorm.bias", embedding_beta_);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const std::string prefix = fmt::format("encoder.layer.{}.", i);
        Block& block = blocks_[i];
        shared(prefix + "attention.self.qkv.weight", block.qkv.weight);
        shared(prefix + "attention.self.qkv.bias", block.qkv.bias);
        shared(prefix + "attention.output.dense.weight", block.attention_output.weight);
        shared(prefix + "attention.output.dense.bias", block.attention_output.bias);
        for (std::size_t e = 0; e < block.experts.size(); ++e) {
            Expert& x = block.experts[e];
            at::Tensor* members[] = {&x.attention_gamma, &x.attention_beta, &x.up, &x.up_bias, &x.down, &x.down_bias, &x.output_gamma, &x.output_beta};
            const auto names = x.tensors();
            for (std::size_t m = 0; m < names.size(); ++m) {
                const bool norm = names[m].name.find("LayerNorm") != std::string::npos;
                if (norm && block.shared_norms && e > 0) continue;  // the same tensors as expert 0's
                const bool own = block.is_mixture() && !(norm && block.shared_norms);
                const std::string name = own ? fmt::format("{}experts.{}.{}", prefix, e, names[m].name) : prefix + names[m].name;
                visitor(name, *members[m], is_decayed(names[m].name), own ? static_cast<int>(e) : -1);
            }
        }
    }
}

std::vector<Parameter> Encoder::parameters() const {
    std::vector<Parameter> all;
    const_cast<Encoder*>(this)->visit(
        [&](const std::string& name, at::Tensor& tensor, bool decay, int expert) { all.push_back({name, tensor, decay, expert}); });
    return all;
}

std::vector<NamedTensor> Encoder::named_tensors() const {
    std::vector<NamedTensor> all;
    const_cast<Encoder*>(this)->visit([&](const std::string& name, at::Tensor& tensor, bool, int) {
        const auto at = name.find("attention.self.qkv.weight");
        if (at != std::string::npos) {
            const auto index = static_cast<std::size_t>(std::stoul(name.substr(std::string("encoder.layer.").size())));
            const auto split = split_qkv(name.substr(0, at), blocks_[index].qkv, config_.hidden_dim);
            all.insert(all.end(), split.begin(), split.end());
        } else if (name.find("attention.self.qkv.bias") == std::string::npos) {
            all.push_back({name, tensor.detach()});
        }
    });
    return all;
}

std::vector<NamedTensor> Encoder::dense_tensors(int expert) const {
    std::vector<NamedTensor> all;
    for (NamedTensor& tensor : named_tensors()) {
        const std::string marker = ".experts.";
        const auto at = tensor.name.find(marker);
        if (at == std::string::npos) {
            all.push_back(std::move(tensor));
            continue;
        }
        const auto rest = tensor.name.substr(at + marker.size());
        if (std::stoi(rest) == expert) all.push_back({tensor.name.substr(0, at + 1) + rest.substr(rest.find('.') + 1), tensor.tensor});
    }
    // Blocks with shared norms name the MLP of expert 0 alone "experts.0": the norms went through above.
    return all;
}

void Encoder::read_tensor(const Weights& weights, const std::string& name, const at::Tensor& destination) const {
    const TensorInfo& info = weights.at(name);
    if (!std::equal(info.shape.begin(), info.shape.end(), destination.sizes().begin(), destination.sizes().end()))
        throw data_error("{}: tensor '{}' has shape [{}], config.json makes it [{}]", weights.description(), name, fmt::join(info.shape, ", "),
                         fmt::join(destination.sizes(), ", "));
    const bool in_place = destination.scalar_type() == at::kFloat && destination.device().is_cpu() && destination.is_contiguous();
    const at::Tensor values = in_place ? destination : at::empty(destination.sizes(), at::kFloat);
    weights.read_float(name, {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    if (!in_place) destination.copy_(values);
}

void Encoder::load_weights(const Weights& weights, const std::string& own_prefix) {
    const std::string prefix = weights.find("bert.embeddings.word_embeddings.weight") ? "bert." : own_prefix;
    for (const NamedTensor& wanted : named_tensors()) {
        const std::string name = prefix + wanted.name;
        const std::string old = first_bert_name(name);
        read_tensor(weights, !weights.find(name) && weights.find(old) ? old : name, wanted.tensor);
    }
}

void Encoder::load_dense(const Weights& weights, const std::string& prefix, int expert) {
    for (const NamedTensor& wanted : named_tensors()) {
        std::string name = prefix + wanted.name;
        if (!weights.find(name) && wanted.name.starts_with("encoder.layer.")) {
            const auto at = wanted.name.find('.', std::string("encoder.layer.").size());
            name = fmt::format("{}{}.experts.{}{}", prefix, wanted.name.substr(0, at), expert, wanted.name.substr(at));
        }
        read_tensor(weights, name, wanted.tensor);
    }
}

void Encoder::require_grad(bool on) {
    for (const Parameter& p : parameters()) p.tensor.requires_grad_(on);
}

std::unique_ptr<Encoder> Encoder::clone(at::ScalarType dtype) const {
    auto copy = std::make_unique<Encoder>(*this);
    copy->dtype_ = dtype;
    copy->visit([&](const std::string&, at::Tensor& tensor, bool, int) { tensor = tensor.detach().to(dtype, /*non_blocking=*/false, /*copy=*/true); });
    for (Block& block : copy->blocks_)
        for (std::size_t e = 1; block.shared_norms && e < block.experts.size(); ++e) {
            block.experts[e].attention_gamma = block.experts[0].attention_gamma;
            block.experts[e].attention_beta = block.experts[0].attention_beta;
            block.experts[e].output_gamma = block.experts[0].output_gamma;
            block.experts[e].output_beta = block.experts[0].output_beta;
        }
    return copy;
}

std::int64_t Encoder::total_parameters() const {
    std::int64_t total = 0;
    for (const Parameter& p : parameters()) total += p.tensor.numel();
    return total;
}

std::int64_t Encoder::active_parameters() const {
    std::int64_t total = 0;
    for (const Parameter& p : parameters())
        if (p.expert <= 0) total += p.tensor.numel();
    return total;
}

std::int64_t Encoder::multiply_adds_per_token(std::int64_t length) const {
    const std::int64_t d = config_.hidden_dim;
    return config_.num_layers * (4 * d * d + 2 * d * config_.intermediate_dim + 2 * length * d);
}

}  // namespace faceter
