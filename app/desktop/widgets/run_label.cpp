#include "widgets/run_label.h"

#include <QCoreApplication>

#include "project/runs_snapshot.h"

namespace faceter::desktop {

QString seedLabel(const QString& name, std::uint64_t seed) {
    return QCoreApplication::translate("RunLabel", "%1 · seed %2").arg(name, QString::number(seed));
}

QString runLabel(const RunInfo& run) {
    const QString point = run.point.empty() ? QString() : QStringLiteral(" · ") + qs(run.point);
    return seedLabel(qs(run.shown_name()) + point, run.seed);
}

}  // namespace faceter::desktop
