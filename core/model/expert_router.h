#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"
#include "model/path.h"

namespace faceter {

class EmbeddingModel;

/// Chooses the path of each text from its embedding under the base model: routing by sequence that takes one pass to choose and a second to
/// embed (RouterRetriever).
class ExpertRouter {
  public:
    virtual ~ExpertRouter() = default;
    /// base: float32 [N, D] as the model gives it. Path{}: the base embedding stands, without a second pass.
    virtual std::vector<Path> choose(const at::Tensor& base) const = 0;
    /// The path that it chooses whatever the text, where there is one: such a route is a dense model.
    virtual std::optional<Path> always() const { return std::nullopt; }
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
