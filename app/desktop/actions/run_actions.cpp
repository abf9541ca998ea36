#include "actions/run_actions.h"

#include "actions/run_work.h"
#include "common/command.h"
#include "common/error.h"
#include "common/strings.h"
#include "launch/queue_order.h"
#include "launch/slurm.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int most_at_once = 8;

/// What is said of a project that is not the open one begins with its name.
QString withProject(const std::filesystem::path& project, const QString& sentence) {
    return RunActions::tr("%1: %2").arg(qs(project.filename().string()), sentence);
}

}  // namespace

bool isStoppable(const RunRow& run) { return !is_over(run.state.phase) && run.state.phase != RunPhase::silent; }

bool isResumable(const RunRow& run) {
    const RunPhase phase = run.state.phase;
    return !run.info.is_imported() && (phase == RunPhase::failed || phase == RunPhase::dead || phase == RunPhase::stopped);
}

RunActions::RunActions(Workspace& workspace) : m_workspace(workspace) {
    m_pool.setMaxThreadCount(most_at_once);
    m_inOrder.setMaxThreadCount(1);
    connect(&workspace, &Workspace::projectChanged, this, &RunActions::undoChanged);
}

RunActions::~RunActions() {
    m_pool.waitForDone();
    m_inOrder.waitForDone();
}

bool RunActions::isOpen(const std::filesystem::path& project) const {
    return m_workspace.session() && m_workspace.session()->folder() == project;
}

void RunActions::start(Work work) {
    if (ProjectSession* session = m_workspace.session()) startIn(session->folder(), work);
}

void RunActions::startIn(const std::filesystem::path& folder, const Work& work) {
    const int job = ++m_jobs;
    const auto abandoned = std::make_shared<std::atomic<bool>>(false);
    Pending pending{job, work.doing, {}, work.reachesOut ? abandoned : nullptr};
    pending.since.start();
    if (work.begin) work.begin();
    m_pending.insert(job, pending);
    Q_EMIT pendingChanged();
    Answer(QtConcurrent::run(work.reachesOut || work.isLong ? &m_pool : &m_inOrder,
                             [folder, body = work.body, abandoned] {
                                 const AbandonScope scope(*abandoned);
                                 return body(folder);
                             }))
        .then(this,
              [this, job, work, folder](const QStringList& made) {
                  if (work.then) work.then();
                  end(job);
                  if (!work.done.isEmpty()) m_workspace.say(isOpen(folder) ? work.done : withProject(folder, work.done));
                  if (!isOpen(folder)) return;
                  m_workspace.session()->refresh();
                  if (!made.isEmpty()) Q_EMIT launched(made);
              })
        .onFailed([this, job, work = work, folder, abandoned](const std::exception& error) mutable {
            const QString what = QString::fromUtf8(error.what());
            work.isRepeatable = work.isRepeatable && !dynamic_cast<const JobMayWait*>(&error);
            fail(job, folder, work, *abandoned ? tr("%1: cancelled. %2").arg(work.doing, what) : what);
        });
}

void RunActions::end(int job) {
    if (m_pending.remove(job) > 0) Q_EMIT pendingChanged();
}

void RunActions::fail(int job, const std::filesystem::path& project, Work work, const QString& why) {
    if (work.failed) work.failed();
    const QString message = isOpen(project) ? why : withProject(project, why);
    m_failed.insert(job, {message, project, work});
    end(job);
    m_workspace.complain(message);
}

void RunActions::cancel(int id) {
    const auto found = m_pending.constFind(id);
    if (found == m_pending.cend() || !found->isCancellable()) return;
    *found->abandoned = true;
    Q_EMIT pendingChanged();
}

QList<RunActions::Failed> RunActions::failedWork() const {
    QList<Failed> all;
    for (auto entry = m_failed.cbegin(); entry != m_failed.cend(); ++entry)
        all.append({entry.key(), entry->work.doing, entry->why, entry->work.isRepeatable});
    return all;
}

void RunActions::retry(int id) {
    if (!m_failed.contains(id) || !m_failed.value(id).work.isRepeatable) return;
    const FailedWork again = m_failed.take(id);
    startIn(again.project, again.work);
}

void RunActions::dismiss(int id) {
    if (m_failed.remove(id) > 0) Q_EMIT pendingChanged();
}

QStringList RunActions::pending() const {
    QStringList sentences;
    for (const Pending& work : m_pending) sentences << work.doing;
    return sentences;
}

QString RunActions::called(const QStringList& runs) const {
    if (runs.size() != 1) return tr("%1 runs").arg(runs.size());
    const RunsSnapshotPtr snapshot = m_workspace.runs();
    const int place = snapshot->find(runs.first().toStdString());
    return place < 0 ? runs.first() : qs(snapshot->runs[static_cast<std::size_t>(place)].info.shown_name());
}

