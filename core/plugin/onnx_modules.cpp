#include "plugin/onnx_modules.h"

#include <ATen/ATen.h>

#include <cmath>

#include "checkpoint/tokenizer_folder.h"

namespace faceter {
namespace {

at::Tensor tensor_of(const Weights& weights, const std::string& name) {
    const TensorInfo& info = weights.at(name);
    const at::Tensor values = at::empty(info.shape, at::kFloat);
    weights.read_float(name, {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    return values;
}

at::Tensor pooled(const at::Tensor& hidden, Pooling pooling) {
    switch (pooling) {
        case Pooling::cls:
            return hidden[0];
        case Pooling::last_token:
            return hidden[hidden.size(0) - 1];
        case Pooling::max:
            return hidden.amax(0);
        case Pooling::mean_sqrt_length:
            return hidden.sum(0) / std::sqrt(static_cast<double>(hidden.size(0)));
        case Pooling::weighted_mean: {
            const at::Tensor weights = at::arange(1, hidden.size(0) + 1, at::kFloat);
            return at::mv(hidden.t(), weights) / weights.sum();
        }
        case Pooling::mean:
            break;
    }
    return hidden.mean(0);
}

}  // namespace

OnnxModules::OnnxModules(const fs::path& folder)
    : folder_(open_modules(folder)), tokenizer_(load_tokenizer(tokenizer_home(folder_.encoder_folder), folder_.lowercase_first)) {
    for (const DenseModule& dense : folder_.dense) {
        const Weights weights(find_weight_files(folder / dense.name));
        heads_.push_back({tensor_of(weights, "linear.weight"), dense.bias ? tensor_of(weights, "linear.bias") : at::Tensor(), dense.tanh});
    }
}

std::vector<std::int32_t> OnnxModules::tokens(const std::string& text) const {
    std::vector<std::int32_t> ids;
    tokenizer_->encode(text, folder_.max_seq_length, ids);
    return ids;
}

at::Tensor OnnxModules::embedding(const at::Tensor& hidden) const {
    const std::int64_t dim = heads_.empty() ? hidden.size(1) : heads_.back().weight.size(0);
    if (hidden.size(0) == 0) return at::zeros({dim}, at::kFloat);
    at::Tensor x = pooled(hidden, folder_.pooling);
    for (const Head& head : heads_) {
        x = at::matmul(head.weight, x);
        if (head.bias.defined()) x = x + head.bias;
        if (head.tanh) x = at::tanh(x);
    }
    return folder_.normalize ? x / x.norm().clamp_min(1e-12) : x;
}

}  // namespace faceter
