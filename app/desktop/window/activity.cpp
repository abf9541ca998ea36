#include "window/activity.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "actions/run_actions.h"
#include "jobs/actions_panel.h"
#include "jobs/jobs_panel.h"
#include "jobs/live_line.h"
#include "widgets/focus_away.h"
#include "widgets/labels.h"
#include "widgets/run_label.h"
#include "widgets/scroll.h"
#include "widgets/texts.h"
#include "window/log_view.h"
#include "window/warning_line.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int most_lines = 40, least_height = 72;

}  // namespace

/// One run that goes on or waits.
class Activity::Line : public QWidget {
  public:
    Line(Workspace& workspace, QWidget* parent)
        : QWidget(parent), m_actions(workspace.actions()), m_bar(new QProgressBar), m_stop(new QPushButton(Activity::tr("Stop"))) {
        auto* layout = new QHBoxLayout(this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(12);
        m_name.setMinimumWidth(160);
        m_name.setMaximumWidth(220);
        m_bar->setTextVisible(false);
        m_bar->setFixedSize(220, 4);
        layout->addWidget(&m_name, 1);
        layout->addWidget(m_bar);
        layout->addWidget(&m_where, 3);
        layout->addWidget(m_stop);
        QObject::connect(m_stop, &QPushButton::clicked, this, [this] {
            m_asked = true;
            giveFocusAway(*m_stop);
            m_stop->setEnabled(false);
            m_actions.stop({m_run});
        });
    }

    void show(const RunRow& run) {
        const QString id = qs(run.info.id);
        m_asked = m_asked && id == m_run && !m_actions.pending().isEmpty();  // else it was answered, or could not be asked
        const bool stoppable = isStoppable(run) && !m_asked;
        if (id != m_run || !stoppable) giveFocusAway(*m_stop);  // the key that is about to be pressed meant the run before
        m_stop->setEnabled(stoppable);
        m_run = id;
        m_name.setFullText(runLabel(run.info));
        const double done =
            run.state.total_steps > 0 ? 1000.0 * static_cast<double>(run.state.step) / static_cast<double>(run.state.total_steps) : 0;
        m_bar->setRange(0, 1000);
        m_bar->setValue(static_cast<int>(done));
        m_bar->setAccessibleName(Activity::tr("Progress of %1").arg(m_name.fullText()));
        const bool waitsOrIsOver = run.state.phase == RunPhase::queued || is_over(run.state.phase);
        m_where.setFullText(waitsOrIsOver ? qs(run_phase_name(run.state.phase)) : progressText(run.state));
        QWidget::show();
    }

    void leave() {
        giveFocusAway(*this);
        hide();
    }

  private:
    RunActions& m_actions;
    QString m_run;
    bool m_asked = false;
    ElidedLabel m_name, m_where;
    QProgressBar* m_bar;
    QPushButton* m_stop;
};

Activity::Activity(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      m_workspace(workspace),
      m_summary(secondaryLabel()),
      m_tabs(new QTabWidget),
      m_lines(new QWidget),
      m_linesLayout(new QVBoxLayout(m_lines)),
      m_quiet(secondaryLabel(tr("Nothing runs. Compose launches an experiment; runs go on when this window is closed."))),
      m_log(new LogView(workspace)),
      m_live(new LiveLine),
      m_actions(new ActionsPanel(workspace.actions())) {
    setObjectName(QStringLiteral("activity"));
    setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    m_linesLayout->setContentsMargins(12, 8, 12, 8);
    m_linesLayout->setSpacing(4);
    m_linesLayout->addWidget(m_live);
    m_linesLayout->addWidget(m_actions);
    m_linesLayout->addWidget(m_quiet);
    m_linesLayout->addStretch(1);
    m_tabs->setObjectName(QStringLiteral("activityTabs"));
    m_tabs->addTab(scrolled(m_lines), tr("Activity"));
    m_tabs->addTab(m_log, tr("Log"));
    m_summary->setContentsMargins(0, 0, 12, 0);
    m_tabs->setCornerWidget(m_summary);
    layout->addWidget(new WarningLine(m_workspace));
    layout->addWidget(m_tabs);
    connect(&m_workspace, &Workspace::runsChanged, this, &Activity::showRuns);
    connect(&m_workspace, &Workspace::projectChanged, this, &Activity::showRuns);
    connect(&m_workspace.actions(), &RunActions::pendingChanged, this, &Activity::showRuns);
    connect(m_live, &LiveLine::cameOrWent, this, &Activity::showRuns);
    m_lines->installEventFilter(this);
    connect(m_tabs, &QTabWidget::tabBarClicked, this, [this](int tab) {
        m_opened = m_folded || tab != m_tabs->currentIndex();
        QMetaObject::invokeMethod(this, &Activity::fold, Qt::QueuedConnection);  // the tab bar is still at it
    });
    showRuns();
}

void Activity::setJobs(JobsPanel* jobs) {
    m_jobs = jobs;
    m_linesLayout->insertWidget(0, jobs);
    connect(jobs, &JobsPanel::linesChanged, this, &Activity::showRuns);
    showRuns();
}

bool Activity::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest) fit();
    return QWidget::event(event);
}

