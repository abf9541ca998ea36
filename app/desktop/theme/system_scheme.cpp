#include "theme/system_scheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QGuiApplication>
#include <QPalette>

#include "theme/portal_watch.h"

namespace faceter::desktop {
namespace {

const auto service = QStringLiteral("org.freedesktop.portal.Desktop");
const auto path = QStringLiteral("/org/freedesktop/portal/desktop");
const auto interface = QStringLiteral("org.freedesktop.portal.Settings");
const auto group = QStringLiteral("org.freedesktop.appearance");
const auto key = QStringLiteral("color-scheme");

/// The portal wraps the value in one or two variants: 1 is dark, 2 light, 0 no preference (GNOME's light).
uint schemeOf(QVariant value) {
    while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
    return value.toUInt();
}

}  // namespace

PortalWatch::PortalWatch(QObject* parent, std::function<void(bool)> changed) : QObject(parent), m_changed(std::move(changed)) {
    auto bus = QDBusConnection::sessionBus();
    if (!bus.isConnected()) return;
    bus.connect(service, path, interface, QStringLiteral("SettingChanged"), this, SLOT(settingChanged(QString, QString, QDBusVariant)));
    auto ask = QDBusMessage::createMethodCall(service, path, interface, QStringLiteral("Read"));
    ask << group << key;
    auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(ask, 2000), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        const QDBusPendingReply<QDBusVariant> reply = *watcher;
        if (reply.isValid() && schemeOf(reply.value().variant()) != 0) settingChanged(group, key, reply.value());
        watcher->deleteLater();
    });
}

void PortalWatch::settingChanged(const QString& changedGroup, const QString& changedKey, const QDBusVariant& value) {
    if (changedGroup != group || changedKey != key) return;
    m_changed(schemeOf(value.variant()) == 1);
}

bool systemPaletteIsDark() {
    const QPalette palette = QGuiApplication::palette();
    return palette.color(QPalette::Window).lightnessF() < palette.color(QPalette::WindowText).lightnessF();
}

void watchSystemScheme(QObject* context, std::function<void(bool)> changed) { new PortalWatch(context, std::move(changed)); }

}  // namespace faceter::desktop
