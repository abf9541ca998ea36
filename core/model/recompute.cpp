#include "model/recompute.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "model/ops_common.h"

namespace faceter {
namespace {

using Part = std::function<variable_list(const variable_list&)>;

struct Recomputed : torch::autograd::Function<Recomputed> {
    static variable_list forward(torch::autograd::AutogradContext* context, const Part& part, at::TensorList inputs) {
        context->save_for_backward(variable_list(inputs.begin(), inputs.end()));
        context->saved_data["part"] = Carried<Part>::wrap(part);
        return part(inputs.vec());  // without gradients, as all of a function's forward
    }

    static variable_list backward(torch::autograd::AutogradContext* context, const variable_list& gradients) {
        variable_list inputs;
        for (const at::Tensor& input : context->get_saved_variables())
            inputs.push_back(input.detach().requires_grad_(input.is_floating_point()));
        variable_list outputs, wanted;
        {
            const at::AutoGradMode on(true);
            outputs = Carried<Part>::from(context->saved_data["part"])(inputs);
        }
        variable_list reached;
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (gradients[i].defined() && outputs[i].requires_grad()) {
                reached.push_back(outputs[i]);
                wanted.push_back(gradients[i]);
            }
        torch::autograd::backward(reached, wanted);
        variable_list result{at::Tensor()};
        for (const at::Tensor& input : inputs) result.push_back(input.grad());
        return result;
    }
};

}  // namespace

variable_list recomputed(const Part& part, const variable_list& inputs) {
    const bool needed =
        at::GradMode::is_enabled() && std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& t) { return t.requires_grad(); });
    return needed ? Recomputed::apply(part, at::TensorList(inputs)) : part(inputs);
}

}  // namespace faceter
