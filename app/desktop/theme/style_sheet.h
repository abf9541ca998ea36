#pragma once
#include <QString>

#include "theme/theme_colours.h"

namespace faceter::desktop {

/// The one style sheet of the application. Widgets ask for more than their plain look by the dynamic property `role`:
///   QPushButton   primary (the one thing to do here), quiet (no frame until hovered), danger
///   QLabel        title (18 px), heading (semibold), secondary (grey), error, chip
///   QFrame        card (a surface with a hairline round it)
/// or by a property that is true: card, primary, link (a text to click), tag (a chip to click); `invalid` on an input marks it.
/// `scale`: of the texts (Theme::scale).
QString styleSheet(const ThemeColours& colours, double scale);

}  // namespace faceter::desktop
