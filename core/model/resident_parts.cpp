#include "model/resident_parts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "common/error.h"
#include "model/model_shape.h"

namespace faceter {
namespace {

/// The shape of a tensor that is not in memory: reading it gives NaN, so that a use nobody thought of shows.
at::Tensor absent(const at::Tensor& like) {
    const std::vector<std::int64_t> one(static_cast<std::size_t>(like.dim()), 1);
    return at::full(one, std::numeric_limits<float>::quiet_NaN(), like.options()).expand(like.sizes());
}

/// What no other expert of the block has.
std::vector<at::Tensor*> own_tensors(Expert& expert, bool shared_norms) {
    std::vector<at::Tensor*> all{&expert.up, &expert.up_bias, &expert.down, &expert.down_bias};
    if (!shared_norms)
        for (NormParameter* norm : {&expert.before, &expert.behind}) all.insert(all.end(), {&norm->gamma, &norm->beta});
    std::erase_if(all, [](const at::Tensor* tensor) { return !tensor->defined(); });
    return all;
}

void put_away(Expert& expert, bool shared_norms) {
    for (at::Tensor* tensor : own_tensors(expert, shared_norms)) *tensor = absent(*tensor);
    expert.prepared_up = expert.prepared_down = nullptr;
}

Expert& place_of(Block& block, int expert) { return expert == Path::none ? *block.dense : block.experts[static_cast<std::size_t>(expert)]; }

/// A block that was opened for one expert alone becomes the mixture, of which that expert is there.
void take_shape(Block& block, const ModelDescription::BlockShape& shape, int opened) {
    if (shape.task_experts < 2) return;
    const Expert there = block.experts.front();
    Expert none = there;
    put_away(none, shape.shared_norms);
    block.shared_norms = shape.shared_norms;
    block.experts.assign(static_cast<std::size_t>(shape.task_experts), none);
    block.dense = none;
    place_of(block, opened) = there;
}

void lay_out(at::Tensor& weight, ProductPointer& prepared) {
    prepared = std::make_shared<const ProductWeights>(weight, unprepared_form(weight.scalar_type()));
    weight = absent(weight);
}

void lay_out(Encoder& encoder) {
    const auto as_given = [](const ProductPlace&, const at::Tensor& weight) {
        return std::make_shared<const ProductWeights>(weight, unprepared_form(weight.scalar_type()));
    };
    encoder.lay_out_products(as_given, /*release=*/true);
}

/// In the type that the checkpoint keeps it in, as the whole model would.
void read_into(const Weights& weights, const NamedTensor& named) {
    const at::Tensor& tensor = named.tensor;
    const TensorInfo& info = weights.at(named.name);
    const bool halved = tensor.scalar_type() == at::kBFloat16;
    if (!std::equal(info.shape.begin(), info.shape.end(), tensor.sizes().begin(), tensor.sizes().end()) ||
        (halved && info.dtype != DType::bf16))
        throw data_error("{}: tensor '{}' has another shape or type than that of the expert that was read first", weights.description(),
                         named.name);
    halved ? weights.read(named.name, tensor.data_ptr())
           : weights.read_float(named.name, {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
}

std::unique_ptr<Encoder> empty_encoder(const Encoder& like, const ModelFolder& folder) {
    return std::make_unique<Encoder>(like.config(), folder.dense, like.dtype(), KeptWeights::as_stored);
}

}  // namespace

std::string ResidentParts::why_not(const ModelDescription& description) {
    if (description.has_routed_blocks()) return "any token of a text may go to any of its experts";
    if (!description.adapters.empty()) return "its tasks have adapters, which are small beside the encoder that they share";
    if (description.num_encoders == 1 && !description.has_task_experts()) return "the texts of all its tasks pass the same weights";
    return "";
}

ResidentParts::ResidentParts(EmbeddingModel& model, const ModelFolder& files, const ServedRoute& opened, std::size_t at_most)
    : model_(model), weights_(files.weights()), at_most_(std::max<std::size_t>(1, at_most)) {
    const ModelDescription& description = files.description.value();
    encoders_ = description.num_encoders > 1;
    ModelDescription tasks;
    tasks.tasks = description.tasks;
    model.tasks.clear();
    model.routes.clear();
    shape_model(model, tasks);
    const ModelPart part = part_of(model.route(opened.task, opened.role));
    take_shape(description, part);
    counts_.resident.push_back(part);
}

void ResidentParts::take_shape(const ModelDescription& description, const ModelPart& opened) {
    if (!encoders_) {
        std::vector<Block>& blocks = model_.encoders.front()->blocks();
        for (std::size_t i = 0; i < blocks.size(); ++i) faceter::take_shape(blocks[i], description.blocks[i], opened.expert);
        return;
    }
    auto there = std::move(model_.encoders.front());
    model_.encoders.clear();
    for (int i = 0; i < description.num_encoders; ++i)
        model_.encoders.push_back(i == opened.encoder ? nullptr : empty_encoder(*there, model_.folder));
    model_.encoders[static_cast<std::size_t>(opened.encoder)] = std::move(there);
}

bool ResidentParts::has(const Route& route) const {
    const std::lock_guard lock(mutex_);
    return std::find(counts_.resident.begin(), counts_.resident.end(), part_of(route)) != counts_.resident.end();
}

ResidentParts::Counts ResidentParts::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

void ResidentParts::fetch(const Route& route) {
    const ModelPart part = part_of(route);
    if (has(route)) {
        const std::lock_guard lock(mutex_);
        std::erase(counts_.resident, part);
        counts_.resident.push_back(part);
        return;
    }
    make_room();
    const auto start = std::chrono::steady_clock::now();
    try {
        read(part);
    } catch (...) {
        put_away(part);
        throw;
    }
    const std::lock_guard lock(mutex_);
    counts_.resident.push_back(part);
    ++counts_.reads;
    counts_.reading_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Before the next is read: memory never holds more than it may.
void ResidentParts::make_room() {
    for (;;) {
        std::unique_lock lock(mutex_);
        if (counts_.resident.size() < at_most_) return;
        const ModelPart oldest = counts_.resident.front();
        counts_.resident.erase(counts_.resident.begin());
        ++counts_.given_up;
        lock.unlock();
        put_away(oldest);
    }
}

void ResidentParts::put_away(const ModelPart& part) {
    if (encoders_) {
        auto& encoder = model_.encoders[static_cast<std::size_t>(part.encoder)];
        encoder = empty_encoder(*encoder, model_.folder);
        return;
    }
    for (Block& block : model_.encoders.front()->blocks())
        if (block.is_mixture()) faceter::put_away(place_of(block, part.expert), block.shared_norms);
}

void ResidentParts::read(const ModelPart& part) { encoders_ ? read_encoder(part.encoder) : read_expert(part.expert); }

void ResidentParts::read_encoder(int index) {
    Encoder& encoder = *model_.encoders[static_cast<std::size_t>(index)];
    encoder.load_weights(weights_, fmt::format("encoders.{}.", index));
    lay_out(encoder);
}

void ResidentParts::read_expert(int index) {
    Encoder& encoder = *model_.encoders.front();
    std::set<const void*> wanted;
    for (Block& block : encoder.blocks()) {
        if (!block.is_mixture()) continue;
        for (at::Tensor* tensor : own_tensors(place_of(block, index), block.shared_norms)) {
            *tensor = at::empty(tensor->sizes(), tensor->options());
            wanted.insert(tensor->storage().data());
        }
    }
    for (const NamedTensor& named : encoder.named_tensors())
        if (wanted.contains(named.tensor.storage().data())) read_into(weights_, named);
    for (Block& block : encoder.blocks()) {
        if (!block.is_mixture()) continue;
        Expert& expert = place_of(block, index);
        lay_out(expert.up, expert.prepared_up);
        lay_out(expert.down, expert.prepared_down);
    }
}

}  // namespace faceter
