#include "experiment/manifest.h"

namespace faceter {

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "margin";
    manifest.version = "1.0";
    manifest.summary = "A hinge loss on the hardest in-batch negative.";
    manifest.citation = "F. Faghri et al., VSE++, 2018, equation 6";
    manifest.objectives = {
        {"margin",
         "Hinge loss on the hardest in-batch negative.",
         {"margin",
          "",
          {real("margin", 0.2, "How much nearer the positive must be, in cosine.").above(0).at_most(2).from("VSE++, section 4.1")}}},
    };
    return manifest;
}

}  // namespace faceter
