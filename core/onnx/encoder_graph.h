#pragma once
#include <string>

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

/// Where a model folder keeps that form: "onnx/model.onnx", "onnx/model_qint8_avx512_vnni.onnx", as sentence-transformers looks for them.
const char* onnx_file_of(OnnxForm form);

/// Why no graph gives what this model gives, as "its ..."; empty: one does.
std::string beyond_onnx(const ModelFolder& folder, const EncoderConfig& config);

/// The graph of a folder that write_model() wrote of a dense model.
OnnxGraph encoder_graph(const ModelFolder& folder, OnnxForm form);

}  // namespace faceter
