#include "data/leaves.h"

#include <algorithm>

#include "common/error.h"
#include "common/hash.h"
#include "data/entry.h"
#include "data/files_read.h"
#include "data/noise.h"

namespace faceter {
namespace {

/// --smoke samples every data set; of an entry with hundreds of them a few examples of each are enough.
constexpr std::size_t sampled_of_a_leaf = 4;

std::vector<LeafSource>& leaf_sources() {
    static std::vector<LeafSource> all;
    return all;
}

const LeafSource* find_leaf_source(const std::string& name) {
    const auto found =
        std::find_if(leaf_sources().begin(), leaf_sources().end(), [&](const LeafSource& source) { return source.name == name; });
    return found == leaf_sources().end() ? nullptr : &*found;
}

EvaluationSet no_evaluation(const DataRequest& request) {
    throw settings_error("data entry: {}", find_leaf_source(DataEntry(request).source)->no_evaluation);
}

std::vector<std::string> texts_in_one(const DataRequest& request) {
    const TrainingSet all = find_leaf_source(DataEntry(request).source)->in_one(request, "texts");
    const auto views = all.texts.views();
    return {views.begin(), views.end()};
}

/// The files of all stand in the first one's card: a card each would repeat hundreds of them.
std::vector<TrainingSet> noted_leaves(const LeafSource& source, const DataRequest& request, const std::string& task) {
    const FilesRead files;
    const double noise_rate = DataEntry(request).noise_rate;
    std::vector<TrainingSet> sets = source.training(request, task);
    for (TrainingSet& set : sets) inject_noise(set, noise_rate, request.seed);
    for (TrainingSet& set : sets) note_origin(set.card, set.fingerprint, nullptr);
    if (!sets.empty()) note_origin(sets.front().card, sets.front().fingerprint, files.card(DataEntry(request).folder_or_file));
    return sets;
}

std::string filled(std::string text, const std::string& leaf) {
    constexpr std::string_view place = "{leaf}";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + leaf.size()))
        text.replace(at, place.size(), leaf);
    return text;
}

}  // namespace

std::optional<SetInstructions> own_instructions(const TrainingSet& set) {
    if (!set.card.is_object() || !set.card.contains("instructions")) return std::nullopt;
    const Json& in = set.card.at("instructions");
    const auto text = [&](const char* role) { return json_or<std::string>(in, role, "", set.name); };
    return SetInstructions{text("query"), text("document"), text("negative")};
}

bool is_instructed(const SetInstructions& in) { return !(in.query.empty() && in.document.empty() && in.negative.empty()); }

void give_instructions(TrainingSet& set, const SetInstructions& in) {
    set.card["instructions"] = {{"query", in.query}, {"document", in.document}, {"negative", in.negative}};
    set.fingerprint = hash128(set.fingerprint + set.card["instructions"].dump()).hex();
}

std::string with_blank(std::string instruction) {
    if (!instruction.empty() && instruction.back() != ' ' && instruction.back() != '\n') instruction += ' ';
    return instruction;
}

std::optional<SetInstructions> entry_instructions(const Json& entry, const std::string& leaf) {
    const Json in = json_or<Json>(entry, "instructions", Json(), "data entry");
    if (in.is_null()) return std::nullopt;
    const auto text = [&](const char* role, const std::string& fallback) {
        return filled(json_or<std::string>(in, role, fallback, "data entry: instructions"), leaf);
    };
    const std::string document = text("document", "");
    return SetInstructions{text("query", ""), document, text("negative", document)};
}

bool register_leaf_source(LeafSource source) {
    register_source({source.name, source.summary, source.in_one, no_evaluation, texts_in_one});
    leaf_sources().push_back(std::move(source));
    return true;
}

bool has_leaves(const DataRequest& request) { return find_leaf_source(DataEntry(request).source) != nullptr; }

TrainingSet load_as_one(const DataRequest& request, const std::string& task) {
    TrainingSet set = load_training_set(request, task);
    if (!has_leaves(request))
        if (const auto own = entry_instructions(request.settings, set.name)) {
            give_instructions(set, *own);
            note_origin(set.card, set.fingerprint, nullptr);
        }
    return set;
}

std::vector<TrainingSet> load_training_sets(const DataRequest& request, const std::string& task) {
    const DataEntry entry(request);
    if (const LeafSource* source = find_leaf_source(entry.source)) {
        DataRequest each = request;
        if (each.sample_limit > 0) each.sample_limit = std::min(each.sample_limit, sampled_of_a_leaf);
        return noted_leaves(*source, each, task);
    }
    std::vector<TrainingSet> sets;
    sets.push_back(load_as_one(request, task));
    return sets;
}

}  // namespace faceter
