#pragma once
#include <QElapsedTimer>
#include <QMap>
#include <QObject>
#include <QStringList>
#include <QThreadPool>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "experiment/chosen_runs.h"
#include "launch/forecast.h"
#include "store/store.h"

namespace faceter::desktop {

class Workspace;

/// Where runs are started.
struct LaunchPlace {
    QString profile;                                   ///< of the user's configuration; empty: this machine
    int jobs = 1;                                      ///< runs at once, on this machine
    int devices = 1;                                   ///< processes of a run, on this machine
    ChosenRuns only{};                                 ///< of the experiment's runs; empty: all
    std::vector<std::optional<Forecast>> forecasts{};  ///< of these, in their order; may be empty
};

/// It runs or waits, and somebody is there to hear it.
bool isStoppable(const RunRow& run);
/// Failed, dead or stopped, and no import: of that nothing is here to go on with.
bool isResumable(const RunRow& run);

/// What a user does to runs, wherever they run. Everything works on the run directories beside the interface's thread, on threads of its
/// own (another machine may take minutes to answer; what asks none is done in the order that it was asked for), and on the project that was
/// open when it was asked for; the outcome comes as a sentence (Workspace::said) or a complaint, and the runs' rows follow when the ingest
/// thread has looked.
class RunActions : public QObject {
    Q_OBJECT
  public:
    explicit RunActions(Workspace& workspace);
    /// Waits for what is under way.
    ~RunActions() override;

    /// One by the name that lists and commands have for it (its id where it is not there, or has none yet), several by their number.
    QString called(const QStringList& runs) const;
    /// Those of them that are there, in such a state.
    QStringList those(const QStringList& runs, bool (*wanted)(const RunRow&)) const;

    /// Makes the runs of an experiment in the project and starts them: a supervisor of their own, or through a profile; `launched` tells
    /// their ids.
    void launch(std::shared_ptr<const Experiment> experiment, bool smoke, const LaunchPlace& place);
    void stop(const QStringList& runs);
    void resume(const QStringList& runs);
    /// New runs with the settings of these, started where those were. A run behind ssh is refused: its paths are of the other machine.
    void rerun(const QStringList& runs);
    /// For somebody who knows that the process of a silent run is gone (core/record/state.h): its attempt ends, and the run can go on.
    void takeOver(const QString& run);
    void setArchived(const QStringList& runs, bool archived);
    void addTag(const QStringList& runs, const QString& tag);
    void removeTag(const QStringList& runs, const QString& tag);
    void setNote(const QStringList& runs, const QString& note);
    /// Puts a text behind what is noted of each.
    void addToNotes(const QStringList& runs, const QString& text);
    void setPinned(const QStringList& runs, bool pinned);
    /// Moves runs to the project's trash (Project::trash), all or none; undo() brings the last ones of the open project back.
    void trash(const QStringList& runs);
    bool canUndo() const;
    void undo();

    /// Moves a run that waits here to a place (from 0) among those that wait.
    void moveInQueue(const QString& run, int place);
    /// Of the project, on this machine: whether what waits may start.
    void setQueuesPaused(bool paused);

    /// What is under way, and since when.
    struct Pending {
        int id = 0;
        QString doing;
        QElapsedTimer since;
        std::shared_ptr<std::atomic<bool>> abandoned{};  ///< of what may wait for another machine: cancel() sets it
        bool isCancellable() const { return abandoned && !*abandoned; }
    };
    /// Oldest first.
    QList<Pending> pendingWork() const { return m_pending.values(); }
    /// Gives up what another machine is asked for: no answer is waited for any more. What has arrived there goes on there, and the
    /// complaint says so.
    void cancel(int id);
    /// What failed or was cancelled, in whichever project it was asked for: kept until it is tried again or dismissed.
    struct Failed {
        int id = 0;
        QString doing, why;
        bool isRepeatable = true;  ///< not where some of it may be done: it would be done twice
    };
    QList<Failed> failedWork() const;
    /// The same again, in the project that it was asked for in.
    void retry(int id);
    void dismiss(int id);
    /// Sentences of the same.
    QStringList pending() const;
    /// A launch is under way.
    bool isLaunching() const { return m_launching > 0; }

  Q_SIGNALS:
    /// In the project that is open.
    void launched(const QStringList& runs);
    void undoChanged();
    void pendingChanged();

  private:
    struct Work {
        QString doing, done;
        std::function<QStringList(const std::filesystem::path& project)> body;  ///< gives the ids of runs that it made
        std::function<void()> then{}, failed{};
        std::function<void()> begin{};  ///< also when it is tried again
        bool reachesOut = false;        ///< it may ask another machine
        bool isRepeatable = true;
        bool isLong = false;  ///< others need not wait for it
    };
    struct FailedWork {
        QString why;
        std::filesystem::path project;
        Work work;
    };
    struct Trashed {
        std::filesystem::path project;
        QStringList runs;
        QString said;  // what they are called in what is said of them
        bool isReturning = false;
    };
    void start(Work work);
    void startIn(const std::filesystem::path& project, const Work& work);
    void end(int job);
    void fail(int job, const std::filesystem::path& project, Work work, const QString& why);
    void mark(const QStringList& runs, const QString& done, const Json& event);
    bool isOpen(const std::filesystem::path& project) const;
    QList<Trashed>::const_iterator lastTrashed() const;
    void markReturning(const Trashed& entry);
    void takeFromTrash(const Trashed& entry, bool isOver);

    Workspace& m_workspace;
    QThreadPool m_pool, m_inOrder;
    QMap<int, Pending> m_pending;
    QMap<int, FailedWork> m_failed;
    int m_jobs = 0, m_launching = 0;
    QList<Trashed> m_trashed;  // last one last
};

}  // namespace faceter::desktop
