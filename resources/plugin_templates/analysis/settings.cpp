#include "experiment/manifest.h"

namespace faceter {

/// What `faceter plugins`, the check of experiment files and the forms of the workbench show. Compiled without libtorch.
Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "@NAME@";
    manifest.version = "0.1";
    manifest.summary = "How alike a run's embeddings of different texts are, task by task.";
    manifest.citation = "";  // the paper, where there is one
    manifest.analyses = {{"@NAME@", "Mean cosine between different texts under each task.", {"@NAME@", "", {}}}};
    return manifest;
}

}  // namespace faceter
