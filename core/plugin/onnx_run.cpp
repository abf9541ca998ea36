#include "plugin/onnx_run.h"

#include <ATen/ATen.h>

#include <cstring>
#include <functional>
#include <unordered_map>

#include "common/error.h"

namespace faceter {
namespace {

using Tensors = std::vector<at::Tensor>;
using Integers = std::vector<std::int64_t>;

at::ScalarType scalar_type(OnnxType type) {
    switch (type) {
        case OnnxType::float32:
            return at::kFloat;
        case OnnxType::int64:
            return at::kLong;
        case OnnxType::int32:
            return at::kInt;
        case OnnxType::int8:
            return at::kChar;
        case OnnxType::uint8:
            return at::kByte;
        case OnnxType::boolean:
            return at::kBool;
    }
    return at::kFloat;
}

/// ONNX's number of a type, of those that graphs cast to.
at::ScalarType scalar_type(std::int64_t number) {
    static const std::unordered_map<std::int64_t, at::ScalarType> types = {
        {1, at::kFloat}, {2, at::kByte}, {6, at::kInt}, {7, at::kLong}, {9, at::kBool}};
    const auto found = types.find(number);
    if (found == types.end()) throw data_error("the graph casts to ONNX's type {}, which Faceter does not write", number);
    return found->second;
}

Integers integers(const at::Tensor& t) {
    const at::Tensor flat = t.to(at::kLong).reshape({-1}).contiguous();
    return {flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel()};
}

template <typename T>
T attribute(const OnnxNode& node, const char* name, T fallback) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? fallback : std::get<T>(found->second);
}

at::Tensor reshaped(const at::Tensor& x, Integers shape) {
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == 0) shape[i] = x.size(static_cast<std::int64_t>(i));
    return x.reshape(shape);
}

at::Tensor unsqueezed(at::Tensor x, Integers axes) {
    std::sort(axes.begin(), axes.end());  // of the result, none negative
    for (const std::int64_t axis : axes) x = x.unsqueeze(axis);
    return x;
}

at::Tensor gathered(const at::Tensor& table, const at::Tensor& ids) {
    Integers shape(ids.sizes().begin(), ids.sizes().end());
    shape.insert(shape.end(), table.sizes().begin() + 1, table.sizes().end());
    return table.index_select(0, ids.reshape({-1})).reshape(shape);
}

at::Tensor layer_norm(const OnnxNode& node, const Tensors& in) {
    return at::layer_norm(in[0], {in[0].size(-1)}, in[1], in.size() > 2 ? in[2] : at::Tensor(), attribute(node, "epsilon", 1e-5f));
}

/// Exact: sums of products of bytes stay far below 2^53.
at::Tensor integer_product(const Tensors& in) { return at::matmul(in[0].to(at::kDouble), in[1].to(at::kDouble)).to(at::kInt); }

bool keeps_axes(const OnnxNode& node) { return attribute(node, "keepdims", std::int64_t{1}) != 0; }

at::Tensor reduced_sum(const OnnxNode& node, const Tensors& in) { return in[0].sum(integers(in[1]), keeps_axes(node)); }

using Operator = std::function<Tensors(const OnnxNode&, const Tensors&)>;

Operator elementwise(at::Tensor (*one)(const at::Tensor&)) {
    return [one](const OnnxNode&, const Tensors& in) { return Tensors{one(in[0])}; };
}
Operator of_two(at::Tensor (*two)(const at::Tensor&, const at::Tensor&)) {
    return [two](const OnnxNode&, const Tensors& in) { return Tensors{two(in[0], in[1])}; };
}
template <typename F>
Operator single(F f) {
    return [f](const OnnxNode& node, const Tensors& in) { return Tensors{f(node, in)}; };
}

