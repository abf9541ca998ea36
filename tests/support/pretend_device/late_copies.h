#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

/// What a device does behind the host's back: copies between it and pinned memory, which the host does not wait for. They happen as late as
/// they may. A host that reads its memory before it has waited reads what was there before, and one that writes to memory that is still to
/// be copied is told so.
namespace faceter::testing::pretend {

/// The device will write `values` to `host` when somebody waits for it.
void write_later(const at::Tensor& host, const at::Tensor& values);
/// The device will read `host`: until somebody waits for it, it must stay as it is.
void read_later(const at::Tensor& host);

/// A place in the order of all that a device is given.
std::uintptr_t place_in_order();
/// The host has waited for what came before that place. Error: it has written to memory that a copy was still to read.
void catch_up(std::uintptr_t place);
void catch_up();
/// How many copies have not happened yet; of those before a place.
std::size_t copies_under_way();
std::size_t copies_under_way(std::uintptr_t place);

}  // namespace faceter::testing::pretend
