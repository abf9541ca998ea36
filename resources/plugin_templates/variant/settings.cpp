#include "experiment/manifest.h"

namespace faceter {

/// What `faceter plugins`, the check of experiment files and the forms of the workbench show. Compiled without libtorch.
Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "@NAME@";
    manifest.version = "0.1";
    manifest.summary = "Instructions in front of queries, and of documents only where that is asked for.";
    manifest.citation = "";  // the paper, where there is one
    // Each setting once: its default, range and a sentence; from() names the paper that it is from.
    const Field documents = boolean("documents", false, "Put the task's instruction in front of documents as well.").from("paper-silent");
    manifest.variants = {{"@NAME@", "The task's instruction in front of queries alone.", {"@NAME@", "", {documents}}}};
    return manifest;
}

}  // namespace faceter
