#include "train/checkpoint.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "checkpoint/safetensors.h"
#include "common/error.h"
#include "common/file_hash.h"
#include "common/in_place.h"
#include "common/strings.h"
#include "train/process_group.h"

namespace faceter {
namespace {

constexpr std::string_view temporary_prefix = ".writing-";

std::string file_hash(const fs::path& path) { return fmt::format("{:016x}", hash64_file(path)); }

std::string manifest_of(const fs::path& folder, const std::vector<std::string>& names) {
    Json files = Json::object();
    for (const std::string& name : names) files[name] = {{"bytes", fs::file_size(folder / name)}, {"xxh64", file_hash(folder / name)}};
    return Json{{"faceter_checkpoint", 1}, {"written", utc_now()}, {"files", files}}.dump(1);
}

void write_new_file(const fs::path& path, std::string_view content) {
    OutputFile file(path, OutputFile::Mode::exclusive);
    file.write(content);
    file.sync();
    file.close();
}

std::string name_of(const CheckpointState& state) { return fmt::format("stage-{:03}-step-{:09}", state.stage, state.step); }

CheckpointState read_state(const fs::path& folder) {
    const std::string name = (folder / "state.json").string();
    const Json state = read_json(name, 1 << 26);
    return {json_at<std::size_t>(state, "stage", name), json_at<std::int64_t>(state, "step", name), json_at<Json>(state, "details", name)};
}

/// Empty where the folder is what its manifest says, else why not.
std::string problem_of(const fs::path& folder) {
    try {
        const Json manifest = read_json(folder / "manifest.json", 1 << 20);
        for (const auto& [name, entry] : manifest.at("files").items()) {
            if (name.find('/') != std::string::npos) return "its manifest names a file elsewhere";
            if (!fs::is_regular_file(folder / name)) return name + " is missing";
            if (fs::file_size(folder / name) != entry.at("bytes").get<std::uint64_t>())
                return name + " has another size than its manifest says";
            if (file_hash(folder / name) != entry.at("xxh64").get<std::string>())
                return name + " has another content than its manifest says";
        }
        const CheckpointState state = read_state(folder);
        if (folder.filename() != name_of(state)) return fmt::format("its state.json is of stage {}, step {}", state.stage, state.step);
        return {};
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

void write_tensors(const fs::path& path, const std::vector<NamedTensor>& tensors) {
    SafetensorsWriter writer;
    std::vector<at::Tensor> kept;  // contiguous copies live until the write is over
    kept.reserve(tensors.size());
    for (const NamedTensor& t : tensors) {
        const bool halved = t.tensor.scalar_type() == at::kBFloat16;  // as they were read, and nothing has trained them
        kept.push_back(t.tensor.detach().to(at::kCPU, halved ? at::kBFloat16 : at::kFloat).contiguous());
        writer.add(t.name, halved ? DType::bf16 : DType::f32, kept.back().sizes().vec(), kept.back().data_ptr());
    }
    writer.write_new(path);
}

void write_model_tensors(const fs::path& folder, const ModelFolder& model, const std::vector<NamedTensor>& tensors) {
    std::map<fs::path, std::vector<NamedTensor>> files;
    for (const NamedTensor& tensor : tensors) {
        fs::path file = folder / "model.safetensors";
        NamedTensor stored = tensor;
        for (const DenseModule& module : model.dense)
            if (tensor.name.starts_with(module.name + ".")) {
                file = folder / module.name / "model.safetensors";
                stored.name = tensor.name.substr(module.name.size() + 1);
            }
        files[file].push_back(std::move(stored));
    }
    std::error_code ignored;
    for (const auto& [file, parts] : files) {
        fs::remove(file, ignored);
        write_tensors(file, parts);
    }
}

void remove_leftovers(const fs::path& folder) {
    if (!fs::is_directory(folder)) return;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().filename().string().starts_with(temporary_prefix)) fs::remove_all(entry.path());
}

fs::path CheckpointStore::folder_of(const CheckpointState& state) const { return folder_ / name_of(state); }

std::optional<fs::path> CheckpointStore::begin(const fs::path& final) const {
    check_in_place(folder_.parent_path());
    make_directories(folder_);
    if (fs::exists(final)) {
        if (problem_of(final).empty()) return std::nullopt;  // replayed after a resume: the same bits
        fs::remove_all(final);
    }
    const fs::path temporary = folder_ / fmt::format("{}{}", temporary_prefix, ::getpid());
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    make_directories(temporary);
    return temporary;
}

/// The optimiser's files are there.
void CheckpointStore::finish(const fs::path& temporary, const fs::path& final, const CheckpointState& state,
                             const std::vector<NamedTensor>& model) const {
    write_tensors(temporary / "model.safetensors", model);
    write_new_file(temporary / "state.json", Json{{"stage", state.stage}, {"step", state.step}, {"details", state.details}}.dump(1));
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(temporary)) names.push_back(entry.path().filename().string());
    write_new_file(temporary / "manifest.json", manifest_of(temporary, names));
    sync_directory(temporary);
    rename_synced(temporary, final);
    prune(final);
}

/// What was just written is the newest, whatever the names say: one that a later step left damaged would else push out each new one.
void CheckpointStore::prune(const fs::path& written) const {
    std::size_t kept = 1;
    std::error_code ignored;
    for (const fs::path& folder : list()) {
        if (folder == written) continue;
        if (kept < keep_ && problem_of(folder).empty())
            ++kept;
        else
            fs::remove_all(folder, ignored);
    }
}

fs::path CheckpointStore::save(const CheckpointState& state, const std::vector<NamedTensor>& model,
                               const std::vector<NamedTensor>& optimizer, ProcessGroup* group) const {
    const fs::path final = folder_of(state);
    const bool root = !group || group->rank() == 0;
    std::optional<fs::path> temporary = root ? begin(final) : std::nullopt;
    if (group) {
        const std::string named = text_of_root(*group, temporary ? temporary->string() : "");
        if (!named.empty()) temporary = named;
    }
    if (!temporary) return final;
    try {
        write_tensors(*temporary / (group ? fmt::format("optimizer-{:03}.safetensors", group->rank()) : "optimizer.safetensors"),
                      optimizer);
        if (group) group->barrier();
        if (root) finish(*temporary, final, state, model);
    } catch (...) {
        std::error_code ignored;
        if (root) fs::remove_all(*temporary, ignored);
        throw;
    }
    return final;
}

std::vector<fs::path> Checkpoint::optimizer() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (const std::string name = entry.path().filename().string(); name.starts_with("optimizer") && name.ends_with(".safetensors"))
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<fs::path> CheckpointStore::list() const {
    std::vector<fs::path> all;
    if (!fs::is_directory(folder_)) return all;
    for (const auto& entry : fs::directory_iterator(folder_))
        if (entry.is_directory() && entry.path().filename().string().starts_with("stage-")) all.push_back(entry.path());
    std::sort(all.rbegin(), all.rend());
    return all;
}

std::optional<Checkpoint> CheckpointStore::newest(std::vector<std::string>& warnings) const {
    for (const fs::path& folder : list()) {
        if (const std::string problem = problem_of(folder); !problem.empty()) {
            warnings.push_back(fmt::format("{}: passed over, {}", folder.string(), problem));
            continue;
        }
        return open(folder.filename().string());
    }
    return std::nullopt;
}

Checkpoint CheckpointStore::open(const std::string& folder_name) const {
    const fs::path folder = folder_ / folder_name;
    return {folder, read_state(folder)};
}

}  // namespace faceter
