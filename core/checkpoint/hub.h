#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace faceter {

/// How the Hugging Face hub is used, by the environment variables of its own library.
struct HubSettings {
    std::string endpoint;         ///< HF_ENDPOINT, without a slash at its end
    std::string token;            ///< HF_TOKEN, else the file HF_TOKEN_PATH, else HF_HOME/token; may be empty
    std::filesystem::path cache;  ///< HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub
    bool offline = false;         ///< HF_HUB_OFFLINE (or TRANSFORMERS_OFFLINE) is 1, ON, YES or TRUE
    int max_attempts = 5;         ///< for what a network does now and then
    int retry_wait_ms = 1000;     ///< before the second attempt, then twice as long each time

    /// As that library reads them: ~ and $NAME in folders stand for what they are, and a token file that cannot be read for none.
    static HubSettings from_environment();
};

/// A model of the hub: "org/name", or "org/name@revision" (a branch, a tag or a commit).
struct HubModel {
    std::string name;
    std::string revision = "main";

    /// Nothing where the text is not of that form.
    static std::optional<HubModel> parse(const std::string& text);
    /// Its folder in the cache: models--org--name.
    std::filesystem::path folder(const HubSettings& settings) const;
    /// "org/name" of a snapshot in a cache (models--org--name/snapshots/COMMIT); empty where the folder is none.
    static std::string name_of(const std::filesystem::path& snapshot);
};

/// The snapshot of the model that the cache holds: of the commit that refs/REVISION names, or of the commit itself. Empty where there is
/// none.
std::filesystem::path find_snapshot(const HubModel& model, const HubSettings& settings);
/// What may be "main" of a cache that has no ref of it, where the hub cannot be asked: the snapshot changed last of those that no other ref
/// names, or the only one. Empty where there is none, or the model is another revision.
std::filesystem::path guess_snapshot(const HubModel& model, const HubSettings& settings);
/// True where the snapshot has everything that an embedding model needs, as far as its own files tell.
bool is_complete(const std::filesystem::path& snapshot);

/// Brings what an embedding model needs of the hub's files (configuration, tokenizer, modules, safetensors) into the cache, in the layout
/// of huggingface_hub, so that both share it. Goes on where an earlier attempt broke off; safe with several processes at once. Returns the
/// snapshot. Nothing where the hub has no such model. Throws an error, one line: no network, gated model, unknown revision, no safetensors,
/// wrong hash.
std::optional<std::filesystem::path> fetch_model(const HubModel& model, const HubSettings& settings);

/// The folder of a model as resolve_model() (model_folder.h) finds it, but on this machine alone; empty where it is not here. Errors
/// (data): a run that has no final model.
std::filesystem::path find_model(const std::string& name, const std::filesystem::path& relative_to = {});

/// Those of a repository's files that an embedding model needs. Names that leave the folder are left out.
std::vector<std::string> needed_files(const std::vector<std::string>& names);

}  // namespace faceter
