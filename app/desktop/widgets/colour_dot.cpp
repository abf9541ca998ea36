#include "widgets/colour_dot.h"

#include <QPainter>
#include <QPixmap>

#include "theme/theme.h"

namespace faceter::desktop {

namespace {

constexpr int size = 10;

void paintDot(QPaintDevice* device, int place) {
    QPainter painter(device);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::instance().colours().series(place));
    painter.drawEllipse(QRectF(1, 1, size - 2, size - 2));
}

}  // namespace

QIcon dotIcon(int place) {
    constexpr int scale = 2;
    QPixmap pixmap(scale * size, scale * size);
    pixmap.setDevicePixelRatio(scale);
    pixmap.fill(Qt::transparent);
    paintDot(&pixmap, place);
    return QIcon(pixmap);
}

ColourDot::ColourDot(int place, QWidget* parent) : QWidget(parent), m_place(place) {
    setFixedSize(ColourDot::sizeHint());
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ColourDot::paintEvent(QPaintEvent*) { paintDot(this, m_place); }

}  // namespace faceter::desktop
