#include "experiment/manifest.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

Field scale() {
    return real("scale", 20, "What similarities are multiplied by: 1 / temperature; the tasks' temperatures do not count.")
        .above(0)
        .from("sentence-transformers: 20");
}

}  // namespace

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "pair_losses";
    manifest.version = FACETER_VERSION;
    manifest.summary = "Objectives on the order of pairs and on triplets: CoSENT, AnglE, triplet.";
    manifest.citation = "CoSENT (Huang et al., 2024); AnglE (arXiv 2309.12871); as in sentence-transformers";
    manifest.objectives = {
        {"cosent",
         "CoSENT: pairs with higher scores shall have higher cosines; without scores positives stand above negatives.",
         {"cosent", "", {scale(), gradient_cache_field()}},
         /*dense_start=*/false,
         /*two_blocks=*/"",
         LearnsFrom::order},
        {"angle",
         "AnglE: CoSENT on the angle of the embeddings' complex halves, whose gradient does not vanish where cosines saturate.",
         {"angle", "", {scale(), gradient_cache_field()}},
         /*dense_start=*/false,
         /*two_blocks=*/"",
         LearnsFrom::order},
        {"triplet",
         "Triplet loss: each hard negative shall be further from the query than the positive by a margin.",
         {"triplet",
          "",
          {choice("distance", {"euclidean", "cosine", "manhattan"}, "euclidean", "How far two embeddings are apart.")
               .from("sentence-transformers: euclidean"),
           real("margin", 5, "By how much; embeddings of length 1 are never further apart than 2, so 0.2 is more like it for them.")
               .above(0)
               .from("sentence-transformers: 5"),
           gradient_cache_field()}},
         /*dense_start=*/false,
         /*two_blocks=*/"",
         LearnsFrom::negatives},
    };
    for (Extension& objective : manifest.objectives) objective.ignores = {"temperature"};
    return manifest;
}

}  // namespace faceter
