#pragma once
#include <QAbstractScrollArea>

namespace faceter::desktop {

/// Before `leaving` is hidden or disabled: where it has the focus, what scrolls round it takes it (the window where nothing does), for
/// which no key does harm. Qt would hand it on to the next button, and Space would press that.
inline void giveFocusAway(const QWidget& leaving) {
    const QWidget* focus = leaving.window()->focusWidget();
    if (!focus || (focus != &leaving && !leaving.isAncestorOf(focus))) return;
    QWidget* keeper = leaving.parentWidget();
    while (keeper && keeper->parentWidget() && !qobject_cast<QAbstractScrollArea*>(keeper)) keeper = keeper->parentWidget();
    if (keeper) keeper->setFocus(Qt::OtherFocusReason);
}

}  // namespace faceter::desktop
