#pragma once
#include <QApplication>
#include <QTest>

#include "support/sample_runs.h"
#include "support/test.h"
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

/// Opens the project and waits until its runs are there; where none come, says what the store met with.
inline bool open_and_wait(desktop::Workspace& workspace, const fs::path& project) {
    QStringList problems;
    const auto collecting = QObject::connect(&workspace, &desktop::Workspace::storeProblem, &workspace,
                                             [&problems](const QString& problem) { problems << problem; });
    workspace.openProject(project);
    const auto there = [&] { return !workspace.session()->isLooking() && !workspace.runs()->runs.empty(); };
    const bool opened = QTest::qWaitFor(there, hang_ms);
    QObject::disconnect(collecting);
    if (!opened)
        qWarning("%s: %zu runs, %s; the store's problems: %s", project.c_str(), workspace.runs()->runs.size(),
                 workspace.session()->isLooking() ? "still looking" : "looked at",
                 problems.isEmpty() ? "none" : qPrintable(problems.join(QStringLiteral("; "))));
    return opened;
}

}  // namespace faceter::testing
