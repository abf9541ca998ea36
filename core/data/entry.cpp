#include "data/entry.h"

#include <algorithm>

#include "common/strings.h"
#include "data/settings.h"

namespace faceter {
namespace {

std::size_t smaller_limit(std::size_t limit, std::size_t sample) {
    if (limit == 0 || sample == 0) return std::max(limit, sample);
    return std::min(limit, sample);
}

template <typename T>
T setting(const Json& settings, std::string_view key) {
    try {
        return json_at<T>(settings, key, "data entry");
    } catch (const Error&) {
        throw settings_error("data entry: setting '{}' has the wrong type", key);
    }
}

/// Of one that may be null: not set.
template <typename T>
T setting_or(const Json& settings, std::string_view key, T unset) {
    return settings.is_object() && settings.at(std::string(key)).is_null() ? unset : setting<T>(settings, key);
}

std::size_t limit_setting(const Json& settings, std::string_view key) {
    const auto value = setting_or<std::int64_t>(settings, key, 0);
    if (value < 0) throw settings_error("data entry: {} must not be negative, but is {}", key, value);
    return static_cast<std::size_t>(value);
}

std::optional<std::string> optional_text(const Json& settings, std::string_view key) {
    if (settings.at(std::string(key)).is_null()) return std::nullopt;
    return setting<std::string>(settings, key);
}

EvaluationRouting routing_of(const Json& settings) {
    EvaluationRouting routing;
    routing.task = setting_or<std::string>(settings, "as", "");
    routing.role = setting_or<std::string>(settings, "role", "");
    if (!routing.role.empty() && routing.role != "query" && routing.role != "document")
        throw settings_error("data entry: role is {}; it must be query or document", faceter::quoted(routing.role));
    routing.query_instruction = optional_text(settings, "query_instruction");
    routing.document_instruction = optional_text(settings, "document_instruction");
    return routing;
}

}  // namespace

DataEntry::DataEntry(const DataRequest& request) : seed(request.seed) {
    const Json s = whole_entry(request.settings);
    name = setting_or<std::string>(s, "name", "");
    source = setting<std::string>(s, "source");
    path = setting_or<std::string>(s, "path", "");
    view = setting_or<std::string>(s, "view", "");
    split = setting_or<std::string>(s, "split", "");
    task = setting_or<std::string>(s, "task", "");
    format = setting_or<std::string>(s, "format", "");
    limits.max_examples = smaller_limit(limit_setting(s, "max_examples"), request.sample_limit);
    limits.max_documents = smaller_limit(limit_setting(s, "max_documents"), request.sample_limit);
    limits.max_queries = smaller_limit(limit_setting(s, "max_queries"), request.sample_limit);
    count = limit_setting(s, "count");
    exclude_same_id = setting<bool>(s, "exclude_same_id");
    hard_negatives = static_cast<int>(std::min<std::int64_t>(setting_or<std::int64_t>(s, "hard_negatives", -1), 1000));
    examples_per_label = static_cast<int>(std::min<std::size_t>(limit_setting(s, "examples_per_label"), 1'000'000));
    noise_rate = setting<double>(s, "noise_rate");
    if (!(noise_rate >= 0 && noise_rate <= 1)) throw settings_error("data entry: noise_rate is {}; it must be from 0 to 1", noise_rate);
    labels = setting<std::vector<std::string>>(s, "labels");
    subsets = setting<std::vector<std::string>>(s, "subsets");
    other_documents = setting<bool>(s, "other_documents");
    sections = setting<std::vector<std::string>>(s, "sections");
    routing = routing_of(s);
    const auto policy = setting<std::string>(s, "on_error");
    if (policy != "fail" && policy != "skip") throw settings_error("data entry: on_error is {}; it must be fail or skip", policy);
    on_error = policy == "skip" ? RecordErrors::Policy::skip : RecordErrors::Policy::fail;
    if (!path.empty()) folder_or_file = absolute_path(fs::path(path).is_absolute() ? fs::path(path) : request.base_folder / path);
    if (!path.empty() && folder_or_file.filename().empty()) folder_or_file = folder_or_file.parent_path();  // "scifact/"
}

const fs::path& DataEntry::need_path() const {
    if (path.empty()) throw settings_error("data entry: source '{}' needs a path, and none is set", source);
    return folder_or_file;
}

std::string DataEntry::set_name() const {
    if (!name.empty()) return name;
    return view.empty() ? need_path().filename().string() : source + "_" + view;
}

Json DataReport::card(Json origin) const {
    Json card = std::move(origin);
    card["counts"] = counts;
    card["skipped"] = errors.card();
    std::vector<std::string> all = warnings;
    if (errors.num_skipped() > 0)
        all.push_back(fmt::format("{} bad records were left out, the first at {}", errors.num_skipped(),
                                  errors.card().at("first").get<std::string>()));
    card["warnings"] = all;
    return card;
}

}  // namespace faceter
