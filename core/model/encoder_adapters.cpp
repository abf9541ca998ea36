#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "model/encoder.h"
#include "model/matrix.h"
#include "model/read_tensor.h"

// Low-rank adapters of an encoder (LoRA; RouterRetriever's gates): which layers, reading and writing, and the sums in a forward pass.

namespace faceter {
namespace {

std::string tensor_name(const Adapter& adapter, const LowRankUpdate& update, char part) {
    return fmt::format("adapters.{}.{}.lora_{}.weight", adapter.name, update.place.module, part);
}

/// The last parts of the names of query and value; of a family that joins them with key, the joined layer.
std::vector<std::string> attention_targets(const EncoderNames& names) {
    const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
    if (names.qkv.size() == 1) return {last(names.qkv[0])};
    return {last(names.qkv[0]), last(names.qkv[2])};
}

template <typename Visit>
void for_each_update(const Adapter& adapter, Visit visit) {
    for (const auto& block : adapter.blocks)
        for (const auto& updates : block)
            for (const LowRankUpdate& update : updates) visit(update);
}

Adapter empty_adapter(const std::string& name, AdapterConfig config, std::size_t num_blocks) {
    Adapter adapter{name, std::move(config), {}};
    adapter.blocks.resize(num_blocks);
    return adapter;
}

std::vector<LowRankUpdate>& updates_at(Adapter& adapter, const LinearPlace& place) {
    return adapter.blocks[place.block][static_cast<std::size_t>(place.which)];
}

}  // namespace

const at::Tensor& Encoder::weight_of(const LinearPlace& place) const {
    const Block& block = blocks_[place.block];
    switch (place.which) {
        case BlockLinear::qkv:
            return block.qkv.weight;
        case BlockLinear::attention_output:
            return block.attention_output.weight;
        case BlockLinear::up:
            return block.experts.front().up;
        case BlockLinear::down:
            break;
    }
    return block.experts.front().down;
}

std::vector<LinearPlace> Encoder::linears() const {
    const EncoderNames& n = config_.names;
    std::vector<LinearPlace> all;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const std::string place = fmt::format(fmt::runtime(n.block), i);
        const auto add = [&](BlockLinear which, const std::vector<std::string>& names) {
            const at::Tensor& weight = weight_of({"", i, which, 0, 0, 0});
            if (!weight.defined()) return;  // the MLP of a token-routed block
            const std::int64_t rows = weight.size(0) / static_cast<std::int64_t>(names.size());
            for (std::size_t part = 0; part < names.size(); ++part)
                all.push_back({place + names[part], i, which, static_cast<std::int64_t>(part) * rows, rows, weight.size(1)});
        };
        add(BlockLinear::qkv, n.qkv);
        add(BlockLinear::attention_output, {n.attention_output});
        if (blocks_[i].is_mixture()) continue;
        add(BlockLinear::up, n.up);
        add(BlockLinear::down, {n.down});
    }
    return all;
}

std::size_t Encoder::add_adapter(const std::string& name, AdapterConfig config, std::uint64_t seed) {
    const at::NoGradGuard no_grad;
    if (config.targets.empty()) config.targets = attention_targets(config_.names);
    const auto places = linears();
    for (const std::string& target : config.targets)
        if (std::none_of(places.begin(), places.end(), [&](const LinearPlace& p) { return is_adapter_target(p.module, {target}); })) {
            std::vector<std::string> known;
            for (const LinearPlace& p : places)
                if (p.block == 0) known.push_back(p.module.substr(p.module.rfind('.') + 1));
            throw settings_error("no linear layer of the model is called {}{}", faceter::quoted(target), suggestion(target, known));
        }
    Adapter adapter = empty_adapter(name, std::move(config), blocks_.size());
    for (const LinearPlace& place : places) {
        if (!is_adapter_target(place.module, adapter.config.targets)) continue;
        const auto generator = at::detail::createCPUGenerator(hash64(place.module, hash64(name, seed)));
        // Kaiming's uniform with a = sqrt(5), as PEFT: +- 1 / sqrt(in).
        const at::Tensor a = at::rand({adapter.config.rank, place.columns}, generator, at::TensorOptions(at::kFloat))
                                 .mul_(2)
                                 .sub_(1)
                                 .div_(std::sqrt(static_cast<double>(place.columns)));
        updates_at(adapter, place).push_back({place, a.to(dtype_), at::zeros({place.rows, adapter.config.rank}, dtype_)});
    }
    adapters_.push_back(std::move(adapter));
    return adapters_.size() - 1;
}

