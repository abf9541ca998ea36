#include "data/sources.h"

#include <algorithm>

#include "common/strings.h"
#include "data/files_read.h"
#include "data/noise.h"
#include "data/sampling.h"
#include "data/settings.h"

namespace faceter {
namespace {

std::vector<DataSource>& registered_sources() {
    static std::vector<DataSource> all;
    return all;
}

const DataSource& source_of(const DataRequest& request) {
    const DataEntry entry(request);
    std::vector<std::string> known;
    for (const DataSource& source : data_sources()) {
        if (source.name == entry.source) return source;
        known.push_back(source.name);
    }
    throw settings_error("data entry: unknown source {}{}", faceter::quoted(entry.source), suggestion(entry.source, known));
}

}  // namespace

bool register_source(DataSource source) {
    auto& all = registered_sources();
    const auto by_name = [](const DataSource& a, const DataSource& b) { return a.name < b.name; };
    all.insert(std::upper_bound(all.begin(), all.end(), source, by_name), std::move(source));
    return true;
}

const std::vector<DataSource>& data_sources() { return registered_sources(); }

TrainingSet load_training_set(const DataRequest& request, const std::string& task) {
    const FilesRead files;
    TrainingSet set = source_of(request).training(request, task);
    inject_noise(set, DataEntry(request).noise_rate, request.seed);
    note_origin(set.card, set.fingerprint, files.card(DataEntry(request).folder_or_file));
    return set;
}

EvaluationSet load_evaluation_set(const DataRequest& request) {
    if (DataEntry(request).noise_rate > 0)
        throw settings_error("data entry: noise_rate is for training data; a score on wrong pairs says nothing");
    const FilesRead files;
    EvaluationSet set = source_of(request).evaluation(request);
    note_origin(set.card, set.fingerprint, files.card(DataEntry(request).folder_or_file));
    set.routing = DataEntry(request).routing;
    return set;
}

std::vector<std::string> warnings_of(const Json& card) { return json_or<std::vector<std::string>>(card, "warnings", {}, "card"); }

EvaluationSet load_evaluation_folder(const fs::path& folder, const std::string& split) {
    DataRequest request;
    fs::path plain = absolute_path(folder);
    if (plain.filename().empty()) plain = plain.parent_path();
    request.settings = {{"source", "folder"}, {"path", plain.string()}, {"split", split}};
    return load_evaluation_set(request);
}

std::vector<std::string> load_texts(const DataRequest& request) {
    const DataEntry entry(request);
    if (entry.noise_rate > 0) throw settings_error("data entry: noise_rate is for training data; texts alone have no positive");
    std::vector<std::string> texts = source_of(request).texts(request);
    TextTable distinct;
    std::vector<std::uint64_t> hashes;
    for (const std::string& text : texts)
        if (const std::size_t before = distinct.size(); distinct.intern(text) == before) hashes.push_back(sample_hash(text));
    std::vector<std::string> chosen;
    std::size_t wanted = entry.count;
    if (entry.limits.max_examples > 0) wanted = wanted == 0 ? entry.limits.max_examples : std::min(wanted, entry.limits.max_examples);
    for (const std::uint32_t id : stable_sample(hashes, wanted)) chosen.emplace_back(distinct[id]);
    if (chosen.empty()) throw data_error("data entry: source '{}' gives no text; check its path and view", entry.source);
    return chosen;
}

}  // namespace faceter
