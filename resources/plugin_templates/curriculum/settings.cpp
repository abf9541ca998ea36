#include "experiment/manifest.h"

namespace faceter {

/// What `faceter plugins`, the check of experiment files and the forms of the workbench show. Compiled without libtorch.
Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "@NAME@";
    manifest.version = "0.1";
    manifest.summary = "Batches of one data set at a time, the data sets in turn.";
    manifest.citation = "";  // the paper, where there is one
    // Each setting once: its default, range and a sentence; from() names the paper that it is from.
    const Field repeats = integer("repeats", 1, "Batches of a data set before the next has its turn.").at_least(1).from("paper-silent");
    manifest.curricula = {{"@NAME@", "Data sets in turn, some batches each.", {"@NAME@", "", {repeats}}}};
    return manifest;
}

}  // namespace faceter
