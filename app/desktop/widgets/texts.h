#pragma once
#include <QString>

#include "record/state.h"

namespace faceter::desktop {

/// Five digits that matter: a loss, a learning rate, a rate of tokens.
QString seriesText(double value);

// Numbers as look.md has them: scores with two decimals, "2 min 14 s", thin spaces in counts, GiB.
QString durationText(double seconds);
QString countText(std::int64_t count);
QString bytesText(std::int64_t bytes);
QString scoreText(double percent);
/// "today 14:02", "yesterday 09:10", "2026-11-03"; from seconds since 1970, in local time.
QString momentText(double seconds);
/// The same from the UTC text of RunInfo::created.
QString momentText(const std::string& utc);
/// One line on where a run is: "step 1 240 / 2 000 · 48 s left", "out of memory at step 3", "11 min 40 s".
QString progressText(const RunState& state);
/// Seconds until the end at the run's rate; negative: unknown.
double secondsLeft(const RunState& state);

}  // namespace faceter::desktop
