#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"

namespace faceter {

/// Embeddings that another program gives.
struct PeerAnswer {
    std::string version, peft_version;                     ///< of sentence-transformers, and of PEFT where an adapter was asked for
    std::vector<std::vector<std::vector<float>>> vectors;  ///< [request][text][D]
};

/// What sentence-transformers runs a model by.
enum class PeerBackend { torch, onnx };

/// Loads a model folder in sentence-transformers, in the Python that FACETER_PEERS names, and embeds. `request`: [{"prompt_name": a name or
/// null, "texts": [...], and "adapter" where texts go through one: a folder that PEFT puts onto the model}]. Nothing, and the reason in
/// `why`, where there is none, where that Python lacks a package that this takes (named), or where it cannot load this folder by design:
/// modules of Faceter alone, or a model that only code from the hub can run. Errors (failed): it should load the folder and does not.
std::optional<PeerAnswer> ask_sentence_transformers(const fs::path& folder, const Json& request, std::string& why,
                                                    PeerBackend backend = PeerBackend::torch);

/// Texts of one length for an ONNX graph, row by row.
struct OnnxRequest {
    std::int64_t rows = 0, columns = 0;
    std::vector<std::int64_t> ids, mask;  ///< [rows, columns]
};
/// What it gives for each request.
struct OnnxAnswer {
    std::string version;
    std::vector<std::vector<float>> hidden, embeddings;  ///< [rows, columns, hidden], [rows, dim]
};
/// Runs an ONNX file in onnxruntime, in the Python that FACETER_PEERS names. Nothing, and the reason in `why`, where there is none. Errors
/// (failed): it does not run the file, or gives other sizes.
std::optional<OnnxAnswer> ask_onnxruntime(const fs::path& file, const std::vector<OnnxRequest>& requests, std::int64_t hidden,
                                          std::int64_t dim, std::string& why);

}  // namespace faceter
