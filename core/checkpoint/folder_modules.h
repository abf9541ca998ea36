#pragma once
#include "checkpoint/model_folder.h"

namespace faceter {

/// What a sentence-transformers folder says of everything but its encoder: pooling, heads, normalisation, lengths and prompts, by
/// modules.json and the files that it names. For a folder whose encoder lies there in another form than a checkpoint (ONNX): weight_files
/// stays empty. Errors (data): as ModelFolder::open().
ModelFolder open_modules(const std::filesystem::path& folder);

}  // namespace faceter
