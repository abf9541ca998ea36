#include "model/embedding_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/parameter_count.h"
#include "common/error.h"
#include "common/hash.h"

namespace faceter {

namespace {

std::unique_ptr<EmbeddingModel> without_weights(const ModelFolder& folder, const Weights& weights) {
    auto model = std::make_unique<EmbeddingModel>();
    model->folder = folder;
    const std::string name = (folder.encoder_folder / "config.json").string();
    const auto config = EncoderConfig::from_json(folder.config, name, weights);
    require_held_by(config, folder.dense, weights, name);
    model->encoders.push_back(std::make_unique<Encoder>(config, folder.dense, at::kFloat));
    model->tokenizer = load_tokenizer(folder.encoder_folder, folder.lowercase_first);
    if (static_cast<std::int64_t>(model->tokenizer->vocab_size()) > config.vocab_size)
        throw data_error(
            "{}: the tokenizer beside it gives ids up to {}, the model has embeddings for {}; the tokenizer belongs to another model", name,
            model->tokenizer->vocab_size() - 1, config.vocab_size);
    if (config.length_limit > 0)
        model->folder.max_seq_length = std::min(model->folder.max_seq_length, static_cast<std::size_t>(config.length_limit));
    model->max_length = model->folder.max_seq_length;
    return model;
}

}  // namespace

std::unique_ptr<EmbeddingModel> EmbeddingModel::open(const ModelFolder& folder) {
    const Weights weights = folder.weights();
    auto model = without_weights(folder, weights);
    model->encoders.front()->load_weights(weights);
    return model;
}

std::unique_ptr<EmbeddingModel> EmbeddingModel::open_empty(const ModelFolder& folder) { return without_weights(folder, folder.weights()); }

namespace {

std::string prefix_of(std::size_t encoder, std::size_t num_encoders) {
    return num_encoders == 1 ? "" : fmt::format("encoders.{}.", encoder);
}

void append(std::vector<NamedTensor>& all, std::vector<NamedTensor> tensors, const std::string& prefix) {
    for (NamedTensor& tensor : tensors) all.push_back({prefix + tensor.name, std::move(tensor.tensor)});
}

}  // namespace

std::vector<NamedTensor> EmbeddingModel::base_tensors() const {
    std::vector<NamedTensor> all;
    for (std::size_t i = 0; i < encoders.size(); ++i) append(all, encoders[i]->named_tensors(), prefix_of(i, encoders.size()));
    return all;
}

std::vector<NamedTensor> EmbeddingModel::named_tensors() const {
    std::vector<NamedTensor> all = base_tensors();
    for (std::size_t i = 0; i < encoders.size(); ++i) append(all, encoders[i]->adapter_tensors(), prefix_of(i, encoders.size()));
    return all;
}

void EmbeddingModel::move_to(const c10::Device& device) {
    for (const auto& encoder : encoders) encoder->move_to(device);
}

void EmbeddingModel::load_weights(const Weights& weights) {
    for (std::size_t i = 0; i < encoders.size(); ++i) {
        const std::string prefix = prefix_of(i, encoders.size());
        encoders[i]->load_weights(weights, prefix);
        const auto adapters = encoders[i]->adapter_tensors();
        if (!adapters.empty() && weights.find(prefix + adapters.front().name)) encoders[i]->load_adapters(weights, prefix);
    }
}

void EmbeddingModel::route_by_instruction() {
    for (const Task& task : tasks)
        for (const Role role : {Role::query, Role::document}) routes[{task.name, role}].instruction = task.instruction(role);
}

Route EmbeddingModel::route(const std::string& task, Role role) const {
    const auto found = routes.find({task, role});
    return found == routes.end() ? Route{} : found->second;
}

std::int64_t EmbeddingModel::prompt_rows(const std::string& instruction) const {
    if (folder.include_prompt || instruction.empty()) return 0;
    std::vector<std::int32_t> ids, empty;
    tokenizer->encode(instruction, 0, ids);
    tokenizer->encode("", 0, empty);
    // As sentence-transformers counts: the instruction's ids without the special token that ends a text ([SEP], T5's </s>).
    const bool ended = !empty.empty() && ids.back() == empty.back();
    return static_cast<std::int64_t>(ids.size()) - (ended ? 1 : 0);
}

at::Tensor EmbeddingModel::embed(const Encoder& encoder, const PackedBatch& batch, const ForwardContext& context) const {
    at::Tensor pooled = encoder.apply_heads(pool(encoder.forward(batch, context), batch.layout, folder.pooling, batch.skip));
    if (encoder.dtype() == at::kBFloat16) pooled = pooled.to(at::kFloat);  // lengths, losses and scores are not for half precision
    return folder.normalize ? normalize_rows(pooled) : pooled;
}

namespace {

void append_hashes(std::string& all, const std::vector<Parameter>& parameters) {
    for (const Parameter& p : parameters) {
        const at::Tensor values = p.tensor.detach().cpu().contiguous();
        all += p.name + hash128({static_cast<const char*>(values.data_ptr()), static_cast<std::size_t>(values.nbytes())}).hex();
    }
}

}  // namespace

std::string EmbeddingModel::base_fingerprint() const {
    std::string all = fmt::format("{} {} {} {} {}", tokenizer->fingerprint(), max_length, pooling_name(folder.pooling),
                                  folder.include_prompt, folder.normalize);
    for (const auto& encoder : encoders) append_hashes(all, encoder->parameters());
    return hash128(all).hex();
}

std::string EmbeddingModel::fingerprint() const {
    std::string all;
    for (const auto& encoder : encoders)
        for (std::size_t i = 0; i < encoder->adapters().size(); ++i) append_hashes(all, encoder->adapter_parameters(i));
    if (router) all += router->fingerprint();
    return all.empty() ? base_fingerprint() : hash128(base_fingerprint() + all).hex();
}

}  // namespace faceter
