#include "curves/save_points.h"

#include "common/file.h"

namespace faceter::desktop {

void savePoints(Workspace& workspace, QObject* asker, const CurveRequest& request, const QString& path) {
    ProjectSession* session = workspace.session();
    if (!session) return;
    session
        ->query([request, file = path.toStdString()](Store& store) {
            write_file_atomic(file, curvePointsCsv(store, request));
            return true;
        })
        .then(asker, [&workspace, path](bool) { workspace.say(QObject::tr("Wrote %1").arg(path)); })
        .onFailed([&workspace](const std::exception& error) { workspace.complain(QString::fromUtf8(error.what())); });
}

}  // namespace faceter::desktop
