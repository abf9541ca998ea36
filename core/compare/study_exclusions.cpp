#include "compare/study_exclusions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "common/error.h"
#include "common/strings.h"
#include "data/evaluation_set.h"
#include "experiment/flat_settings.h"
#include "experiment/result_names.h"
#include "store/series_value.h"

namespace faceter {
namespace {

/// An error says which exclusion it was.
Filter parsed(const Study& study, std::size_t place, const FilterNames& names) {
    try {
        return Filter::parse(study.exclusions[place].where, names);
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("study {}, exclusions[{}].where: {}", study.name, place, error.what()));
    }
}

void merge(std::vector<std::string>& names, const std::set<std::string>& more) {
    std::set<std::string> all(names.begin(), names.end());
    all.insert(more.begin(), more.end());
    names.assign(all.begin(), all.end());
}

/// The series that a name is but for a slip. What plugins record is not known here: "z_loss" is not meant for "loss".
std::optional<std::string> meant_by(const std::string& name, const std::vector<std::string>& known) {
    const auto near = nearest(name, known);
    if (!near) return std::nullopt;
    const bool alike = lowercase_ascii(name).front() == lowercase_ascii(*near).front();
    return alike && !name.starts_with(*near + "_") ? near : std::nullopt;
}

/// A name that none of these series has but for a slip.
void check_series(const Study& study, std::size_t place, const Filter& filter, const std::vector<std::string>& known) {
    for (const std::string& value : filter.series()) {
        const std::string series = SeriesValue::parse(value).value().series;
        const std::string name = series.substr(0, series.find('@'));  // of a later stage
        const bool of_steps = name.find('/') == std::string::npos || name.starts_with("loss/");
        if (of_steps && std::find(known.begin(), known.end(), name) == known.end() && meant_by(name, known))
            throw settings_error("study {}, exclusions[{}].where: no run of it will have the series {}{}", study.name, place,
                                 faceter::quoted(name), suggestion(name, known));
    }
}

/// One that no run has, or nothing.
std::string lacking_series(Store& store, const Filter& filter, const std::vector<RunRow>& rows) {
    for (const std::string& text : filter.series()) {
        const SeriesValue value = SeriesValue::parse(text).value();
        if (std::all_of(rows.begin(), rows.end(), [&](const RunRow& row) { return std::isnan(value.of(store, row.info.id)); })) return text;
    }
    return "";
}

}  // namespace

void StudyNames::add(const Json& settings) {
    for (const auto& [key, value] : flat_settings(settings)) settings_.insert(key);
    series_.insert({"loss", "lr", "grad_norm", "temperature", "tokens", "pairs", "tokens_per_s", "pairs_per_s"});
    for (const auto& [task, ignored] : settings.at("tasks").items()) series_.insert("loss/" + task);
    for (const ResultOwner& owner : result_owners(settings))
        if (owner.where.starts_with("evaluation.")) sets_.insert(owner.name);
}

FilterNames StudyNames::with(FilterNames of_project) const {
    merge(of_project.sets, sets_);
    merge(of_project.task_types, std::set<std::string>(evaluation_task_types.begin(), evaluation_task_types.end()));
    merge(of_project.settings, settings_);
    return of_project;
}

StudyNames study_names(const std::vector<Experiment>& experiments) {
    StudyNames names;
    for (const Experiment& experiment : experiments)
        for (const ResolvedRun& run : experiment.runs()) names.add(run.settings);
    return names;
}

void check_exclusions(const Study& study, const StudyNames& names) {
    if (study.exclusions.empty()) return;
    const FilterNames planned = names.with({});
    const std::vector<std::string> series = names.series();
    for (std::size_t i = 0; i < study.exclusions.size(); ++i) check_series(study, i, parsed(study, i, planned), series);
}

std::vector<std::string> exclude_runs(const Study& study, const StudyNames& names, const fs::path& project, std::vector<StudyRun>& runs) {
    std::vector<std::string> excluded;
    if (study.exclusions.empty() || !fs::is_directory(project / "runs")) return excluded;
    Store store(project);
    store.ingest_all();
    const std::vector<RunRow> rows = store.runs();
    const FilterNames known = names.with(filter_names(store));
    for (std::size_t i = 0; i < study.exclusions.size(); ++i) {
        const Filter filter = parsed(study, i, known);
        if (const std::string lacking = lacking_series(store, filter, rows); !rows.empty() && !lacking.empty()) {
            excluded.push_back(fmt::format("none by '{}': no run has '{}' yet", study.exclusions[i].where, lacking));
            continue;
        }
        const std::vector<bool> matches = filter.matches(FilterData(store, filter, rows));
        std::unordered_map<std::string, const RunRow*> left_out;
        for (std::size_t row = 0; row < rows.size(); ++row)
            if (matches[row]) left_out.emplace(rows[row].info.id, &rows[row]);
        for (StudyRun& run : runs) {
            const auto found = run.done ? left_out.find(run.record.filename().string()) : left_out.end();
            if (found == left_out.end()) continue;
            excluded.push_back(fmt::format("{}: {}", found->second->info.shown_name(), study.exclusions[i].reason));
            run.done = false;
        }
    }
    return excluded;
}

}  // namespace faceter
