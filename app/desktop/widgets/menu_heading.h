#pragma once
#include <QMenu>
#include <QWidgetAction>

#include "widgets/labels.h"

namespace faceter::desktop {

/// Says what the entries below it are. QMenu::addSection() draws a line only: a menu that has a style sheet shows no text of a section.
inline void addHeading(QMenu& menu, const QString& title) {
    if (!menu.isEmpty()) menu.addSeparator();
    QLabel* label = secondaryLabel(title);
    label->setContentsMargins(12, 4, 12, 2);
    auto* heading = new QWidgetAction(&menu);
    heading->setText(title);
    heading->setDefaultWidget(label);
    heading->setEnabled(false);  // keys pass it by
    menu.addAction(heading);
}

}  // namespace faceter::desktop
