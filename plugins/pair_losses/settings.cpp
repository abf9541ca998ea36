#include "experiment/manifest.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

Field scale() {
    return real("scale", 20, "What similarities are multiplied by: 1 / temperature; the tasks' temperatures do not count.")
        .above(0)
        .from("sentence-transformers: 20");
}

/// Of losses whose pairs are at the two sides of a margin.
Schema two_sided(const char* name) {
    return {name,
            "",
            {real("margin", 0.5, "Pairs that do not belong together shall be this far apart: 1 less their cosine.")
                 .above(0)
                 .at_most(2)
                 .from("sentence-transformers: 0.5"),
             gradient_cache_field()}};
}

}  // namespace

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "pair_losses";
    manifest.version = FACETER_VERSION;
    manifest.summary = "Objectives on scored pairs and on triplets: CoSENT, AnglE, triplet, cosine similarity, contrastive.";
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
        {"cosine_similarity",
         "The cosine of each pair shall be its score (mean squared error).",
         {"cosine_similarity",
          "",
          {real("highest_score", 1, "The score of texts that mean the same, whose cosine shall be 1; 5 for most STS data.").above(0),
           gradient_cache_field()}},
         /*dense_start=*/false,
         /*two_blocks=*/"",
         LearnsFrom::scored_pairs},
        {"contrastive", "Contrastive loss: pairs of score 1 shall be near, those of score 0 and hard negatives beyond a margin.",
         two_sided("contrastive"),
         /*dense_start=*/false,
         /*two_blocks=*/"", LearnsFrom::verdicts},
        {"online_contrastive",
         "The contrastive loss, summed over the hard pairs of a batch: what shall be near beyond the nearest that shall not, and the "
         "reverse.",
         two_sided("online_contrastive"),
         /*dense_start=*/false,
         /*two_blocks=*/"", LearnsFrom::verdicts},
    };
    for (Extension& objective : manifest.objectives) objective.ignores = {"temperature"};
    return manifest;
}

}  // namespace faceter
