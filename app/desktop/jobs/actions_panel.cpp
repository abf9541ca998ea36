#include "jobs/actions_panel.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSet>
#include <QVBoxLayout>

#include "actions/run_actions.h"
#include "widgets/focus_away.h"
#include "widgets/labels.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int between_seconds_ms = 1000;

}  // namespace

class ActionsPanel::Line : public QWidget {
  public:
    Line(RunActions& actions, int id, QWidget* parent)
        : QWidget(parent),
          m_act(new QPushButton(ActionsPanel::tr("Cancel"))),
          m_again(new QPushButton(ActionsPanel::tr("Try again"))),
          m_dismiss(new QPushButton(ActionsPanel::tr("Dismiss"))) {
        setObjectName(QStringLiteral("actionLine"));
        auto* layout = new QHBoxLayout(this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(12);
        m_act->setObjectName(QStringLiteral("actionCancel"));
        m_again->setObjectName(QStringLiteral("actionAgain"));
        m_dismiss->setObjectName(QStringLiteral("actionDismiss"));
        m_text.setObjectName(QStringLiteral("actionText"));
        layout->addWidget(&m_text, 1);
        layout->addWidget(m_act);
        layout->addWidget(m_again);
        layout->addWidget(m_dismiss);
        QObject::connect(m_act, &QPushButton::clicked, this, [&actions, id] { actions.cancel(id); });
        QObject::connect(m_again, &QPushButton::clicked, this, [&actions, id] { actions.retry(id); });
        QObject::connect(m_dismiss, &QPushButton::clicked, this, [&actions, id] { actions.dismiss(id); });
    }

    void show(const RunActions::Pending& work) {
        const QString cancelling = work.abandoned && *work.abandoned ? ActionsPanel::tr(" · cancelling") : QString();
        m_text.setFullText(
            QStringLiteral("%1 … %2%3").arg(work.doing, durationText(static_cast<double>(work.since.elapsed() / 1000)), cancelling));
        if (!work.isCancellable()) giveFocusAway(*m_act);
        m_act->setVisible(work.abandoned != nullptr);
        m_act->setEnabled(work.isCancellable());
        for (QPushButton* button : {m_again, m_dismiss}) {
            giveFocusAway(*button);
            button->hide();
        }
    }

    void show(const RunActions::Failed& work) {
        m_text.setFullText(
            ActionsPanel::tr("%1: failed: %2").arg(work.doing, QString(work.why).replace(QLatin1Char('\n'), QLatin1Char(' '))));
        giveFocusAway(*m_act);  // a press that was meant for Cancel
        m_act->hide();
        m_again->setVisible(work.isRepeatable);
        m_dismiss->show();
    }

    /// One of its own buttons may be at it.
    void leave() {
        giveFocusAway(*this);
        hide();
        deleteLater();
    }

  private:
    ElidedLabel m_text;
    QPushButton *m_act, *m_again, *m_dismiss;
};

ActionsPanel::ActionsPanel(RunActions& actions, QWidget* parent) : QWidget(parent), m_actions(actions), m_layout(new QVBoxLayout(this)) {
    setObjectName(QStringLiteral("actionsPanel"));
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(4);
    m_clock.setInterval(between_seconds_ms);
    connect(&m_clock, &QTimer::timeout, this, &ActionsPanel::showActions);
    connect(&actions, &RunActions::pendingChanged, this, &ActionsPanel::showActions);
    showActions();
}

ActionsPanel::Line* ActionsPanel::lineOf(int id) {
    Line*& line = m_lines[id];
    if (!line) {
        line = new Line(m_actions, id, this);
        m_layout->addWidget(line);
    }
    return line;
}

void ActionsPanel::showActions() {
    const QList<RunActions::Pending> pending = m_actions.pendingWork();
    QSet<int> there;
    for (const RunActions::Failed& work : m_actions.failedWork()) {
        lineOf(work.id)->show(work);
        there.insert(work.id);
    }
    for (const RunActions::Pending& work : pending) {
        lineOf(work.id)->show(work);
        there.insert(work.id);
    }
    for (const int id : m_lines.keys())
        if (!there.contains(id)) m_lines.take(id)->leave();
    setVisible(!isEmpty());
    pending.isEmpty() ? m_clock.stop() : m_clock.start();
}

}  // namespace faceter::desktop
