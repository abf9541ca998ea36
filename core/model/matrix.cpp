#include "model/matrix.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "model/kernels/kernels.h"
#include "model/layout_rule.h"
#include "model/ops_common.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

bool made_by_intel() {
#if defined(__x86_64__)
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

using LinearPointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, c10::string_view,
                                   c10::List<std::optional<at::Scalar>>, std::optional<c10::string_view>);

/// oneDNN's products with AVX2 are no faster than MKL's (measured on Zen 5 under its caps).
bool onednn_has_avx512() {
    for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
        if (const char* cap = std::getenv(name);
            cap && (std::strstr(cap, "SSE") == cap || std::strstr(cap, "AVX2") == cap || std::strcmp(cap, "AVX") == 0))
            return false;
    return std::string_view(kernels::kernels().instruction_set) == "avx512";
}

/// Whether MKL multiplies in backward rather than oneDNN: where it is made for this processor or no slower, or where FACETER_PRODUCTS says
/// so.
bool use_mkl() {
    const char* wish = std::getenv("FACETER_PRODUCTS");
    const std::string_view named = wish ? wish : "";
    if (named != "" && named != "mkl" && named != "onednn")
        throw settings_error("FACETER_PRODUCTS is '{}': mkl, onednn or nothing (the one that is made for this processor)", named);
    return at::hasMKL() && (named.empty() ? made_by_intel() || !onednn_has_avx512() : named == "mkl");
}

/// oneDNN's linear layer as libtorch registers it; nothing where this build of libtorch has none, or MKL multiplies.
const std::optional<c10::TypedOperatorHandle<LinearPointwise>>& onednn_linear() {
    static const auto handle = []() -> std::optional<c10::TypedOperatorHandle<LinearPointwise>> {
        if (use_mkl()) return std::nullopt;
        const auto schema = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
        if (!schema) return std::nullopt;
        return schema->typed<LinearPointwise>();
    }();
    return handle;
}

thread_local bool bf16_products = false;

struct LinearLayer : Function<LinearLayer> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                              const ProductWeights* prepared) {
        context->save_for_backward({weight.requires_grad() ? x : at::Tensor(), weight});  // under an adapter it is frozen
        context->saved_data["bias"] = bias.numel() > 0;
        context->saved_data["bf16"] = bf16_products;
        return forward_product(x, weight, bias.numel() > 0 ? bias : at::Tensor(), prepared);
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const Bf16Products as_forward(context->saved_data["bf16"].toBool());
        const auto saved = context->get_saved_variables();
        const at::Tensor dy = gradients[0].contiguous();
        const at::Tensor dx = context->needs_input_grad(0) ? BackwardWeights(saved[1])(dy) : at::Tensor();
        at::Tensor dweight;
        if (context->needs_input_grad(1)) {
            dweight = at::empty(saved[1].sizes(), dy.options());
            weight_gradient(dy, saved[0], dweight, false);
        }
        const at::Tensor dbias = context->saved_data["bias"].toBool() && context->needs_input_grad(2) ? dy.sum(0) : at::Tensor();
        return {dx, dweight, dbias, at::Tensor()};
    }
};

}  // namespace

Bf16Products::Bf16Products(bool on) : before_(std::exchange(bf16_products, on)) {}
Bf16Products::~Bf16Products() { bf16_products = before_; }
bool Bf16Products::on() { return bf16_products; }

at::Tensor product_transposed(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias) {
    const auto& onednn = onednn_linear();
    if (x.numel() > 0 && unprepared_form(x.scalar_type()) == ProductForm::bf16)
        return product(x, ProductWeights(w, ProductForm::bf16), bias);
    if (!onednn || x.size(0) == 0) return bias.defined() ? at::addmm(bias, x, w.t()) : at::mm(x, w.t());
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    return onednn->call(x, w, bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt, "none",
                        c10::List<std::optional<at::Scalar>>(), "");
}

BackwardWeights::BackwardWeights(const at::Tensor& w) {
    if (unprepared_form(w.scalar_type()) == ProductForm::bf16)
        prepared_.emplace(w.t(), ProductForm::bf16);
    else
        plain_ = w.to(at::kFloat);
}

at::Tensor BackwardWeights::operator()(const at::Tensor& dy) const { return prepared_ ? product(dy, *prepared_) : product(dy, plain_); }

void weight_gradient(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& dw, bool add) {
    if (unprepared_form(dy.scalar_type()) != ProductForm::bf16) return add_outer(dy, x, dw, add);
    const at::Tensor part = product(dy.t(), x);
    if (add)
        dw.add_(part);
    else
        dw.copy_(part);
}

at::Tensor forward_product(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias, const ProductWeights* prepared) {
    return prepared ? product(x, *prepared, bias) : product(x, *laid_out_once(w), bias);
}

at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const ProductWeights* prepared) {
    if (!fast_path(x)) return at::linear(x, weight.to(x.scalar_type()), bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt);
    return LinearLayer::apply(x, weight, bias.defined() ? bias : at::empty({0}, x.options()), prepared);
}

at::Tensor exact_linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    const Bf16Products exact(false);
    return linear_layer(x, weight, bias);
}

}  // namespace faceter
