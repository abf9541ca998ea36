#include <algorithm>
#include <fstream>
#include <map>

#include "checkpoint/hub.h"
#include "checkpoint/model_folder.h"
#include "checkpoint/run_part.h"
#include "checkpoint/tokenizer_folder.h"
#include "common/error.h"
#include "common/file_name.h"
#include "common/hash.h"
#include "common/lock_file.h"
#include "common/strings.h"
#include "data/debian_lists.h"
#include "experiment/run_inputs.h"
#include "experiment/staged_experiment.h"

namespace faceter {
namespace {

constexpr int deepest_folder = 32;
constexpr std::size_t piece_bytes = 1 << 20;

/// A file and its name in the staged folder.
struct Copy {
    fs::path from;
    std::string to;
    bool is_list = false;  ///< package lists are unpacked: a node may have nothing that reads their form
};

/// Files under a folder by their relative names, sorted; links are followed, hidden names (.git, .cache) left out.
void list_files(const fs::path& folder, const std::string& prefix, int depth, std::vector<std::string>& names) {
    if (depth > deepest_folder)
        throw data_error("{}: lies in more than {} folders; does a link lead back?", folder.string(), deepest_folder);
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(".")) continue;
        if (entry.is_directory())
            list_files(entry.path(), prefix + name + "/", depth + 1, names);
        else if (entry.is_regular_file())
            names.push_back(prefix + name);
        else
            throw data_error("{}: is no file and no folder, and cannot be staged", entry.path().string());
    }
}

std::vector<std::string> files_under(const fs::path& folder) {
    std::vector<std::string> names;
    list_files(folder, "", 0, names);
    std::sort(names.begin(), names.end());
    return names;
}

/// Of the hub's cache what an embedding model needs, and what says under which terms; of any other folder everything.
std::vector<std::string> files_of_model(const fs::path& folder) {
    const std::vector<std::string> all = files_under(folder);
    if (folder.parent_path().filename() != "snapshots") return all;
    std::vector<std::string> names = needed_files(all);
    for (const std::string& name : all)
        if (name == "README.md" || name.starts_with("LICENSE")) names.push_back(name);
    return names;
}

/// What a start model's folder is called in the staged one: without dashes in front, which stand there for letters of other alphabets, and
/// which programs take for options.
std::string folder_name(const std::string& model) {
    const fs::path path = model.ends_with('/') ? fs::path(model).parent_path() : fs::path(model);
    const std::string safe = safe_file_name(path.filename().string());
    const std::size_t begin = safe.find_first_not_of("-.");
    return begin == std::string::npos ? "model" : safe.substr(begin);
}

/// The same of a model's snapshot in the hub's cache: where its name says how it pools (INSTRUCTOR), that stays readable in the path.
std::string folder_name(const std::string& model, const fs::path& snapshot) {
    if (!HubModel::name_of(snapshot).starts_with("hkunlp/instructor-")) return folder_name(model);
    return snapshot.lexically_relative(snapshot.parent_path().parent_path().parent_path()).string();
}

/// Collects what runs read, each once, and writes it.
class Stager {
  public:
    Stager(fs::path base, fs::path made, const StageProgress& progress)
        : base_(std::move(base)), made_(std::move(made)), progress_(progress) {}

    /// What stands in place of the value.
    std::string staged(InputKind kind, const Json& value) {
        if (kind == InputKind::package_lists) return lists(pinned_debian_lists().folder);
        return kind == InputKind::model ? model(value.get<std::string>()) : data(value.get<std::string>());
    }

    void write(const std::string& name, const std::string& content) {
        make_directories((made_ / name).parent_path());
        write_file_atomic(made_ / name, content);
        record(name, content.size(), sha256_hex(content));
    }

    /// Of a file that lies in the folder already.
    void add_made(const std::string& name) { record(name, fs::file_size(made_ / name), sha256_file(made_ / name)); }

    void copy_all() {
        for (const Copy& copy : copies_) to_copy_ += fs::file_size(copy.from);
        if (progress_) progress_(0, to_copy_);  // time counts from here
        for (const Copy& copy : copies_) copy_one(copy);
    }

    Json files = Json::array();
    std::uint64_t bytes = 0;

  private:
    void record(const std::string& name, std::uint64_t size, const std::string& sha256) {
        files.push_back({{"path", name}, {"bytes", size}, {"sha256", sha256}});
        bytes += size;
    }

    /// models/1/minilm: a folder of its own each, so that names, which data sets are called by, stay.
    std::string place(const fs::path& from, const std::string& kind, const std::string& name,
                      std::vector<std::string> (*list)(const fs::path&)) {
        const auto [at, fresh] = places_.emplace(kind + ":" + from.string(), "");
        if (!fresh) return at->second;
        at->second = fmt::format("{}/{}/{}", kind, places_.size(), name);
        if (!fs::is_directory(from))
            copies_.push_back({from, at->second});
        else
            for (const std::string& file : list(from)) copies_.push_back({from / file, at->second + "/" + file});
        return at->second;
    }

    std::string model(const std::string& name) {
        const fs::path folder = resolve_model(name, base_);
        const std::size_t before = places_.size();
        const std::string to = place(folder, "models", folder_name(name, folder), files_of_model);
        if (const fs::path home = tokenizer_home(folder); places_.size() > before && home != folder)
            copy_home(home, fs::path(to).parent_path());
        return to;
    }

