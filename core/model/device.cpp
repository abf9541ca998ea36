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

/// Numbers in pinned memory, and what tells that the device has written them.
struct NumbersOnTheWay::Arrival {
    explicit Arrival(const at::Tensor& from)
        : there(from), here(at::empty(from.sizes(), at::TensorOptions(at::kDouble).pinned_memory(true))), event(from.device().type()) {
        here.copy_(there, /*non_blocking=*/true);
        event.record(at::accelerator::getCurrentStream(from.device().index()));
    }
    at::Tensor there, here;
    c10::Event event;
};

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
    if (!there.empty()) arrival_ = std::make_shared<Arrival>(at::cat(there));
}

std::vector<double> NumbersOnTheWay::values() const {
    std::vector<double> values = values_;
    if (!arrival_) return values;
    arrival_->event.synchronize();
    const auto* value = arrival_->here.data_ptr<double>();
    for (const auto& [first, count] : places_) {
        std::copy_n(value, count, values.begin() + static_cast<std::ptrdiff_t>(first));
        value += count;
    }
    return values;
}

RowsOnTheWay::RowsOnTheWay(const at::Tensor& rows) {
    const at::NoGradGuard no_grad;
    there_ = rows.detach().to(at::kFloat).contiguous();
    here_ = there_.is_meta() ? at::zeros(rows.sizes(), at::kFloat) : there_;
    if (!is_accelerator(there_.device())) return;
    here_ = at::empty(rows.sizes(), at::TensorOptions(at::kFloat).pinned_memory(true));
    here_.copy_(there_, /*non_blocking=*/true);
    arrival_ = std::make_shared<c10::Event>(there_.device().type());
    arrival_->record(at::accelerator::getCurrentStream(there_.device().index()));
}

const at::Tensor& RowsOnTheWay::rows() const {
    if (arrival_) arrival_->synchronize();
    return here_;
}

std::vector<double> read_scalars(const std::vector<at::Tensor>& scalars) { return NumbersOnTheWay(scalars).values(); }

}  // namespace faceter
