#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/encoder_config.h"
#include "checkpoint/model_folder.h"
#include "onnx/graph.h"

/// A model folder as one graph: input_ids and attention_mask, int64 [batch_size, sequence_length], to `last_hidden_state`, float32
/// [batch_size, sequence_length, hidden], and `sentence_embedding`, float32 [batch_size, D]: pooled, through the heads and, where the model
/// says so, normalised. Padding may stand on either side; a text of no tokens is the zero vector.
namespace faceter {

enum class OnnxForm {
    float32,
    int8,  ///< weights of products and the table of words in int8, a scale a column and a word; activations quantised as they come
};

/// How the weights of an int8 graph become integers, by their names.
struct Int8Plan {
    std::set<std::string> exact;  ///< those that stay in float32
    /// [in] of a product: what each column of its weights is multiplied by, and each element of its rows divided by (model/equalising.h).
    /// Products of the same rows have the same.
    std::map<std::string, std::vector<float>> steps;
};

/// Where a model folder keeps that form: "onnx/model.onnx", "onnx/model_qint8_avx512_vnni.onnx", as sentence-transformers looks for them.
const char* onnx_file_of(OnnxForm form);

/// Why no graph gives what this model gives, as "its ..."; empty: one does.
std::string beyond_onnx(const ModelFolder& folder, const EncoderConfig& config);

/// The graph of a folder that write_model() wrote of a dense model. `plan`: of the int8 form.
OnnxGraph encoder_graph(const ModelFolder& folder, OnnxForm form, const Int8Plan& plan = {});
/// How an int8 graph calls the integers of a weight.
std::string quantised_name(const std::string& weight);

}  // namespace faceter
