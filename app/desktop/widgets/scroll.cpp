#include "widgets/scroll.h"

namespace faceter::desktop {

void setUpScroll(QScrollArea& area) {
    area.setFrameShape(QFrame::NoFrame);
    area.setFocusPolicy(Qt::NoFocus);
    area.setWidgetResizable(true);
}

QScrollArea* scrolled(QWidget* body) {
    auto* area = new QScrollArea;
    setUpScroll(*area);
    area->setWidget(body);
    return area;
}

}  // namespace faceter::desktop
