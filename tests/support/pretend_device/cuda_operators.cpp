#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/native/ForeachUtils.h>
#include <ATen/native/GroupedMMUtils.h>
#include <torch/library.h>

#include <array>
#include <cmath>
#include <limits>

#include "counters.h"
#include "gate.h"
#include "pretend.h"

namespace faceter::testing::pretend {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

void check_on_device(const at::Tensor& t, const at::Tensor& like, const char* name) {
    TORCH_CHECK(t.device() == like.device(), name, " must be on the device of the first operand, ", like.device(), ", and is on ",
                t.device());
}

/// Those of GPUs that are like an A100 or newer, but with less shared memory.
bool has_little_memory() { return (capability() > 80 && capability() < 90) || capability() >= 120; }

/// The checks of FlashAttention's varlen_fwd.
void check_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const OptionalTensor& offsets_q,
                     const OptionalTensor& offsets_k) {
    TORCH_CHECK(capability() >= 80, "FlashAttention only supports Ampere GPUs or newer.");
    TORCH_CHECK(q.scalar_type() == at::kHalf || q.scalar_type() == at::kBFloat16, "FlashAttention only support fp16 and bf16 data type");
    TORCH_CHECK(offsets_q && offsets_k, "the pretend device has attention over offsets only");
    for (const at::Tensor& t : {k, v}) {
        TORCH_CHECK(t.scalar_type() == q.scalar_type(), "query, key and value must have the same dtype");
        check_on_device(t, q, "key and value");
    }
    for (const at::Tensor& t : {q, k, v}) {
        TORCH_CHECK(t.dim() == 3, "query, key and value must be [tokens, heads, head size]");
        TORCH_CHECK(t.stride(-1) == 1, "Input tensor must have contiguous last dimension");
    }
    TORCH_CHECK(k.sizes() == v.sizes() && k.size(2) == q.size(2), "key and value must have shape (total_k, num_heads_k, head_size)");
    for (const at::Tensor& t : {*offsets_q, *offsets_k}) {
        TORCH_CHECK(t.scalar_type() == at::kInt, "cu_seqlens must have dtype int32");
        TORCH_CHECK(t.is_contiguous(), "cu_seqlens must be contiguous");
        check_on_device(t, q, "cu_seqlens");
    }
    TORCH_CHECK(q.size(2) % 8 == 0 && q.size(2) <= 256, "head_size should be a multiple of 8, and at most 256");
    TORCH_CHECK(q.size(1) % k.size(1) == 0, "Number of heads in key/value must divide number of heads in query");
    TORCH_CHECK(offsets_q->numel() > 1, "batch size must be positive");
    TORCH_CHECK(offsets_k->numel() == offsets_q->numel(), "cu_seqlens_k must have shape (batch_size + 1)");
}

/// What CUDA's kernel takes on trust: where it is wrong, rows are left out or read from beyond the tensor. `offsets` on the host.
void check_spans(const at::Tensor& offsets, const at::Tensor& rows, const c10::SymInt& longest) {
    const auto* at = offsets.const_data_ptr<std::int32_t>();
    TORCH_CHECK(at[0] == 0 && at[offsets.numel() - 1] == rows.size(0), "cu_seqlens must go from 0 to the number of tokens, ", rows.size(0));
    for (std::int64_t s = 0; s + 1 < offsets.numel(); ++s)
        TORCH_CHECK(at[s + 1] >= at[s] && at[s + 1] - at[s] <= longest.expect_int(), "sequence ", s, " goes from ", at[s], " to ",
                    at[s + 1], ", and max_seqlen is ", longest.expect_int());
}

/// One sequence of a batch in float32, heads first: what forward and backward have in common.
struct Attention {
    at::Tensor q, k, v;       ///< [H, L, w]; keys and values repeated for the heads that share them
    at::Tensor p, lse, kept;  ///< softmax [H, L, L], log of its sum [H, L], and what dropout multiplies it by

    Attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double scale, std::int64_t before,
              std::int64_t after, double dropout, std::uint64_t seed) {
        const std::int64_t shared = query.size(1) / key.size(1), length = query.size(0);
        const auto heads = [](const at::Tensor& t) { return t.to(at::kFloat).transpose(0, 1); };
        q = heads(query);
        k = heads(key).repeat_interleave(shared, 0);
        v = heads(value).repeat_interleave(shared, 0);
        at::Tensor logits = at::matmul(q, k.transpose(1, 2)) * scale;
        const at::Tensor index = at::arange(length), distance = index.unsqueeze(0) - index.unsqueeze(1);  // key - query
        if (before >= 0) logits.masked_fill_(distance < -before, -std::numeric_limits<double>::infinity());
        if (after >= 0) logits.masked_fill_(distance > after, -std::numeric_limits<double>::infinity());
        lse = logits.logsumexp(-1);
        p = (logits - lse.unsqueeze(-1)).exp();
        kept = dropout > 0 ? at::empty_like(p).bernoulli_(1 - dropout, at::detail::createCPUGenerator(seed)) / (1 - dropout)
                           : at::ones({1}, p.options());
    }
};

