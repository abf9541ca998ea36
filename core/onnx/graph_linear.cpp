#include "onnx/graph_linear.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace faceter {
namespace {

/// A matrix in int8 by the largest value of each row: row r is bytes times scales[r].
struct Int8Rows {
    std::vector<std::int8_t> values;
    std::vector<float> scales;
    std::vector<float> sums() const {
        const std::size_t columns = values.size() / scales.size();
        std::vector<float> all;
        for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(columns))
            all.push_back(static_cast<float>(std::accumulate(row, row + static_cast<std::ptrdiff_t>(columns), 0)));
        return all;
    }
};

Int8Rows int8_rows(const std::vector<float>& values, std::size_t columns) {
    Int8Rows rows{std::vector<std::int8_t>(values.size()), {}};
    for (std::size_t begin = 0; begin < values.size(); begin += columns) {
        float largest = 0;
        for (std::size_t i = begin; i < begin + columns; ++i) largest = std::max(largest, std::abs(values[i]));
        const float scale = largest > 0 ? largest / 127 : 1;
        for (std::size_t i = begin; i < begin + columns; ++i) rows.values[i] = static_cast<std::int8_t>(std::lround(values[i] / scale));
        rows.scales.push_back(scale);
    }
    return rows;
}

/// [rows, columns] -> [columns, rows]
template <typename T>
std::vector<T> transposed(const std::vector<T>& values, std::size_t columns) {
    const std::size_t rows = values.size() / columns;
    std::vector<T> turned(values.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) turned[c * rows + r] = values[r * columns + c];
    return turned;
}

std::string bytes_of(const std::vector<std::int8_t>& values) { return {reinterpret_cast<const char*>(values.data()), values.size()}; }

}  // namespace

std::string quantised_name(const std::string& weight) { return weight + "_quantized"; }

std::vector<float> GraphLayers::values(const std::string& name) const {
    std::vector<float> values(weights_.at(name).numel());
    weights_.read_float(name, values);
    return values;
}

GraphLayers::Value GraphLayers::divided(const Value& x, const std::string& name) {
    const auto found = plan_.steps.find(name);
    if (found == plan_.steps.end()) return x;
    std::vector<float> factors;
    for (const float step : found->second) factors.push_back(1 / step);
    const auto size = static_cast<std::int64_t>(factors.size());
    return graph_.multiply(x, graph_.weight(name + "_equaliser", {size}, factors));
}

const GraphLayers::Quantised& GraphLayers::quantised(const Value& given, const std::string& name) {
    const auto [at, is_new] = quantised_.try_emplace(given);
    if (!is_new) return at->second;
    const Value x = divided(given, name);
    const auto extreme = [&](const char* of_row, const char* of_two) {
        const Value found = graph_.node(of_row, {x}, {{"axes", std::vector<std::int64_t>{-1}}});
        return graph_.node(of_two, {found, graph_.number(0)});
    };
    const Value low = extreme("ReduceMin", "Min"), high = extreme("ReduceMax", "Max");
    const Value range = graph_.node("Div", {graph_.node("Sub", {high, low}), graph_.number(255)});
    const Value scale = graph_.node("Max", {range, graph_.number(1e-30f)});  // a row of zeros
    const auto rounded = [&](const Value& value) { return graph_.node("Round", {graph_.node("Div", {value, scale})}); };
    const Value zero = graph_.node("Sub", {graph_.number(0), rounded(low)});
    const Value whole = graph_.add(rounded(x), zero);
    const Value clipped = graph_.node("Max", {graph_.node("Min", {whole, graph_.number(255)}), graph_.number(0)});
    at->second = {graph_.cast(clipped, OnnxType::uint8), scale, zero};
    return at->second;
}

