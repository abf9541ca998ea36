#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "common/error.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/strings.h"
#include "experiment/experiment.h"
#include "made_pairs.h"
#include "model/accelerator.h"
#include "number_range.h"
#include "plugin/loader.h"
#include "plugin/run_model.h"
#include "record/models_by_run.h"
#include "stage_memory.h"

namespace faceter::worker {
namespace {

constexpr std::size_t most_pairs = 65536;

struct MemoryCommand {
    std::string file;
    std::vector<std::string> overrides;
    double gibibytes = 0;
    std::uint32_t negatives = 0;
    int devices = 1;
    bool json = false;
    std::uint64_t size() const {
        return gibibytes > 0 ? static_cast<std::uint64_t>(gibibytes * 1073741824.0) : device_memory(choose_device("auto")).size;
    }
};

/// The stages of one run.
Json run_report(const ResolvedRun& run, const MemoryCommand& options) {
    const auto start = open_start_model(run.settings);
    const auto variant = variant_of(run.settings);
    const auto shapes = shapes_under(*variant, *start);
    Json stages = Json::array();
    for (const PlannedStage& planned : planned_stages(run.settings, *variant, *shapes)) {
        const MadePairs pairs(*shapes, most_pairs, options.negatives, planned.training().lengths);
        const Stage& stage = planned.stage;
        SingleProcess alone;
        if (stage.adapter >= 0 && !stage.adapt_documents)
            pairs.batcher().freeze_documents(*start, {stage.tasks.begin(), stage.tasks.end()}, objective_of(planned)->reads_negatives(),
                                             alone);
        stages.push_back(StageMemory(*shapes, planned, curriculum_context(planned, *shapes, pairs.sets()), pairs.batcher(), options.devices)
                             .report(options.size()));
    }
    return {{"variant", run.variant}, {"point", run.point}, {"stages", stages}};
}

void print_text(const Json& reports) {
    for (const Json& run : reports)
        for (const Json& stage : run.at("stages")) {
            const auto bytes = [&](const char* name) { return format_bytes(stage.at(name).get<std::uint64_t>()); };
            const auto point = run.at("point").get<std::string>();
            const std::string shared = stage.contains("ranks") ? fmt::format(" on {} GPUs", stage.at("ranks").get<int>()) : "";
            say(stdout, "{}{}{}, stage {}: {} in a batch of {} pairs{}, {} with activation checkpointing\n",
                run.at("variant").get<std::string>(), point.empty() ? "" : " ", point, stage.at("stage").get<std::string>(),
                bytes("bytes_kept"), stage.at("pairs").get<std::int64_t>(), shared, bytes("bytes_recomputed"));
            say(stdout, "    weights {}, moments {}, gradients {}\n", bytes("weights"), bytes("moments"), bytes("gradients"));
            if (stage.contains("largest_batch"))
                say(stdout, "    within {}: {} pairs, {} with activation checkpointing\n", bytes("device_bytes"),
                    stage.at("largest_batch").get<std::int64_t>(), stage.at("largest_batch_recomputed").get<std::int64_t>());
        }
}

int forecast(const MemoryCommand& options) {
    use_runs_as_models();
    const Experiment experiment =
        Experiment::load(absolute_path(options.file), Catalogue::load(plugin_folders()), {options.overrides, {}, false});
    Json reports = Json::array();
    std::vector<std::pair<std::string, std::string>> seen;
    for (const ResolvedRun& run : experiment.runs()) {
        const std::pair key(run.variant, run.point);
        if (run.method == "start" || std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
        seen.push_back(key);
        reports.push_back(run_report(run, options));
    }
    options.json ? say(stdout, "{}\n", json_text(reports, 1)) : print_text(reports);
    return 0;
}

}  // namespace

void add_memory(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<MemoryCommand>();
    auto* command = app.add_subcommand("memory", "Say what training takes of a GPU's memory, and the largest batch that fits.");
    command->footer(
        "Examples:\n  faceter memory experiments/mine.yaml --gib 24\n  faceter memory mine.yaml --set training.batch_size=64 --json\n"
        "No data is read: every text is as long as the run lets it be. Nothing is computed, and no GPU is\n"
        "needed.");
    command->add_option("FILE", options->file, "The experiment file")->required();
    command->add_option("--set", options->overrides, "KEY=VALUE over the file's")->type_name("KEY=VALUE");
    command->add_option("--gib", options->gibibytes, "Memory of a GPU in GiB; without it that of the GPU here, where there is one")
        ->check(finite_range(0.001, 1e6));
    command->add_option("--negatives", options->negatives, "Hard negatives of each pair")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    command->add_option("--devices", options->devices, "GPUs that share a batch, as faceter run --devices: what each of them takes")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &exit_code] { exit_code = forecast(*options); });
}

}  // namespace faceter::worker
