#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "settings/schema.h"

namespace faceter {

/// What of its training examples an objective learns from, beside their two texts.
enum class LearnsFrom {
    anything,      ///< it decides for itself
    positives,     ///< each pair belongs together; scores are not read
    negatives,     ///< hard negatives of each
    scores,        ///< scores of each positive and its hard negatives
    order,         ///< scores that order pairs, or hard negatives below positives
    scored_pairs,  ///< the score of each pair, whatever the others have
    verdicts,      ///< scores of 1 and 0 that say which pairs belong together, or hard negatives, which do not
};

/// Of a variant whose texts go through parts of their own: how many it has follows from the tasks.
struct Parts {
    std::string name;      ///< "expert"; empty: a variant without them
    bool by_task = false;  ///< one an instruction of each task, else one an instruction
    std::string setting;   ///< of the variant: where it is set, it says what shares a part
};

/// A setting of a variant under which a task is trained on though another setting gives what its own stage would make.
struct TrainedAnyway {
    std::string setting;      ///< "multi_task", a list that is not empty, or "budget=equal_total"
    std::string tasks;        ///< a setting that lists tasks
    bool of_them = false;     ///< the tasks that it names are meant, else those that it does not
    std::size_t several = 1;  ///< such tasks that there must be
};

/// What the stages of a variant train.
struct Training {
    enum class What { encoder, encoder_a_task, adapters, nothing };
    What what = What::encoder;
    /// Where each task has a stage of its own, which needs data of that task: "always", or a setting of the variant,
    /// "training=one_by_one"; empty: nowhere.
    std::string alone{};
    std::string given{};  ///< of the variant: a map that names tasks which have no such stage
    /// Where one of these is set, a task that `given` names is trained on all the same, and needs data.
    std::vector<TrainedAnyway> anyway{};
    /// Its stages are scored on the validation data of their tasks, not on evaluation.datasets. Without it, early stopping that
    /// evaluation.datasets give nothing to watch is refused before a run.
    bool validated = false;
};

/// Something that an experiment file may name: a variant, curriculum, objective or analysis, with the settings it takes.
struct Extension {
    std::string name;
    std::string summary;
    Schema schema;
    bool dense_start = false;  ///< of a variant: its start model must be without token-routed blocks
    std::string two_blocks{};  ///< of a variant: the setting under which its start model needs two blocks, "placement=every_other"
    LearnsFrom learns_from = LearnsFrom::anything;  ///< of an objective
    Parts parts{};                                  ///< of a variant
    Training training{};                            ///< of a variant
    bool on_tokens = false;                         ///< of an objective: a loss on tokens, which trains one encoder itself
    /// Of a curriculum or an objective: the settings of tasks that it does not read: "weight", "batching", "temperature".
    std::vector<std::string> ignores{};
    bool embeds_texts = false;  ///< of an analysis: without `texts` it has nothing to look at
};

/// What a plugin says of itself in <id>.json beside its library: read before (and without) opening the library.
struct Manifest {
    std::string id, version, summary, citation;
    std::uint32_t abi = 0;
    std::string fingerprint;  ///< build_fingerprint() of core/plugin
    std::vector<Extension> variants, curricula, objectives, analyses;
    fs::path file;  ///< where it was read from

    /// The shared library beside the manifest: <folder>/<id>.so.
    fs::path library() const { return file.parent_path() / (id + ".so"); }
};

Json manifest_to_json(const Manifest& manifest);
/// Errors (settings) name `name` and the member.
Manifest manifest_from_json(const Json& json, std::string_view name);
Manifest read_manifest(const fs::path& file);
/// For a plugin's generator program: writes the manifest, prints an error and returns an exit code.
int write_manifest(const Manifest& manifest, const fs::path& file);

struct RejectedPlugin {
    fs::path file;
    std::string reason;
};
struct PluginList {
    std::vector<Manifest> manifests;  ///< sorted by id
    std::vector<RejectedPlugin> rejected;
};

/// <folder of the program>/../lib/faceter/plugins, then the folders of FACETER_PLUGIN_DIR (':' between them), then `extra` (--plugin-dir).
std::vector<fs::path> plugin_folders(const std::vector<fs::path>& extra = {});
/// Reads the manifests of these folders. One that cannot be used is listed with the reason, the others go on; a folder or file that others
/// may write is refused.
PluginList find_plugins(const std::vector<fs::path>& folders);
/// The folder that the running program lies in.
fs::path program_folder();

}  // namespace faceter
