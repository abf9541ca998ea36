#include "jobs/live_line.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>

#include "widgets/focus_away.h"
#include "widgets/labels.h"
#include "widgets/texts.h"
#include "worker/worker_query.h"

namespace faceter::desktop {
namespace {

constexpr int patience_ms = 1500;

QString statusOf(const WorkerProgress& progress) {
    if (progress.what.isEmpty()) return LiveLine::tr("waits for the live worker");
    if (progress.total <= 0) return progress.what;
    return LiveLine::tr("%1, %2 of %3").arg(progress.what, countText(progress.done), countText(progress.total));
}

/// What waits for the first; two of one title are one.
QString titlesBehind(const QList<WorkerQuery*>& busy) {
    QStringList titles;
    for (const WorkerQuery* query : busy.mid(1))
        if (!titles.contains(query->title())) titles << query->title();
    return titles.join(QStringLiteral(", "));
}

}  // namespace

LiveLine::LiveLine(QWidget* parent)
    : QWidget(parent),
      m_name(new ElidedLabel),
      m_status(new ElidedLabel),
      m_bar(new QProgressBar),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_patience(new QTimer(this)) {
    setObjectName(QStringLiteral("liveLine"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    m_name->setMinimumWidth(160);
    m_name->setMaximumWidth(260);
    m_status->setObjectName(QStringLiteral("liveStatus"));
    m_bar->setTextVisible(false);
    m_bar->setFixedSize(180, 4);
    m_cancel->setObjectName(QStringLiteral("liveCancel"));
    layout->addWidget(m_name, 1);
    layout->addWidget(m_bar);
    layout->addWidget(m_status, 3);
    layout->addWidget(m_cancel);
    m_patience->setSingleShot(true);
    m_patience->setInterval(patience_ms);
    hide();
    connect(&LiveRequests::shared(), &LiveRequests::changed, this, &LiveLine::follow);
    connect(m_patience, &QTimer::timeout, this, &LiveLine::showNow);
    connect(m_cancel, &QPushButton::clicked, this, [] {
        if (const QList<WorkerQuery*> busy = LiveRequests::shared().busy(); !busy.isEmpty()) busy.first()->cancel();
    });
    follow();
}

void LiveLine::setPatience(int ms) { m_patience->setInterval(ms); }

void LiveLine::follow() {
    if (LiveRequests::shared().busy().isEmpty()) {
        m_patience->stop();
        if (!std::exchange(m_going, false)) return;
        giveFocusAway(*this);
        hide();
        Q_EMIT cameOrWent();
    } else if (m_going) {
        showNow();
    } else if (!m_patience->isActive()) {
        m_patience->start();
    }
}

void LiveLine::showNow() {
    const QList<WorkerQuery*> busy = LiveRequests::shared().busy();
    if (busy.isEmpty()) return;
    const WorkerProgress& progress = busy.first()->progress();
    m_name->setFullText(busy.first()->title());
    m_status->setFullText(busy.size() == 1 ? statusOf(progress) : tr("%1 · behind it: %2").arg(statusOf(progress), titlesBehind(busy)));
    m_bar->setAccessibleName(tr("Progress of %1").arg(busy.first()->title()));
    m_bar->setRange(0, static_cast<int>(progress.total));
    m_bar->setValue(static_cast<int>(progress.done));
    if (std::exchange(m_going, true)) return;
    show();
    Q_EMIT cameOrWent();
}

}  // namespace faceter::desktop