void Activity::fold() {
    const bool folded = !m_going && !m_opened;
    if (folded == m_folded) return;
    m_folded = folded;
    m_tabs->setMaximumHeight(folded ? m_tabs->tabBar()->sizeHint().height() + 2 : QWIDGETSIZE_MAX);
    fit();
    Q_EMIT foldedChanged(folded);
}

/// Folded it is as high as its tabs and what is warned of.
void Activity::fit() {
    const int high = layout()->sizeHint().height();
    setMinimumHeight(m_folded ? 0 : least_height);
    setMaximumHeight(m_folded ? std::min(high, layout()->totalMaximumSize().height()) : QWIDGETSIZE_MAX);
}

/// While the pointer is among the lines none moves away below it: what has ended stays where it was, what is new comes last.
std::vector<const RunRow*> Activity::inTheirPlaces(const RunsSnapshot& snapshot, const std::vector<const RunRow*>& going) const {
    std::vector<const RunRow*> places;
    for (const QString& id : m_order)
        if (const int place = snapshot.find(id.toStdString()); place >= 0)
            places.push_back(&snapshot.runs[static_cast<std::size_t>(place)]);
    for (const RunRow* run : going)
        if (!m_order.contains(qs(run->info.id))) places.push_back(run);
    // What has ended would take the lines of what goes on.
    return places.size() > std::max<std::size_t>(most_lines, going.size()) ? going : places;
}

bool Activity::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_lines && event->type() == QEvent::Leave) QMetaObject::invokeMethod(this, &Activity::showRuns, Qt::QueuedConnection);
    return QWidget::eventFilter(watched, event);
}

void Activity::showRuns() {
    const RunsSnapshotPtr snapshot = m_workspace.runs();
    std::vector<const RunRow*> going;
    int running = 0, queued = 0;
    for (const RunRow& run : snapshot->runs) {
        const bool runs = run.state.phase == RunPhase::running || run.state.phase == RunPhase::silent;
        if (!runs && run.state.phase != RunPhase::queued) continue;
        ++(runs ? running : queued);
        going.push_back(&run);
    }
    std::stable_partition(going.begin(), going.end(), [](const RunRow* run) { return run->state.phase != RunPhase::queued; });
    const bool any = !going.empty();
    if (m_lines->underMouse()) going = inTheirPlaces(*snapshot, going);
    m_order.clear();
    for (const RunRow* run : going) m_order << qs(run->info.id);
    while (m_pool.size() < static_cast<qsizetype>(std::min<std::size_t>(going.size(), most_lines))) {
        m_pool.append(new Line(m_workspace, m_lines));
        m_linesLayout->insertWidget(m_linesLayout->count() - 1, m_pool.last());
    }
    for (qsizetype i = 0; i < m_pool.size(); ++i)
        if (i < static_cast<qsizetype>(going.size()))
            m_pool[i]->show(*going[static_cast<std::size_t>(i)]);
        else
            m_pool[i]->leave();
    const bool jobs = m_jobs && !m_jobs->isEmpty();
    const RunActions& actions = m_workspace.actions();
    m_going = jobs || !m_live->isEmpty() || !going.empty() || actions.isLaunching() || !actions.failedWork().isEmpty() ||
              std::ranges::any_of(actions.pendingWork(), [](const RunActions::Pending& work) { return work.abandoned != nullptr; });
    m_quiet->setVisible(!jobs && m_live->isEmpty() && going.empty() && m_actions->isEmpty());
    fold();
    m_summary->setVisible(any);
    m_summary->setText(any ? tr("%1 running · %2 queued").arg(running).arg(queued) : QString());
}

}  // namespace faceter::desktop
