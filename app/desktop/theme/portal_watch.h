#pragma once
#include <QDBusVariant>
#include <QObject>
#include <functional>

namespace faceter::desktop {

/// Listens to the colour scheme of the freedesktop settings portal. Qt tells it itself only from 6.5 on.
class PortalWatch : public QObject {
    Q_OBJECT
  public:
    PortalWatch(QObject* parent, std::function<void(bool dark)> changed);

  public Q_SLOTS:
    void settingChanged(const QString& changedGroup, const QString& changedKey, const QDBusVariant& value);

  private:
    std::function<void(bool)> m_changed;
};

}  // namespace faceter::desktop
