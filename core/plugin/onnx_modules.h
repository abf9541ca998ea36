#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/folder_modules.h"
#include "common/file.h"
#include "text/tokenizer.h"

namespace faceter {

/// What stands around an ONNX file in a folder that sentence-transformers' ONNX backend loads, read from the folder again: its tokenizer in
/// front of the graph, its pooling, heads and normalisation behind `last_hidden_state`.
class OnnxModules {
  public:
    explicit OnnxModules(const fs::path& folder);
    /// Ids of a text, its prompt included, cut to the folder's length.
    std::vector<std::int32_t> tokens(const std::string& text) const;
    /// Hidden states of one text, float32 [tokens, hidden], to its embedding, [dim]; zeros of a text of no tokens.
    at::Tensor embedding(const at::Tensor& hidden) const;

  private:
    struct Head {
        at::Tensor weight, bias;  ///< [out, in], [out] or undefined
        bool tanh = false;
    };
    ModelFolder folder_;
    std::unique_ptr<Tokenizer> tokenizer_;
    std::vector<Head> heads_;
};

}  // namespace faceter
