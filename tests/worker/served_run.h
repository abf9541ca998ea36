#pragma once
#include <fmt/format.h>

#include <fstream>

#include "data/child_process.h"
#include "experiment/experiment.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/test.h"
#include "worker/embedding_server.h"

namespace faceter::testing {

/// A run of the tiny reference model in folder/project, trained for two steps. `text`: the experiment's variants, tasks and whatever else;
/// pairs.jsonl holds pairs.
inline RunDirectory served_run(const fs::path& folder, const std::string& text) {
    std::ofstream pairs(folder / "pairs.jsonl");
    for (int i = 0; i < 16; ++i)
        pairs << Json{{"query", fmt::format("question {}", i)}, {"document", fmt::format("an answer to {}", i)}}.dump() << "\n";
    pairs.close();
    const Experiment experiment = Experiment::parse("name: served\nmodel: " + tiny_model() + "\nthreads: 1\n" + text +
                                                        "training: {batch_size: 8, steps: 2, learning_rate: 1.0e-3}\n"
                                                        "evaluation: {baseline: false, datasets: []}\n",
                                                    folder / "e.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
    RunDirectory run = RunDirectory::create(folder / "project", experiment, experiment.runs().front(), false);
    const ChildResult made =
        run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", run.folder().string()}, std::chrono::seconds(200), 1 << 20);
    if (made.exit_code != 0) throw std::runtime_error(made.last_lines);
    return run;
}

}  // namespace faceter::testing
