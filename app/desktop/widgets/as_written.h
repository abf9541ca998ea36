#pragma once
#include <QString>

namespace faceter::desktop {

/// For menus and buttons, which read '&' as the mark of a mnemonic.
inline QString asWritten(QString text) { return text.replace(QLatin1Char('&'), QLatin1String("&&")); }

}  // namespace faceter::desktop
