#pragma once
#include <functional>

class QObject;

namespace faceter::desktop {

/// Is the desktop environment's palette a dark one? Ask before the application gets a palette of its own.
bool systemPaletteIsDark();

/// Calls `changed(dark)` once the freedesktop settings portal has answered, if there is one, and again whenever the user switches.
/// Never blocks. The watch lives as long as `context`.
void watchSystemScheme(QObject* context, std::function<void(bool dark)> changed);

}  // namespace faceter::desktop
