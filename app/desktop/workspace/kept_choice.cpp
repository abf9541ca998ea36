#include "workspace/kept_choice.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSettings>

#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int most_kept = 32;
const QString settings_key = QStringLiteral("projects/choices"), folder_key = QStringLiteral("folder");

/// Newest first.
QJsonArray keptChoices() { return QJsonDocument::fromJson(QSettings().value(settings_key).toByteArray()).array(); }

QString folderOf(const Workspace& workspace) { return qs(workspace.session()->folder().string()); }

}  // namespace

void keepChoice(const Workspace& workspace) {
    if (!workspace.session()) return;
    QJsonObject own = workspace.choice();
    own[folder_key] = folderOf(workspace);
    QJsonArray choices{own};
    for (const QJsonValue& choice : keptChoices())
        if (choices.size() < most_kept && choice[folder_key].toString() != folderOf(workspace)) choices.append(choice);
    QSettings().setValue(settings_key, QJsonDocument(choices).toJson(QJsonDocument::Compact));
}

void restoreChoice(Workspace& workspace) {
    if (!workspace.session()) return;
    for (const QJsonValue& choice : keptChoices())
        if (choice[folder_key].toString() == folderOf(workspace)) return workspace.restoreChoice(choice.toObject());
}

}  // namespace faceter::desktop
