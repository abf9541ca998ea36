#pragma once
#include <QIcon>
#include <QStringList>

namespace faceter::desktop {

/// An icon of the project's family (resources/icons/NAME.svg) in the theme's text colour; it follows the theme without being set again.
/// An unknown name gives a null icon and a warning in the log.
QIcon icon(const QString& name);
/// The same in a fixed colour (a state, a series).
QIcon icon(const QString& name, const QColor& colour);
/// Names of the family.
QStringList iconNames();

}  // namespace faceter::desktop
