#include "pages/compose/launch_bar.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>
#include <set>

#include "pages/compose/run_list_model.h"
#include "project/project_session.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int narrowest_summary = 160;

}  // namespace

LaunchBar::LaunchBar(ExperimentDocument& document, const RunListModel& runs, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_runs(runs),
      m_summary(new ElidedLabel),
      m_smoke(new QCheckBox(tr("Trial run"))),
      m_where(new QComboBox),
      m_jobs(new QSpinBox),
      m_devices(new QSpinBox),
      m_launch(new QPushButton(tr("Launch"))) {
    setObjectName(QStringLiteral("launchBar"));
    auto* layout = new FlowLayout(this, 12);
    m_summary->setObjectName(QStringLiteral("launchSummary"));
    m_summary->setProperty("role", QStringLiteral("secondary"));
    m_smoke->setObjectName(QStringLiteral("smoke"));
    m_smoke->setToolTip(tr("A few steps on a sample of the data, one seed: does everything work? (faceter run --smoke)"));
    m_launch->setObjectName(QStringLiteral("launch"));
    m_launch->setProperty("primary", true);
    m_launch->setToolTip(tr("Ctrl+Return"));
    m_summary->setMinimumWidth(narrowest_summary);
    layout->addStretched(m_summary);
    layout->addWidget(m_smoke);
    layout->addWidget(buildWhere());
    layout->addWidget(m_launch);
    connect(m_smoke, &QCheckBox::toggled, &m_document, &ExperimentDocument::setSmoke);
    connect(m_launch, &QPushButton::clicked, this, &LaunchBar::launchAsked);
    // Not the button's own, which goes whenever its text changes.
    connect(new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this), &QShortcut::activated, m_launch, &QPushButton::click);
    connect(&m_document, &ExperimentDocument::checked, this, &LaunchBar::refresh);
    connect(&m_runs, &RunListModel::ticksChanged, this, &LaunchBar::refresh);
    connect(qApp, &QGuiApplication::applicationStateChanged, this, [this](Qt::ApplicationState state) {
        if (state == Qt::ApplicationActive) lookForProfiles();
    });
    takeProfiles({});
    refresh();
}

QWidget* LaunchBar::buildWhere() {
    m_where->setObjectName(QStringLiteral("launchWhere"));
    m_where->setAccessibleName(tr("Where the runs are started"));
    m_where->setToolTip(tr("This machine, or one of your profiles for SLURM and ssh (faceter profile list)"));
    m_where->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_where->setMaximumWidth(240);
    m_jobs->setObjectName(QStringLiteral("jobs"));
    m_jobs->setRange(1, 64);
    m_jobs->setSuffix(tr(" at once"));
    m_jobs->setAccessibleName(tr("Runs at once on this machine"));
    m_jobs->setToolTip(tr("Runs at once on this machine; the others wait in the queue."));
    m_devices->setObjectName(QStringLiteral("devices"));
    m_devices->setRange(1, 64);
    m_devices->setAccessibleName(tr("Devices of each run on this machine"));
    m_devices->setToolTip(tr("Devices of each run: so many processes train together and share the cores; the results are the same."));
    auto* where = new QWidget;
    auto* layout = new QHBoxLayout(where);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_where, m_jobs, m_devices}) layout->addWidget(widget);
    connect(m_where, &QComboBox::activated, this, [this] { m_wanted = m_where->currentData().toString(); });
    connect(m_where, &QComboBox::currentIndexChanged, this, &LaunchBar::showPlace);
    connect(m_devices, &QSpinBox::valueChanged, this, &LaunchBar::showPlace);
    return where;
}

LaunchPlace LaunchBar::place() const { return {m_where->currentData().toString(), m_jobs->value(), m_devices->value(), m_runs.chosen()}; }

void LaunchBar::setProfile(const QString& profile) {
    m_wanted = profile;
    m_where->setCurrentIndex(std::max(0, m_where->findData(profile)));
}

void LaunchBar::lookForProfiles() {
    ProjectSession::background([] {
        return profile_summaries();
    }).then(this, [this](const std::vector<ProfileSummary>& profiles) {
          takeProfiles(profiles);
      }).onFailed([this](const std::exception& error) { Q_EMIT failed(QString::fromUtf8(error.what())); });
}

