#include "experiment/manifest.h"

namespace faceter {

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "task_lora";
    manifest.version = FACETER_VERSION;
    manifest.summary = "One low-rank adapter a task, over a base that is frozen or trained at a rate of its own.";
    manifest.citation = "jina-embeddings-v3: Multilingual Embeddings With Task LoRA (arXiv 2409.10173)";
    manifest.variants = {
        {"task_lora",
         "Task LoRA: one low-rank adapter a task (and role) over one dense model.",
         {"task_lora",
          "",
          {
              integer("rank", 8, "Rank of an adapter.").at_least(1).at_most(4096).from("jina-embeddings-v3: 4; ours"),
              real("alpha", 32, "An adapter's update is scaled by alpha / rank.")
                  .above(0)
                  .from("jina-embeddings-v3: 1; ours, as router_retriever has it"),
              real("adapter_dropout", 0, "Dropout of an adapter's input in training.").at_least(0).at_most(0.9).from("paper-silent"),
              list("targets", text("", "", "End of a layer's name, such as query; all-linear for every one."),
                   "Linear layers that an adapter changes; empty: all of them.")
                  .naming({"<layer>"})
                  .from("jina-embeddings-v3, section 4: all linear layers"),
              choice("adapters", {"by_side", "task", "role"}, "by_side",
                     "Which texts share one: by_side, a task's, but queries and documents apart where their instructions differ; task, all "
                     "of a "
                     "task; role, queries and documents always apart.")
                  .from("jina-embeddings-v3, section 5: query and passage have one each in retrieval"),
              boolean("instructions", false, "Put the task's instruction in front of its texts as well.")
                  .from("jina-embeddings-v3: none is needed"),
              choice("training", {"together", "one_by_one"}, "together",
                     "All adapters in one run over all tasks, or each by itself on its task's data.")
                  .from("jina-embeddings-v3, section 5: one by one"),
              real("base_rate", 0,
                   "Learning rate of the base, as a share of the adapters'; 0 keeps it frozen. Only with training: together.")
                  .at_least(0)
                  .at_most(1)
                  .excludes("training=one_by_one",
                            "each task would move the base under the others' adapters; use training: together, or base_rate: 0")
                  .from("jina-embeddings-v3, section 5: frozen"),
              choice("final_form", {"adapters", "averaged"}, "adapters",
                     "What is left after training: the adapters, or one dense model with their average merged into it.")
                  .from("as MoTE's averaged experts"),
          }},
         /*dense_start=*/true,
         /*two_blocks=*/"",
         LearnsFrom::anything,
         {"adapter", /*by_task=*/true, "adapters"},
         {Training::What::adapters, /*alone=*/"training=one_by_one"}},
    };
    return manifest;
}

}  // namespace faceter
