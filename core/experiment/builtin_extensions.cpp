#include "experiment/builtin_settings.h"
#include "settings/check.h"
#include "settings/core_settings.h"

// What core itself offers to an experiment file; the code behind these names is in core/train and core/eval.

namespace faceter {
namespace {

Extension infonce() {
    return {"infonce",
            "InfoNCE over in-batch and given hard negatives; the temperature comes from the task.",
            {"infonce",
             "",
             {
                 boolean("symmetric", false, "The mean of the losses from queries to documents and from documents to queries.")
                     .from("methods.md, section 2"),
                 choice("mask_false_negatives", {"none", "same_text", "same_label"}, "same_text",
                        "In-batch examples with the same query or document (or also the same class label) are not taken as negatives; the "
                        "papers mask nothing."),
                 choice("similarity", {"cosine", "dot"}, "cosine", "What the temperature divides."),
                 choice("hard_negatives", {"all", "own", "none"}, "all",
                        "Which queries a given hard negative counts for: all of the batch, the one it was given for, or none."),
                 gradient_cache_field(),
             }},
            /*dense_start=*/false,
            /*two_blocks=*/"",
            LearnsFrom::positives};
}

Extension masked_language() {
    return {"masked_language",
            "Masked-language modelling, to pre-train a backbone: masked tokens are guessed from those around them; a head beside the model "
            "is trained with it.",
            {"masked_language",
             "",
             {
                 real("rate", 0.3, "Share of the tokens that are guessed; special tokens never are.")
                     .above(0)
                     .at_most(1)
                     .from("paper-silent for Nomic Embed v2; NomicBERT (2024) has 0.3, BERT 0.15"),
                 real("mask_share", 0.8, "Of these, so many are replaced by the mask token.")
                     .at_least(0)
                     .at_most(1)
                     .from("BERT (2019), section 3.1"),
                 real("random_share", 0.1, "And so many by another token; the rest stays as it is.")
                     .at_least(0)
                     .at_most(1)
                     .from("BERT (2019), section 3.1"),
                 choice("texts", {"documents", "queries", "both"}, "documents",
                        "Which texts of the training pairs are read; their given negatives never are."),
             }},
            /*dense_start=*/false,
            /*two_blocks=*/"",
            LearnsFrom::anything,
            /*parts=*/{},
            /*training=*/{},
            /*on_tokens=*/true,
            /*ignores=*/{"temperature"}};
}

Extension task_aware() {
    return {
        "task_aware",
        "TA-CL: each batch is of one task, drawn by weight, built by the task's batching, with the task's temperature (MoTE, section 4.2).",
        {"task_aware",
         "",
         {real(
              "size_exponent", 1,
              "A homogeneous task's batches come from its data sets with probabilities proportional to size^this: 1 by size, 0 evenly. 0.3 "
              "keeps small languages from drowning.")
              .at_least(0)
              .at_most(1)
              .from("Nomic Embed v2, section 4.1")}}};
}

/// A curriculum that makes its batches whatever weight and batching the tasks have.
Extension of_its_own_batches(Extension curriculum) {
    curriculum.ignores = {"weight", "batching"};
    return curriculum;
}

Extension static_training() {
    return of_its_own_batches(
        {"static",
         "The ablation of TA-CL: heterogeneous batches over all tasks and one temperature everywhere.",
         {"static", "", {real("temperature", 0.03, "Temperature of every batch.").above(0).from("MoTE, section 5.4")}}});
}

/// The plain orders that a curriculum is held against: none has a setting.
Extension plain_order(const char* name, const char* summary) { return of_its_own_batches({name, summary, {name, "", {}}}); }

Extension inter_task_similarity() {
    Extension analysis{"inter_task_similarity",
                       "Cosine similarities of the same texts embedded under each task's instruction (MoTE, section 5.2).",
                       {"inter_task_similarity", "", {}}};
    analysis.embeds_texts = true;
    return analysis;
}

Extension embedding_forms() {
    return {"embedding_forms",
            "Scores of shorter and coarser embeddings, as they are stored for serving: prefixes (Matryoshka), int8, binary.",
            {"embedding_forms",
             "",
             {list("prefixes", integer("", 256, "Elements.").at_least(1),
                   "Lengths of prefixes; empty: a half, a quarter and an eighth of the embedding.")
                  .from("Nomic Embed v2, section 4.4"),
              list("precisions", choice("", {"float32", "int8", "binary"}, "int8", "A precision."),
                   "Precisions beside float32; empty: int8 and binary.")}}};
}

}  // namespace

void add_builtin_extensions(Catalogue& catalogue) {
    catalogue.add(ExtensionKind::objective, infonce(), "core");
    catalogue.add(ExtensionKind::objective, masked_language(), "core");
    catalogue.add(ExtensionKind::curriculum, task_aware(), "core");
    catalogue.add(ExtensionKind::curriculum, static_training(), "core");
    catalogue.add(
        ExtensionKind::curriculum,
        plain_order(
            "shuffled",
            "Every data set is cut into batches of its own, then all batches are permuted; tasks' weights do not count (BOOM, arXiv "
            "2602.05787)."),
        "core");
    catalogue.add(
        ExtensionKind::curriculum,
        plain_order(
            "proportional",
            "Each batch is of a data set drawn by the examples that it has left, so that all are used once an epoch; tasks' weights "
            "do not count."),
        "core");
    catalogue.add(
        ExtensionKind::curriculum,
        plain_order("round_robin",
                    "Data sets in turn, a batch each, until the smallest is empty; the rest of the larger ones waits for another epoch, "
                    "shuffled anew."),
        "core");
    catalogue.add(ExtensionKind::analysis, inter_task_similarity(), "core");
    catalogue.add(ExtensionKind::analysis, embedding_forms(), "core");
}

Json builtin_settings(ExtensionKind kind, std::string_view name, Json settings) {
    static const Catalogue own = [] {
        Catalogue catalogue;
        add_builtin_extensions(catalogue);
        return catalogue;
    }();
    return filled_in(own.find(kind, name)->extension.schema, std::move(settings));
}

}  // namespace faceter
