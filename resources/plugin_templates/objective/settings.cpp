#include "experiment/manifest.h"

namespace faceter {

/// What `faceter plugins`, the check of experiment files and the forms of the workbench show. Compiled without libtorch.
Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "@NAME@";
    manifest.version = "0.1";
    manifest.summary = "A hinge loss on the hardest in-batch negative.";
    manifest.citation = "";  // the paper, where there is one
    // Each setting once: its default, range and a sentence; from() names the paper that it is from.
    const Field margin =
        real("margin", 0.2, "How much nearer the positive must be, in cosine.").above(0).at_most(2).from("VSE++, section 4.1");
    manifest.objectives = {{"@NAME@", "Hinge loss on the hardest in-batch negative.", {"@NAME@", "", {margin}}}};
    return manifest;
}

}  // namespace faceter
