#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/model_folder.h"
#include "common/file.h"
#include "common/json.h"
#include "model/parameters.h"

namespace faceter {

class ProcessGroup;

/// What a checkpoint holds beside tensors.
struct CheckpointState {
    std::size_t stage = 0;
    std::int64_t step = 0;          ///< steps done in this stage
    Json details = Json::object();  ///< curriculum, early stopping, counters
};

struct Checkpoint {
    fs::path folder;
    CheckpointState state;
    fs::path model() const { return folder / "model.safetensors"; }
    /// optimizer.safetensors, or the files of the ranks that shared it out: optimizer-000.safetensors ...
    std::vector<fs::path> optimizer() const;
};

/// The checkpoints of a run: folders stage-S-step-N, each written under a temporary name with its manifest (sizes, hashes) last, synced and
/// renamed, so that one exists whole or not at all.
class CheckpointStore {
  public:
    CheckpointStore(fs::path folder, std::size_t keep) : folder_(std::move(folder)), keep_(keep) {}
    /// Writes one and then removes all but it and the newest others that are whole, `keep` in all. With a group all its ranks call it, and
    /// each writes what it has of the optimiser into a file of its own.
    fs::path save(const CheckpointState& state, const std::vector<NamedTensor>& model, const std::vector<NamedTensor>& optimizer,
                  ProcessGroup* group = nullptr) const;
    /// The newest whose files agree with its manifest. One that does not is passed over with a line in `warnings`.
    std::optional<Checkpoint> newest(std::vector<std::string>& warnings) const;
    /// The one of this name, which another process has chosen.
    Checkpoint open(const std::string& name) const;

  private:
    std::vector<fs::path> list() const;  // newest first
    fs::path folder_of(const CheckpointState& state) const;
    /// The temporary folder, empty; nothing where the checkpoint is there already.
    std::optional<fs::path> begin(const fs::path& final) const;
    void finish(const fs::path& temporary, const fs::path& final, const CheckpointState& state,
                const std::vector<NamedTensor>& model) const;
    void prune(const fs::path& written) const;
    fs::path folder_;
    std::size_t keep_;
};

/// A file of float32 tensors, as they are.
void write_tensors(const fs::path& path, const std::vector<NamedTensor>& tensors);
/// The weights of a model folder: those of a Dense module into its own folder, all others into model.safetensors. Files that are there are
/// replaced.
void write_model_tensors(const fs::path& folder, const ModelFolder& model, const std::vector<NamedTensor>& tensors);
/// Removes temporary folders that a killed process left in `folder`.
void remove_leftovers(const fs::path& folder);

}  // namespace faceter
