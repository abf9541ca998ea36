#pragma once
#include <QScrollArea>

namespace faceter::desktop {

/// As every scroll area of the workbench is: without a frame, its content as wide as there is room, and no stop of Tab, which nobody would
/// see: what is in it scrolls it.
void setUpScroll(QScrollArea& area);

/// A widget that has its layout, in such an area.
QScrollArea* scrolled(QWidget* body);

}  // namespace faceter::desktop
