#include "model/embedding_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/parameter_count.h"
#include "common/error.h"
#include "common/hash.h"
#include "model/device.h"
#include "model/model_shape.h"

namespace faceter {

namespace {

std::unique_ptr<EmbeddingModel> without_weights(const ModelFolder& folder, const Weights& weights) {
    auto model = std::make_unique<EmbeddingModel>();
    model->folder = folder;
    const std::string name = (folder.encoder_folder / "config.json").string();
    model->folder.config = native_config(folder.config, name);  // what is written is in transformers' own layout
    model->folder.model_type = json_or<std::string>(model->folder.config, "model_type", folder.model_type, name);
    const auto config = EncoderConfig::from_json(model->folder.config, name, weights);
    require_held_by(config, folder.dense, weights, name);
    model->encoders.push_back(std::make_unique<Encoder>(config, folder.dense, at::kFloat, KeptWeights::as_stored));
    model->tokenizer = load_model_tokenizer(folder, config, name);
    if (config.length_limit > 0 && config.max_positions > 0)
        model->folder.max_seq_length = std::min(model->folder.max_seq_length, static_cast<std::size_t>(config.length_limit));
    model->max_length = model->folder.max_seq_length;
    if (model->max_length <= model->tokenizer->num_special())
        throw data_error(
            "{}: its longest text is of {} tokens, and {} special tokens stand around each, which leaves nothing of a text; name more as "
            "max_seq_length in sentence_bert_config.json",
            folder.folder.string(), model->max_length, model->tokenizer->num_special());
    return model;
}

}  // namespace

namespace {

std::string prefix_of(std::size_t encoder, std::size_t num_encoders) {
    return num_encoders == 1 ? "" : fmt::format("encoders.{}.", encoder);
}

void append(std::vector<NamedTensor>& all, std::vector<NamedTensor> tensors, const std::string& prefix) {
    for (NamedTensor& tensor : tensors) all.push_back({prefix + tensor.name, std::move(tensor.tensor)});
}

const ModelDescription::RouteShape& route_in(const ModelDescription& description, const ServedRoute& wanted, const std::string& folder) {
    for (const ModelDescription::TaskShape& task : description.tasks)
        if (task.name == wanted.task) return wanted.role == Role::query ? task.query : task.document;
    throw data_error("{}: {} names no task '{}'; the folder is of another run", folder, model_description_file, wanted.task);
}

/// The description of what one route needs: a dense encoder, whose task expert is in place, and one adapter. Blocks that route tokens stay.
ModelDescription alone(const ModelDescription& whole, const ServedRoute& served) {
    ModelDescription one = whole;
    one.num_encoders = 1;
    for (ModelDescription::BlockShape& block : one.blocks) block.task_experts = 0;
    std::erase_if(one.tasks, [&](const ModelDescription::TaskShape& task) { return task.name != served.task; });
    for (ModelDescription::TaskShape& task : one.tasks)
        for (ModelDescription::RouteShape* route : {&task.query, &task.document}) *route = {route->instruction, 0, -1, -1, route->routed};
    return one;
}

fs::path adapter_folder(const fs::path& folder, std::size_t index) { return folder / "adapters" / std::to_string(index); }

std::unique_ptr<EmbeddingModel> open_route(const ModelFolder& folder, const ServedRoute& served) {
    const ModelDescription& whole = *folder.description;
    const ModelDescription::RouteShape route = route_in(whole, served, folder.folder.string());
    const Weights weights = folder.weights();
    auto model = without_weights(folder, weights);
    shape_model(*model, alone(whole, served));
    model->encoders.front()->load_weights(
        weights, prefix_of(static_cast<std::size_t>(route.encoder), static_cast<std::size_t>(whole.num_encoders)), route.expert);
    const std::pair key(served.task, served.role);
    std::erase_if(model->routes, [&](const auto& entry) { return entry.first != key; });
    if (route.adapter != Path::none) {
        const auto index = static_cast<std::size_t>(route.adapter);
        model->encoders.front()->add_adapter(whole.adapters[index], AdapterFolder::open(adapter_folder(folder.folder, index)));
        model->routes[key].path = Path::of_adapter(0);
    }
    return model;
}

}  // namespace

std::unique_ptr<EmbeddingModel> EmbeddingModel::open(const ModelFolder& folder, const std::optional<ServedRoute>& only) {
    if (only && folder.description) return open_route(folder, *only);
    const Weights weights = folder.weights();
    auto model = without_weights(folder, weights);
    if (folder.description) shape_model(*model, *folder.description);
    for (std::size_t i = 0; folder.description && i < folder.description->adapters.size(); ++i)
        model->encoders.front()->add_adapter(folder.description->adapters[i], AdapterFolder::open(adapter_folder(folder.folder, i)));
    for (std::size_t i = 0; i < model->encoders.size(); ++i)
        model->encoders[i]->load_weights(weights, prefix_of(i, model->encoders.size()));
    return model;
}

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

void EmbeddingModel::widen() {
    for (const auto& encoder : encoders) encoder->widen();
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
    tokenizer->encode(instruction, max_length, ids);
    tokenizer->encode("", 0, empty);
    // As sentence-transformers counts: the instruction's ids without the special token that ends a text ([SEP], T5's </s>).
    const bool ended = !empty.empty() && ids.back() == empty.back();
    return static_cast<std::int64_t>(ids.size()) - (ended ? 1 : 0);
}

namespace {

/// 1 for a text that has tokens, 0 for one that has none: [S, 1] like `rows`. The bias of a head would give that one a direction.
at::Tensor with_tokens(const PackedLayout& layout, const at::Tensor& rows) {
    const at::Tensor any = at::empty({layout.num_sequences(), 1}, at::kFloat);
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s) any.data_ptr<float>()[s] = layout.length(s) > 0 ? 1.0f : 0.0f;
    return to_device(any.to(rows.scalar_type()), rows.device());
}

}  // namespace

