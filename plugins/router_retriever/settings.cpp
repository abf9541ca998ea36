#include "experiment/manifest.h"

namespace faceter {
namespace {

constexpr std::size_t any_data = 0;  ///< TrainedAnyway::several: no task by name, but some examples of any

/// Read of one router alone; the study varies them.
Field of_router(const char* router, Field field) {
    field.names_where = router;
    return field;
}

/// Of the variant's router.
std::vector<Field> router_fields() {
    return {
        choice("router", {"pilot", "expert_classifier", "classification_head", "dataset", "random", "fixed"}, "pilot",
               "What chooses a query's gate: similarity to pilot embeddings (ours), a binary classifier a gate, one classification head, "
               "the data set of the nearest training "
               "instance, chance, or always the same gate.")
            .needs("fixed", "fixed_gate", "the gate that every query gets, a task's name, multi-task, or base for none")
            .from("RouterRetriever, section Baselines"),
        text("fixed_gate", "", "The gate of router: fixed; 'base' for none.")
            .naming({"base", "<task>", "multi-task<several of task but single_gates><if multi_task>",
                     "multi-task of <parts of task but single_gates><if multi_task_curve>", "<task but single_gates> of <training_sizes>"},
                    "router=fixed"),
        of_router("router=pilot", integer("clusters", 1, "Pilot embeddings of a domain and gate: k of k-means.")
                                      .at_least(1)
                                      .at_most(1000)
                                      .from("RouterRetriever, Algorithm 1")),
        of_router(
            "router=pilot",
            choice(
                "ties", {"margin", "drop"}, "margin",
                "An instance for which several gates have the best nDCG@10 goes to the one with the largest margin of positive over best "
                "negative, or makes no pilot.")
                .from("paper-silent; the supplement drops them for classifier routers, as these do always")),
        choice("pilot_similarity", {"cosine", "dot"}, "cosine", "Similarity of a query to pilots, or to the instances of router: dataset.")
            .from("paper-silent"),
        of_router(
            "router=pilot",
            real(
                "label_weight", 0,
                "Share that the pilots of a gate's own domain have, whatever gate they are filed under, against the pilots filed under the "
                "gate.")
                .at_least(0)
                .at_most(1)
                .from("RouterRetriever, supplement: proposed, not tried")),
        of_router("router=dataset", integer("dataset_samples", 100, "Training instances a domain that router: dataset looks among.")
                                        .at_least(1)
                                        .from("RouterRetriever, section Baselines")),
    };
}

Extension variant() {
    Schema schema{
        "router_retriever",
        "",
        {
            integer("rank", 8, "Rank of a gate.").at_least(1).at_most(4096).from("RouterRetriever, section Hyperparameters"),
            real("alpha", 32, "A gate's update is scaled by alpha / rank.").above(0).from("RouterRetriever, section Hyperparameters"),
            real("gate_dropout", 0, "Dropout of a gate's input in training.").at_least(0).at_most(0.9).from("paper-silent"),
            list("targets", text("", "", "End of a layer's name, such as query; all-linear for every one."),
                 "Linear layers that a gate changes; empty: query and value of attention.")
                .naming({"<layer>"})
                .from("paper-silent: query and value have its 0.5% of parameters"),
            choice("sides", {"query", "both"}, "query",
                   "Whether gates change queries alone, against documents of the frozen base, or documents too.")
                .from("RouterRetriever, section Hyperparameters; both: Table 6"),
            choice("similarity", {"model", "dot"}, "model",
                   "As the start model says, or dot products of embeddings that are not normalised (Contriever).")
                .from("Contriever: dot"),
            map("gates", path("", "", "PEFT folder, or RUN/gates/NAME of a run folder."),
                "Domain -> a gate to take up as it is instead of training it.")
                .naming({"<task>"}),
            list("single_gates", text("", "", "A task."),
                 "Tasks whose gates are baselines (such as MSMARCO's): trained and scored, never routed to.")
                .naming({"<task>"})
                .but_not_all("no task would be left as a domain to route to")
                .from("RouterRetriever, Table 1"),
            boolean("multi_task", true, "Train one gate on all domains together, the baseline.")
                .excludes("fixed_gate=multi-task", "that gate is not trained then; use multi_task: true, or name another gate")
                .from("RouterRetriever, section Baselines"),
            boolean("multi_task_curve", false,
                    "Train multi-task gates on the first 2, 3 ... domains as well, for the score against the number of domains.")
                .from("RouterRetriever, Figure 4"),
            list("training_sizes", integer("", 100, "Examples.").at_least(1),
                 "Train a further gate of each domain on so many examples, for the score against the size.")
                .from("RouterRetriever, Figure 3"),
            choice("budget", {"all", "equal_total", "min_per_set"}, "all",
                   "Training examples: all; the domains' gates together as many as the single gate, the largest sampled down; the "
                   "multi-task gate of each domain as many as "
                   "the smallest has.")
                .needs("equal_total", "single_gates", "the task of the one gate whose number of examples the domains' gates get together",
                       /*most=*/1)
                .from("RouterRetriever, section Dataset"),
            integer("library_examples", 1000, "Training instances a domain that the gates are scored on; 0: all.")
                .at_least(0)
                .from("RouterRetriever: all"),
            boolean("base_gate", false, "The base without a gate may be chosen too, which spares its second pass."),
        }};
    for (Field& field : router_fields()) schema.fields.push_back(std::move(field));
    return {"router_retriever",
            "RouterRetriever: one low-rank gate a domain (each task is a domain), chosen for each query by similarity to pilot embeddings.",
            schema,
            /*dense_start=*/false,
            /*two_blocks=*/"",
            LearnsFrom::anything,
            /*parts=*/{},
            {Training::What::adapters,
             /*alone=*/"always",
             /*given=*/"gates",
             {{"multi_task", "single_gates", /*of_them=*/false, /*several=*/2},
              {"multi_task_curve", "single_gates", /*of_them=*/false, /*several=*/3},
              {"training_sizes", "single_gates"},
              {"budget=equal_total", "single_gates", /*of_them=*/true},
              {"router=pilot", "", /*of_them=*/false, any_data},
              {"router=expert_classifier", "", /*of_them=*/false, any_data},
              {"router=classification_head", "", /*of_them=*/false, any_data},
              {"router=dataset", "", /*of_them=*/false, any_data}},
             /*validated=*/true}};
}

Extension study() {
    return {
        "router_study",
        "Routers, baselines and oracles on the retrieval sets of a router's run, and what each gate adds: tables, heat maps, curves, "
        "paired tests.",
        {"router_study",
         "",
         {
             list("routers", choice("", {"pilot", "expert_classifier", "classification_head", "dataset", "random"}, "pilot", "A router."),
                  "Routers to compare; empty: all of them."),
             list("clusters", integer("", 1, "k.").at_least(1).at_most(1000),
                  "Values of k for the score against pilots a group; empty: 1, 2, 3, 5 and 10.")
                 .from("RouterRetriever, supplement"),
             integer("orders", 5, "Random orders of gates for the score against their number, beside the given and the reversed one.")
                 .at_least(0)
                 .at_most(100)
                 .from("RouterRetriever, Figure 5"),
             list("second_gates", text("", "", "A gate."), "Gates that are second ones of a domain: scores without and with each.")
                 .naming({"<task>"})
                 .from("RouterRetriever, Table 12"),
             list("label_weights", real("", 0, "Weight.").at_least(0).at_most(1),
                  "Values of label_weight to try; empty: 0, 0.25, 0.5, 0.75 and 1.")
                 .from("RouterRetriever, supplement"),
             integer("map_points", 100, "Queries and documents of each data set in the map; 0: no map.")
                 .at_least(0)
                 .at_most(5000)
                 .from("RouterRetriever, Figure 2"),
             integer("examples", 20, "Queries listed that another domain's gate serves best.")
                 .at_least(0)
                 .at_most(1000)
                 .from("RouterRetriever, Table 5"),
         }}};
}

Extension preference() {
    return {"context_preference",
            "Which of several contexts of a question an encoder puts first, by kind (original, conflicting): does it prefer what it was "
            "trained on?",
            {"context_preference",
             "",
             {path("path", "", "JSON lines with query and contexts: [{text, kind}].")
                  .must()
                  .from("RouterRetriever, section Where does the benefit come from?")}}};
}

}  // namespace

Manifest plugin_manifest() {
    Manifest manifest;
    manifest.id = "router_retriever";
    manifest.version = FACETER_VERSION;
    manifest.summary = "Domain gates (LoRA) on one encoder, and routing of each query to one of them by pilot embeddings.";
    manifest.citation = "RouterRetriever: Exploring the Benefits of Routing over Multiple Expert Embedding Models";
    manifest.variants = {variant()};
    manifest.analyses = {study(), preference()};
    return manifest;
}

}  // namespace faceter
