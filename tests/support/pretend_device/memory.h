#pragma once
#include <c10/core/CachingDeviceAllocator.h>

#include <cstdint>

/// The memory of the pretend devices. Addresses of tensors ("there") have no rights; the same bytes can be used under their alias ("here").
namespace faceter::testing::pretend {

/// Registers it with PyTorch, and the handler of faults.
void open_memory();
/// nullptr stays nullptr. Error: the address is not a device's.
void* alias_of(const void* there);
/// Whether it is an alias of some device's memory.
bool is_alias(const void* here);

/// Memory of the host that is locked for copies. It is ordinary memory that remembers being locked.
c10::Allocator* pinned_allocator();
bool is_pinned(const void* data);

}  // namespace faceter::testing::pretend
