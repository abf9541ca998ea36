#pragma once
#include <optional>
#include <string>
#include <vector>

#include "onnx/encoder_graph.h"
#include "plugin/export_check.h"
#include "plugin/onnx_int8.h"
#include "plugin/onnx_modules.h"

namespace faceter {

/// Why no ONNX graph gives what the model gives, as "its ..."; empty: one does.
std::string beyond_onnx(const EmbeddingModel& model);

/// The graphs that a folder has.
struct OnnxFiles {
    std::vector<OnnxForm> forms;
    std::optional<OnnxInt8> int8;  ///< where it is among them
};
/// Writes a dense model into `folder`, which must exist: all that sentence-transformers reads for its ONNX backend, with the graphs of
/// `forms` in place of the encoder's weights.
OnnxFiles write_onnx_model(const fs::path& folder, const EmbeddingModel& model, const std::vector<OnnxForm>& forms);

/// How far an ONNX file may be off: float32 as any export, int8 by its cosines alone.
ExportLimits onnx_limits(OnnxForm form);

/// What an ONNX file is held against: every token's hidden state and the embedding of the texts that every export embeds, behind the
/// instruction of each route, each text passed through the model alone. The graph gets the short ones padded to one length. The embedding
/// is held against both that the graph gives and what the folder's own modules make of the hidden states, as sentence-transformers' ONNX
/// backend does.
class OnnxCheck {
  public:
    /// `routes`: of one encoder and path, which the graph is; none: the plain text.
    OnnxCheck(const EmbeddingModel& model, const std::vector<Route>& routes);

    /// Errors (failed): the folder's tokenizer and lengths give other tokens than the model's.
    void require_tokens(const fs::path& folder) const;

    /// Reads the folder's file of that form again and runs its operators here (OnnxRun). In int8 a text's hidden states count as one row:
    /// single tokens differ by more than any text does.
    ExportDifference by_faceter(const fs::path& folder, OnnxForm form) const;
    /// Runs it in the Python that FACETER_PEERS names. Nothing where that has no onnxruntime: `why` says so. Errors (failed): it does not
    /// run the file.
    std::optional<ExportDifference> by_onnxruntime(const fs::path& folder, OnnxForm form, std::string& why) const;

  private:
    struct Text {
        std::string text, name;         ///< with the instruction in front; as messages call it
        std::vector<std::int32_t> ids;  ///< the instruction's included
        at::Tensor hidden, embedding;   ///< [tokens, D], [dim]
    };
    struct Batch {
        std::vector<std::size_t> texts;
        at::Tensor ids, mask;  ///< int64 [B, L]
    };
    void add_texts(const EmbeddingModel& model, const Route& route);
    void add_batch(const std::vector<std::size_t>& texts);
    /// What a run of the graph gave.
    struct Outputs {
        at::Tensor hidden, embedding;  ///< [B, L, D], [B, dim]
    };
    void compare(ExportDifference& difference, const Batch& batch, OnnxForm form, const OnnxModules& modules, const Outputs& outputs) const;
    std::vector<Text> texts_;
    std::vector<Batch> batches_;
};

/// prove_export() of a folder with ONNX files: each of them by `onnx`, the folder in sentence-transformers' ONNX backend by `check`.
ExportProof prove_onnx_export(
    const ExportCheck& check, const OnnxCheck& onnx, const fs::path& folder, const OnnxFiles& files, const Json& source,
    const ExportStep& step = [](std::string_view) {});

}  // namespace faceter
