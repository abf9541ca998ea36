#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/OpMathType.h>
#include <torch/library.h>

/// Shapes of operators on the meta device (shape_device.h) that PyTorch keeps in torch/_meta_registrations.py: what CUDA's kernels give and
/// hold, one result each.
namespace faceter {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

at::Tensor index_select(const at::Tensor& x, std::int64_t dim, const at::Tensor& index) {
    auto shape = x.sizes().vec();
    shape[static_cast<std::size_t>(dim < 0 ? dim + x.dim() : dim)] = index.numel();
    return at::empty(shape, x.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm(const at::Tensor& x, c10::SymIntArrayRef, const OptionalTensor&,
                                                          const OptionalTensor&, double) {
    const auto moment = [&] { return at::empty({x.size(0), 1}, x.options().dtype(at::toOpMathType(x.scalar_type()))); };
    return {at::empty_like(x), moment(), moment()};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward(const at::Tensor&, const at::Tensor& x, c10::SymIntArrayRef,
                                                                   const at::Tensor&, const at::Tensor&, const OptionalTensor& gamma,
                                                                   const OptionalTensor& beta, std::array<bool, 3>) {
    const auto made = [](const OptionalTensor& t) { return t && t->defined() ? at::empty_like(*t) : at::Tensor(); };
    return {at::empty_like(x), made(gamma), made(beta)};
}

at::Tensor segment_reduce(const at::Tensor& x, c10::string_view, const OptionalTensor&, const OptionalTensor&,
                          const OptionalTensor& offsets, std::int64_t, bool, const std::optional<at::Scalar>&) {
    return at::empty({offsets->numel() - 1, x.size(1)}, x.options());
}

at::Tensor segment_reduce_backward(const at::Tensor&, const at::Tensor&, const at::Tensor& x, c10::string_view, const OptionalTensor&,
                                   const OptionalTensor&, std::int64_t, const std::optional<at::Scalar>&) {
    return at::empty_like(x);
}

at::Tensor safe_softmax(const at::Tensor& x, std::int64_t, std::optional<at::ScalarType>) { return at::empty_like(x); }

at::Tensor relu(const at::Tensor& x) { return at::empty_like(x); }
at::Tensor extreme(const at::Tensor& x) { return at::empty({}, x.options()); }
at::Tensor flip(const at::Tensor& x, at::IntArrayRef) { return at::empty_like(x); }
at::Tensor logcumsumexp(const at::Tensor& x, std::int64_t) { return at::empty_like(x); }

/// Into the tensor that PyTorch has made for it.
at::Tensor& like_operand(const at::Tensor& x, at::Tensor& out) { return const_cast<at::Tensor&>(out.resize_(x.sizes())); }

at::Tensor where(const at::Tensor& condition, const at::Tensor& a, const at::Tensor& b) {
    return at::empty(at::infer_size(at::infer_size(condition.sizes(), a.sizes()), b.sizes()), (a.dim() > 0 ? a : b).options());
}

at::Tensor table_backward(const at::Tensor& dy, const at::Tensor&, c10::SymInt rows, c10::SymInt, bool) {
    return at::empty({rows.expect_int(), dy.size(-1)}, dy.options());
}

at::Tensor grouped_product(const at::Tensor& a, const at::Tensor& b, const OptionalTensor& ends, const OptionalTensor&,
                           std::optional<at::ScalarType>) {
    return b.dim() == 3 ? at::empty({a.size(0), b.size(2)}, a.options()) : at::empty({ends->size(0), a.size(0), b.size(1)}, a.options());
}

std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& x, double, std::optional<bool>) {
    return {at::empty_like(x), at::empty_like(x, x.options().dtype(at::kBool))};
}

at::Tensor native_dropout_backward(const at::Tensor& dy, const at::Tensor&, double) { return at::empty_like(dy); }

/// On accelerators dropout is one operator that keeps a mask of bytes; elsewhere PyTorch composes it, and keeps the numbers it draws.
at::Tensor dropout(const at::Tensor& x, double p, bool train) { return train && p > 0 ? std::get<0>(at::native_dropout(x, p, train)) : x; }

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> flash_attention(
    const at::Tensor& q, const at::Tensor&, const at::Tensor&, const OptionalTensor&, const OptionalTensor&, c10::SymInt, c10::SymInt,
    double, bool, bool, std::optional<double>, std::optional<c10::SymInt>, std::optional<c10::SymInt>, const OptionalTensor&,
    const OptionalTensor&) {
    return {at::empty(q.sizes(), q.options()), at::empty({q.size(1), q.size(0)}, q.options().dtype(at::kFloat)),
            at::empty({2}, q.options().dtype(at::kLong)), at::empty({}, q.options().dtype(at::kLong)), at::empty({0}, q.options())};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const at::Tensor&, const at::Tensor& q, const at::Tensor& k,
                                                                        const at::Tensor& v, const at::Tensor&, const at::Tensor&,
                                                                        const at::Tensor&, const at::Tensor&, c10::SymInt, c10::SymInt,
                                                                        double, bool, const at::Tensor&, const at::Tensor&,
                                                                        std::optional<double>, std::optional<c10::SymInt>,
                                                                        std::optional<c10::SymInt>) {
    return {at::empty_like(q), at::empty_like(k), at::empty_like(v)};
}

void fused_adamw(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, double, double, double,
                 double, double, bool, bool, const OptionalTensor&, const OptionalTensor&) {}

TORCH_LIBRARY_IMPL(aten, Meta, library) {
    library.impl("index_select", index_select);
    library.impl("native_layer_norm", layer_norm);
    library.impl("native_layer_norm_backward", layer_norm_backward);
    library.impl("segment_reduce", segment_reduce);
    library.impl("_segment_reduce_backward", segment_reduce_backward);
    library.impl("_safe_softmax", safe_softmax);
    library.impl("relu", relu);
    library.impl("max", extreme);
    library.impl("min", extreme);
    library.impl("flip", flip);
    library.impl("_logcumsumexp", logcumsumexp);
    library.impl("abs.out", like_operand);
    library.impl("logical_not.out", like_operand);
    library.impl("where.self", where);
    library.impl("embedding_dense_backward", table_backward);
    library.impl("_grouped_mm", grouped_product);
    library.impl("native_dropout", native_dropout);
    library.impl("native_dropout_backward", native_dropout_backward);
    library.impl("dropout", dropout);
    library.impl("_flash_attention_forward", flash_attention);
    library.impl("_flash_attention_backward", flash_attention_backward);
    library.impl("_fused_adamw_", fused_adamw);
}

TORCH_LIBRARY_IMPL(aten, AutogradMeta, library) { library.impl("dropout", dropout); }

}  // namespace
}  // namespace faceter