at::Tensor EmbeddingModel::embed(const Encoder& encoder, const PackedBatch& batch, const ForwardContext& context) const {
    if (batch.layout->num_tokens() == 0)
        return at::zeros({batch.layout->num_sequences(), dim()}, at::TensorOptions(at::kFloat).device(encoder.device()));
    at::Tensor pooled = encoder.apply_heads(pool(encoder.forward(batch, context), batch.layout, folder.pooling, batch.skip));
    if (encoder.dtype() == at::kBFloat16) pooled = pooled.to(at::kFloat);  // lengths, losses and scores are not for half precision
    if (folder.normalize) pooled = normalize_rows(pooled);
    return batch.layout->min_length() == 0 ? pooled * with_tokens(*batch.layout, pooled) : pooled;
}

namespace {

void append_hashes(std::string& all, const std::vector<Parameter>& parameters) {
    for (const Parameter& p : parameters) {
        const at::Tensor kept = p.tensor.detach().cpu();  // the same numbers have the same hash, however they are kept
        const at::Tensor values = (kept.scalar_type() == at::kBFloat16 ? kept.to(at::kFloat) : kept).contiguous();
        all += p.name + hash128({static_cast<const char*>(values.data_ptr()), static_cast<std::size_t>(values.nbytes())}).hex();
    }
}

std::string ways_of(const Rotary& rotary) {
    return fmt::format("{} {} {} {} ", rotary.base, rotary.stretch, rotary.amplitude, fmt::join(rotary.frequencies, ","));
}

/// What a pass depends on that no weight tells: folders whose configurations differ give other vectors by the same weights.
std::string ways_of(const EncoderConfig& c, const std::vector<DenseModule>& heads) {
    std::string all = fmt::format("{} {} {} {} {} {} {} {} ", c.num_heads, c.num_key_heads, c.first_position, c.pre_norm,
                                  static_cast<int>(c.norm), c.norm_plus_one, c.first_attention_norm, c.norm_epsilon);
    all += fmt::format("{} {} {} {} {} ", static_cast<int>(c.activation), c.gated, c.gate_second, c.word_scale, c.attention_scale);
    all += fmt::format("{} {} {} {} ", c.rotary_dim, c.rotary_scaling, c.trained_positions, c.relative_max_distance);
    all += ways_of(c.rotary) + ways_of(c.local_rotary);
    const Disentangled& apart = c.disentangled;
    all +=
        fmt::format("{} {} {} {} {} ", apart.span, apart.query_reads_distance, apart.key_reads_distance, apart.buckets, apart.max_distance);
    for (const Reach& reach : {c.reach, c.local_reach}) all += fmt::format("{} {} ", reach.before, reach.after);
    for (std::int64_t i = 0; i < c.num_layers; ++i) all += c.is_local(i) ? 'l' : 'g';
    for (const DenseModule& head : heads) all += head.tanh ? 't' : 'i';
    return all;
}

}  // namespace

std::string EmbeddingModel::base_fingerprint() const {
    std::string all = fmt::format("{} {} {} {} {}", tokenizer->fingerprint(), max_length, pooling_name(folder.pooling),
                                  folder.include_prompt, folder.normalize);
    for (const auto& encoder : encoders) {
        append_hashes(all, encoder->parameters());
        for (const Block& block : encoder->blocks())
            for (const at::Tensor& tensor : block.dense ? block.dense->tensors() : std::vector<at::Tensor>())
                append_hashes(all, {{"dense", tensor}});
    }
    return hash128(all).hex();
}

std::string EmbeddingModel::fingerprint() const {
    std::string all = ways_of(encoders.front()->config(), folder.dense);
    for (const auto& encoder : encoders)
        for (const Block& block : encoder->blocks())
            if (block.routing) all += fmt::format(" {} {}", block.routing->top_k, block.routing->renormalise);
    for (const auto& encoder : encoders)
        for (std::size_t i = 0; i < encoder->adapters().size(); ++i) append_hashes(all, encoder->adapter_parameters(i));
    if (router) all += router->fingerprint();
    return hash128(base_fingerprint() + all + computed).hex();
}

}  // namespace faceter
