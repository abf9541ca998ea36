#include "experiment/manifest.h"

namespace faceter {

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "mote";
    manifest.version = FACETER_VERSION;
    manifest.summary = "Mixture of task experts: the instruction also picks the expert.";
    manifest.citation = "Beyond instruction-conditioning, MoTE: Mixture of Task Experts for Multi-task Embedding Models";
    manifest.variants = {
        {"mote",
         "MoTE: instruction conditioning plus one expert (MLP and its two norms) an instruction.",
         {"mote",
          "",
          {
              choice("placement", {"every", "every_other"}, "every_other",
                     "Which blocks get experts: every one (EB), or every other from the second (EOB).")
                  .from("MoTE, section 5.1"),
              choice("expert_norms", {"own", "shared"}, "own",
                     "Whether an expert has its own two norms (section 3.1, Figure 2b) or only its own MLP (appendix D.1).")
                  .from("MoTE, section 3.1"),
              map("experts", text("", "", "Name of the expert."),
                  "Expert of 'task.query', 'task.document' or 'task', or of the instructions that a pattern matches ('search *'); those "
                  "with "
                  "the same name share one. Default: one for each distinct instruction.")
                  .naming({"<task>", "<task>.query", "<task>.document", "<pattern>"})
                  .from("MoTE, section 8 leaves sharing open"),
              choice("final_form", {"experts", "averaged"}, "experts",
                     "What is left after training: the experts, or one dense block a layer with their average (EA).")
                  .from("MoTE, section 6"),
          }},
         /*dense_start=*/true,
         /*two_blocks=*/"placement=every_other",
         LearnsFrom::anything,
         {"expert", /*by_task=*/false, "experts"}},
    };
    manifest.analyses = {
        {"expert_moves",
         "How far the experts have moved from the dense block and from one another, by block, and which instruction has which.",
         {"expert_moves", "", {}}}};
    return manifest;
}

}  // namespace faceter
