#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "checkpoint/adapter_targets.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "model/activated_rows.h"
#include "model/encoder.h"
#include "model/matrix.h"
#include "model/read_tensor.h"

// Low-rank adapters of an encoder (LoRA; RouterRetriever's gates): which layers, reading and writing, and the sums in a forward pass.

namespace faceter {
namespace {

/// The last parts of the names of query and value; of a family that joins them with key, the joined layer.
std::vector<std::string> attention_targets(const EncoderNames& names) {
    const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
    if (names.qkv.size() == 1) return {last(names.qkv[0])};
    return {last(names.qkv[0]), last(names.qkv[2])};
}

Adapter empty_adapter(const std::string& name, AdapterConfig config, std::size_t num_blocks) {
    Adapter adapter{name, std::move(config), {}, {}};
    adapter.blocks.resize(num_blocks);
    return adapter;
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
        const auto add = [&](BlockLinear which, const std::vector<std::string>& names, std::vector<std::int64_t> rows = {}) {
            const at::Tensor& weight = weight_of({"", i, which, 0, 0, 0});
            if (!weight.defined()) return;  // the MLP of a token-routed block
            if (rows.size() != names.size()) rows.assign(names.size(), weight.size(0) / static_cast<std::int64_t>(names.size()));
            std::int64_t first = 0;
            for (std::size_t part = 0; part < names.size(); first += rows[part++])
                all.push_back({place + names[part], i, which, first, rows[part], weight.size(1)});
        };
        add(BlockLinear::qkv, n.qkv, config_.qkv_dims());
        add(BlockLinear::attention_output, {n.attention_output});
        if (blocks_[i].is_mixture()) continue;
        add(BlockLinear::up, n.up);
        add(BlockLinear::down, {n.down});
    }
    return all;
}

std::vector<TablePlace> Encoder::tables() const {
    std::vector<TablePlace> all{{config_.names.word, EmbeddingTable::word, word_.size(0), word_.size(1)}};
    if (token_type_.defined())
        all.push_back({config_.names.token_type, EmbeddingTable::token_type, token_type_.size(0), token_type_.size(1)});
    return all;
}

namespace {

AdapterModules modules_of(const std::vector<LinearPlace>& linears, const std::vector<TablePlace>& tables) {
    AdapterModules modules;
    for (const LinearPlace& place : linears) modules.linears.push_back(place.module);
    for (const TablePlace& place : tables) modules.tables.push_back(place.module);
    return modules;
}

}  // namespace

std::size_t Encoder::add_adapter(const std::string& name, AdapterConfig config, std::uint64_t seed) {
    const at::NoGradGuard no_grad;
    if (config.targets.empty()) config.targets = attention_targets(config_.names);
    const auto places = linears();
    require_adapter_targets(config.targets, modules_of(places, tables()));
    Adapter adapter = empty_adapter(name, std::move(config), blocks_.size());
    for (const LinearPlace& place : places) {
        if (!is_adapter_target(place.module, adapter.config.targets)) continue;
        const auto generator = at::detail::createCPUGenerator(hash64(place.module, hash64(name, seed)));
        // Kaiming's uniform with a = sqrt(5), as PEFT: +- 1 / sqrt(in).
        const at::Tensor a = at::rand({adapter.config.rank, place.columns}, generator, at::TensorOptions(at::kFloat))
                                 .mul_(2)
                                 .sub_(1)
                                 .div_(std::sqrt(static_cast<double>(place.columns)));
        adapter.at(place).push_back({place, a.to(dtype_), at::zeros({place.rows, adapter.config.rank}, dtype_)});
    }
    for (const TablePlace& place : tables()) {
        if (!is_table_target(place.module, adapter.config.targets)) continue;
        const auto generator = at::detail::createCPUGenerator(hash64(place.module, hash64(name, seed)));
        const at::Tensor b = at::randn({place.columns, adapter.config.rank}, generator, at::TensorOptions(at::kFloat));  // as PEFT, A is 0
        adapter.tables.push_back({place, at::zeros({adapter.config.rank, place.rows}, dtype_), b.to(dtype_)});
    }
    return add_adapter(std::move(adapter));
}

namespace {

/// The place that a module of an adapter changes; a model with a head calls its encoder "bert." or the like.
template <typename Place>
const Place* find_place(const std::vector<Place>& places, const std::string& module, const std::vector<std::string>& prefixes) {
    for (const Place& place : places)
        for (const std::string& prefix : prefixes)
            if (module == prefix + place.module) return &place;
    return nullptr;
}

/// The layer behind the first token of BERT's relatives, which PEFT's "all-linear" takes in, and which no embedding goes through.
bool is_pooler(const std::string& module, const std::vector<std::string>& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) { return module == prefix + "pooler.dense"; });
}

