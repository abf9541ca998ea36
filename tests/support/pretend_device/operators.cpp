#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "counters.h"
#include "gate.h"
#include "late_copies.h"
#include "memory.h"

namespace faceter::testing::pretend {
namespace {

constexpr c10::DispatchKeySet key(c10::DispatchKey::PrivateUse1);
c10::Allocator* allocator() { return c10::GetAllocator(c10::kPrivateUse1); }

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<at::Device> device,
                 std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
    TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
    const c10::DeviceGuard guard(c10::device_or_default(device));
    return at::detail::empty_generic(size, allocator(), key, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool> pinned) {
    TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
    const c10::DeviceGuard guard(c10::device_or_default(device));
    return at::detail::empty_strided_generic(size, stride, allocator(), key, c10::dtype_or_default(dtype));
}

/// More memory where it does not fit; what it held is copied.
const at::Tensor& resize(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
    const auto wanted =
        at::detail::computeStorageNbytesContiguous(size, self.element_size(), static_cast<std::size_t>(self.storage_offset()));
    c10::StorageImpl* storage = self.storage().unsafeGetStorageImpl();
    if (wanted > storage->nbytes()) {
        const c10::DeviceGuard guard(self.device());
        c10::DataPtr larger = allocator()->allocate(wanted);
        if (storage->nbytes() > 0) allocator()->copy_data(larger.get(), storage->data(), storage->nbytes());
        storage->set_data_ptr_noswap(std::move(larger));
        storage->set_nbytes(wanted);
    }
    self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
    return self;
}

/// Between a device and the host, or on a device. Only pinned memory is copied without waiting.
at::Tensor& copy(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
    if (self.is_same(source) || source.numel() == 0) return self;
    const at::AutoDispatchBelowADInplaceOrView below;
    const RunningOperator running("aten::copy_");
    const auto waits = [&](const at::Tensor& on_host) { return !non_blocking || !is_pinned(on_host.const_data_ptr()); };
    if (self.is_cpu() && waits(self)) count_wait("copy to the host");
    if (source.is_cpu() && waits(source)) count_wait("copy to the device");
    Aliases aliases;
    if (self.is_cpu() && !waits(self)) {
        write_later(self, aliases.of(source));
        return self;
    }
    if (source.is_cpu() && !waits(source)) read_later(source);
    aliases.of(self).copy_(aliases.of(source));
    return self;
}

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
    at::Tensor to = target;
    return copy(to, source, non_blocking);
}

at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride, std::optional<std::int64_t> offset) {
    return at::native::as_strided_tensorimpl(self, size, stride, offset);
}
at::Tensor view(const at::Tensor& self, at::IntArrayRef size) { return at::native::view(self, size); }
at::Tensor reshape_alias(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
    return at::native::_reshape_alias(self, size, stride);
}
at::Tensor unfold(const at::Tensor& self, std::int64_t dim, std::int64_t size, std::int64_t step) {
    return at::native::unfold(self, dim, size, step);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
    library.impl("empty.memory_format", empty);
    library.impl("empty_strided", empty_strided);
    library.impl("resize_", resize);
    library.impl("copy_", copy);
    library.impl("_copy_from", copy_from);
    library.impl("as_strided", as_strided);
    library.impl("view", view);
    library.impl("_reshape_alias", reshape_alias);
    library.impl("unfold", unfold);
    // Of these PyTorch has a form in other operators for every device; CUDA has one kernel.
    for (const char* name :
         {"native_layer_norm", "_foreach_norm.Scalar", "_foreach_add_.Tensor", "embedding_dense_backward", "silu_backward"})
        library.impl(name, torch::CppFunction::makeFromBoxedFunction<&run_on_aliases>());
}

}  // namespace
}  // namespace faceter::testing::pretend
