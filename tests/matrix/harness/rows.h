#pragma once
#include <string>
#include <vector>

#include "checkpoint/model_folder.h"
#include "common/file.h"
#include "common/json.h"

namespace faceter::matrix {

/// How a made checkpoint cuts texts; each is a tokenizer.json of a small vocabulary (tokenizers.h).
enum class Cutting { word_piece, unigram, unigram_t5, byte_pairs, byte_pairs_end, byte_pairs_qwen };

/// A start model. A made one needs its config.json alone: names and shapes of its tensors are those of the encoder that core builds from
/// it.
struct Row {
    std::string name;
    fs::path folder;  ///< a checkpoint that is there; empty: it is to be made of what follows
    Json config = Json::object();
    Cutting cutting = Cutting::word_piece;
    Pooling pooling = Pooling::mean;
    bool normalize = true;
    std::vector<DenseModule> heads{};
    /// Token-routed blocks, for which transformers has no code of its own.
    bool routed() const { return config.contains("num_experts"); }
};

/// Small random checkpoints, one or more a family.
std::vector<Row> made_rows();
/// Every folder of `fixtures` with a configuration, weights and a tokenizer.
std::vector<Row> fixture_rows(const fs::path& fixtures);

/// What a row's encoder is made of: "positions: rotary", "norm: before", "blocks: gated", "pooling: cls" ...; a row whose family is not
/// known has the one trait "family: unknown".
std::vector<std::string> traits(const Row& row);

}  // namespace faceter::matrix