at::Tensor read_part(const AdapterFolder& folder, const std::string& name, const std::vector<std::int64_t>& shape, at::ScalarType dtype) {
    const TensorInfo& info = folder.weights.at(name);
    if (info.shape != shape)
        throw data_error("{}: tensor '{}' has shape [{}], this model makes it [{}]; the adapter was trained on another model",
                         folder.weights.description(), name, fmt::join(info.shape, ", "), fmt::join(shape, ", "));
    const at::Tensor tensor = at::empty(shape, at::kFloat);
    folder.weights.read_float(name, {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
    return tensor.to(dtype);
}

}  // namespace

std::size_t Encoder::add_adapter(const std::string& name, const AdapterFolder& folder) {
    const auto linear_places = linears();
    const auto table_places = tables();
    const std::vector<std::string>& prefixes = config_.names.prefixes;
    const std::int64_t rank = folder.config.rank;
    const auto refuse = [&](const std::string& module) {
        throw data_error("{}: changes the layer {}, which this model ({} layers, {} wide) lacks; expected an adapter of this model",
                         folder.folder.string(), faceter::quoted(module, 120), config_.num_layers, config_.hidden_dim);
    };
    Adapter adapter = empty_adapter(name, folder.config, blocks_.size());
    for (const std::string& module : folder.modules) {
        if (is_pooler(module, prefixes)) continue;
        const LinearPlace* place = find_place(linear_places, module, prefixes);
        if (!place) refuse(module);
        adapter.at(*place).push_back({*place, read_part(folder, adapter_tensor_name(module, 'A'), {rank, place->columns}, dtype_),
                                      read_part(folder, adapter_tensor_name(module, 'B'), {place->rows, rank}, dtype_)});
    }
    for (const std::string& module : folder.tables) {
        const TablePlace* place = find_place(table_places, module, prefixes);
        if (!place) refuse(module);
        adapter.tables.push_back({*place, read_part(folder, table_tensor_name(module, 'A'), {rank, place->rows}, dtype_),
                                  read_part(folder, table_tensor_name(module, 'B'), {place->columns, rank}, dtype_)});
    }
    return add_adapter(std::move(adapter));
}

std::size_t Encoder::add_adapter(Adapter adapter) {
    adapters_.push_back(std::move(adapter));
    return adapters_.size() - 1;
}

void Encoder::remove_adapter(std::size_t index) { adapters_.erase(adapters_.begin() + static_cast<std::ptrdiff_t>(index)); }

void Encoder::merge_adapter(std::size_t index, double weight) {
    const at::NoGradGuard no_grad;
    drop_prepared();
    widen();
    const double scale = weight * adapters_[index].config.scale();
    const auto add = [&](const at::Tensor& rows, const at::Tensor& update) { rows.copy_(rows.to(at::kDouble) + scale * update); };
    for (const TableUpdate& table : adapters_[index].tables)
        add((table.place.which == EmbeddingTable::word ? word_ : token_type_).detach(),
            table.b.to(at::kDouble).mm(table.a.to(at::kDouble)).t());
    for (const auto& block : adapters_[index].blocks)
        for (const auto& updates : block)
            for (const LowRankUpdate& update : updates)
                add(weight_of(update.place).detach().narrow(0, update.place.first_row, update.place.rows),
                    update.b.to(at::kDouble).mm(update.a.to(at::kDouble)));
    remove_adapter(index);
}

namespace {

/// What the adapter changes, for PEFT, which takes "all-linear" in no list: the names within a block, and those of tables.
std::vector<std::string> named_targets(const Adapter& adapter, const std::string& block) {
    const auto& targets = adapter.config.targets;
    if (std::find(targets.begin(), targets.end(), "all-linear") == targets.end()) return targets;
    std::set<std::string> names;
    for (const TableUpdate& update : adapter.tables) names.insert(update.place.module);
    for (const auto& of_block : adapter.blocks)
        for (const auto& updates : of_block)
            for (const LowRankUpdate& update : updates)
                names.insert(update.place.module.substr(fmt::format(fmt::runtime(block), update.place.block).size()));
    return {names.begin(), names.end()};
}

}  // namespace

void Encoder::write_adapter(std::size_t index, const std::filesystem::path& folder) const {
    const Adapter& adapter = adapters_[index];
    SafetensorsWriter writer;
    std::vector<at::Tensor> kept;
    for_each_update(adapter, [&](const std::string& module, bool table, const at::Tensor& a, const at::Tensor& b) {
        for (const auto& [part, tensor] : {std::pair('A', a), std::pair('B', b)}) {
            kept.push_back(tensor.detach().to(at::kCPU, at::kFloat).contiguous());
            writer.add(table ? table_tensor_name(module, part) : adapter_tensor_name(module, part), DType::f32, kept.back().sizes().vec(),
                       kept.back().data_ptr<float>());
        }
    });
    writer.write(folder / "adapter_model.safetensors");
    AdapterConfig config = adapter.config;
    config.targets = named_targets(adapter, config_.names.block);
    write_adapter_config(folder, config);
}

std::vector<Parameter> Encoder::adapter_parameters(std::size_t index) const {
    std::vector<Parameter> all;
    const Path owner = Path::of_adapter(static_cast<int>(index));
    for_each_update(adapters_[index], [&](const std::string& module, bool table, const at::Tensor& a, const at::Tensor& b) {
        for (const auto& [part, tensor] : {std::pair('A', a), std::pair('B', b)})
            all.push_back(
                {fmt::format("adapters.{}.{}{}", adapters_[index].name, module, adapter_ending(part, table)), tensor, true, owner});
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
        if (segment.path.adapter == Path::none) continue;
        const Adapter& adapter = adapters_[static_cast<std::size_t>(segment.path.adapter)];
        for (const LowRankUpdate& update : adapter.blocks[index][static_cast<std::size_t>(which)])
            parts.push_back({segment.begin, segment.end, &update, adapter.config.scale()});
    }
    return parts;
}

namespace {

double adapter_dropout(const std::vector<Adapter>& adapters, const PackedLayout& layout, const ForwardContext& context) {
    double p = 0;
    for (const Segment& segment : layout.segments())
        if (context.training && segment.path.adapter != Path::none)
            p = std::max(p, adapters[static_cast<std::size_t>(segment.path.adapter)].config.dropout);
    return p;
}

}  // namespace

/// y + scale * B A dropout(x) for the sequences that go through an adapter. One mask serves query, key and value, whose input is the same.
at::Tensor Encoder::adapted(std::size_t index, BlockLinear which, const at::Tensor& y, const at::Tensor& x, const PackedBatch& batch,
                            const ForwardContext& context) const {
    const auto parts = low_rank_parts(index, which, *batch.layout);
    if (parts.empty()) return y;
    const double p = adapter_dropout(adapters_, *batch.layout, context);
    const auto site = static_cast<std::uint32_t>(4 * (blocks_.size() + 1 + index) + static_cast<std::size_t>(which));
    return add_low_rank(y, p > 0 ? packed_dropout(x, batch.layout, {p, context.seed, context.step, site}) : x, parts);
}

/// rows [T, D] of a table, with + scale * (B A)^T in the rows of the sequences whose adapter changes that table.
at::Tensor Encoder::with_table_updates(const at::Tensor& rows, const PackedBatch& batch, EmbeddingTable table) const {
    at::Tensor sum = rows;
    for (const Segment& segment : batch.layout->segments()) {
        if (segment.path.adapter == Path::none) continue;
        const Adapter& adapter = adapters_[static_cast<std::size_t>(segment.path.adapter)];
        for (const TableUpdate& update : adapter.tables) {
            if (update.place.which != table) continue;
            const at::Tensor ids = batch.ids.narrow(0, segment.begin, segment.rows());
            const at::Tensor part = table == EmbeddingTable::word ? at::embedding(update.a.t(), ids) : update.a.select(1, 0).unsqueeze(0);
            const at::Tensor change = at::zeros_like(rows);
            change.narrow(0, segment.begin, segment.rows()).add_(at::matmul(part, update.b.t()), adapter.config.scale());
            sum = sum + change;
        }
    }
    return sum;
}

/// The MLP with updates inside: the fused form has no place for them.
at::Tensor Encoder::adapted_mlp(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const ForwardContext& context) const {
    const Expert& dense = blocks_[index].experts.front();
    const at::Tensor u =
        adapted(index, BlockLinear::up, linear_layer(x, dense.up, dense.up_bias, dense.prepared_up.get()), x, batch, context);
    const FeedForwardForm form{config_.activation, config_.gated, config_.gate_second};
    const DropoutSite inner = inner_dropout(index, context);
    if (fast_path(u) && inner.p == 0 && adapter_dropout(adapters_, *batch.layout, context) == 0)
        return adapted_activation(u, form, dense.down, dense.prepared_down.get(), low_rank_parts(index, BlockLinear::down, *batch.layout));
    const at::Tensor g = packed_dropout(activate(u, form), batch.layout, inner);
    return adapted(index, BlockLinear::down,
                   linear_layer(g, dense.down, products_add_bias(g) ? dense.down_bias : at::Tensor(), dense.prepared_down.get()), g, batch,
                   context);
}

}  // namespace faceter
