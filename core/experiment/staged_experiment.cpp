#include "experiment/staged_experiment.h"

#include <set>

#include "common/error.h"
#include "common/hash.h"
#include "common/inner_path.h"
#include "common/strings.h"
#include "experiment/run_inputs.h"

namespace faceter {
namespace {

constexpr std::uint64_t longest_card = std::uint64_t{1} << 29;
constexpr const char* stage_again = "copy the folder again, or stage the experiment again";

struct StagedFile {
    std::string path, sha256;
    std::uint64_t bytes = 0;
};

std::vector<StagedFile> listed_files(const Json& card, const std::string& name) {
    std::vector<StagedFile> files;
    for (const Json& file : json_at<Json>(card, "files", name)) {
        StagedFile one{json_at<std::string>(file, "path", name), json_at<std::string>(file, "sha256", name),
                       json_at<std::uint64_t>(file, "bytes", name)};
        if (!is_inner_path(one.path)) throw data_error("{}: names {}, which leaves the folder", name, faceter::quoted(one.path));
        files.push_back(std::move(one));
    }
    return files;
}

void check_file(const fs::path& folder, const StagedFile& file) {
    const fs::path path = folder / file.path;
    if (fs::is_symlink(path) || !fs::is_regular_file(path)) throw data_error("{}: is missing; {}", path.string(), stage_again);
    if (const std::uint64_t bytes = fs::file_size(path); bytes != file.bytes)
        throw data_error("{}: has {} bytes, and {} were staged; {}", path.string(), bytes, file.bytes, stage_again);
    if (sha256_file(path) != file.sha256)
        throw data_error("{}: is not what was staged, its SHA-256 differs; {}", path.string(), stage_again);
}

/// A reader of a folder takes whatever lies in it.
void check_nothing_else(const fs::path& folder, const std::vector<StagedFile>& files) {
    std::set<fs::path> known{folder / "staged.json"};
    for (const StagedFile& file : files) known.insert(folder / file.path);
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_symlink() || (!entry.is_directory() && !known.contains(entry.path())))
            throw data_error("{}: was not staged; remove it, or stage the experiment again", entry.path().string());
}

void check_files(const fs::path& folder, const std::vector<StagedFile>& files, const StageProgress& progress) {
    std::uint64_t done = 0, all = 0;
    for (const StagedFile& file : files) all += file.bytes;
    if (progress) progress(0, all);  // time counts from here
    for (const StagedFile& file : files) {
        check_file(folder, file);
        if (progress) progress(done += file.bytes, all);
    }
    check_nothing_else(folder, files);
}

void lead_into(const fs::path& folder, Json& settings, const Catalogue& catalogue) {
    each_input(settings, catalogue, [&](InputKind kind, Json& value) {
        const auto named = value.is_string() ? value.get<std::string>() : "";
        if (kind == InputKind::package_lists || !is_inner_path(named) || !fs::exists(folder / named))
            throw data_error("{}: reads {}, which was not staged; stage the experiment again", (folder / "runs.json").string(),
                             faceter::quoted(named.empty() ? "this machine's package lists" : named));
        value = (folder / named).string();
    });
}

ResolvedRun run_of(const Json& json, const fs::path& folder, const Catalogue& catalogue) {
    const std::string name = (folder / "runs.json").string();
    ResolvedRun run;
    run.variant = json_at<std::string>(json, "variant", name);
    run.method = json_at<std::string>(json, "method", name);
    run.plugin = json_at<std::string>(json, "plugin", name);
    run.point = json_at<std::string>(json, "point", name);
    run.seed = json_at<std::uint64_t>(json, "seed", name);
    run.settings = json_at<Json>(json, "settings", name);
    lead_into(folder, run.settings, catalogue);
    return run;
}

Json read_card(const fs::path& folder) {
    const fs::path file = folder / "staged.json";
    if (!fs::is_regular_file(file))
        throw data_error("{}: is no staged experiment (it has no staged.json); 'faceter stage FILE --output DIR' makes one",
                         folder.string());
    const Json card = read_json(file, longest_card);
    if (const auto version = json_at<std::string>(card, "faceter", file.string()); version != FACETER_VERSION)
        throw data_error("{}: Faceter {} staged it, and this is {}, whose defaults may differ; stage it again with this version",
                         folder.string(), version, FACETER_VERSION);
    return card;
}

}  // namespace

StagedExperiment open_staged(const fs::path& folder, const Catalogue& catalogue, const StageProgress& progress) {
    const fs::path at = absolute_path(folder / "x").parent_path();
    const std::string name = (at / "staged.json").string();
    const Json card = read_card(at);
    const std::vector<StagedFile> files = listed_files(card, name);
    check_files(at, files, progress);
    StagedExperiment staged{
        at, json_at<std::string>(card, "name", name), read_file(at / "experiment.yaml"), json_at<bool>(card, "smoke", name), {}, {}};
    for (const Json& run : read_json(at / "runs.json")) staged.runs.push_back(run_of(run, at, catalogue));
    for (const StagedFile& file : files)
        if (file.path.starts_with("tokens/")) staged.token_caches.push_back(at / file.path);
    return staged;
}

}  // namespace faceter
