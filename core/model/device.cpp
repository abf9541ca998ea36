#include "model/device.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

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

std::vector<double> read_scalars(const std::vector<at::Tensor>& scalars) {
    std::vector<double> values(scalars.size());
    std::vector<at::Tensor> there;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < scalars.size(); ++i) {
        if (!scalars[i].defined() || scalars[i].is_meta()) continue;
        if (scalars[i].is_cpu()) {
            values[i] = scalars[i].item<double>();
        } else {
            there.push_back(scalars[i].to(at::kDouble));
            places.push_back(i);
        }
    }
    if (there.empty()) return values;
    const at::Tensor here = at::stack(there).cpu();
    for (std::size_t i = 0; i < places.size(); ++i) values[places[i]] = here.data_ptr<double>()[i];
    return values;
}

}  // namespace faceter