std::size_t Encoder::add_adapter(const std::string& name, const AdapterFolder& folder) {
    const auto places = linears();
    Adapter adapter = empty_adapter(name, folder.config, blocks_.size());
    for (const std::string& module : folder.modules) {
        // A model with a head calls its encoder "bert." or the like.
        const auto found = std::find_if(places.begin(), places.end(), [&](const LinearPlace& p) {
            return std::any_of(config_.names.prefixes.begin(), config_.names.prefixes.end(),
                               [&](const std::string& prefix) { return module == prefix + p.module; });
        });
        if (found == places.end())
            throw data_error("{}: changes the layer {}, which this model ({} layers, {} wide) lacks; expected an adapter of this model",
                             folder.folder.string(), faceter::quoted(module, 120), config_.num_layers, config_.hidden_dim);
        LowRankUpdate update{*found, {}, {}};
        for (const auto& [part, tensor, shape] : {std::tuple('A', &update.a, std::vector<std::int64_t>{folder.config.rank, found->columns}),
                                                  std::tuple('B', &update.b, std::vector<std::int64_t>{found->rows, folder.config.rank})}) {
            const std::string tensor_in_file = adapter_tensor_name(module, part);
            const TensorInfo& info = folder.weights.at(tensor_in_file);
            if (info.shape != shape)
                throw data_error("{}: tensor '{}' has shape [{}], this model makes it [{}]; the adapter was trained on another model",
                                 folder.weights.description(), tensor_in_file, fmt::join(info.shape, ", "), fmt::join(shape, ", "));
            *tensor = at::empty(shape, at::kFloat);
            folder.weights.read_float(tensor_in_file, {tensor->data_ptr<float>(), static_cast<std::size_t>(tensor->numel())});
            *tensor = tensor->to(dtype_);
        }
        updates_at(adapter, *found).push_back(std::move(update));
    }
    adapters_.push_back(std::move(adapter));
    return adapters_.size() - 1;
}

void Encoder::remove_adapter(std::size_t index) { adapters_.erase(adapters_.begin() + static_cast<std::ptrdiff_t>(index)); }

void Encoder::write_adapter(std::size_t index, const std::filesystem::path& folder) const {
    const Adapter& adapter = adapters_[index];
    SafetensorsWriter writer;
    std::vector<at::Tensor> kept;
    for_each_update(adapter, [&](const LowRankUpdate& update) {
        for (const auto& [part, tensor] : {std::pair('A', update.a), std::pair('B', update.b)}) {
            kept.push_back(tensor.detach().to(at::kCPU, at::kFloat).contiguous());
            writer.add(adapter_tensor_name(update.place.module, part), DType::f32, kept.back().sizes().vec(),
                       kept.back().data_ptr<float>());
        }
    });
    writer.write(folder / "adapter_model.safetensors");
    write_adapter_config(folder, adapter.config);
}

std::vector<Parameter> Encoder::adapter_parameters(std::size_t index) const {
    std::vector<Parameter> all;
    for_each_update(adapters_[index], [&](const LowRankUpdate& update) {
        all.push_back({tensor_name(adapters_[index], update, 'A'), update.a, true, static_cast<int>(index) + 1});
        all.push_back({tensor_name(adapters_[index], update, 'B'), update.b, true, static_cast<int>(index) + 1});
    });
    return all;
}

std::vector<NamedTensor> Encoder::adapter_tensors() const {
    std::vector<NamedTensor> all;
    for (std::size_t i = 0; i < adapters_.size(); ++i)
        for (const Parameter& p : adapter_parameters(i)) all.push_back({p.name, p.tensor.detach()});
    return all;
}

void Encoder::load_adapters(const Weights& weights, const std::string& prefix) {
    for (const NamedTensor& own : adapter_tensors()) read_tensor_into(weights, prefix + own.name, own.tensor, "expected");
}

std::vector<LowRankPart> Encoder::low_rank_parts(std::size_t index, BlockLinear which, const PackedLayout& layout) const {
    std::vector<LowRankPart> parts;
    if (adapters_.empty()) return parts;
    for (const Segment& segment : layout.segments()) {
        if (segment.expert <= 0) continue;
        const Adapter& adapter = adapters_[static_cast<std::size_t>(segment.expert) - 1];
        for (const LowRankUpdate& update : adapter.blocks[index][static_cast<std::size_t>(which)])
            parts.push_back({segment.begin, segment.end, &update, adapter.config.scale()});
    }
    return parts;
}

/// y + scale * B A dropout(x) for the sequences that go through an adapter. One mask serves query, key and value, whose input is the same.
at::Tensor Encoder::adapted(std::size_t index, BlockLinear which, const at::Tensor& y, const at::Tensor& x, const PackedBatch& batch,
                            const ForwardContext& context) const {
    const auto parts = low_rank_parts(index, which, *batch.layout);
    if (parts.empty()) return y;
    double p = 0;
    if (context.training)
        for (const Segment& segment : batch.layout->segments())
            if (segment.expert > 0) p = std::max(p, adapters_[static_cast<std::size_t>(segment.expert) - 1].config.dropout);
    const auto site = static_cast<std::uint32_t>(4 * (blocks_.size() + 1 + index) + static_cast<std::size_t>(which));
    return add_low_rank(y, p > 0 ? packed_dropout(x, batch.layout, {p, context.seed, context.step, site}) : x, parts);
}

/// The MLP with updates inside: the fused form has no place for them.
at::Tensor Encoder::adapted_mlp(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const ForwardContext& context) const {
    const Expert& dense = blocks_[index].experts.front();
    const at::Tensor u = adapted(index, BlockLinear::up, linear_layer(x, dense.up, dense.up_bias), x, batch, context);
    const at::Tensor g = activate(u, {config_.activation, config_.gated});
    return adapted(index, BlockLinear::down, linear_layer(g, dense.down, {}), g, batch, context);
}

}  // namespace faceter
