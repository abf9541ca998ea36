#include "actions/run_actions.h"

#include "common/error.h"
#include "experiment/machine.h"
#include "launch/elsewhere.h"
#include "launch/supervisor.h"
#include "record/state.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

std::vector<RunDirectory> open(const Project& project, const QStringList& runs) {
    std::vector<RunDirectory> opened;
    for (const QString& run : runs) opened.emplace_back(project.runs_folder() / run.toStdString());
    return opened;
}

void append(const std::filesystem::path& folder, const QStringList& runs, const Json& event) {
    for (const RunDirectory& run : open(Project(folder, false), runs)) run.append_user_event(event);
}

/// A supervisor of their own, on this machine.
void start(const Project& project, const std::vector<RunDirectory>& runs, const LaunchPlace& place = {}) {
    start_supervisor(Queue::create(project, runs, place.jobs, place.devices));
}

std::vector<RunDirectory> launchHere(const Project& project, const Experiment& experiment, bool smoke, const LaunchPlace& place) {
    experiment.check_files();
    worker_program();
    std::vector<RunDirectory> runs;
    for (const ResolvedRun& run : experiment.runs()) runs.push_back(RunDirectory::create(project.folder(), experiment, run, smoke));
    start(project, runs, place);
    return runs;
}

QStringList idsOf(const std::vector<RunDirectory>& runs) {
    QStringList ids;
    for (const RunDirectory& run : runs) ids << qs(run.info().id);
    return ids;
}

QString countOf(const QStringList& runs) { return runs.size() == 1 ? runs.first() : QStringLiteral("%1 runs").arg(runs.size()); }

}  // namespace

RunActions::RunActions(Workspace& workspace) : m_workspace(workspace) {}

/// `body(folder)` runs beside the interface and may return the ids of runs that it made.
template <typename Work>
void RunActions::work(const QString& done, Work body, std::function<void()> then) {
    ProjectSession* session = m_workspace.session();
    if (!session) return;
    ProjectSession::background([folder = session->folder(), body = std::move(body)] { return body(folder); })
        .then(this,
              [this, done, then = std::move(then)](const QStringList& made) {
                  if (then) then();
                  if (ProjectSession* open = m_workspace.session()) open->refresh();
                  m_workspace.say(done);
                  if (!made.isEmpty()) Q_EMIT launched(made);
              })
        .onFailed([this](const std::exception& error) { m_workspace.complain(QString::fromUtf8(error.what())); });
}

void RunActions::launch(std::shared_ptr<const Experiment> experiment, bool smoke, const LaunchPlace& place) {
    const QString what = place.profile.isEmpty() ? tr("%1: %2 runs started") : tr("%1: %2 runs submitted");
    work(what.arg(qs(experiment->name())).arg(experiment->runs().size()), [experiment, smoke, place](const std::filesystem::path& folder) {
        const Project project(folder, true);
        if (place.profile.isEmpty()) return idsOf(launchHere(project, *experiment, smoke, place));
        return idsOf(submit_experiment(project, read_profile(place.profile.toStdString()), *experiment, {{}, {}, smoke}));
    });
}

void RunActions::stop(const QStringList& runs) {
    work(tr("%1 will stop with a checkpoint").arg(countOf(runs)), [runs](const std::filesystem::path& folder) {
        for (const RunDirectory& run : open(Project(folder, false), runs))
            if (!is_over(read_state(run).phase)) stop_run(run);
        return QStringList();
    });
}

/// Each goes on where it was started last.
void RunActions::resume(const QStringList& runs) {
    const auto body = [runs](const std::filesystem::path& folder) {
        const Project project(folder, false);
        for (const auto& [profile, group] : destinations_of(open(project, runs), "")) {
            if (profile.empty()) {
                prepare_resume(group);
                start(project, group);
            } else {
                resume_through(project, read_profile(profile), group);
            }
        }
        return QStringList();
    };
    work(tr("%1 resumed").arg(countOf(runs)), body, [this, runs] {
        if (ProjectSession* open = m_workspace.session()) open->follow(runs);
    });
}

void RunActions::rerun(const QStringList& runs) {
    work(QStringLiteral("%1 started anew").arg(countOf(runs)), [runs](const std::filesystem::path& folder) {
        const Project project(folder, false);
        std::vector<RunDirectory> made;
        for (const RunDirectory& run : open(project, runs)) made.push_back(RunDirectory::create_like(folder, run));
        start(project, made);
        return idsOf(made);
    });
}

void RunActions::setArchived(const QStringList& runs, bool archived) {
    work(QStringLiteral("%1 %2").arg(countOf(runs), archived ? QStringLiteral("archived") : QStringLiteral("back from the archive")),
         [runs, archived](const std::filesystem::path& folder) {
             append(folder, runs, {{"archived", archived}});
             return QStringList();
         });
}

void RunActions::setPinned(const QStringList& runs, bool pinned) {
    work(QStringLiteral("%1 %2").arg(countOf(runs), pinned ? QStringLiteral("pinned") : QStringLiteral("no longer pinned")),
         [runs, pinned](const std::filesystem::path& folder) {
             append(folder, runs, {{"pinned", pinned}});
             return QStringList();
         });
}

void RunActions::addTag(const QStringList& runs, const QString& tag) {
    work(QStringLiteral("%1 tagged %2").arg(countOf(runs), tag), [runs, tag](const std::filesystem::path& folder) {
        append(folder, runs, {{"tag", tag.toStdString()}});
        return QStringList();
    });
}

void RunActions::removeTag(const QStringList& runs, const QString& tag) {
    work(QStringLiteral("tag %2 taken from %1").arg(countOf(runs), tag), [runs, tag](const std::filesystem::path& folder) {
        append(folder, runs, {{"untag", tag.toStdString()}});
        return QStringList();
    });
}

void RunActions::setNote(const QString& run, const QString& note) {
    work(QStringLiteral("note of %1 kept").arg(run), [run, note](const std::filesystem::path& folder) {
        append(folder, {run}, {{"note", note.toStdString()}});
        return QStringList();
    });
}

/// All or none: what went to the trash before a run that cannot comes back.
void RunActions::trash(const QStringList& runs) {
    if (runs.isEmpty()) return;
    const auto body = [runs](const std::filesystem::path& folder) {
        const Project project(folder, false);
        QStringList gone;
        try {
            for (const QString& run : runs) {
                project.trash(run.toStdString());
                gone << run;
            }
        } catch (...) {
            for (const QString& run : gone) project.restore(run.toStdString());
            throw;
        }
        return QStringList();
    };
    work(tr("%1 moved to the project's trash; Undo delete brings it back").arg(countOf(runs)), body, [this, runs] {
        m_trashed.append(runs);
        Q_EMIT undoChanged();
    });
}

void RunActions::undo() {
    if (m_trashed.isEmpty()) return;
    const QStringList runs = m_trashed.takeLast();
    Q_EMIT undoChanged();
    work(tr("%1 brought back").arg(countOf(runs)), [runs](const std::filesystem::path& folder) {
        const Project project(folder, false);
        for (const QString& run : runs) project.restore(run.toStdString());
        return QStringList();
    });
}

}  // namespace faceter::desktop
