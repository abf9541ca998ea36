#include <utility>

#include "experiment/manifest.h"

namespace faceter {
namespace {

/// What counts under one value of another setting alone.
void say_where_read(Schema& schema) {
    constexpr std::pair<const char*, const char*> conditions[] = {{"annealing_steps", "solver=annealing"},
                                                                  {"restarts", "solver=annealing"},
                                                                  {"start_temperature", "solver=annealing"},
                                                                  {"cooling", "solver=annealing"},
                                                                  {"polish", "solver=annealing"},
                                                                  {"solver", "task_level=true"},
                                                                  {"queries_per_task", "task_level=true"},
                                                                  {"noise_mask", "instance_level=true"},
                                                                  {"noise_side", "instance_level=true"},
                                                                  {"noise_quantile", "noise_mask=quantile"},
                                                                  {"noise_threshold", "noise_mask=threshold"}};
    for (const auto& [key, where] : conditions)
        for (Field& field : schema.fields)
            if (field.key == key) field.names_where = where;
}

Schema curriculum_schema() {
    Schema schema{"data_cube", "", {}};
    auto& f = schema.fields;
    f.push_back(boolean("task_level", true, "Walk the tour over the tasks; false: tasks in random order (the ablation without task level).")
                    .from("Data-CUBE, section 4.2"));
    f.push_back(
        boolean("instance_level", true,
                "Easy to difficult inside each task, with the noise mask; false: random, no mask (the ablation without instance level).")
            .from("Data-CUBE, section 4.3"));
    f.push_back(
        text("teacher", "",
             "Pre-learned model that measures tasks and difficulties: a name or folder as `model` takes; empty: the run's start model.")
            .from("Data-CUBE, section 4.2.1 (INSTRUCTOR)"));
    f.push_back(boolean("teacher_instructions", true, "Put each task's instruction in front of the texts that the teacher embeds.")
                    .from("Data-CUBE, Eq. 2"));
    f.push_back(integer("queries_per_task", 64, "Queries whose mean embedding stands for a task (n_t).")
                    .at_least(1)
                    .in("queries")
                    .from("paper-silent"));
    f.push_back(choice("solver", {"annealing", "greedy", "two_opt", "random", "exact"}, "annealing",
                       "How the tour is found; exact takes at most 12 tasks.")
                    .from("Data-CUBE, Algorithm 1"));
    f.push_back(integer("annealing_steps", 2'000'000, "Swaps tried in each chain.")
                    .at_least(1)
                    .in("steps")
                    .from("Data-CUBE, section 5.1; 800,000 to 5,000,000 in Table 4"));
    f.push_back(integer("restarts", 4, "Chains, each from its own random order; the best is kept.")
                    .at_least(1)
                    .at_most(10'000)
                    .in("chains")
                    .from("paper-silent"));
    f.push_back(real("start_temperature", 0, "tau_0 of the annealing; 0: the standard deviation of what random swaps change.")
                    .at_least(0)
                    .from("paper-silent"));
    f.push_back(real("cooling", 1e-3, "Last temperature of the annealing as a share of the first; the factor of each step follows from it.")
                    .above(0)
                    .at_most(1)
                    .from("paper-silent"));
    f.push_back(boolean("polish", false, "Improve the annealed tour by 2-opt until nothing gets better; not in the paper."));
    f.push_back(
        choice("negatives", {"hardest", "mean"}, "hardest",
               "Of several given negatives, whose similarity counts in the difficulty: the one most similar to the query, or the mean.")
            .from("paper-silent (MEDI has one)"));
    f.push_back(
        choice("noise_mask", {"quantile", "threshold", "none"}, "quantile",
               "Which examples add no loss but stay negatives: a share of each task's most difficult, those below a difficulty, or none.")
            .from("Data-CUBE, section 4.3.2"));
    f.push_back(real("noise_quantile", 0.05, "Share of each task's examples that the mask takes, where noise_mask is quantile.")
                    .at_least(0)
                    .at_most(0.99)
                    .from("paper-silent"));
    f.push_back(
        real("noise_threshold", 0, "delta: examples with a smaller difference of similarities are masked, where noise_mask is threshold.")
            .at_least(-2)
            .at_most(2)
            .from("paper-silent"));
    f.push_back(choice("noise_side", {"difficult", "printed"}, "difficult",
                       "difficult: phi < delta, as the text of section 4.3.2 says; printed: phi >= delta, as Eq. 9 is printed.")
                    .from("Data-CUBE, Eq. 9"));
    f.push_back(choice("tail", {"keep", "merge", "drop"}, "keep",
                       "A task's last batch where examples are too few for a whole one: kept short, merged with the one before, or dropped "
                       "(never a task's only batch).")
                    .from("paper-silent"));
    f.push_back(real("temperature", 0.01, "Temperature of the loss in every batch; null: each task's own.")
                    .above(0)
                    .optional()
                    .from("Data-CUBE, section 5.1 has 0.01"));
    say_where_read(schema);
    return schema;
}

Schema report_schema() {
    return {"data_cube_report",
            "",
            {
                real("margin", 0.05, "An example underfits where sim(q, s+) - sim(q, s-) is smaller.")
                    .at_least(0)
                    .at_most(2)
                    .from("Data-CUBE, Figure 1"),
                integer("examples_per_task", 256, "Examples of each task that are embedded, before and after; 0: all.")
                    .at_least(0)
                    .in("examples"),
                choice("negatives", {"hardest", "mean"}, "hardest", "Of several given negatives, which similarity counts.")
                    .from("paper-silent (MEDI has one)"),
                integer("random_orders", 1000, "Random orders that the tour is compared with.").at_least(2).at_most(1'000'000).in("orders"),
            }};
}

}  // namespace

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "data_cube";
    manifest.version = FACETER_VERSION;
    manifest.summary = "Data-CUBE: similar tasks after one another, easy examples before difficult ones.";
    manifest.citation = "Data-CUBE: Data Curriculum for Instruction-based Sentence Representation Learning";
    manifest.curricula = {{"data_cube",
                           "A planned order of batches: a tour over tasks by simulated annealing, and easy to difficult inside each task.",
                           curriculum_schema()}};
    manifest.curricula[0].ignores = {"weight", "batching"};
    manifest.analyses = {
        {"data_cube_report",
         "Underfitting of each training task before and after training, difficulties, and the plan's tour where the run has one.",
         report_schema()}};
    return manifest;
}

}  // namespace faceter
