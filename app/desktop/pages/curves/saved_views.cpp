#include "pages/curves/saved_views.h"

#include <QJsonDocument>
#include <QJsonParseError>

#include "common/error.h"
#include "common/file.h"
#include "common/lock_file.h"

namespace faceter::desktop {
namespace {

QJsonObject viewsIn(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file)) return {};
    QJsonParseError error{};
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromStdString(read_file(file)), &error);
    if (!document.isObject())
        throw data_error("{}: expected saved views as one JSON object{}; mend it or move it away", file.string(),
                         error.error ? ", and " + error.errorString().toStdString() + " at byte " + std::to_string(error.offset) : "");
    return document.object();
}

}  // namespace

SavedViews::SavedViews(Workspace& workspace, QObject* parent) : QObject(parent), m_workspace(workspace) {
    connect(&workspace, &Workspace::projectChanged, this, &SavedViews::read);
    read();
}

void SavedViews::read() {
    m_views = {};
    Q_EMIT changed();
    take([](const std::filesystem::path& file) { return viewsIn(file); });
}

void SavedViews::change(const QString& name, const std::optional<QJsonObject>& view) {
    take([name, view](const std::filesystem::path& file) {
        make_directories(file.parent_path());
        LockFile lock(file.parent_path() / "curves.lock");
        lock.wait();
        QJsonObject views = viewsIn(file);
        if (view)
            views.insert(name, *view);
        else
            views.remove(name);
        write_file_atomic(file, QJsonDocument(views).toJson().toStdString());
        return views;
    });
}

void SavedViews::take(std::function<QJsonObject(const std::filesystem::path& file)> work) {
    const ProjectSession* session = m_workspace.session();
    if (!session) return;
    const std::filesystem::path folder = session->folder();
    ProjectSession::background([work = std::move(work), file = folder / "views" / "curves.json"] { return work(file); })
        .then(this,
              [this, folder](const QJsonObject& views) {
                  if (!m_workspace.session() || m_workspace.session()->folder() != folder) return;
                  m_views = views;
                  Q_EMIT changed();
              })
        .onFailed([this](const std::exception& error) { m_workspace.complain(QString::fromUtf8(error.what())); });
}

}  // namespace faceter::desktop
