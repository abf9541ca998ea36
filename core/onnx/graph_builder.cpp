#include "onnx/graph_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace faceter {
namespace {

template <typename T>
std::string bytes_of(std::span<const T> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

std::size_t onnx_bytes(OnnxType type) {
    switch (type) {
        case OnnxType::int64:
            return 8;
        case OnnxType::float32:
        case OnnxType::int32:
            return 4;
        default:
            return 1;
    }
}

std::string GraphBuilder::fresh(const std::string& kind) {
    return fmt::format("{}{}{}_{}", scope_, scope_.empty() ? "" : "/", kind, count_++);
}

GraphBuilder::Value GraphBuilder::input(const std::string& name, OnnxType type, std::vector<std::string> axes) {
    graph_.inputs.push_back({name, type, std::move(axes)});
    return name;
}

void GraphBuilder::output(const std::string& name, const Value& value, std::vector<std::string> axes) {
    graph_.nodes.push_back({"Identity", {value}, {name}, {}});
    graph_.outputs.push_back({name, OnnxType::float32, std::move(axes)});
}

GraphBuilder::Value GraphBuilder::node(const std::string& op, std::vector<Value> inputs, std::map<std::string, OnnxAttribute> attributes) {
    return node_of(1, op, std::move(inputs), std::move(attributes)).front();
}

std::vector<GraphBuilder::Value> GraphBuilder::node_of(std::size_t outputs, const std::string& op, std::vector<Value> inputs,
                                                       std::map<std::string, OnnxAttribute> attributes) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < outputs; ++i) values.push_back(fresh(op));
    graph_.nodes.push_back({op, std::move(inputs), values, std::move(attributes)});
    return values;
}

GraphBuilder::Value GraphBuilder::weight(const std::string& name, OnnxType type, std::vector<std::int64_t> shape, std::string bytes) {
    graph_.weights.push_back({name, type, std::move(shape), std::move(bytes)});
    return name;
}

GraphBuilder::Value GraphBuilder::weight(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
    return weight(name, OnnxType::float32, std::move(shape), bytes_of(std::span(values)));
}

GraphBuilder::Value GraphBuilder::number(float value) { return weight(fresh("number"), {}, std::vector<float>{value}); }

GraphBuilder::Value GraphBuilder::integers(const std::vector<std::int64_t>& values) {
    const auto [at, is_new] = integers_.try_emplace(fmt::format("{}", values));
    if (is_new)
        at->second = weight(fmt::format("integers_{}", integers_.size()), OnnxType::int64, {static_cast<std::int64_t>(values.size())},
                            bytes_of(std::span(values)));
    return at->second;
}

GraphBuilder::Value GraphBuilder::integer(std::int64_t value) {
    const auto [at, is_new] = integers_.try_emplace(fmt::format("{}", value));
    if (is_new)
        at->second =
            weight(fmt::format("integers_{}", integers_.size()), OnnxType::int64, {}, bytes_of(std::span<const std::int64_t>(&value, 1)));
    return at->second;
}

GraphBuilder::Value GraphBuilder::cast(const Value& value, OnnxType type) { return node("Cast", {value}, {{"to", onnx_number(type)}}); }

std::vector<GraphBuilder::Value> GraphBuilder::split(const Value& value, const std::vector<std::int64_t>& sizes, std::int64_t axis) {
    return node_of(sizes.size(), "Split", {value, integers(sizes)}, {{"axis", axis}});
}

OnnxGraph GraphBuilder::finish(std::string name) {
    graph_.name = std::move(name);
    return std::exchange(graph_, {});
}

}  // namespace faceter
