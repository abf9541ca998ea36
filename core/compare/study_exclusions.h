#pragma once
#include <set>
#include <string>
#include <vector>

#include "compare/study.h"
#include "store/filter.h"

namespace faceter {

/// What the exclusions of a study may name: they are decided before its runs are there.
class StudyNames {
  public:
    /// Of a run that the study plans (ResolvedRun::settings).
    void add(const Json& settings);
    /// Together with those of a project's runs.
    FilterNames with(FilterNames of_project) const;
    /// Series that every run records; an objective may have others of its own.
    std::vector<std::string> series() const { return {series_.begin(), series_.end()}; }

  private:
    std::set<std::string> sets_, settings_, series_;
};

/// Of all that the study's experiments make.
StudyNames study_names(const std::vector<Experiment>& experiments);
/// Error (settings): an exclusion that is no expression, or speaks of what no run of the study will have.
void check_exclusions(const Study& study, const StudyNames& names);
/// Of the runs that are done those that the study leaves out are no longer; says which ("RUN: reason"), and of an exclusion by a series
/// that no run of the project has that it left out none.
std::vector<std::string> exclude_runs(const Study& study, const StudyNames& names, const fs::path& project, std::vector<StudyRun>& runs);

}  // namespace faceter
