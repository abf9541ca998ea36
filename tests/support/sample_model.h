#pragma once
#include <vector>

#include "checkpoint/safetensors.h"
#include "common/file.h"
#include "common/json.h"

namespace faceter::testing {

/// A folder that passes for a small BERT as long as nobody reads its weights: a configuration, a
/// vocabulary, and a file of as many values.
inline void write_sample_model(const fs::path& folder) {
    make_directories(folder);
    const Json config = {{"model_type", "bert"},          {"num_hidden_layers", 1}, {"hidden_size", 8},
                         {"num_attention_heads", 2},      {"intermediate_size", 8}, {"vocab_size", 30},
                         {"max_position_embeddings", 16}, {"type_vocab_size", 2}};
    write_file_atomic(folder / "config.json", config.dump());
    write_file_atomic(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n");
    const std::vector<float> values(4096);
    SafetensorsWriter writer;
    writer.add("values", DType::f32, {4096}, values.data());
    writer.write(folder / "model.safetensors");
}

}  // namespace faceter::testing