std::unordered_map<std::string, Operator> arithmetic() {
    return {
        {"Add", single([](const OnnxNode&, const Tensors& in) { return in[0] + in[1]; })},
        {"Sub", single([](const OnnxNode&, const Tensors& in) { return in[0] - in[1]; })},
        {"Mul", single([](const OnnxNode&, const Tensors& in) { return in[0] * in[1]; })},
        {"Div", single([](const OnnxNode&, const Tensors& in) { return in[0] / in[1]; })},
        {"MatMul", of_two(at::matmul)},
        {"MatMulInteger", single([](const OnnxNode&, const Tensors& in) { return integer_product(in); })},
        {"Round", elementwise(at::round)},
        {"ReduceMax",
         single([](const OnnxNode& node, const Tensors& in) { return in[0].amax(attribute(node, "axes", Integers{}), keeps_axes(node)); })},
        {"ReduceMin",
         single([](const OnnxNode& node, const Tensors& in) { return in[0].amin(attribute(node, "axes", Integers{}), keeps_axes(node)); })},
        {"Max", of_two(at::maximum)},
        {"Min", of_two(at::minimum)},
        {"Sqrt", elementwise(at::sqrt)},
        {"Erf", elementwise(at::erf)},
        {"Tanh", elementwise(at::tanh)},
        {"Relu", elementwise(at::relu)},
        {"Sigmoid", elementwise(at::sigmoid)},
        {"Cos", elementwise(at::cos)},
        {"Sin", elementwise(at::sin)},
        {"Not", elementwise(at::logical_not)},
        {"And", of_two(at::logical_and)},
        {"Equal", single([](const OnnxNode&, const Tensors& in) { return in[0] == in[1]; })},
        {"LessOrEqual", single([](const OnnxNode&, const Tensors& in) { return in[0] <= in[1]; })},
        {"GreaterOrEqual", single([](const OnnxNode&, const Tensors& in) { return in[0] >= in[1]; })},
        {"LayerNormalization", single(layer_norm)},
        {"ReduceSum", single(reduced_sum)},
        {"ReduceMean",
         single([](const OnnxNode& node, const Tensors& in) { return in[0].mean(attribute(node, "axes", Integers{}), keeps_axes(node)); })},
        {"Softmax",
         single([](const OnnxNode& node, const Tensors& in) { return in[0].softmax(attribute(node, "axis", std::int64_t{-1})); })},
        {"CumSum", single([](const OnnxNode&, const Tensors& in) { return in[0].cumsum(in[1].item<std::int64_t>()); })}};
}

std::unordered_map<std::string, Operator> rearrangements() {
    return {
        {"Identity", single([](const OnnxNode&, const Tensors& in) { return in[0]; })},
        {"Cast",
         single([](const OnnxNode& node, const Tensors& in) { return in[0].to(scalar_type(attribute(node, "to", std::int64_t{}))); })},
        {"Gather", single([](const OnnxNode&, const Tensors& in) { return gathered(in[0], in[1]); })},
        {"Reshape", single([](const OnnxNode&, const Tensors& in) { return reshaped(in[0], integers(in[1])); })},
        {"Transpose", single([](const OnnxNode& node, const Tensors& in) { return in[0].permute(attribute(node, "perm", Integers{})); })},
        {"Unsqueeze", single([](const OnnxNode&, const Tensors& in) { return unsqueezed(in[0], integers(in[1])); })},
        {"Expand", single([](const OnnxNode&, const Tensors& in) { return in[0] * at::ones(integers(in[1]), in[0].options()); })},
        {"Concat", single([](const OnnxNode& node, const Tensors& in) { return at::cat(in, attribute(node, "axis", std::int64_t{})); })},
        {"Where", single([](const OnnxNode&, const Tensors& in) { return at::where(in[0], in[1], in[2]); })},
        {"Split", [](const OnnxNode& node, const Tensors& in) {
             return at::split_with_sizes(in[0], integers(in[1]), attribute(node, "axis", std::int64_t{}));
         }}};
}

const Operator& operator_of(const std::string& name) {
    static const auto known = [] {
        auto all = arithmetic();
        all.merge(rearrangements());
        return all;
    }();
    const auto found = known.find(name);
    if (found == known.end()) throw data_error("the graph has the operator {}, which Faceter does not write", name);
    return found->second;
}

at::Tensor tensor_of(const OnnxTensor& weight) {
    const at::Tensor values = at::empty(weight.shape, scalar_type(weight.type));
    std::memcpy(values.data_ptr(), weight.bytes.data(), weight.bytes.size());
    return values;
}

}  // namespace

OnnxRun::OnnxRun(const OnnxGraph& graph) : nodes_(graph.nodes) {
    for (const OnnxPort& port : graph.outputs) outputs_.push_back(port.name);
    for (const OnnxTensor& weight : graph.weights) weights_[weight.name] = tensor_of(weight);
}

std::map<std::string, at::Tensor> OnnxRun::operator()(const std::map<std::string, at::Tensor>& inputs, const Look& look) const {
    std::unordered_map<std::string, at::Tensor> values(inputs.begin(), inputs.end());
    std::unordered_map<std::string, std::size_t> last_use;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (const std::string& name : nodes_[i].inputs) last_use[name] = i;
    const auto value = [&](const std::string& name) -> const at::Tensor& {
        if (const auto weight = weights_.find(name); weight != weights_.end()) return weight->second;
        const auto found = values.find(name);
        if (found == values.end()) throw data_error("no node of the graph gives '{}'", name);
        return found->second;
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const OnnxNode& node = nodes_[i];
        Tensors in;
        for (const std::string& name : node.inputs) in.push_back(value(name));
        const Tensors out = operator_of(node.op)(node, in);
        if (look) look(node, in, out.front());
        for (std::size_t o = 0; o < node.outputs.size(); ++o) values[node.outputs[o]] = out.at(o);
        for (const std::string& name : node.inputs)
            if (last_use[name] == i) values.erase(name);
    }
    std::map<std::string, at::Tensor> outputs;
    for (const std::string& name : outputs_) outputs[name] = value(name);
    return outputs;
}

}  // namespace faceter