struct Span {
    std::int64_t begin, length;
};
std::vector<Span> spans_of(const at::Tensor& offsets) {
    std::vector<Span> spans;
    const auto* at = offsets.const_data_ptr<std::int32_t>();
    for (std::int64_t s = 0; s + 1 < offsets.numel(); ++s)
        if (at[s + 1] > at[s]) spans.push_back({at[s], at[s + 1] - at[s]});
    return spans;
}

std::int64_t reach(const std::optional<c10::SymInt>& window) { return window ? window->expect_int() : -1; }

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> flash_forward(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const OptionalTensor& offsets_q,
    const OptionalTensor& offsets_k, c10::SymInt longest_q, c10::SymInt longest_k, double dropout, bool causal, bool,
    std::optional<double> scale, std::optional<c10::SymInt> before, std::optional<c10::SymInt> after, const OptionalTensor&,
    const OptionalTensor&) {
    check_attention(query, key, value, offsets_q, offsets_k);
    TORCH_CHECK(!causal, "the pretend device's attention is not causal");
    const RunningOperator running("aten::_flash_attention_forward");
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor out = at::empty(query.sizes(), query.options()),
                     lse = at::empty({query.size(1), query.size(0)}, query.options().dtype(at::kFloat)),
                     state = at::empty({2}, query.options().dtype(at::kLong)), unused = at::empty({}, query.options().dtype(at::kLong));
    Aliases here;
    const at::Tensor q = here.of(query), k = here.of(key), v = here.of(value), y = here.of(out), l = here.of(lse);
    const auto seed = static_cast<std::uint64_t>(
        dropout > 0 ? at::empty({}, at::kLong).random_(host_generator(query.device().index())).item<std::int64_t>() : 0);
    here.of(state).fill_(static_cast<std::int64_t>(seed));
    check_spans(here.of(*offsets_q), query, longest_q);
    check_spans(here.of(*offsets_k), key, longest_k);
    for (const auto [begin, length] : spans_of(here.of(*offsets_q))) {
        const auto rows = [&, begin = begin, length = length](const at::Tensor& t) { return t.narrow(0, begin, length); };
        const Attention one(rows(q), rows(k), rows(v), scale.value_or(1 / std::sqrt(static_cast<double>(query.size(2)))), reach(before),
                            reach(after), dropout, seed + static_cast<std::uint64_t>(begin));
        rows(y).copy_(at::matmul(one.p * one.kept, one.v).transpose(0, 1));
        l.narrow(1, begin, length).copy_(one.lse);
    }
    return {out, lse, state, unused, at::empty({0}, query.options())};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_backward(const at::Tensor& grad, const at::Tensor& query, const at::Tensor& key,
                                                              const at::Tensor& value, const at::Tensor& out, const at::Tensor&,
                                                              const at::Tensor& offsets_q, const at::Tensor& offsets_k,
                                                              c10::SymInt longest_q, c10::SymInt longest_k, double dropout, bool,
                                                              const at::Tensor& state, const at::Tensor&, std::optional<double> scale_given,
                                                              std::optional<c10::SymInt> before, std::optional<c10::SymInt> after) {
    check_attention(query, key, value, offsets_q, offsets_k);
    if (const auto width = query.size(2); width > 192 && (width <= 224 || dropout > 0))
        TORCH_CHECK(!has_little_memory(),
                    "FlashAttention backward for head dim 256 with dropout, or head dim 224 with/without dropout requires A100/A800 or "
                    "H100/H800");
    TORCH_CHECK(grad.scalar_type() == query.scalar_type() && out.scalar_type() == query.scalar_type(),
                "the gradient and the output must have the query's dtype");
    TORCH_CHECK(grad.sizes() == query.sizes() && out.sizes() == query.sizes(), "the gradient and the output must have the query's shape");
    TORCH_CHECK(out.stride(-1) == 1, "out tensor must have contiguous last dimension");
    const RunningOperator running("aten::_flash_attention_backward");
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor dq = at::zeros_like(query), dk = at::zeros_like(key), dv = at::zeros_like(value);
    Aliases here;
    const at::Tensor dy = here.of(grad), q = here.of(query), k = here.of(key), v = here.of(value);
    check_spans(here.of(offsets_q), query, longest_q);
    check_spans(here.of(offsets_k), key, longest_k);
    const double scale = scale_given.value_or(1 / std::sqrt(static_cast<double>(query.size(2))));
    const auto seed = static_cast<std::uint64_t>(here.of(state)[0].item<std::int64_t>());
    for (const auto [begin, length] : spans_of(here.of(offsets_q))) {
        const auto rows = [&, begin = begin, length = length](const at::Tensor& t) { return t.narrow(0, begin, length); };
        const Attention one(rows(q), rows(k), rows(v), scale, reach(before), reach(after), dropout,
                            seed + static_cast<std::uint64_t>(begin));
        const at::Tensor d = rows(dy).to(at::kFloat).transpose(0, 1);           // [H, L, w]
        const at::Tensor dp = at::matmul(d, one.v.transpose(1, 2)) * one.kept;  // [H, L, L]
        const at::Tensor ds = one.p * (dp - (dp * one.p).sum(-1, true)) * scale;
        const auto add = [&](const at::Tensor& to, const at::Tensor& heads) {  // those that share a key add up
            rows(here.of(to)).copy_(heads.view({to.size(1), -1, heads.size(1), heads.size(2)}).sum(1).transpose(0, 1));
        };
        add(dq, at::matmul(ds, one.k));
        add(dk, at::matmul(ds.transpose(1, 2), one.q));
        add(dv, at::matmul((one.p * one.kept).transpose(1, 2), d));
    }
    return {dq, dk, dv};
}

/// CUDA has a kernel for bfloat16 alone, on GPUs of capability 9 and 10; else PyTorch's CUDA code brings the offsets to the host and
/// multiplies group by group.
at::Tensor grouped_product(const at::Tensor& a, const at::Tensor& b, const OptionalTensor& ends, const OptionalTensor& bias,
                           std::optional<at::ScalarType> dtype) {
    at::native::_grouped_mm_validate_inputs(a, b, ends, bias, dtype);
    check_on_device(b, a, "mat_b");
    if (ends) check_on_device(*ends, a, "offs");
    const RunningOperator running("aten::_grouped_mm");
    const at::AutoDispatchBelowADInplaceOrView below;
    const bool has_kernel = a.scalar_type() == at::kBFloat16 && (capability() / 10 == 9 || capability() / 10 == 10);
    if (ends && !has_kernel) count_wait("aten::_grouped_mm without a kernel");
    const at::Tensor out = at::native::create_grouped_gemm_output_tensor(a, b, ends, a.scalar_type());
    Aliases here;
    here.of(out).zero_();  // of rows that belong to no group
    at::native::_grouped_mm_fallback(here.of(a), here.of(b), ends ? OptionalTensor(here.of(*ends)) : ends, bias, dtype, here.of(out));
    return out;
}

std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& x, double p, std::optional<bool> train) {
    const RunningOperator running("aten::native_dropout");
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor mask = at::empty(x.sizes(), x.options().dtype(at::kBool)), out = at::empty_like(x);
    Aliases here;
    const double kept = train.value_or(true) ? 1 - p : 1;
    here.of(mask).bernoulli_(kept, host_generator(x.device().index()));
    here.of(out).copy_(here.of(x) * here.of(mask) * (kept > 0 ? 1 / kept : 0.0));
    return {out, mask};
}

