#pragma once
#include "matrix/harness/rows.h"

namespace faceter::matrix {

/// Writes a made row's checkpoint into `folder` (made when it is missing): a sentence-transformers folder with random weights of float32,
/// the same at every call. Names and shapes are those of the encoder that core builds from the configuration.
void write_checkpoint(const Row& row, const fs::path& folder);

/// The folder of a row's start model: its own, or made under `models`.
fs::path start_model(const Row& row, const fs::path& models);

}  // namespace faceter::matrix
