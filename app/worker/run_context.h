#pragma once
#include <memory>
#include <string>

#include "data/sources.h"
#include "record/journal.h"
#include "record/run_directory.h"
#include "train/checkpoint.h"
#include "train/process_group.h"
#include "train/rendezvous.h"

namespace faceter::worker {

/// What all parts of an attempt at a run share: its directory and settings, its journal, and the processes that are its ranks.
struct RunContext {
    explicit RunContext(const fs::path& folder);
    bool is_root() const { return rendezvous.rank == 0; }
    std::uint64_t seed() const;
    DataRequest request(const Json& entry) const;
    CheckpointStore checkpoints() const;
    bool stop_wanted() const;
    /// Whether the run's own scores are of embeddings in bfloat16: as its steps are, on an accelerator.
    bool scores_in_bf16() const;
    /// On rank 0 alone: the others would say the same.
    void warn(const std::string& message) const;
    /// Where the run was made for more threads than the machine gives it cores.
    void warn_of_threads() const;

    RunDirectory run;
    Json settings;
    Rendezvous rendezvous;
    c10::Device device;
    std::unique_ptr<JournalWriter> journal;
    std::unique_ptr<ProcessGroup> group;
};

}  // namespace faceter::worker