/// CUDA's checks of a fused step, which the CPU's is kinder about; then the CPU's.
void fused_adamw(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    const std::size_t first = stack->size() - op.schema().arguments().size();
    std::array<std::vector<at::Tensor>, 6> lists;  // values, gradients, moments, second moments, their greatest, steps
    for (std::size_t i = 0; i < lists.size(); ++i) lists[i] = (*stack)[first + i].toTensorVector();
    const std::array<at::TensorList, 4> stepped{lists[0], lists[1], lists[2], lists[3]};
    TORCH_CHECK(at::native::check_fast_path_restrictions(stepped),
                "params, grads, exp_avgs, and exp_avg_sqs must have same dtype, device, and layout");
    std::vector<at::Tensor> scalars = lists[5];
    for (const char* name : {"grad_scale", "found_inf"})
        if (const c10::IValue& given = (*stack)[first + static_cast<std::size_t>(*op.schema().argumentIndexWithName(name))];
            given.isTensor())
            scalars.push_back(given.toTensor());
    for (const at::Tensor& one : scalars) {
        check_on_device(one, lists[0].at(0), "state_steps, grad_scale and found_inf");
        TORCH_CHECK(one.scalar_type() == at::kFloat && one.numel() == 1, "state_steps, grad_scale and found_inf must be float32 scalars");
    }
    run_on_aliases(op, stack);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
    library.impl("_fused_adamw_", torch::CppFunction::makeFromBoxedFunction<&fused_adamw>());
    library.impl("_flash_attention_forward", flash_forward);
    library.impl("_flash_attention_backward", flash_backward);
    library.impl("_grouped_mm", grouped_product);
    library.impl("native_dropout", native_dropout);
}

}  // namespace
}  // namespace faceter::testing::pretend
