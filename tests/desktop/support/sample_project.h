#pragma once
#include <QApplication>
#include <QTest>

#include "support/sample_runs.h"
#include "workspace/workspace.h"

namespace faceter::testing {

/// A project of finished runs of the sample experiment (start, EM and Mix; seeds 1 and 2) with curves, results and similarities that differ
/// by variant.
inline void make_sample_project(const fs::path& project, std::size_t most = 99) {
    const Experiment experiment = parse_sample();
    for (std::size_t i = 0; i < experiment.runs().size() && i < most; ++i) {
        const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs()[i], false);
        const double level = static_cast<double>(i);
        write_attempt(run, 1, 100, "finished", 3.0 - 0.2 * level);
        write_results(run, 1.5 * level);
        write_similarity(run, 0.9 - 0.05 * level);
    }
}

/// Opens the project and waits until its runs are there.
inline bool open_and_wait(desktop::Workspace& workspace, const fs::path& project) {
    workspace.openProject(project);
    return QTest::qWaitFor([&] { return !workspace.session()->isLooking() && !workspace.runs()->runs.empty(); }, 10000);
}

}  // namespace faceter::testing
