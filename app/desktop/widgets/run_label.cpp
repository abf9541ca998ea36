#include "widgets/run_label.h"

#include <QCoreApplication>
#include <QHash>

#include "project/runs_snapshot.h"

namespace faceter::desktop {

QString seedLabel(const QString& name, std::uint64_t seed) {
    return QCoreApplication::translate("RunLabel", "%1 · seed %2").arg(name, QString::number(seed));
}

QStringList toldApart(QStringList labels, const std::vector<const RunRow*>& runs) {
    QHash<QString, int> times;
    for (const QString& label : std::as_const(labels)) ++times[label];
    for (qsizetype i = 0; i < labels.size(); ++i)
        if (times[labels[i]] > 1) labels[i] += QStringLiteral(" · ") + qs(runs.at(static_cast<std::size_t>(i))->info.shown_name());
    return labels;
}

QString runLabel(const RunInfo& run) {
    const QString point = run.point.empty() ? QString() : QStringLiteral(" · ") + qs(run.point);
    return seedLabel(qs(run.shown_name()) + point, run.seed);
}

}  // namespace faceter::desktop
