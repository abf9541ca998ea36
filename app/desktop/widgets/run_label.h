#pragma once
#include <QString>
#include <cstdint>

namespace faceter {
struct RunInfo;
}

namespace faceter::desktop {

/// "EM · seed 2": one of several runs that share a name.
QString seedLabel(const QString& name, std::uint64_t seed);
/// "EM · batch_size=16 · seed 2": a run by its name, its point of the sweep and its seed.
QString runLabel(const RunInfo& run);

}  // namespace faceter::desktop
