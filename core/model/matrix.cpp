#include "model/matrix.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

using LinearPointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, c10::string_view,
                                   c10::List<std::optional<at::Scalar>>, std::optional<c10::string_view>);

/// oneDNN's linear layer as libtorch registers it; nothing where this build of libtorch has none.
const std::optional<c10::TypedOperatorHandle<LinearPointwise>>& onednn_linear() {
    static const auto handle = []() -> std::optional<c10::TypedOperatorHandle<LinearPointwise>> {
        const auto schema = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
        if (!schema) return std::nullopt;
        return schema->typed<LinearPointwise>();
    }();
    return handle;
}

struct LinearLayer : Function<LinearLayer> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
        context->save_for_backward({x, weight});
        context->saved_data["bias"] = bias.numel() > 0;
        return product_transposed(x, weight, bias.numel() > 0 ? bias : at::Tensor());
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const at::Tensor dy = gradients[0].contiguous();
        const at::Tensor dbias = context->saved_data["bias"].toBool() ? dy.sum(0) : at::Tensor();
        return {product(dy, saved[1]), product(dy.t(), saved[0]), dbias};
    }
};

}  // namespace

at::Tensor product_transposed(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias) {
    const auto& onednn = onednn_linear();
    if (!onednn || x.size(0) == 0) return bias.defined() ? at::addmm(bias, x, w.t()) : at::mm(x, w.t());
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    return onednn->call(x, w, bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt, "none", c10::List<std::optional<at::Scalar>>(), "");
}

at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (!fast_path(x)) return at::linear(x, weight, bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt);
    return LinearLayer::apply(x, weight, bias.defined() ? bias : at::empty({0}, x.options()));
}

}  // namespace faceter
