#include "model/model_shape.h"

#include <ATen/ATen.h>

#include "common/error.h"

namespace faceter {
namespace {

using BlockShape = ModelDescription::BlockShape;
using RouteShape = ModelDescription::RouteShape;

BlockShape shape_of(const Block& block) {
    BlockShape shape;
    if (block.is_mixture()) {
        shape.task_experts = static_cast<int>(block.experts.size());
        shape.shared_norms = block.shared_norms;
    }
    if (block.routing) {
        shape.routed_experts = block.routing->num_experts;
        shape.top_k = block.routing->top_k;
        shape.renormalise = block.routing->renormalise;
    }
    return shape;
}

RouteShape shape_of(const Route& route) { return {route.instruction, route.encoder, route.path.expert, route.path.adapter, route.routed}; }

Route route_from(const RouteShape& shape) {
    return {shape.instruction, shape.encoder, Path::of_expert(shape.expert).with_adapter(shape.adapter), shape.routed};
}

void route_tokens(Block& block, const BlockShape& shape) {
    if (block.routing) {  // config.json says so too
        if (block.routing->num_experts != shape.routed_experts)
            throw data_error("{} makes {} token-routed experts a block of what config.json makes {}", model_description_file,
                             shape.routed_experts, block.routing->num_experts);
    } else {
        TokenRouting routing;
        routing.num_experts = shape.routed_experts;
        routing.router = at::zeros({shape.routed_experts, block.qkv.weight.size(1)}, block.qkv.weight.options());
        Encoder::route_tokens(block, std::move(routing));
    }
    block.routing->top_k = shape.top_k;
    block.routing->renormalise = shape.renormalise;
}

void shape_blocks(Encoder& encoder, const std::vector<BlockShape>& shapes, const std::string& folder) {
    if (shapes.empty()) return;
    std::vector<Block>& blocks = encoder.blocks();
    if (shapes.size() != blocks.size())
        throw data_error("{}: {} describes {} blocks, config.json makes {}; they are not of the same model", folder, model_description_file,
                         shapes.size(), blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (shapes[i].task_experts > 1) upcycle_to_task_experts(blocks[i], shapes[i].task_experts, shapes[i].shared_norms);
        if (shapes[i].routed_experts > 0) route_tokens(blocks[i], shapes[i]);
    }
}

}  // namespace

void upcycle_to_task_experts(Block& block, int count, bool shared_norms) {
    block.shared_norms = shared_norms;
    if (count < 2) return;
    const auto copy_of_dense = [&] {
        Expert copy = block.experts.front().clone();
        if (shared_norms) {
            copy.before = block.experts.front().before;
            copy.behind = block.experts.front().behind;
        }
        return copy;
    };
    block.dense = copy_of_dense();
    while (static_cast<int>(block.experts.size()) < count) block.experts.push_back(copy_of_dense());
}

void fold_task_experts(Block& block) {
    if (block.routing || block.experts.size() < 2) return;
    const at::NoGradGuard no_grad;
    const auto first = block.experts.front().tensors();
    std::vector<at::Tensor> sums;
    for (const Expert& expert : block.experts) {
        std::size_t m = 0;
        for (const at::Tensor& t : expert.tensors()) {
            const at::Tensor own = t.detach().to(at::kDouble);
            m < sums.size() ? sums[m] += own : sums.emplace_back(own.clone());
            ++m;
        }
    }
    for (std::size_t m = 0; m < sums.size(); ++m) first[m].detach().copy_(sums[m] / static_cast<double>(block.experts.size()));
    block.experts.resize(1);
    block.dense.reset();
}

ModelDescription description_of(const EmbeddingModel& model) {
    ModelDescription description;
    description.num_encoders = static_cast<int>(model.encoders.size());
    const Encoder& encoder = *model.encoders.front();
    for (const Block& block : encoder.blocks()) description.blocks.push_back(shape_of(block));
    if (!model.router)
        for (const Adapter& adapter : encoder.adapters()) description.adapters.push_back(adapter.name);
    for (const Task& task : model.tasks)
        description.tasks.push_back(
            {task.name, task.type, shape_of(model.route(task.name, Role::query)), shape_of(model.route(task.name, Role::document))});
    return description;
}

void shape_model(EmbeddingModel& model, const ModelDescription& description) {
    shape_blocks(*model.encoders.front(), description.blocks, model.folder.folder.string());
    while (static_cast<int>(model.encoders.size()) < description.num_encoders) model.encoders.push_back(model.encoders.front()->clone());
    for (const ModelDescription::TaskShape& shape : description.tasks) {
        Task task;
        task.name = shape.name;
        task.type = shape.type.empty() ? shape.name : shape.type;
        task.query_instruction = shape.query.instruction;
        task.document_instruction = shape.document.instruction;
        model.tasks.push_back(std::move(task));
        model.routes[{shape.name, Role::query}] = route_from(shape.query);
        model.routes[{shape.name, Role::document}] = route_from(shape.document);
    }
}

}  // namespace faceter
