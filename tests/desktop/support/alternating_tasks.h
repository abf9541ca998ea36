#pragma once
#include "support/sample_runs.h"

namespace faceter::testing {

/// A finished run of 20 steps that alternate between two tasks: the loss of retrieval is 1, that of clustering 5.
inline RunDirectory run_of_alternating_tasks(const fs::path& project) {
    const RunDirectory run = sample_run(project, 1);
    JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
    for (int step = 1; step <= 20; ++step)
        journal.step({{"step", step},
                      {"total_steps", 20},
                      {"loss", step % 2 ? 1.0 : 5.0},
                      {step % 2 ? "loss/retrieval" : "loss/clustering", step % 2 ? 1.0 : 5.0}});
    journal.event("finished", {{"step", 20}});
    return run;
}

}  // namespace faceter::testing
