#include "jobs/job_list.h"

namespace faceter::desktop {

ProgramJob* JobList::start(const JobRequest& request) {
    auto* job = new ProgramJob(request, this);
    m_jobs.append(job);
    connect(job, &ProgramJob::ended, this, [this, job] { takeEnd(job); });
    Q_EMIT listChanged();
    return job;
}

QStringList JobList::running() const {
    QStringList titles;
    for (const ProgramJob* job : m_jobs)
        if (job->isRunning()) titles << job->request().title;
    return titles;
}

void JobList::takeEnd(ProgramJob* job) {
    Q_EMIT ended(job);
    const bool isOfUse =
        job->state() == ProgramJob::State::failed || (job->state() == ProgramJob::State::done && !job->request().result.isEmpty());
    if (!isOfUse) return dismiss(job);
    Q_EMIT listChanged();
}

void JobList::dismiss(ProgramJob* job) {
    if (job->isRunning() || m_jobs.removeAll(job) == 0) return;
    job->deleteLater();
    Q_EMIT listChanged();
}

}  // namespace faceter::desktop
