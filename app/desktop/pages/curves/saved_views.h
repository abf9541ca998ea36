#pragma once
#include <QJsonObject>
#include <QStringList>
#include <optional>

#include "workspace/workspace.h"

namespace faceter::desktop {

/// Boards of curves that a project keeps by name, in PROJECT/views/curves.json: they go where the project goes. Read and written beside
/// the interface; what another window keeps meanwhile stays.
class SavedViews : public QObject {
    Q_OBJECT
  public:
    SavedViews(Workspace& workspace, QObject* parent);
    QStringList names() const { return m_views.keys(); }
    QJsonObject view(const QString& name) const { return m_views.value(name).toObject(); }
    void keep(const QString& name, const QJsonObject& view) { change(name, view); }
    void remove(const QString& name) { change(name, std::nullopt); }

  Q_SIGNALS:
    void changed();

  private:
    void read();
    void change(const QString& name, const std::optional<QJsonObject>& view);
    /// `work` on the file of the open project gives all its views.
    void take(std::function<QJsonObject(const std::filesystem::path& file)> work);

    Workspace& m_workspace;
    QJsonObject m_views;
};

}  // namespace faceter::desktop
