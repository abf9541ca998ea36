#pragma once
#include <QList>
#include <QObject>

#include "jobs/program_job.h"

namespace faceter::desktop {

/// The commands that were asked for in this window, oldest first. What failed or made a file stays until it is dismissed; the rest goes
/// when it is done.
class JobList : public QObject {
    Q_OBJECT
  public:
    using QObject::QObject;
    ProgramJob* start(const JobRequest& request);
    const QList<ProgramJob*>& jobs() const { return m_jobs; }
    /// Titles of those that run.
    QStringList running() const;
    /// Of one that is over.
    void dismiss(ProgramJob* job);

  Q_SIGNALS:
    void listChanged();
    /// Done, failed or cancelled.
    void ended(ProgramJob* job);

  private:
    void takeEnd(ProgramJob* job);
    QList<ProgramJob*> m_jobs;
};

}  // namespace faceter::desktop
