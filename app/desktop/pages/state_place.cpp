#include "pages/state_place.h"

#include <fmt/format.h>

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>

namespace faceter::desktop {
namespace {

constexpr int most_places = 16;

bool hasDraft(const QByteArray& state) { return QJsonDocument::fromJson(state).object().contains(QStringLiteral("draft")); }

/// A draft of somebody else is no draft of who begins.
QByteArray withoutDraft(const QByteArray& state) {
    QJsonObject json = QJsonDocument::fromJson(state).object();
    for (const char* key : {"draft", "based_on", "file"}) json.remove(QLatin1String(key));
    return QJsonDocument(json).toJson(QJsonDocument::Compact);
}

}  // namespace

StatePlace::StatePlace(const fs::path& folder) : m_folder(folder) {
    try {
        make_directories(folder);
        for (int number = 1; number <= most_places; ++number) {
            auto lock = std::make_unique<LockFile>(lockAt(number));
            if (lock->try_lock(LockFile::Kind::change, std::chrono::milliseconds(0)) == LockOutcome::held) continue;
            m_lock = std::move(lock);
            m_number = number;
            return;
        }
    } catch (const std::exception&) {
        // Settings that cannot be written are not restored either.
    }
}

StatePlace& StatePlace::own() {
    static StatePlace place(QFileInfo(QSettings().fileName()).path().toStdString());
    return place;
}

QString StatePlace::keyAt(int number, const QString& page) {
    return (number == 1 ? QStringLiteral("pages/") : QStringLiteral("pages-%1/").arg(number)) + page;
}

fs::path StatePlace::lockAt(int number) const { return m_folder / fmt::format("workbench-{}.lock", number); }

QByteArray StatePlace::state(const QString& page) const {
    QSettings settings;
    QByteArray own = settings.value(key(page)).toByteArray();
    if (m_number > 1 && own.isEmpty()) own = withoutDraft(settings.value(keyAt(1, page)).toByteArray());
    for (int number = 1; number <= most_places && !hasDraft(own); ++number) {
        const QByteArray left = settings.value(keyAt(number, page)).toByteArray();
        if (number == m_number || !hasDraft(left) || is_locked(lockAt(number))) continue;
        settings.remove(keyAt(number, page));
        own = left;
    }
    return own;
}

}  // namespace faceter::desktop
