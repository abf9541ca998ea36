#include "experiment/manifest.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

Field similarity() {
    return choice("similarity", {"dot", "cosine"}, "dot",
                  "How the trained model scores a pair; the teacher's scores should be of the same kind.")
        .from("sentence-transformers: dot");
}

Field teacher(const char* description) { return text("teacher", "", description).must(); }

/// A loss without temperature, or with one of its own.
Extension whatever_temperature(Extension objective) {
    objective.ignores = {"temperature"};
    return objective;
}

Extension margin_mse() {
    return {"margin_mse",
            "MarginMSE: the score of the positive less that of each hard negative shall be what it is for the teacher.",
            {"margin_mse", "", {similarity(), gradient_cache_field()}},
            /*dense_start=*/false,
            /*two_blocks=*/"",
            LearnsFrom::scores};
}

Extension kl() {
    return {
        "kl",
        "KL divergence from the teacher's distribution over a query's positive and hard negatives to the model's.",
        {"kl",
         "",
         {similarity(),
          real("temperature", 1, "Divides the scores of both; the loss is multiplied by its square. The tasks' temperatures do not count.")
              .above(0)
              .from("sentence-transformers: 1"),
          gradient_cache_field()}},
        /*dense_start=*/false,
        /*two_blocks=*/"",
        LearnsFrom::scores};
}

Extension cosine_to_teacher() {
    return {
        "cosine_to_teacher",
        "Every text's embedding shall point where the teacher's does; where widths differ, through a linear map that is trained with it.",
        {"cosine_to_teacher",
         "",
         {teacher("The model whose embeddings are learned, as under `model`.")
              .excludes("objective.matryoshka_dims", "a prefix of the embedding has no teacher's vector of its width"),
          gradient_cache_field()}}};
}

Extension gist() {
    return {
        "gist",
        "GIST: InfoNCE without the in-batch negatives that a guide finds nearer to the query than its own positive; the temperature comes "
        "from the task.",
        {"gist",
         "",
         {teacher("The model that guides, as under `model`."),
          choice("margin_kind", {"absolute", "relative"}, "absolute", "Whether `margin` is a cosine or a share of the positive's.")
              .from("sentence-transformers: absolute"),
          real("margin", 0, "A negative is left out above the positive's cosine less this.")
              .at_least(0)
              .at_most(2)
              .from("GIST, 2402.16829: 0"),
          boolean("contrast_queries", true, "The other queries of the batch are negatives, too.").from("GIST, 2402.16829, section 3"),
          boolean("contrast_documents", true, "The other documents are held apart from the query's own, too.")
              .from("GIST, 2402.16829, section 3"),
          gradient_cache_field()}},
        /*dense_start=*/false,
        /*two_blocks=*/"",
        LearnsFrom::positives};
}

}  // namespace

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "distillation";
    manifest.version = FACETER_VERSION;
    manifest.summary = "Objectives that learn from a teacher: MarginMSE, KL, cosine to its vectors, GIST.";
    manifest.citation =
        "MarginMSE (arXiv 2010.02666); EmbedDistill (arXiv 2301.12005); GIST (arXiv 2402.16829); as in sentence-transformers";
    manifest.objectives = {whatever_temperature(margin_mse()), whatever_temperature(kl()), whatever_temperature(cosine_to_teacher()),
                           gist()};
    return manifest;
}

}  // namespace faceter
