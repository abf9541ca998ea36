#include "model/cast_together.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace faceter {
namespace {

using torch::autograd::variable_list;

/// Of one group: what a block of BERT base has.
constexpr std::int64_t most_numbers = 8 << 20;

variable_list copies(at::TensorList tensors, at::ScalarType dtype) {
    variable_list made;
    for (const at::Tensor& t : tensors) made.push_back(at::empty_like(t, t.options().dtype(dtype)));
    if (!made.empty()) at::_foreach_copy_(made, tensors);
    return made;
}

struct Cast : torch::autograd::Function<Cast> {
    static variable_list forward(torch::autograd::AutogradContext* context, at::TensorList tensors, at::ScalarType dtype) {
        context->set_materialize_grads(false);
        context->saved_data["dtype"] = static_cast<std::int64_t>(tensors.front().scalar_type());
        return copies(tensors, dtype);
    }
    static variable_list backward(torch::autograd::AutogradContext* context, const variable_list& gradients) {
        const auto dtype = static_cast<at::ScalarType>(context->saved_data["dtype"].toInt());
        variable_list there;
        for (const at::Tensor& g : gradients)
            if (g.defined()) there.push_back(g);
        const variable_list cast = copies(there, dtype);
        variable_list all;
        auto next = cast.begin();
        for (const at::Tensor& g : gradients) all.push_back(g.defined() ? *next++ : at::Tensor());
        all.emplace_back();  // the type has none
        return all;
    }
};

/// Tensors that are cast in one call, and their places among all.
struct Group {
    std::vector<at::Tensor> tensors;
    std::vector<std::size_t> places;
    std::int64_t numbers = 0;

    void add(const at::Tensor& tensor, std::size_t place) {
        tensors.push_back(tensor);
        places.push_back(place);
        numbers += tensor.numel();
    }
    bool takes(const at::Tensor& tensor) const {
        return tensors.empty() || (numbers + tensor.numel() <= most_numbers && tensors.front().scalar_type() == tensor.scalar_type());
    }
    void give(const variable_list& made, std::vector<at::Tensor>& all) {
        for (std::size_t i = 0; i < made.size(); ++i) all[places[i]] = made[i];
        *this = {};
    }
};

}  // namespace

std::vector<at::Tensor> cast_together(const std::vector<at::Tensor>& tensors, at::ScalarType dtype) {
    std::vector<at::Tensor> all = tensors;
    Group learned, fixed;
    const auto finish = [&](Group& group) {
        if (group.tensors.empty()) return;
        group.give(&group == &learned ? Cast::apply(at::TensorList(group.tensors), dtype) : copies(group.tensors, dtype), all);
    };
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].scalar_type() == dtype) continue;
        Group& group = tensors[i].requires_grad() && at::GradMode::is_enabled() ? learned : fixed;
        if (!group.takes(tensors[i])) finish(group);
        group.add(tensors[i], i);
    }
    finish(learned);
    finish(fixed);
    return all;
}

}  // namespace faceter