GraphLayers::Value GraphLayers::quantised_product(const Value& x, const std::string& name) {
    const TensorInfo& info = weights_.at(name);
    const auto columns = static_cast<std::size_t>(info.shape.at(1));
    std::vector<float> scaled = values(name);
    if (const auto steps = plan_.steps.find(name); steps != plan_.steps.end())
        for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= steps->second[i % columns];
    const Int8Rows rows = int8_rows(scaled, columns);
    const Value weight =
        graph_.weight(quantised_name(name), OnnxType::int8, {info.shape[1], info.shape[0]}, bytes_of(transposed(rows.values, columns)));
    const Value scales = graph_.weight(name + "_scale", {info.shape[0]}, rows.scales);
    const Value sums = graph_.weight(name + "_sum", {info.shape[0]}, rows.sums());
    const Quantised& from = quantised(x, name);
    const Value whole = graph_.cast(graph_.node("MatMulInteger", {from.values, weight}), OnnxType::float32);
    const Value centred = graph_.node("Sub", {whole, graph_.multiply(from.zero, sums)});
    return graph_.multiply(graph_.multiply(centred, from.scale), scales);
}

GraphLayers::Value GraphLayers::product(const Value& x, const std::string& name) {
    const TensorInfo& info = weights_.at(name);
    return graph_.node("MatMul", {x, graph_.weight(name, {info.shape.at(1), info.shape.at(0)},
                                                   transposed(values(name), static_cast<std::size_t>(info.shape[1])))});
}

GraphLayers::Value GraphLayers::with_bias(const Value& y, const std::string& name) {
    const std::string bias = name + ".bias";
    return has(bias) ? graph_.add(y, graph_.weight(bias, weights_.at(bias).shape, values(bias))) : y;
}

GraphLayers::Value GraphLayers::linear(const Value& x, const std::string& name) {
    const std::string weight = name + ".weight";
    return with_bias(is_quantised(weight) ? quantised_product(x, weight) : product(x, weight), name);
}

GraphLayers::Value GraphLayers::exact_linear(const Value& x, const std::string& name) {
    return with_bias(product(x, name + ".weight"), name);
}

GraphLayers::Value GraphLayers::table(const Value& ids, const std::string& name, bool quantised) {
    const std::string weight = name + ".weight";
    const std::vector<std::int64_t> shape = weights_.at(weight).shape;
    const auto rows_of = [&](const Value& all) { return graph_.node("Gather", {all, ids}, {{"axis", std::int64_t{0}}}); };
    if (!quantised || !is_quantised(weight)) return rows_of(graph_.weight(weight, shape, values(weight)));
    const Int8Rows rows = int8_rows(values(weight), static_cast<std::size_t>(shape.at(1)));
    const Value whole = rows_of(graph_.weight(quantised_name(weight), OnnxType::int8, shape, bytes_of(rows.values)));
    const Value scales = rows_of(graph_.weight(weight + "_scale", {shape[0], 1}, rows.scales));
    return graph_.multiply(graph_.cast(whole, OnnxType::float32), scales);
}

GraphLayers::Value GraphLayers::norm(const Value& x, const std::string& name, Norm kind, double epsilon, bool plus_one) {
    std::vector<float> gamma = values(name + ".weight");
    if (plus_one)
        for (float& value : gamma) value += 1;
    const auto size = static_cast<std::int64_t>(gamma.size());
    const Value scale = graph_.weight(name + ".weight", {size}, gamma);
    if (kind == Norm::layer) {
        std::vector<Value> inputs{x, scale};
        if (has(name + ".bias")) inputs.push_back(graph_.weight(name + ".bias", {size}, values(name + ".bias")));
        return graph_.node("LayerNormalization", inputs, {{"axis", std::int64_t{-1}}, {"epsilon", static_cast<float>(epsilon)}});
    }
    const Value squares = graph_.node("ReduceMean", {graph_.multiply(x, x)}, {{"axes", std::vector<std::int64_t>{-1}}});
    const Value root = graph_.node("Sqrt", {graph_.add(squares, graph_.number(static_cast<float>(epsilon)))});
    return graph_.multiply(graph_.node("Div", {x, root}), scale);
}

}  // namespace faceter
