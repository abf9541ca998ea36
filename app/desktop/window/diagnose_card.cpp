#include "window/diagnose_card.h"

#include <QPushButton>
#include <QVBoxLayout>

#include "common/untrusted_json.h"
#include "jobs/job_list.h"
#include "widgets/labels.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

QString textOf(const Json& finding, const char* name) {
    return finding.contains(name) && finding[name].is_string() ? qs(finding[name].get<std::string>()) : QString();
}

bool isAlarm(const Json& finding) { return textOf(finding, "state") == QStringLiteral("alarm"); }

/// "texts_cut" of "retrieval, query side" -> "texts cut · retrieval, query side".
QString titleOf(const Json& finding) {
    const QString subject = textOf(finding, "subject"), check = textOf(finding, "check").replace(QLatin1Char('_'), QLatin1Char(' '));
    return subject.isEmpty() ? check : check + QStringLiteral(" · ") + subject;
}

QLabel* wrapped(QLabel* label) {
    label->setWordWrap(true);
    label->setMinimumWidth(1);  // of the panel
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QString summaryOf(const Json& findings) {
    int alarms = 0, fine = 0, unknown = 0;
    for (const Json& finding : findings)
        ++(isAlarm(finding) ? alarms : textOf(finding, "state") == QStringLiteral("fine") ? fine : unknown);
    const QString first = alarms == 0   ? DiagnoseCard::tr("No alarm")
                          : alarms == 1 ? DiagnoseCard::tr("1 alarm")
                                        : DiagnoseCard::tr("%1 alarms").arg(alarms);
    return DiagnoseCard::tr("%1 · %2 as it should be · %3 not measured").arg(first).arg(fine).arg(unknown);
}

}  // namespace