QStringList RunActions::those(const QStringList& runs, bool (*wanted)(const RunRow&)) const {
    const RunsSnapshotPtr snapshot = m_workspace.runs();
    QStringList ids;
    for (const QString& run : runs)
        if (const int place = snapshot->find(run.toStdString()); place >= 0 && wanted(snapshot->runs[static_cast<std::size_t>(place)]))
            ids << run;
    return ids;
}

void RunActions::launch(std::shared_ptr<const Experiment> experiment, bool smoke, const LaunchPlace& place) {
    if (!m_workspace.session()) return;
    const std::size_t count = place.only.empty() ? experiment->runs().size() : place.only.size();
    const QString name = qs(experiment->name()), runs = count == 1 ? tr("1 run") : tr("%1 runs").arg(count);
    const bool here = place.profile.isEmpty();
    const auto remarks = std::make_shared<std::vector<std::string>>();
    const auto over = [this] { --m_launching; };
    start({here ? tr("%1: starting %2").arg(name, runs) : tr("%1: submitting %2 through %3").arg(name, runs, place.profile),
           here ? tr("%1: %2 started").arg(name, runs) : tr("%1: %2 submitted").arg(name, runs),
           [experiment, smoke, place, remarks](const std::filesystem::path& folder) {
               Launched launched = launchRuns(folder, *experiment, smoke, place);
               *remarks = std::move(launched.remarks);
               return launched.runs;
           },
           [this, over, here, name, remarks] {
               over();
               if (remarks->empty()) return;
               const QString begun = here ? tr("%1 was started; warning: %2") : tr("%1 was submitted; warning: %2");
               m_workspace.complain(begun.arg(name, qs(join(*remarks, "\n"))));
           },
           over, [this] { ++m_launching; }, !here, true, true});
}

void RunActions::stop(const QStringList& runs) {
    const auto said = std::make_shared<QString>();
    start({tr("Asking %1 to stop").arg(called(runs)),
           {},
           [runs, said](const std::filesystem::path& folder) {
               *said = stopRuns(folder, runs);
               return QStringList();
           },
           [this, runs, said, name = called(runs),
            project = m_workspace.session() ? m_workspace.session()->folder() : std::filesystem::path()] {
               const QString sentence = said->isEmpty()    ? tr("%1: over already").arg(name)
                                        : runs.size() == 1 ? name + QLatin1Char(' ') + *said
                                                           : tr("%1 were asked to stop with a checkpoint").arg(name);
               m_workspace.say(isOpen(project) ? sentence : withProject(project, sentence));
           },
           {},
           {},
           true,
           false});
}

void RunActions::resume(const QStringList& runs) {
    start({tr("Resuming %1").arg(called(runs)),
           tr("%1 resumed").arg(called(runs)),
           [runs](const std::filesystem::path& folder) {
               resumeRuns(folder, runs);
               return QStringList();
           },
           [this, runs, project = m_workspace.session() ? m_workspace.session()->folder() : std::filesystem::path()] {
               if (isOpen(project)) m_workspace.session()->follow(runs);
           },
           {},
           {},
           true});
}

void RunActions::moveInQueue(const QString& run, int place) {
    const auto now = std::make_shared<std::size_t>(0);
    start({tr("Moving %1 in the queue").arg(called({run})),
           {},
           [run, place, now](const std::filesystem::path& folder) {
               *now = move_in_queue(Project(folder, false), run.toStdString(), static_cast<std::size_t>(place));
               return QStringList();
           },
           [this, now, name = called({run})] { m_workspace.say(tr("%1 is number %2 of those that wait").arg(name).arg(*now + 1)); }});
}

void RunActions::setQueuesPaused(bool paused) {
    start({paused ? tr("Pausing the queue") : tr("Letting the queue go on"),
           paused ? tr("Paused: what runs goes on, and nothing more starts") : tr("The queue goes on"),
           [paused](const std::filesystem::path& folder) {
               for (const QueueState& state : live_queues(Project(folder, false))) set_paused(state.queue, paused);
               return QStringList();
           }});
}

void RunActions::rerun(const QStringList& runs) {
    start({tr("Starting %1 anew").arg(called(runs)),
           tr("%1 started anew").arg(called(runs)),
           [runs](const std::filesystem::path& folder) { return rerunRuns(folder, runs); },
           {},
           {},
           {},
           true});
}

void RunActions::takeOver(const QString& run) {
    start({tr("Taking %1 over").arg(called({run})), tr("%1 was taken over; it can be resumed or deleted").arg(called({run})),
           [run](const std::filesystem::path& folder) {
               for (const RunDirectory& directory : openRuns(folder, {run})) take_over(directory);
               return QStringList();
           }});
}

