#include "pages/compose/launch_bar.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSpinBox>
#include <set>

#include "project/runs_snapshot.h"
#include "widgets/labels.h"

namespace faceter::desktop {

LaunchBar::LaunchBar(ExperimentDocument& document, QWidget* parent)
    : QWidget(parent), m_document(document), m_summary(new ElidedLabel), m_smoke(new QCheckBox(tr("Trial run"))), m_jobs(new QSpinBox), m_launch(new QPushButton(tr("Launch"))) {
    setObjectName(QStringLiteral("launchBar"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    m_summary->setObjectName(QStringLiteral("launchSummary"));
    m_summary->setProperty("role", QStringLiteral("secondary"));
    m_smoke->setObjectName(QStringLiteral("smoke"));
    m_smoke->setToolTip(tr("A few steps on a sample of the data, one seed: does everything work? (faceter run --smoke)"));
    m_jobs->setObjectName(QStringLiteral("jobs"));
    m_jobs->setRange(1, 64);
    m_jobs->setSuffix(tr(" at once"));
    m_jobs->setAccessibleName(tr("Runs at once on this machine"));
    m_jobs->setToolTip(tr("Runs at once on this machine; the others wait in the queue."));
    m_launch->setObjectName(QStringLiteral("launch"));
    m_launch->setProperty("primary", true);
    m_launch->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return));
    m_launch->setToolTip(tr("Ctrl+Return"));
    layout->addWidget(m_summary, 1);
    layout->addWidget(m_smoke);
    layout->addWidget(m_jobs);
    layout->addWidget(m_launch);
    connect(m_smoke, &QCheckBox::toggled, &m_document, &ExperimentDocument::setSmoke);
    connect(m_launch, &QPushButton::clicked, this, &LaunchBar::launchAsked);
    connect(&m_document, &ExperimentDocument::checked, this, &LaunchBar::refresh);
    refresh();
}

int LaunchBar::jobs() const { return m_jobs->value(); }

void LaunchBar::setProject(const QString& folder) {
    m_project = folder;
    refresh();
}

void LaunchBar::refresh() {
    auto* summary = static_cast<ElidedLabel*>(m_summary);
    const CheckReport& report = m_document.report();
    m_launch->setEnabled(report.experiment != nullptr);
    if (!report.experiment) {
        m_launch->setText(tr("Launch"));
        const std::size_t problems = report.problems.size();
        summary->setFullText(problems == 0 ? tr("checking …") : problems == 1 ? tr("1 problem to mend before it can start") : tr("%1 problems to mend before it can start").arg(problems));
        return;
    }
    std::set<std::string> variants, points;
    std::set<std::uint64_t> seeds;
    for (const ResolvedRun& run : report.experiment->runs()) {
        if (run.method != "start") variants.insert(run.variant);
        if (!run.point.empty()) points.insert(run.point);
        seeds.insert(run.seed);
    }
    const auto counted = [](std::size_t count, const QString& one, const QString& more) { return QString::number(count) + QLatin1Char(' ') + (count == 1 ? one : more); };
    QStringList parts{counted(variants.size(), tr("variant"), tr("variants")), counted(seeds.size(), tr("seed"), tr("seeds"))};
    if (!points.empty()) parts << counted(points.size(), tr("sweep point"), tr("sweep points"));
    parts << (m_project.isEmpty() ? tr("no project is open: launching asks for a folder") : tr("into %1").arg(m_project));
    summary->setFullText(parts.join(QStringLiteral(" · ")));
    const std::size_t runs = report.experiment->runs().size();
    m_launch->setText(runs == 1 ? tr("Launch 1 run") : tr("Launch %1 runs").arg(runs));
}

}  // namespace faceter::desktop
