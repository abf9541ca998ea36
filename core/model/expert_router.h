#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"

namespace faceter {

class EmbeddingModel;

/// The expert of a route whose router chooses it for each text.
inline constexpr int routed_expert = -1;

/// Chooses the expert of each text from its embedding under the base model (expert 0): routing by sequence that takes one pass to choose
/// and a second to embed (RouterRetriever). The experts are the model's low-rank adapters, or those of its mixture blocks.
class ExpertRouter {
  public:
    virtual ~ExpertRouter() = default;
    /// base: float32 [N, D] as the model gives it. 0: the base embedding stands, without a second pass.
    virtual std::vector<int> choose(const at::Tensor& base) const = 0;
    /// Why: the choice for one text [D], as name -> value, for people to read.
    virtual Json explain(const at::Tensor& base) const = 0;
    /// What it consists of: experts and what it knows of each.
    virtual Json describe() const = 0;
    /// Writes everything that opening it again needs into the model's folder, router.json first of all, whose "method" names the plugin's
    /// router.
    virtual void write(const fs::path& folder, const EmbeddingModel& model) const = 0;
    /// A hash of all that choices depend on.
    virtual std::string fingerprint() const = 0;
};

}  // namespace faceter
