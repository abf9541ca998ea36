#pragma once
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <optional>
#include <string>

namespace faceter {

/// What an error says of an accelerator's memory: PyTorch's own, or one of CUDA's libraries that take memory beside it. Nothing: it is
/// another one.
std::optional<std::string> shortage_of(const c10::Error& error, const c10::Device& device);

}  // namespace faceter
