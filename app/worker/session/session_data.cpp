#include "session/session_data.h"

#include <fmt/format.h>

#include "common/hash.h"
#include "data/leaves.h"
#include "data/scored_texts.h"
#include "plugin/run_model.h"
#include "settings/core_settings.h"

namespace faceter::worker {
namespace {

/// Paths of resolved settings are absolute, so the base folder has no part in it.
DataRequest request_for(const Json& settings, const Json& entry) {
    return {entry, "/", seed_of(settings), json_or<std::size_t>(settings, "sample_limit", 0, "settings")};
}

std::uint64_t stamp_of_file(const fs::path& file) {
    std::error_code none;
    const auto written = fs::last_write_time(file, none).time_since_epoch().count();
    return hash64(fmt::format("{} {} {}", file.string(), fs::file_size(file, none), written));
}

/// Of the file that an entry names, or of all files in the folder: one that was written since has another.
std::uint64_t stamp_of(const Json& entry) {
    const auto path = json_or<std::string>(entry, "path", "", "entry");
    std::uint64_t sum = path.empty() ? 0 : stamp_of_file(path);  // of a folder's files, which come in no order
    std::error_code error;
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) sum += stamp_of_file(it->path());
    return sum;
}

std::string key_of(const DataRequest& request, const std::string& task) {
    return Json{request.settings, request.seed, request.sample_limit, task, stamp_of(request.settings)}.dump();
}

}  // namespace

/// Nearly: the texts and what tells them apart.
std::uint64_t SessionData::bytes_of(const TrainingSet& set) {
    constexpr std::uint64_t of_text = 16;
    return set.texts.num_bytes() + set.texts.size() * of_text + set.examples.size() * sizeof(Example) +
           (set.negatives.size() + set.negative_scores.size()) * sizeof(std::uint32_t);
}

std::uint64_t SessionData::bytes_of(const std::vector<TrainingSet>& sets) {
    std::uint64_t bytes = 0;
    for (const TrainingSet& set : sets) bytes += bytes_of(set);
    return bytes;
}

std::uint64_t SessionData::bytes_of(const EvaluationSet& set) {
    constexpr std::uint64_t of_text = 64;  // ids of documents and queries are texts of their own
    std::uint64_t bytes = 0;
    for (const std::string_view text : all_texts(set)) bytes += text.size() + of_text;
    return bytes;
}

std::shared_ptr<std::vector<TrainingSet>> SessionData::training_sets(const Json& settings, const Json& entry, const Task& task) {
    const DataRequest request = request_for(settings, entry);
    return training_.get(key_of(request, task.type + "/" + task.name), [&] {
        std::vector<TrainingSet> sets = load_training_sets(request, task.type);
        for (TrainingSet& set : sets) set.task = task.name;
        return sets;
    });
}

std::shared_ptr<TrainingSet> SessionData::training_set(const Json& settings, const Json& entry, const Task& task) {
    const DataRequest request = request_for(settings, entry);
    if (!has_leaves(request)) {
        const auto sets = training_sets(settings, entry, task);
        return {sets, &sets->front()};
    }
    return in_one_.get(key_of(request, task.type + "/" + task.name), [&] {
        TrainingSet set = load_as_one(request, task.type);
        set.task = task.name;
        return set;
    });
}

std::shared_ptr<EvaluationSet> SessionData::evaluation_set(const Json& settings, const Json& entry) {
    const DataRequest request = request_for(settings, entry);
    return evaluation_.get(key_of(request, ""), [&] { return load_evaluation_set(request); });
}

std::string SessionData::key_of_set(const Json& settings, const std::string& name) {
    const auto entries = json_at<Json>(json_at<Json>(settings, "evaluation", "settings"), "datasets", "evaluation");
    std::vector<std::uint64_t> stamps;
    for (const Json& entry : entries) stamps.push_back(stamp_of(entry));
    return Json{entries, json_or<Json>(settings, "seed", nullptr, "settings"), json_or<Json>(settings, "sample_limit", nullptr, "settings"),
                name, stamps}
        .dump();
}

std::shared_ptr<EvaluationSet> SessionData::named_evaluation_set(const Json& settings, const std::string& name) {
    return named_sets_.get(key_of_set(settings, name), [&] { return load_named_evaluation_set(settings, name); });
}

std::shared_ptr<Corpus> SessionData::corpus(const Json& settings, const std::string& name) {
    return corpora_.get(key_of_set(settings, name), [&] { return corpus_of(*named_evaluation_set(settings, name)); });
}

EmbeddingModel& SessionData::prepared_model(const Json& settings) {
    const Json key = {json_at<Json>(settings, "model", "settings"), json_or<Json>(settings, "max_length", nullptr, "settings"),
                      json_at<Json>(settings, "tasks", "settings"), json_at<Json>(settings, "variant", "settings")};
    return **prepared_.get(key.dump(), [&] {
        auto model = open_start_model(settings);
        variant_of(settings)->prepare(*model);
        return model;
    });
}

OpenedModel& SessionData::named_model(const ModelOptions& options) {
    ModelOptions whole = options;  // of all tasks, one of which each request names
    whole.task.clear();
    whole.instruction.reset();
    const Json key = {whole.model, whole.project, whole.max_length, whole.threads, whole.device, whole.compute};
    return *named_.get(key.dump(), [&] {
        OpenedModel opened = open_model(whole, true);
        prepare_to_embed(opened, whole, false);  // single texts are what a session is asked for
        return opened;
    });
}

void SessionData::drop_models() {
    prepared_.clear();
    named_.clear();
}

void SessionData::forget_models() {
    drop_models();
    rows_.clear();
}

}  // namespace faceter::worker