/// One that cannot be used is there, cannot be chosen, and says why.
void LaunchBar::takeProfiles(const std::vector<ProfileSummary>& profiles) {
    {
        const QSignalBlocker quiet(m_where);
        m_where->clear();
        m_where->addItem(tr("on this machine"), QString());
        auto* model = qobject_cast<QStandardItemModel*>(m_where->model());
        for (const ProfileSummary& profile : profiles) {
            const bool usable = profile.error.empty();
            m_where->addItem(
                usable ? tr("%1 · %2").arg(qs(profile.name), qs(profile.where)) : tr("%1 · cannot be used").arg(qs(profile.name)),
                qs(profile.name));
            m_where->setItemData(m_where->count() - 1, qs(usable ? profile.description : profile.error).toHtmlEscaped(), Qt::ToolTipRole);
            model->item(m_where->count() - 1)->setEnabled(usable);
        }
        const int wanted = m_where->findData(m_wanted);
        m_where->setCurrentIndex(wanted > 0 && model->item(wanted)->isEnabled() ? wanted : 0);
    }
    if (!m_wanted.isEmpty() && place().profile != m_wanted)
        Q_EMIT failed(tr("Profile %1, which was chosen, cannot be used now: runs would start on this machine. Choose where they start.")
                          .arg(m_wanted));
    showPlace();
}

void LaunchBar::showPlace() {
    const bool here = place().profile.isEmpty();
    m_jobs->setVisible(here);
    m_devices->setVisible(here);
    m_devices->setSuffix(m_devices->value() == 1 ? tr(" device") : tr(" devices"));
    refresh();
}

void LaunchBar::setProject(const QString& folder) {
    m_project = folder;
    refresh();
}

void LaunchBar::setProblem(const QString& problem) {
    m_problem = problem;
    refresh();
}

void LaunchBar::setLaunching(const QString& what) {
    m_launching = what;
    refresh();
}

void LaunchBar::refresh() {
    auto* summary = static_cast<ElidedLabel*>(m_summary);
    const CheckReport& report = m_document.report();
    m_launch->setEnabled(report.experiment != nullptr && m_launching.isEmpty() && m_problem.isEmpty());
    if (!m_launching.isEmpty()) return summary->setFullText(m_launching + QStringLiteral(" …"));
    if (!m_problem.isEmpty()) return summary->setFullText(tr("%1 cannot take runs now: %2").arg(m_project, m_problem));
    if (!report.experiment) {
        m_launch->setText(tr("Launch"));
        const std::size_t problems = report.problems.size();
        summary->setFullText(problems == 0   ? tr("checking …")
                             : problems == 1 ? tr("1 problem to mend before it can start")
                                             : tr("%1 problems to mend before it can start").arg(problems));
        return;
    }
    const std::vector<const ResolvedRun*> runs = m_runs.ticked();
    const std::size_t all = report.experiment->runs().size();
    m_launch->setEnabled(m_launch->isEnabled() && !runs.empty());
    summary->setFullText(runs.empty() ? tr("No run is ticked: tick those to launch in the list.") : summaryOf(runs));
    m_launch->setText(runs.empty()        ? tr("Launch")
                      : runs.size() < all ? tr("Launch %1 of %2 runs").arg(runs.size()).arg(all)
                      : all == 1          ? tr("Launch 1 run")
                                          : tr("Launch %1 runs").arg(all));
}

QString LaunchBar::summaryOf(const std::vector<const ResolvedRun*>& runs) const {
    std::set<std::string> variants, points;
    std::set<std::uint64_t> seeds;
    for (const ResolvedRun* run : runs) {
        if (run->method != "start") variants.insert(run->variant);
        if (!run->point.empty()) points.insert(run->point);
        seeds.insert(run->seed);
    }
    const auto counted = [](std::size_t count, const QString& one, const QString& more) {
        return QString::number(count) + QLatin1Char(' ') + (count == 1 ? one : more);
    };
    QStringList parts{counted(variants.size(), tr("variant"), tr("variants")), counted(seeds.size(), tr("seed"), tr("seeds"))};
    if (!points.empty()) parts << counted(points.size(), tr("sweep point"), tr("sweep points"));
    if (const QString profile = place().profile; !profile.isEmpty()) parts << tr("through %1").arg(profile);
    parts << (m_project.isEmpty() ? tr("no project is open: launching asks for a folder") : tr("into %1").arg(m_project));
    return parts.join(QStringLiteral(" · "));
}

}  // namespace faceter::desktop
