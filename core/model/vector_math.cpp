#include <ATen/ATen.h>

#include <array>

namespace {

/// MKL's vector functions (2024.2, in libtorch 2.11) choose their code at their first call; where several threads make that call, one of
/// them may get code of half the digits for its part, once (github.com/pytorch/pytorch/issues/188792). A worker on a busy machine gave
/// other bits at its first erf or exp in one of some thirty starts. One thread calls each of them here, as this library is loaded.
bool choose_vector_functions() {
    const at::NoGradGuard no_gradients;
    using Function = at::Tensor (*)(const at::Tensor&);
    constexpr std::array<Function, 18> functions{at::abs,   at::acos,   at::asin, at::atan,  at::cos, at::erf,
                                                 at::erfc,  at::erfinv, at::exp,  at::expm1, at::log, at::log10,
                                                 at::log1p, at::log2,   at::sin,  at::sqrt,  at::tan, at::tanh};
    for (const at::ScalarType precision : {at::kFloat, at::kDouble}) {
        const at::Tensor half = at::full({1}, 0.5, precision);
        for (const Function function : functions) function(half);
    }
    return true;
}

[[maybe_unused]] const bool chosen = choose_vector_functions();

}  // namespace
