#pragma once
#include "curves/curve_data.h"
#include "workspace/workspace.h"

namespace faceter::desktop {

/// Writes curvePointsCsv() of a request into a file, beside the interface; says so, or complains, in the window that `asker` is in.
void savePoints(Workspace& workspace, QObject* asker, const CurveRequest& request, const QString& path);

}  // namespace faceter::desktop
