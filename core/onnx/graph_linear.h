#pragma once
#include <map>
#include <string>
#include <vector>

#include "checkpoint/weights.h"
#include "onnx/encoder_graph.h"
#include "onnx/graph_builder.h"

namespace faceter {

/// The layers of a checkpoint as nodes, in one form. Names are the checkpoint's.
class GraphLayers {
  public:
    using Value = GraphBuilder::Value;

    /// `plan` outlives them.
    GraphLayers(GraphBuilder& graph, const Weights& weights, OnnxForm form, const Int8Plan& plan)
        : graph_(graph), weights_(weights), form_(form), plan_(plan) {}

    /// x W^T + b, b where the checkpoint has one. In int8 (Vanhoucke et al., 2011): each row of x in 8 bits by its own range, W by the
    /// largest value of each row. (ONNX's DynamicQuantizeLinear takes one range for the whole batch: a text would depend on its company,
    /// and one large number would leave nothing for the others.)
    Value linear(const Value& x, const std::string& name);
    /// The same in float32, whatever the form.
    Value exact_linear(const Value& x, const std::string& name);
    /// Rows `ids` of a table.
    Value table(const Value& ids, const std::string& name, bool quantised);
    /// A norm over the last axis; `plus_one`: it scales with 1 + weight.
    Value norm(const Value& x, const std::string& name, Norm kind, double epsilon, bool plus_one);
    bool has(const std::string& name) const { return weights_.find(name) != nullptr; }
    std::vector<float> values(const std::string& name) const;

  private:
    /// What products in 8 bits need of x, made once for all that share it: x = scale (values - zero), scale and zero of each row; divided
    /// by the plan's steps before.
    struct Quantised {
        Value values, scale, zero;
    };
    const Quantised& quantised(const Value& x, const std::string& name);
    Value divided(const Value& x, const std::string& name);
    Value quantised_product(const Value& x, const std::string& name);
    Value product(const Value& x, const std::string& name);
    Value with_bias(const Value& y, const std::string& name);
    bool is_quantised(const std::string& weight) const { return form_ == OnnxForm::int8 && !plan_.exact.contains(weight); }

    GraphBuilder& graph_;
    const Weights& weights_;
    OnnxForm form_;
    const Int8Plan& plan_;
    std::map<Value, Quantised> quantised_;
};

}  // namespace faceter
