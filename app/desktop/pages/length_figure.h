#pragma once
#include <QString>

#include "figure/figure.h"

namespace faceter::desktop {

/// How many texts of a set have which length in tokens, from the worker's histograms (app/worker/session/seen_text.h), and the model's
/// limit as a dashed line.
Figure lengthFigure(const Json& lengths);
/// "anchor: 12.0 tokens on average, longest 90, 3 of 60 cut (5.0 %)", one part a side.
QString lengthsText(const Json& lengths);

}  // namespace faceter::desktop
