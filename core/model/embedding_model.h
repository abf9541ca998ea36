#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/model_folder.h"
#include "model/encoder.h"
#include "model/expert_router.h"
#include "model/task.h"
#include "text/tokenizer.h"

namespace faceter {

/// How texts of one task and role pass through a model: the instruction in front, which encoder (a specialist has one a task), which expert
/// of its mixture blocks.
struct Route {
    std::string instruction;
    int encoder = 0;
    int expert = 0;  ///< of mixture blocks, or the low-rank adapter + 1; `routed_expert`: the model's router chooses for each text
    bool is_routed() const { return expert == routed_expert; }
};

/// Everything between a text and its embedding: tokenizer, encoders, pooling, and the routes of the tasks.
class EmbeddingModel {
  public:
    /// The model of a folder, with one dense encoder and no routes. Errors (data) as ModelFolder::open and the weights say them.
    static std::unique_ptr<EmbeddingModel> open(const ModelFolder& folder);
    /// The same without reading weights (all zero): for those that come from a checkpoint.
    static std::unique_ptr<EmbeddingModel> open_empty(const ModelFolder& folder);

    ModelFolder folder;  ///< what the start model says of itself: pooling, normalisation, lengths
    std::shared_ptr<const Tokenizer> tokenizer;
    std::vector<std::unique_ptr<Encoder>> encoders;
    std::size_t max_length = 512;  ///< tokens, instruction and special tokens included
    std::vector<Task> tasks;
    std::map<std::pair<std::string, Role>, Route> routes;
    std::shared_ptr<const ExpertRouter> router;  ///< what chooses for routes that say routed_expert; may be null

    /// Every task's texts go through the first encoder with the task's instructions in front.
    void route_by_instruction();
    /// The route of a task and role; without one the plain text through the first encoder.
    Route route(const std::string& task, Role role) const;
    /// How many rows of a text under this instruction pooling leaves out (include_prompt: false).
    std::int64_t prompt_rows(const std::string& instruction) const;

    /// Hidden states pooled and, where the model says so, normalised: [S, D].
    at::Tensor embed(const Encoder& encoder, const PackedBatch& batch, const ForwardContext& context) const;

    /// All weights under checkpoint names: Hugging Face's for one encoder, "encoders.N.<name>" for several.
    std::vector<NamedTensor> named_tensors() const;
    /// The same without low-rank adapters.
    std::vector<NamedTensor> base_tensors() const;
    /// Adapters are read where the checkpoint holds any; those of a finished model lie in folders of their own.
    void load_weights(const Weights& weights);
    /// Reads only what texts of one task and role pass through: one encoder, dense, with that route's expert in place. Serving a task of a
    /// mixture then takes no more memory than the dense model; the other experts stay on disk.
    void load_one_route(const Weights& weights, const std::string& task, Role role);

    /// Encoders and adapters; what is made of embeddings (a router) stays on the host.
    void move_to(const c10::Device& device);

    std::int64_t dim() const { return encoders.front()->dim(); }
    /// A hash of all weights and settings that embeddings depend on: a key for caches.
    std::string fingerprint() const;
    /// The same of the base alone, without adapters and router: what these were made for.
    std::string base_fingerprint() const;
};

}  // namespace faceter
