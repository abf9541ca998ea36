#include "window/notifier.h"

#include <QCheckBox>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCall>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>
#include <cstring>

#include "common/process.h"
#include "widgets/labels.h"
#include "widgets/run_label.h"
#include "widgets/texts.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

const auto desktopKey = QStringLiteral("notify/desktop"), commandKey = QStringLiteral("notify/command");

bool isGoing(RunPhase phase) { return phase == RunPhase::running || phase == RunPhase::queued; }

/// What needs a person most.
int weightOf(RunPhase phase) {
    switch (phase) {
        case RunPhase::failed:
        case RunPhase::dead:
            return 3;
        case RunPhase::silent:
            return 2;
        case RunPhase::stopped:
            return 1;
        default:
            return 0;
    }
}

QString titleOf(RunPhase phase) {
    switch (phase) {
        case RunPhase::done:
            return Notifier::tr("Run done");
        case RunPhase::failed:
        case RunPhase::dead:
            return Notifier::tr("Run failed");
        case RunPhase::silent:
            return Notifier::tr("Run silent");
        default:
            return Notifier::tr("Run stopped");
    }
}

/// Asked for and not waited for: without such a service nobody answers.
void showOnDesktop(const Notice& notice) {
    const auto bus = QDBusConnection::sessionBus();
    if (!bus.isConnected()) return;
    auto call =
        QDBusMessage::createMethodCall(QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("/org/freedesktop/Notifications"),
                                       QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("Notify"));
    // Bodies may be read as markup.
    call << QStringLiteral("Faceter") << 0U << QString() << notice.title << notice.text.toHtmlEscaped() << QStringList() << QVariantMap()
         << -1;
    bus.asyncCall(call);
}

/// The names come in the environment, never in the command's text.
int startCommand(const QString& command, const Notice& notice) {
    ProcessStart start{{"/bin/sh", "-c", command.toStdString()}, Kinship::orphan};
    start.environment = {{"FACETER_RUN", notice.run.toStdString()},
                         {"FACETER_STATE", notice.state.toStdString()},
                         {"FACETER_TITLE", notice.title.toStdString()},
                         {"FACETER_TEXT", notice.text.toStdString()}};
    return start_process(start).error;
}

}  // namespace

Notifier::Notifier(Workspace& workspace, QObject* parent) : QObject(parent), m_workspace(workspace) {
    connect(&m_workspace, &Workspace::runsChanged, this, &Notifier::look);
    connect(&m_workspace, &Workspace::projectChanged, this, &Notifier::forget);
}

bool Notifier::wantsDesktop() { return QSettings().value(desktopKey, true).toBool(); }
QString Notifier::command() { return QSettings().value(commandKey).toString().trimmed(); }

void Notifier::setWanted(bool desktop, const QString& command) {
    QSettings settings;
    settings.setValue(desktopKey, desktop);
    settings.setValue(commandKey, command.trimmed());
}

void Notifier::forget() {
    m_going.clear();
    m_known = false;
}

void Notifier::look() {
    const RunsSnapshotPtr snapshot = m_workspace.runs();
    const bool loaded = m_workspace.session() && m_workspace.session()->isLoaded();
    QHash<QString, RunPhase> going;
    std::vector<const RunRow*> ended;
    for (const RunRow& run : snapshot->runs) {
        const QString id = qs(run.info.id);
        if (isGoing(run.state.phase))
            going.insert(id, run.state.phase);
        else if (m_known && m_going.contains(id))
            ended.push_back(&run);
    }
    m_going = std::move(going);
    m_known = m_known || loaded;
    if (!ended.empty()) tell(noticeOf(ended));
}

Notice Notifier::noticeOf(const std::vector<const RunRow*>& runs) const {
    const RunRow& worst = **std::max_element(
        runs.begin(), runs.end(), [](const RunRow* a, const RunRow* b) { return weightOf(a->state.phase) < weightOf(b->state.phase); });
    Notice notice{titleOf(worst.state.phase), runLabel(worst.info), {}, qs(run_phase_name(worst.state.phase))};
    if (const QString cause = progressText(worst.state); !cause.isEmpty() && worst.state.phase != RunPhase::done)
        notice.text += QLatin1String(": ") + cause;
    if (runs.size() == 1)
        notice.run = qs(worst.info.id);
    else
        notice.text = tr("%n runs ended; the first of them: %1", nullptr, static_cast<int>(runs.size())).arg(notice.text);
    return notice;
}

void Notifier::tell(const Notice& notice) {
    Q_EMIT noticed(notice);
    if (wantsDesktop()) showOnDesktop(notice);
    const QString own = command();
    if (own.isEmpty()) return;
    if (const int error = startCommand(own, notice); error != 0)
        Q_EMIT failed(tr("The command of Run > Notifications could not be started: %1").arg(QString::fromLocal8Bit(std::strerror(error))));
}

void Notifier::askFor(QWidget* parent) {
    auto* dialog = new QDialog(parent);
    dialog->setObjectName(QStringLiteral("notificationsDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Notifications"));
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(plainLabel(tr("When a run of the open project ends, fails or falls silent:")));
    auto* desktop = new QCheckBox(tr("show a notification of the desktop"));
    desktop->setObjectName(QStringLiteral("notifyDesktop"));
    desktop->setChecked(wantsDesktop());
    auto* command = new QLineEdit(Notifier::command());
    command->setObjectName(QStringLiteral("notifyCommand"));
    command->setAccessibleName(tr("Command that is started when a run ends, fails or falls silent"));
    command->setPlaceholderText(tr("start this command, as in: mail -s \"$FACETER_TITLE\" me"));
    command->setMinimumWidth(480);
    auto* hint = secondaryLabel(tr("The command is run by /bin/sh with FACETER_RUN, FACETER_STATE, FACETER_TITLE and FACETER_TEXT."));
    hint->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    for (QWidget* widget : std::initializer_list<QWidget*>{desktop, command, hint, buttons}) layout->addWidget(widget);
    connect(buttons, &QDialogButtonBox::accepted, dialog, [dialog, desktop, command] {
        setWanted(desktop->isChecked(), command->text());
        dialog->accept();
    });
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    dialog->open();
}

}  // namespace faceter::desktop
