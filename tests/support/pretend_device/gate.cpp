#include "gate.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <torch/library.h>

#include <algorithm>
#include <set>

#include "counters.h"
#include "memory.h"

namespace faceter::testing::pretend {
namespace {

/// Whose result the host must know: it waits for the device.
bool waits(const std::string& name) {
    static const std::set<std::string> all = {"aten::_local_scalar_dense",
                                              "aten::nonzero",
                                              "aten::equal",
                                              "aten::masked_select",
                                              "aten::_unique2",
                                              "aten::unique_dim",
                                              "aten::bincount",
                                              "aten::unique_consecutive",
                                              "aten::is_nonzero",
                                              "aten::_unique",
                                              "aten::histc",
                                              "aten::repeat_interleave",
                                              "aten::allclose",
                                              "aten::nonzero_static"};
    return all.contains(name);
}

/// Whether places that are written are told by true and false: CUDA asks the device how many there are. (Where they are read, that is a
/// call of nonzero, which is counted.)
bool reads_a_mask(const c10::IValue& value) {
    if (!value.isOptionalTensorList()) return false;
    for (const std::optional<at::Tensor>& t : value.toOptionalTensorVector())
        if (t && t->defined() && (t->scalar_type() == at::kBool || t->scalar_type() == at::kByte)) return true;
    return false;
}

bool is_there(const at::Tensor& t) { return t.defined() && t.device().is_privateuseone(); }

/// Operands of one call: all on one device, but for numbers of the host.
class Operands {
  public:
    explicit Operands(const c10::OperatorName& name) : name_(name) {}
    void add(const at::Tensor& t) {
        if (!t.defined()) return;
        if (is_there(t)) {
            TORCH_CHECK(!device_ || *device_ == t.device(), "Expected all tensors to be on the same device, but ", name_, " got some on ",
                        *device_, " and some on ", t.device());
            device_ = t.device();
        } else if (t.dim() > 0) {
            host_ = true;
        }
    }
    c10::Device device() const {
        TORCH_CHECK(!device_ || !host_, "Expected all tensors to be on the same device, but ", name_, " got some on ", *device_,
                    " and some on cpu");
        return device_.value_or(c10::Device(c10::kPrivateUse1, static_cast<c10::DeviceIndex>(current_device())));
    }

  private:
    const c10::OperatorName& name_;
    std::optional<c10::Device> device_;
    bool host_ = false;
};

/// Puts each(tensor) in the place of every tensor of a value.
template <typename Each>
c10::IValue replaced(const c10::IValue& value, const Each& each) {
    if (value.isTensor()) return each(value.toTensor());
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& t : value.toTensorVector()) list.push_back(each(t));
        return list;
    }
    if (value.isOptionalTensorList()) {
        c10::List<std::optional<at::Tensor>> list;
        for (const std::optional<at::Tensor>& t : value.toOptionalTensorVector())
            list.push_back(t ? std::optional(each(*t)) : std::nullopt);
        return list;
    }
    return value;
}

bool takes_generator(const c10::Argument& argument) {
    const auto optional = argument.type()->cast<c10::OptionalType>();
    return optional && optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
}

}  // namespace

at::Storage Aliases::storage_of(const at::Storage& there) {
    at::Storage& here = storages_[there.unsafeGetStorageImpl()];
    if (!here) {
        here = at::Storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), there.nbytes(),
                                                                 at::DataPtr(alias_of(there.data()), c10::Device(c10::kCPU)),
                                                                 c10::GetAllocator(c10::kCPU), /*resizable=*/true));
        origins_[here.unsafeGetStorageImpl()] = there;
    }
    return here;
}

at::Tensor Aliases::of(const at::Tensor& there) {
    if (!is_there(there)) return there;
    Pair& pair = by_there_[there.unsafeGetTensorImpl()];
    if (!pair.here.defined()) {
        pair.there = there;
        pair.here = at::detail::make_tensor<c10::TensorImpl>(storage_of(there.storage()), c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                             there.dtype());
        c10::TensorImpl& impl = *pair.here.unsafeGetTensorImpl();
        impl.set_sizes_and_strides(there.sizes(), there.strides(), there.storage_offset());
        if (there.unsafeGetTensorImpl()->is_wrapped_number()) impl.set_wrapped_number(true);
    }
    return pair.here;
}

at::Tensor Aliases::back(const at::Tensor& here, const c10::Device& device) const {
    if (!here.defined() || is_there(here)) return here;
    for (const auto& [impl, pair] : by_there_)
        if (pair.here.is_same(here)) return pair.there;
    if (const auto origin = origins_.find(here.storage().unsafeGetStorageImpl());
        origin != origins_.end() && is_alias(here.storage().data())) {
        at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(at::Storage(origin->second),
                                                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), here.dtype());
        view.unsafeGetTensorImpl()->set_sizes_and_strides(here.sizes(), here.strides(), here.storage_offset());
        return view;
    }
    const at::Tensor copy = at::empty_strided(here.sizes(), here.strides(), here.options().device(device));
    Aliases().of(copy).copy_(here);
    return copy;
}

void Aliases::take_over_sizes() const {
    for (const auto& [impl, pair] : by_there_) {
        if (pair.here.sizes() == pair.there.sizes() && pair.here.strides() == pair.there.strides() &&
            pair.here.storage().data() == alias_of(pair.there.storage().data()))
            continue;
        pair.there.resize_(pair.here.sizes());
        Aliases().of(pair.there).copy_(pair.here);
    }
}

void run_on_aliases(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    const c10::FunctionSchema& schema = op.schema();
    const at::AutoDispatchBelowADInplaceOrView below;
    const RunningOperator running(schema.name().c_str());
    const std::size_t first = stack->size() - schema.arguments().size();
    Operands operands(schema.operator_name());
    for (std::size_t i = first; i < stack->size(); ++i)
        replaced((*stack)[i], [&](const at::Tensor& t) {
            operands.add(t);
            return t;
        });
    const c10::Device device = operands.device();
    const bool by_mask = schema.name() == "aten::_index_put_impl_" &&
                         std::any_of(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end(), reads_a_mask);
    if (by_mask || waits(schema.name())) count_wait(schema.name().c_str());
    Aliases aliases;
    for (std::size_t i = first; i < stack->size(); ++i) {
        c10::IValue& value = (*stack)[i];
        value = replaced(value, [&](const at::Tensor& t) { return aliases.of(t); });
        if (value.isDevice()) value = c10::Device(c10::kCPU);
        if (takes_generator(schema.arguments()[i - first])) value = host_generator(device.index());
    }
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    aliases.take_over_sizes();
    for (std::size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i)
        (*stack)[i] = replaced((*stack)[i], [&](const at::Tensor& t) { return aliases.back(t, device); });
}

}  // namespace faceter::testing::pretend

namespace {

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&faceter::testing::pretend::run_on_aliases>());
}

}  // namespace
