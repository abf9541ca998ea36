#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx/graph.h"

namespace faceter {

/// Runs a graph as ONNX defines its operators, one after another with ATen's plain operations: no part of core/model has a hand in it.
/// Weights are copied once.
class OnnxRun {
  public:
    explicit OnnxRun(const OnnxGraph& graph);
    /// Sees a node's inputs and its first output as it is computed.
    using Look = std::function<void(const OnnxNode&, const std::vector<at::Tensor>& in, const at::Tensor& out)>;

    /// The graph's outputs by name. Errors (data): an operator that no graph of ours has; a value that no node gives.
    std::map<std::string, at::Tensor> operator()(const std::map<std::string, at::Tensor>& inputs, const Look& look = {}) const;

  private:
    std::vector<OnnxNode> nodes_;
    std::vector<std::string> outputs_;
    std::map<std::string, at::Tensor> weights_;
};

}  // namespace faceter
