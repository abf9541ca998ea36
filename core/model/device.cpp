#include "model/device.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/core/Event.h>

#include <algorithm>
#include <mutex>

#include "model/accelerator.h"

namespace faceter {

at::Tensor to_device(const at::Tensor& tensor, const c10::Device& device) {
    if (tensor.device() == device) return tensor;
    const bool pinned = tensor.is_cpu() && is_accelerator(device);
    return (pinned ? tensor.pin_memory() : tensor).to(device, /*non_blocking=*/pinned);
}

void seed_device(const c10::Device& device, std::uint64_t seed) {
    if (device.is_meta()) return;
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::scoped_lock lock(generator.mutex());
    generator.set_current_seed(seed);
}

TensorOnTheWay::TensorOnTheWay(const at::Tensor& tensor) {
    const at::NoGradGuard no_grad;
    there_ = tensor.detach().contiguous();
    here_ = there_.is_meta() ? at::zeros(tensor.sizes(), tensor.scalar_type()) : there_;
    if (!is_accelerator(there_.device())) return;
    here_ = at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()).pinned_memory(true));
    here_.copy_(there_, /*non_blocking=*/true);
    arrival_ = std::make_shared<c10::Event>(there_.device().type());
    arrival_->record(at::accelerator::getCurrentStream(there_.device().index()));
}

const at::Tensor& TensorOnTheWay::here() const {
    if (arrival_) arrival_->synchronize();
    return here_;
}

NumbersOnTheWay::NumbersOnTheWay(const std::vector<at::Tensor>& tensors) {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> there;
    for (const at::Tensor& t : tensors) {
        const std::size_t first = values_.size();
        values_.resize(first + (t.defined() ? static_cast<std::size_t>(t.numel()) : 1));
        if (!t.defined() || t.is_meta()) continue;
        const at::Tensor flat = t.detach().reshape(-1).to(at::kDouble);
        if (t.is_cpu()) {
            std::copy_n(flat.contiguous().data_ptr<double>(), flat.numel(), values_.begin() + static_cast<std::ptrdiff_t>(first));
        } else {
            there.push_back(flat);
            places_.emplace_back(first, flat.numel());
        }
    }
    if (!there.empty()) far_.emplace(at::cat(there));
}

std::vector<double> NumbersOnTheWay::values() const {
    std::vector<double> values = values_;
    if (!far_) return values;
    const auto* value = far_->here().data_ptr<double>();
    for (const auto& [first, count] : places_) {
        std::copy_n(value, count, values.begin() + static_cast<std::ptrdiff_t>(first));
        value += count;
    }
    return values;
}

std::vector<double> read_scalars(const std::vector<at::Tensor>& scalars) { return NumbersOnTheWay(scalars).values(); }

}  // namespace faceter
