#pragma once
#include <string>
#include <vector>

#include "common/json.h"
#include "model/embedding_model.h"
#include "onnx/encoder_graph.h"

namespace faceter {

/// What the int8 form of a graph keeps in float32, by the rule of model/compute.h: the products that lose most on a sample of texts, until
/// every vector of the sample is near enough; the table of words last. All others are evened out by what the sample says of their rows.
struct OnnxInt8 {
    Int8Plan plan;                  ///< sizes of activations even out as there (SmoothQuant, Xiao et al., 2023)
    std::vector<std::string> kept;  ///< names of weights, the one that loses most first
    std::size_t num_weights = 0;    ///< of products and of the table of words: all that could be integers
    double wanted_cosine = 0;       ///< half of what an export may lose: texts differ
    double smallest_cosine = 1;     ///< of a vector of the sample to its float32 form

    Json to_json() const;
    /// "4 of 37 weights stay in float32, as they lose most: ..."; empty where none does.
    std::string sentence() const;
};

/// `folder`: what write_model() wrote of the model. The sample's texts stand under the folder's prompts in turn.
OnnxInt8 choose_int8(const ModelFolder& folder, const EmbeddingModel& model, double wanted_cosine);

}  // namespace faceter
