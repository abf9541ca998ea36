#pragma once
#include <QHash>
#include <QObject>

#include "record/state.h"

namespace faceter {
struct RunRow;
}

namespace faceter::desktop {

class Workspace;

struct Notice {
    QString title, text;
    QString run;    ///< id; empty where it is of several
    QString state;  ///< run_phase_name(); of several the worst
};

/// Says when a run ends, fails or falls silent: in the status line, on the desktop (org.freedesktop.Notifications) and by a command of the
/// user's own, which gets FACETER_RUN, FACETER_STATE, FACETER_TITLE and FACETER_TEXT. Only what happens while the project is open counts;
/// several runs at once are one notice.
class Notifier : public QObject {
    Q_OBJECT
  public:
    explicit Notifier(Workspace& workspace, QObject* parent = nullptr);

    static bool wantsDesktop();
    static QString command();
    static void setWanted(bool desktop, const QString& command);
    /// A dialog for both.
    static void askFor(QWidget* parent);

  Q_SIGNALS:
    void noticed(const Notice& notice);
    void failed(const QString& message);

  private:
    void look();
    void forget();
    void tell(const Notice& notice);
    Notice noticeOf(const std::vector<const RunRow*>& runs) const;

    Workspace& m_workspace;
    QHash<QString, RunPhase> m_going;  // runs that were running or waiting when they were last looked at
    bool m_known = false;              // the project was looked at before
};

}  // namespace faceter::desktop
