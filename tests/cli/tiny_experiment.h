#pragma once
#include <fstream>
#include <string>

#include "record/run_directory.h"
#include "record/state.h"
#include "support/test.h"

namespace faceter::testing {

/// Real training on the tiny reference model, and its data beside it: pairs.jsonl.
inline void write_tiny_experiment(const fs::path& file, const std::string& data, int steps) {
    std::ofstream(file) << "name: tiny\nmodel: " << (shared_folder() / "fixtures/bert").string()
                        << "\nmax_length: 32\nthreads: 1\n"
                           "tasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n"
                           "    train: [{name: pairs, source: file, path: "
                        << data
                        << "}]\n"
                           "variants:\n  MoTE: {method: mote}\n"
                           "training: {batch_size: 8, steps: "
                        << steps
                        << ", learning_rate: 1.0e-3, checkpoint_every_steps: 1000000, keep_checkpoints: 2}\n"
                           "evaluation: {baseline: false, datasets: []}\n";
}

inline void write_tiny_pairs(const fs::path& file) {
    std::ofstream out(file);
    for (int i = 0; i < 120; ++i)
        out << "{\"query\": \"question number " << i << " about " << i * 7 % 13 << "\", \"document\": \"an answer to " << i
            << " that speaks of " << i * 7 % 13 << " and more\"}\n";
}

/// Newest attempt's last step, by the journal alone.
inline std::int64_t step_of(const RunDirectory& run) {
    if (run.attempts().empty()) return 0;
    RunFollower follower(run);
    follower.update();
    return follower.state().step;
}

inline JournalEvent first_event(const RunDirectory& run, int attempt) { return read_journal(run.attempt_journal(attempt)).events.at(0); }

}  // namespace faceter::testing
