#pragma once
#include <cstdint>
#include <filesystem>

#include "onnx/graph.h"

/// ONNX files, by the protobuf definitions of the distribution (IR version 8, opset 17).
namespace faceter {

/// What one file may hold: protobuf knows none beyond 2 GiB. Larger weights of a model beyond it go into FILE_data beside it, as ONNX keeps
/// them ("external data").
inline constexpr std::uint64_t largest_onnx_file = std::uint64_t{1900} << 20;

void write_onnx(const std::filesystem::path& file, const OnnxGraph& graph, std::uint64_t largest_file = largest_onnx_file);
/// Reads what write_onnx() wrote. Errors (data): no ONNX file; a type, an attribute or a place of weights that it does not write; a weight
/// of other than its shape's bytes.
OnnxGraph read_onnx(const std::filesystem::path& file);

}  // namespace faceter
