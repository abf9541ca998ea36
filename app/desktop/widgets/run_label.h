#pragma once
#include <QStringList>
#include <cstdint>
#include <vector>

namespace faceter {
struct RunInfo;
struct RunRow;
}  // namespace faceter

namespace faceter::desktop {

/// "EM · seed 2": one of several runs that share a name.
QString seedLabel(const QString& name, std::uint64_t seed);
/// Labels of runs that stand side by side: behind those that several share, as a failed run and its successor, the run's name.
QStringList toldApart(QStringList labels, const std::vector<const RunRow*>& runs);
/// "EM · batch_size=16 · seed 2": a run by its name, its point of the sweep and its seed.
QString runLabel(const RunInfo& run);

}  // namespace faceter::desktop
