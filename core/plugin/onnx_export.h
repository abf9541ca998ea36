#pragma once
#include <optional>
#include <string>
#include <vector>

#include "onnx/encoder_graph.h"
#include "plugin/export_check.h"

namespace faceter {

/// Why no ONNX graph gives what the model gives, as "its ..."; empty: one does.
std::string beyond_onnx(const EmbeddingModel& model);

/// Writes a dense model into `folder`, which must exist: all that sentence-transformers reads for its ONNX backend, with the graphs of
/// `forms` in place of the encoder's weights.
void write_onnx_model(const fs::path& folder, const EmbeddingModel& model, const std::vector<OnnxForm>& forms);

/// How far an ONNX file may be off: float32 as any export, int8 by its cosines alone.
ExportLimits onnx_limits(OnnxForm form);

/// What an ONNX file of one route is held against: every token's hidden state and the embedding of the texts that every export embeds, each
/// text passed through the model alone. The graph gets the short ones padded to one length.
class OnnxCheck {
  public:
    OnnxCheck(const EmbeddingModel& model, const Route& route);

    /// Reads the folder's file of that form again and runs its operators here (OnnxRun). In int8 a text's hidden states count as one row:
    /// single tokens differ by more than any text does.
    ExportDifference by_faceter(const fs::path& folder, OnnxForm form) const;
    /// Runs it in the Python that FACETER_PEERS names. Nothing where that has no onnxruntime: `why` says so. Errors (failed): it does not
    /// run the file.
    std::optional<ExportDifference> by_onnxruntime(const fs::path& folder, OnnxForm form, std::string& why) const;

  private:
    struct Text {
        std::vector<std::int32_t> ids;
        at::Tensor hidden, embedding;  ///< [tokens, D], [dim]
    };
    struct Batch {
        std::vector<std::size_t> texts;
        at::Tensor ids, mask;  ///< int64 [B, L]
    };
    void add_batch(const std::vector<std::size_t>& texts);
    void compare(ExportDifference& difference, const Batch& batch, OnnxForm form, const at::Tensor& hidden,
                 const at::Tensor& embedding) const;
    std::vector<Text> texts_;
    std::vector<Batch> batches_;
};

/// prove_export() of a folder with ONNX files: each of `forms` by `onnx`, the folder in sentence-transformers' ONNX backend by `check`.
ExportProof prove_onnx_export(const ExportCheck& check, const OnnxCheck& onnx, const fs::path& folder, const std::vector<OnnxForm>& forms,
                              const Json& source);

}  // namespace faceter
