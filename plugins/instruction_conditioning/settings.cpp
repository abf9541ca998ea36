#include "experiment/manifest.h"

namespace faceter {

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "instruction_conditioning";
    manifest.version = FACETER_VERSION;
    manifest.summary = "Dense models: plain (EM), one a task (SEM), and instruction-conditioned (IC).";
    manifest.citation = "Beyond instruction-conditioning, MoTE: Mixture of Task Experts for Multi-task Embedding Models, Table 2";
    const Field use_instructions =
        boolean("instructions", false, "Put the task's instruction in front of the texts of each specialist too.").from("paper-silent");
    manifest.variants = {
        {"dense", "EM: one dense model for all tasks, no instructions.", {"dense", "", {}}},
        {"instruction", "IC: one dense model, the task's instruction in front of every text.", {"instruction", "", {}}},
        {"specialists",
         "SEM: one dense model a task, trained on that task's data only.",
         {"specialists", "", {use_instructions}},
         /*dense_start=*/false,
         /*two_blocks=*/"",
         LearnsFrom::anything,
         /*parts=*/{},
         {Training::What::encoder_a_task, /*alone=*/"always"}},
    };
    return manifest;
}

}  // namespace faceter
