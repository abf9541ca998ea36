#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/model_folder.h"
#include "model/encoder.h"
#include "model/expert_router.h"
#include "model/task.h"
#include "text/tokenizer.h"

namespace faceter {

/// How texts of one task and role pass through a model: the instruction in front, which encoder (a specialist has one a task), which path
/// through it.
struct Route {
    std::string instruction;
    int encoder = 0;
    Path path{};
    bool routed = false;  ///< the model's router chooses the path of each text; `path` is where it chooses from
};

/// A task and role of a model, to serve it alone.
struct ServedRoute {
    std::string task;
    Role role = Role::query;
};

/// Everything between a text and its embedding: tokenizer, encoders, pooling, and the routes of the tasks.
class EmbeddingModel {
  public:
    /// The model of a folder: one dense encoder without routes, or what its description (faceter.json) names; a router's own files are not
    /// read (plugin/run_model.h). What it keeps in bfloat16 stays so (KeptWeights::as_stored); widen() is for who changes it. With `only`,
    /// what texts of that route pass through and nothing else: one encoder, dense, with the route's task expert in place, and the route's
    /// adapter. Serving a task then takes no more memory than the dense model; the rest stays on disk. Errors (data) as ModelFolder::open
    /// and the weights say them.
    static std::unique_ptr<EmbeddingModel> open(const ModelFolder& folder, const std::optional<ServedRoute>& only = {});

    ModelFolder folder;  ///< what the start model says of itself: pooling, normalisation, lengths
    std::shared_ptr<const Tokenizer> tokenizer;
    std::vector<std::unique_ptr<Encoder>> encoders;
    std::size_t max_length = 512;  ///< tokens, instruction and special tokens included
    std::vector<Task> tasks;
    std::map<std::pair<std::string, Role>, Route> routes;
    std::string computed;  ///< how its products are computed where not in float32 (compute.h): part of its fingerprint
    std::shared_ptr<const ExpertRouter> router;  ///< what chooses where a route says `routed`; may be null

    /// Every task's texts go through the first encoder with the task's instructions in front.
    void route_by_instruction();
    /// The route of a task and role; without one the plain text through the first encoder.
    Route route(const std::string& task, Role role) const;
    /// How many rows of a text under this instruction pooling leaves out (include_prompt: false).
    std::int64_t prompt_rows(const std::string& instruction) const;

    /// Hidden states pooled and, where the model says so, normalised: [S, D]. A text of no tokens is the zero vector.
    at::Tensor embed(const Encoder& encoder, const PackedBatch& batch, const ForwardContext& context) const;

    /// All weights under checkpoint names: Hugging Face's for one encoder, "encoders.N.<name>" for several.
    std::vector<NamedTensor> named_tensors() const;
    /// The same without low-rank adapters.
    std::vector<NamedTensor> base_tensors() const;
    /// Adapters are read where the checkpoint holds any; those of a finished model lie in folders of their own.
    void load_weights(const Weights& weights);

    /// Encoder::widen() of all.
    void widen();
    /// Encoders and adapters; what is made of embeddings (a router) stays on the host.
    void move_to(const c10::Device& device);

    std::int64_t dim() const { return encoders.front()->dim(); }
    /// A hash of all weights and settings that embeddings depend on: a key for caches.
    std::string fingerprint() const;
    /// The same of the base alone, without adapters and router: what these were made for.
    std::string base_fingerprint() const;
};

}  // namespace faceter