    /// Of the folder above a model what tokenizer_home() means by it: all but weights.
    void copy_home(const fs::path& home, const fs::path& to) {
        for (const std::string& file : needed_files(files_under(home)))
            if (!file.ends_with(".safetensors")) copies_.push_back({home / file, (to / file).string()});
    }

    std::string data(fs::path path) {
        path = part_of_run(path.filename().empty() ? path.parent_path() : path);
        if (!fs::exists(path)) throw data_error("{}: no such file or folder", path.string());
        return place(path, "data", path.filename().string(), files_under);
    }

    std::string lists(const fs::path& folder) {
        const std::size_t before = copies_.size();
        const std::string to = place(folder, "data", folder.filename().string(), files_under);
        for (std::size_t i = before; i < copies_.size(); ++i)
            if (std::string& name = copies_[i].to; name.find("_Packages.") != name.npos || name.find("_Translation-en.") != name.npos) {
                name.resize(name.rfind('.'));
                copies_[i].is_list = true;
            }
        return to;
    }

    void copy_one(const Copy& copy) {
        if (copy.is_list) {
            write(copy.to, read_debian_list(copy.from));
            copied_ += fs::file_size(copy.from);
            return;
        }

        const fs::path to = made_ / copy.to;
        make_directories(to.parent_path());
        std::ifstream in(copy.from, std::ios::binary);
        OutputFile out(to, OutputFile::Mode::exclusive);
        Sha256 hash;
        std::string piece(piece_bytes, '\0');
        std::uint64_t size = 0;
        while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0) {
            const std::string_view read(piece.data(), static_cast<std::size_t>(in.gcount()));
            out.write(read);
            hash.update(read);
            size += read.size();
            if (progress_) progress_(copied_ += read.size(), to_copy_);
        }
        if (!in.eof()) throw data_error("{}: cannot be read", copy.from.string());
        out.sync();
        out.close();
        record(copy.to, size, hash.finish());
    }

    fs::path base_, made_;
    const StageProgress& progress_;
    std::map<std::string, std::string> places_;
    std::vector<Copy> copies_;
    std::uint64_t copied_ = 0, to_copy_ = 0;
};

fs::path made_beside(const fs::path& final) {
    fs::path folder = final.parent_path() / fmt::format(".{}.new", final.filename().string());
    make_directories(folder);
    return folder;
}

/// The folder under its temporary name, of one process; goes where it was not finished.
class Unfinished {
  public:
    explicit Unfinished(const fs::path& final) : path(made_beside(final)), final_(final), lock_(path) {
        if (lock_.try_lock() == LockOutcome::held)
            throw usage_error("{}: another 'faceter stage' is writing it; wait for that, or give another name with --output",
                              final.string());
        for (const auto& left : fs::directory_iterator(path)) remove_tree(left.path());  // by one that was killed
    }
    ~Unfinished() {
        std::error_code ignored;
        if (!placed_) fs::remove_all(path, ignored);
    }
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    void put_in_place() {
        rename_synced(path, final_);
        placed_ = true;
    }
    const fs::path path;

  private:
    fs::path final_;
    LockFile lock_;
    bool placed_ = false;
};

Json staged_runs(const Experiment& experiment, const Catalogue& catalogue, Stager& stager) {
    Json runs = Json::array();
    for (const ResolvedRun& run : experiment.runs()) {
        Json settings = run.settings;
        settings["evaluation"]["data_root"] = nullptr;
        each_input(settings, catalogue, [&](InputKind kind, Json& value) { value = stager.staged(kind, value); });
        runs.push_back({{"variant", run.variant},
                        {"method", run.method},
                        {"plugin", run.plugin},
                        {"point", run.point},
                        {"seed", run.seed},
                        {"settings", std::move(settings)}});
    }
    return runs;
}

std::size_t add_token_caches(const StageOptions& options, const fs::path& made, Stager& stager) {
    if (!options.add_tokens) return 0;
    make_directories(made / "tokens");
    options.add_tokens(made / "tokens");
    const std::vector<std::string> caches = files_under(made / "tokens");
    for (const std::string& cache : caches) stager.add_made("tokens/" + cache);
    return caches.size();
}

}  // namespace

StageReport stage_experiment(const Experiment& experiment, const Catalogue& catalogue, const fs::path& folder,
                             const StageOptions& options) {
    const fs::path final = absolute_path(folder / "x").parent_path();  // without a slash at its end
    if (fs::exists(final)) throw usage_error("{}: it is there already; give another name with --output", final.string());
    make_directories(final.parent_path());
    Unfinished made(final);
    Stager stager(absolute_path(experiment.file()).parent_path(), made.path, options.progress);
    const Json runs = staged_runs(experiment, catalogue, stager);
    const std::size_t token_caches = add_token_caches(options, made.path, stager);
    stager.write("experiment.yaml", experiment.text());
    stager.write("runs.json", runs.dump(1) + "\n");
    stager.copy_all();
    const Json card = {{"faceter", FACETER_VERSION},
                       {"name", experiment.name()},
                       {"smoke", options.smoke},
                       {"staged", utc_now()},
                       {"files", stager.files}};
    write_file_atomic(made.path / "staged.json", card.dump(1) + "\n");
    made.put_in_place();
    return {stager.files.size(), token_caches, stager.bytes};
}

}  // namespace faceter