DiagnoseCard::DiagnoseCard(Workspace& workspace, JobList& jobs, QWidget* parent)
    : QWidget(parent),
      m_workspace(workspace),
      m_jobs(jobs),
      m_button(new QPushButton(tr("Diagnose"))),
      m_summary(wrapped(headingLabel(QString()))),
      m_error(new ErrorBar),
      m_findings(new QVBoxLayout),
      m_more(new QPushButton(tr("What is as it should be"))) {
    setObjectName(QStringLiteral("diagnoseCard"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_button->setObjectName(QStringLiteral("diagnoseButton"));
    m_summary->setObjectName(QStringLiteral("diagnoseSummary"));
    m_error->setObjectName(QStringLiteral("diagnoseError"));
    m_more->setObjectName(QStringLiteral("diagnoseMore"));
    m_more->setCheckable(true);
    m_findings->setSpacing(8);
    layout->addWidget(m_button, 0, Qt::AlignLeft);
    layout->addWidget(m_summary);
    layout->addWidget(m_error);
    layout->addLayout(m_findings);
    layout->addWidget(m_more, 0, Qt::AlignLeft);
    connect(m_button, &QPushButton::clicked, this, &DiagnoseCard::diagnose);
    connect(m_more, &QPushButton::toggled, this, [this](bool on) {
        if (m_rest) m_rest->setVisible(on);
    });
    connect(&workspace, &Workspace::currentRunChanged, this, [this] {
        if (currentRun() != m_shownRun) showRun();  // at each step of a run that goes on, too
    });
    connect(&workspace, &Workspace::projectChanged, this, [this] {
        m_answers.clear();
        m_running.clear();
        showRun();
    });
    showRun();
}

void DiagnoseCard::diagnose() {
    const RunsSnapshotPtr hold = m_workspace.runs();
    const RunRow* row = m_workspace.current();
    if (!row || m_running.value(m_workspace.currentRun())) return;
    const QString run = m_workspace.currentRun();
    const QString project = QString::fromStdString(m_workspace.session()->folder().string());
    ProgramJob* job = m_jobs.start({tr("Diagnosis of %1").arg(qs(row->info.shown_name())),
                                    {QStringLiteral("diagnose"), run, QStringLiteral("--project"), project, QStringLiteral("--json")}});
    m_running[run] = job;
    connect(job, &ProgramJob::ended, this, [this, run, job] { takeEnd(run, *job); });
    showRun();
}

/// Of a project that was closed meanwhile it is of no use.
void DiagnoseCard::takeEnd(const QString& run, const ProgramJob& job) {
    if (m_running.value(run) != &job) return;
    m_running.remove(run);
    if (job.state() == ProgramJob::State::done) {
        const QByteArray& bytes = job.output();
        Json json = parse_untrusted_json({bytes.constData(), static_cast<std::size_t>(bytes.size())});
        const bool whole = json.is_object() && json.contains("findings") && json["findings"].is_array();
        m_answers[run] = whole ? Answer{json["findings"], {}} : Answer{{}, tr("faceter diagnose printed no findings.")};
    } else if (job.state() == ProgramJob::State::failed) {
        m_answers[run] = {{}, job.status()};
    }
    showRun();
}

/// Empty until it is among the runs.
QString DiagnoseCard::currentRun() const { return m_workspace.current() ? m_workspace.currentRun() : QString(); }

void DiagnoseCard::showRun() {
    const RunsSnapshotPtr hold = m_workspace.runs();
    const RunRow* row = m_workspace.current();
    const QString run = m_shownRun = currentRun();
    const bool trained = row && !row->info.is_baseline() && !row->info.is_imported();
    setVisible(trained);
    clear();
    const bool running = m_running.value(run);
    enableButton(!running);
    m_button->setText(running ? tr("Looking at it …") : m_answers.contains(run) ? tr("Diagnose again") : tr("Diagnose"));
    m_button->setToolTip(tr("Says what went wrong in this run, or that nothing did, and what to do about it (faceter diagnose)"));
    if (m_answers.contains(run)) showAnswer(m_answers[run]);
}

/// While it is disabled the card keeps its focus: Qt would hand it on to a button that does something else.
void DiagnoseCard::enableButton(bool on) {
    if (!on && m_button->hasFocus()) setFocus();
    m_button->setEnabled(on);
    if (on && hasFocus()) m_button->setFocus();
}

void DiagnoseCard::clear() {
    while (QLayoutItem* item = m_findings->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
    m_rest = nullptr;
    m_summary->hide();
    m_error->setMessage({});
    m_more->hide();
    m_more->setChecked(false);
}

void DiagnoseCard::showAnswer(const Answer& answer) {
    if (!answer.problem.isEmpty()) return m_error->setMessage(answer.problem);
    m_summary->setText(summaryOf(answer.diagnosis));
    m_summary->show();
    showFindings(answer.diagnosis);
}

void DiagnoseCard::showFindings(const Json& findings) {
    m_rest = new QWidget;
    auto* rest = new QVBoxLayout(m_rest);
    rest->setContentsMargins(0, 0, 0, 0);
    for (const Json& finding : findings)
        if (finding.is_object()) (isAlarm(finding) ? m_findings : rest)->addWidget(makeFinding(finding));
    m_findings->addWidget(m_rest);
    m_rest->hide();
    m_more->setVisible(rest->count() > 0);
}

/// An alarm says what was measured, why that is too much, and what to do about it.
QWidget* DiagnoseCard::makeFinding(const Json& finding) const {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    auto* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(4);
    layout->addWidget(wrapped(headingLabel(titleOf(finding))));
    layout->addWidget(wrapped(plainLabel(textOf(finding, "says"))));
    if (!isAlarm(finding)) return frame;
    frame->setObjectName(QStringLiteral("alarm"));
    layout->addWidget(wrapped(secondaryLabel(textOf(finding, "reason"))));
    QLabel* advice = wrapped(plainLabel(textOf(finding, "advice")));
    advice->setObjectName(QStringLiteral("advice"));
    layout->addWidget(advice);
    return frame;
}

}  // namespace faceter::desktop
