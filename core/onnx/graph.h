#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

/// A graph of ONNX operators (opset 17) as plain values.
namespace faceter {

enum class OnnxType { float32, int64, int32, int8, uint8, boolean };
std::size_t onnx_bytes(OnnxType type);

/// A constant. `bytes`: row by row, little endian.
struct OnnxTensor {
    std::string name;
    OnnxType type = OnnxType::float32;
    std::vector<std::int64_t> shape;
    std::string bytes;
};

using OnnxAttribute = std::variant<std::int64_t, float, std::vector<std::int64_t>>;

/// An empty name of an input: it is left out.
struct OnnxNode {
    std::string op;
    std::vector<std::string> inputs, outputs;
    std::map<std::string, OnnxAttribute> attributes;
};

/// An input or output of the whole graph. An axis that is a number has that size, any other name is one that callers choose.
struct OnnxPort {
    std::string name;
    OnnxType type = OnnxType::float32;
    std::vector<std::string> axes;
};

/// Nodes in an order in which each finds its inputs.
struct OnnxGraph {
    std::string name;
    std::vector<OnnxPort> inputs, outputs;
    std::vector<OnnxTensor> weights;
    std::vector<OnnxNode> nodes;
};

}  // namespace faceter
