#include "widgets/colour_dot.h"

#include <QPainter>

#include "theme/theme.h"

namespace faceter::desktop {

ColourDot::ColourDot(int place, QWidget* parent) : QWidget(parent), m_place(place) {
    setFixedSize(sizeHint());
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ColourDot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::instance().colours().series(m_place));
    painter.drawEllipse(QRectF(1, 1, 8, 8));
}

}  // namespace faceter::desktop
