#pragma once
#include <span>
#include <string>
#include <vector>

#include "onnx/graph.h"

namespace faceter {

/// Puts a graph together, a node at a time; a value is its name.
class GraphBuilder {
  public:
    using Value = std::string;

    /// Names of what follows begin with it: "layers.0".
    void enter(std::string scope) { scope_ = std::move(scope); }

    Value input(const std::string& name, OnnxType type, std::vector<std::string> axes);
    /// `value` leaves the graph under this name.
    void output(const std::string& name, const Value& value, std::vector<std::string> axes);

    Value node(const std::string& op, std::vector<Value> inputs, std::map<std::string, OnnxAttribute> attributes = {});
    std::vector<Value> node_of(std::size_t outputs, const std::string& op, std::vector<Value> inputs,
                               std::map<std::string, OnnxAttribute> attributes = {});

    Value weight(const std::string& name, OnnxType type, std::vector<std::int64_t> shape, std::string bytes);
    Value weight(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values);
    Value number(float value);
    Value integers(const std::vector<std::int64_t>& values);  ///< [n]
    Value integer(std::int64_t value);                        ///< a scalar

    Value add(const Value& a, const Value& b) { return node("Add", {a, b}); }
    Value multiply(const Value& a, const Value& b) { return node("Mul", {a, b}); }
    Value cast(const Value& value, OnnxType type);
    Value unsqueeze(const Value& value, const std::vector<std::int64_t>& axes) { return node("Unsqueeze", {value, integers(axes)}); }
    Value transpose(const Value& value, std::vector<std::int64_t> order) {
        return node("Transpose", {value}, {{"perm", std::move(order)}});
    }
    /// 0 in `shape`: as it is; -1: what is left.
    Value reshape(const Value& value, const std::vector<std::int64_t>& shape) { return node("Reshape", {value, integers(shape)}); }
    std::vector<Value> split(const Value& value, const std::vector<std::int64_t>& sizes, std::int64_t axis);
    Value sum(const Value& value, std::int64_t axis) {
        return node("ReduceSum", {value, integers({axis})}, {{"keepdims", std::int64_t{0}}});
    }

    OnnxGraph finish(std::string name);

  private:
    std::string fresh(const std::string& kind);
    OnnxGraph graph_;
    std::string scope_;
    std::map<std::string, Value> integers_;  ///< by their text: small constants are shared
    std::size_t count_ = 0;
};

/// ONNX's number of a type (TensorProto.DataType), as Cast has it.
std::int64_t onnx_number(OnnxType type);

}  // namespace faceter
