#include "jobs/jobs_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>

#include "jobs/job_list.h"
#include "widgets/focus_away.h"
#include "widgets/labels.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int tick_ms = 1000, steps = 1000;

QString statusOf(const ProgramJob& job) {
    if (job.isRunning()) return QStringLiteral("%1 · %2").arg(durationText(job.seconds()), job.status());
    return job.state() == ProgramJob::State::done
               ? JobsPanel::tr("written: %1").arg(job.request().result)
               : JobsPanel::tr("failed: %1").arg(QString(job.status()).replace(QLatin1Char('\n'), QLatin1Char(' ')));
}

}  // namespace

class JobsPanel::Line : public QWidget {
  public:
    Line(JobList& jobs, ProgramJob* job, QWidget* parent)
        : QWidget(parent),
          m_job(job),
          m_bar(new QProgressBar),
          m_act(button(QStringLiteral("jobAct"))),
          m_dismiss(button(QStringLiteral("jobDismiss"))) {
        setObjectName(QStringLiteral("jobLine"));
        auto* layout = new QHBoxLayout(this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(12);
        m_name.setFullText(job->request().title);
        m_name.setMinimumWidth(160);
        m_name.setMaximumWidth(260);
        m_status.setObjectName(QStringLiteral("jobStatus"));
        m_bar->setTextVisible(false);
        m_bar->setFixedSize(180, 4);
        m_bar->setAccessibleName(JobsPanel::tr("Progress of %1").arg(job->request().title));
        m_dismiss->setText(JobsPanel::tr("Dismiss"));
        layout->addWidget(&m_name, 1);
        layout->addWidget(m_bar);
        layout->addWidget(&m_status, 3);
        layout->addWidget(m_act);
        layout->addWidget(m_dismiss);
        QObject::connect(m_act, &QPushButton::clicked, this, [this] { act(); });
        QObject::connect(m_dismiss, &QPushButton::clicked, this, [this, &jobs] { jobs.dismiss(m_job); });
        QObject::connect(job, &ProgramJob::changed, this, [this] { show(); });
        auto* tick = new QTimer(this);
        QObject::connect(tick, &QTimer::timeout, this, [this] { show(); });
        tick->start(tick_ms);
        show();
    }

    /// One of its own buttons may be at it.
    void leave() {
        m_job = nullptr;
        giveFocusAway(*this);
        hide();
        deleteLater();
    }

  private:
    static QPushButton* button(const QString& name) {
        auto* made = new QPushButton;
        made->setObjectName(name);
        return made;
    }

    void show() {
        if (!m_job) return;
        const bool running = m_job->isRunning(), failed = m_job->state() == ProgramJob::State::failed;
        m_bar->setVisible(running);
        m_bar->setRange(0, m_job->share() ? steps : 0);
        if (m_job->share()) m_bar->setValue(static_cast<int>(*m_job->share() * steps));
        m_status.setFullText(statusOf(*m_job));
        m_act->setText(running ? JobsPanel::tr("Cancel") : failed ? JobsPanel::tr("Copy details") : JobsPanel::tr("Open"));
        m_dismiss->setVisible(!running);
    }

    void act() {
        if (m_job->isRunning()) return m_job->cancel();
        if (m_job->state() == ProgramJob::State::failed) return QApplication::clipboard()->setText(m_job->status());
        QDesktopServices::openUrl(QUrl::fromLocalFile(m_job->request().result));
    }

    QPointer<ProgramJob> m_job;
    ElidedLabel m_name, m_status;
    QProgressBar* m_bar;
    QPushButton *m_act, *m_dismiss;
};

JobsPanel::JobsPanel(JobList& jobs, QWidget* parent) : QWidget(parent), m_jobs(jobs), m_layout(new QVBoxLayout(this)) {
    setObjectName(QStringLiteral("jobsPanel"));
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(4);
    connect(&jobs, &JobList::listChanged, this, &JobsPanel::showJobs);
    showJobs();
}

void JobsPanel::showJobs() {
    const qsizetype before = m_lines.size();
    for (ProgramJob* job : m_lines.keys())
        if (!m_jobs.jobs().contains(job)) m_lines.take(job)->leave();
    for (ProgramJob* job : m_jobs.jobs()) {
        if (m_lines.contains(job)) continue;
        m_lines[job] = new Line(m_jobs, job, this);
        m_layout->addWidget(m_lines[job]);
    }
    setVisible(!isEmpty());
    if (m_lines.size() != before) Q_EMIT linesChanged();
}

}  // namespace faceter::desktop
