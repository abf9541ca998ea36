#pragma once
#include <string>
#include <vector>

#include "record/run_directory.h"

namespace faceter {

/// What a run notes of the model that it wrote (event final_model): {"files": [{"path", "bytes", "sha256"}]} of all files of the folder.
Json final_model_files(const fs::path& model);

/// The newest of the run's notes; null: it wrote no model, or an older version did.
Json noted_final_model(const RunDirectory& run);

enum class ModelLook {
    quick,     ///< sizes; content of files up to 256 MiB that were written after the note
    thorough,  ///< the content of all
};

/// What of RUN/model is not as the run noted it: "model/model.safetensors: its SHA-256 is another". Empty also where nothing was noted, or
/// the model is gone as a whole. Of a router that was changed since (faceter router), whatever belongs to the router is not looked at.
std::vector<std::string> changes_of_final_model(const RunDirectory& run, const Json& noted, ModelLook look);

}  // namespace faceter
