#pragma once
#include <QObject>
#include <QStringList>
#include <functional>

#include "experiment/experiment.h"

namespace faceter::desktop {

class Workspace;

/// Where runs are started.
struct LaunchPlace {
    QString profile;  ///< of the user's configuration; empty: this machine
    int jobs = 1;     ///< runs at once, on this machine
    int devices = 1;  ///< processes of a run, on this machine
};

/// What a user does to runs, wherever they run. Everything works on the run directories beside the interface's thread; the outcome comes as
/// a sentence (Workspace::said) or a complaint, and the runs' rows follow when the ingest thread has looked.
class RunActions : public QObject {
    Q_OBJECT
  public:
    explicit RunActions(Workspace& workspace);

    /// Makes the runs of an experiment in the project and starts them: a supervisor of their own, or through a profile; `launched` tells
    /// their ids.
    void launch(std::shared_ptr<const Experiment> experiment, bool smoke, const LaunchPlace& place);
    void stop(const QStringList& runs);
    void resume(const QStringList& runs);
    void rerun(const QStringList& runs);
    void setArchived(const QStringList& runs, bool archived);
    void addTag(const QStringList& runs, const QString& tag);
    void removeTag(const QStringList& runs, const QString& tag);
    void setNote(const QString& run, const QString& note);
    void setPinned(const QStringList& runs, bool pinned);
    /// Moves runs to the project's trash (Project::trash), all or none; undo() brings the last ones back.
    void trash(const QStringList& runs);
    bool canUndo() const { return !m_trashed.isEmpty(); }
    void undo();

  Q_SIGNALS:
    void launched(const QStringList& runs);
    void undoChanged();

  private:
    template <typename Work>
    void work(const QString& done, Work body, std::function<void()> then = {});
    Workspace& m_workspace;
    QList<QStringList> m_trashed;  // last one last
};

}  // namespace faceter::desktop