/// A line more in what the user says of each run. A note that cannot be written stands in the complaint: the field may show another run's.
void RunActions::mark(const QStringList& runs, const QString& done, const Json& event) {
    const std::string note = event.value("note", std::string());
    const QString kept = note.empty() ? QString() : tr("The note was: %1").arg(qs(note));
    Work work{tr("Marking %1").arg(called(runs)), done, [runs, event, kept](const std::filesystem::path& folder) {
                  try {
                      for (const RunDirectory& run : openRuns(folder, runs)) run.append_user_event(event);
                  } catch (const std::exception& error) {
                      if (kept.isEmpty()) throw;
                      throw failure("{}\n{}", error.what(), kept.toStdString());
                  }
                  return QStringList();
              }};
    work.isRepeatable = !event.contains("note");  // a newer text may be there by then
    start(work);
}

void RunActions::setArchived(const QStringList& runs, bool archived) {
    mark(runs, (archived ? tr("%1 archived") : tr("%1 back from the archive")).arg(called(runs)), {{"archived", archived}});
}

void RunActions::setPinned(const QStringList& runs, bool pinned) {
    mark(runs, (pinned ? tr("%1 pinned") : tr("%1 no longer pinned")).arg(called(runs)), {{"pinned", pinned}});
}

void RunActions::addTag(const QStringList& runs, const QString& tag) {
    mark(runs, tr("%1 tagged %2").arg(called(runs), tag), {{"tag", tag.toStdString()}});
}

void RunActions::removeTag(const QStringList& runs, const QString& tag) {
    mark(runs, tr("tag %2 taken from %1").arg(called(runs), tag), {{"untag", tag.toStdString()}});
}

void RunActions::setNote(const QStringList& runs, const QString& note) {
    mark(runs, tr("note of %1 kept").arg(called(runs)), {{"note", note.toStdString()}});
}

void RunActions::addToNotes(const QStringList& runs, const QString& text) {
    start({tr("Marking %1").arg(called(runs)), tr("added to the notes of %1").arg(called(runs)),
           [runs, text](const std::filesystem::path& folder) {
               for (const RunDirectory& run : openRuns(folder, runs)) {
                   const std::string before = run.user_state().note;
                   run.append_user_event({{"note", before.empty() ? text.toStdString() : before + "\n" + text.toStdString()}});
               }
               return QStringList();
           }});
}

void RunActions::trash(const QStringList& runs) {
    if (runs.isEmpty() || !m_workspace.session()) return;
    start({tr("Moving %1 to the trash").arg(called(runs)),
           {},  // said below: whether it can be undone hangs on which project is open then
           [runs](const std::filesystem::path& folder) {
               trashRuns(folder, runs);
               return QStringList();
           },
           [this, runs, project = m_workspace.session()->folder(), said = called(runs)] {
               m_trashed.append({project, runs, said});
               Q_EMIT undoChanged();
               m_workspace.say(isOpen(project) ? tr("%1 moved to the project's trash; Undo delete brings it back").arg(said)
                                               : withProject(project, tr("%1 moved to the project's trash").arg(said)));
           }});
}

/// Of the open project, and not on its way back already; end() where there is none.
QList<RunActions::Trashed>::const_iterator RunActions::lastTrashed() const {
    for (auto entry = m_trashed.cend(); entry != m_trashed.cbegin();)
        if (const Trashed& one = *--entry; isOpen(one.project) && !one.isReturning) return entry;
    return m_trashed.cend();
}

bool RunActions::canUndo() const { return lastTrashed() != m_trashed.cend(); }

/// What could not be brought back can be tried again.
void RunActions::undo() {
    const auto last = lastTrashed();
    if (last == m_trashed.cend()) return;
    const Trashed entry = *last;
    const auto gone = std::make_shared<bool>(false);
    start({tr("Bringing %1 back").arg(entry.said), tr("%1 brought back").arg(entry.said),
           [entry, gone](const std::filesystem::path& folder) {
               const QStringList there = trashedOf(folder, entry.runs);
               *gone = there.isEmpty();
               if (*gone) throw usage_error("{}: not in the trash any more; brought back or removed elsewhere", entry.said.toStdString());
               restoreRuns(folder, there);
               return QStringList();
           },
           [this, entry] { takeFromTrash(entry, true); }, [this, entry, gone] { takeFromTrash(entry, *gone); },
           [this, entry] { markReturning(entry); }});
}

void RunActions::markReturning(const Trashed& entry) {
    for (Trashed& one : m_trashed)
        if (one.project == entry.project && one.runs == entry.runs) one.isReturning = true;
    Q_EMIT undoChanged();
}

void RunActions::takeFromTrash(const Trashed& entry, bool isOver) {
    for (qsizetype i = 0; i < m_trashed.size(); ++i) {
        if (m_trashed[i].project != entry.project || m_trashed[i].runs != entry.runs) continue;
        m_trashed[i].isReturning = false;
        if (isOver) m_trashed.removeAt(i);
        break;
    }
    Q_EMIT undoChanged();
}

}  // namespace faceter::desktop
