#pragma once
#include <QStringList>
#include <filesystem>

#include "actions/run_actions.h"
#include "record/run_directory.h"

namespace faceter::desktop {

// What RunActions does to the run folders of a project, beside the interface. Errors are those of core/launch and core/record.

std::vector<RunDirectory> openRuns(const std::filesystem::path& project, const QStringList& runs);
struct Launched {
    QStringList runs;                  ///< ids of those that it made
    std::vector<std::string> remarks;  ///< of check_before_start
};
/// Once all is checked that can be known here before the runs start. Behind ssh, the other machine looks.
Launched launchRuns(const std::filesystem::path& project, const Experiment& experiment, bool smoke, const LaunchPlace& place);
/// What the last of them will do, as 'faceter stop' says it behind its name: a job that is asked again is cancelled. Empty: all were over.
QString stopRuns(const std::filesystem::path& project, const QStringList& runs);
/// Each goes on where it was started last.
void resumeRuns(const std::filesystem::path& project, const QStringList& runs);
/// Each starts anew where it was started last; where one is refused, none is made. Gives the ids of the new runs.
QStringList rerunRuns(const std::filesystem::path& project, const QStringList& runs);
/// All or none: what went to the trash before a run that cannot comes back.
void trashRuns(const std::filesystem::path& project, const QStringList& runs);
/// All or none, too.
void restoreRuns(const std::filesystem::path& project, const QStringList& runs);
/// Those of these that still lie in the trash: others may have brought them back, or removed them.
QStringList trashedOf(const std::filesystem::path& project, const QStringList& runs);

}  // namespace faceter::desktop
