#include "model/movement.h"

#include <ATen/ATen.h>

#include <cmath>

namespace faceter {

void Movement::add(const at::Tensor& now, const at::Tensor& before) {
    if (!now.defined() && !before.defined()) return;
    const at::Tensor a = now.detach().to(at::kDouble), b = before.detach().to(at::kDouble);
    moved += (a - b).square().sum().item<double>();
    start += b.square().sum().item<double>();
}

double Movement::ratio() const { return start > 0 ? std::sqrt(moved / start) : std::sqrt(moved); }

}  // namespace faceter
