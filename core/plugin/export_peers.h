#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"

namespace faceter {

/// Embeddings that another program gives.
struct PeerAnswer {
    std::string version;
    std::vector<std::vector<std::vector<float>>> vectors;  ///< [request][text][D]
};

/// Loads a model folder in sentence-transformers, in the Python that FACETER_PEERS names, and embeds. `request`: [{"prompt_name": a name or
/// null, "texts": [...]}]. Nothing, and the reason in `why`, where there is none, or where it cannot load this folder by design: modules of
/// Faceter alone, or a model that only code from the hub can run. Errors (failed): it should load the folder and does not.
std::optional<PeerAnswer> ask_sentence_transformers(const fs::path& folder, const Json& request, std::string& why);

}  // namespace faceter
