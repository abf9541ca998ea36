#pragma once
#include "pages/runs/runs_layout.h"

namespace faceter::desktop {

// What a line of several runs says.

/// The run whose state stands for the group: failed before dead before silent, stopped, running, queued, done.
int mostUrgent(const RunsData& data, const RunsGroup& group);
QString groupText(const RunsData& data, const RunsGroup& group, const RunColumn& column, const Aggregate& cell);
/// " ± 0.11"; empty where there is no spread.
QString spreadText(const RunColumn& column, const Aggregate& cell);
/// "n = 3" after the name, "2 of 3" after a score that not all runs have and after a state that not all are in ("of 3" where it says two).
QString groupExtra(const RunsData& data, const RunsGroup& group, const RunColumn& column, const Aggregate& cell);
/// Share of the steps that are done of all its runs, where one of them runs; else -1.
double groupProgress(const RunsData& data, const RunsGroup& group);

}  // namespace faceter::desktop
