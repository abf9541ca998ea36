#include "compare/study_exclusions.h"

#include <unordered_map>

#include "common/error.h"
#include "data/evaluation_set.h"
#include "experiment/flat_settings.h"
#include "experiment/result_names.h"

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

}  // namespace

void StudyNames::add(const Json& settings) {
    for (const auto& [key, value] : flat_settings(settings)) settings_.insert(key);
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
    for (std::size_t i = 0; i < study.exclusions.size(); ++i) parsed(study, i, planned);
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
