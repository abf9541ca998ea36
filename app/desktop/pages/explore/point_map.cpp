#include "pages/explore/point_map.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr double room = 14, hit_radius = 8, zoom_step = 1.25, pan_step = 40, deepest = 400, drag_distance = 4;
constexpr double dot_radius = 2.2, large_dot_radius = 3.4;
constexpr int few_points = 2000;

}  // namespace

PointMap::PointMap(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Map of the corpus; + and - zoom, the arrow keys pan, 0 shows all, N and P choose a text"));
    connect(&Theme::instance(), &Theme::changed, this, &PointMap::changed);
}

void PointMap::changed() {
    m_stale = true;
    update();
}

void PointMap::setPoints(std::vector<float> x, std::vector<float> y) {
    m_x = std::move(x);
    m_y = std::move(y);
    m_colours.assign(m_x.size(), Theme::instance().colours().series(0).rgb());
    m_found.clear();
    m_marked.clear();
    m_chosen = -1;
    m_left = m_top = 0, m_width = m_height = 1;
    if (!m_x.empty()) {
        const auto [left, right] = std::minmax_element(m_x.begin(), m_x.end());
        const auto [top, bottom] = std::minmax_element(m_y.begin(), m_y.end());
        m_left = *left, m_width = std::max(1e-9, static_cast<double>(*right) - *left);
        m_top = *top, m_height = std::max(1e-9, static_cast<double>(*bottom) - *top);
    }
    showAll();
}

void PointMap::setColours(std::vector<QRgb> colours) {
    m_colours = std::move(colours);
    m_colours.resize(m_x.size());
    changed();
}

void PointMap::setFound(std::vector<bool> found) {
    m_found = std::move(found);
    changed();
}

void PointMap::setMarked(std::vector<int> points) {
    m_marked = std::move(points);
    update();
}

void PointMap::choose(int point) {
    m_chosen = point < numPoints() ? point : -1;
    update();
}

void PointMap::chooseHere(int point) {
    if (point < 0 || point >= numPoints() || point == m_chosen) return;
    choose(point);
    Q_EMIT pointChosen(point);
}

/// One scale for both axes: distances mean the same in every direction.
void PointMap::showAll() {
    m_wholeScale = std::max(1e-9, std::min((width() - 2 * room) / m_width, (height() - 2 * room) / m_height));
    m_scale = m_wholeScale;
    m_middle = {m_left + m_width / 2, m_top + m_height / 2};
    m_whole = true;
    changed();
}

QPointF PointMap::placeOf(int point) const {
    const auto i = static_cast<std::size_t>(point);
    return {width() / 2.0 + (m_x[i] - m_middle.x()) * m_scale, height() / 2.0 - (m_y[i] - m_middle.y()) * m_scale};
}

int PointMap::pointAt(const QPointF& position) const {
    int nearest = -1;
    double least = hit_radius * hit_radius;
    for (int point = 0; point < numPoints(); ++point) {
        const QPointF away = placeOf(point) - position;
        const double distance = away.x() * away.x() + away.y() * away.y();
        if (distance <= least && (m_found.empty() || m_found[static_cast<std::size_t>(point)])) least = distance, nearest = point;
    }
    return nearest;
}

void PointMap::zoom(double factor, const QPointF& at) {
    const double scale = std::clamp(m_scale * factor, m_wholeScale / 2, m_wholeScale * deepest);
    // What is under the pointer stays there.
    const QPointF away(at.x() - width() / 2.0, height() / 2.0 - at.y());
    m_middle += away / m_scale - away / scale;
    m_scale = scale;
    m_whole = false;
    changed();
}

void PointMap::pan(const QPointF& by) {
    m_middle += QPointF(-by.x(), by.y()) / m_scale;
    m_whole = false;
    changed();
}

void PointMap::stamp() {
    const double ratio = devicePixelRatioF();
    if (m_image.size() != size() * ratio) m_image = QImage(size() * ratio, QImage::Format_RGB32);  // else it has its memory already
    m_image.setDevicePixelRatio(ratio);
    m_image.fill(Theme::instance().colours().surface);
    if (numPoints() <= few_points) return drawFew();
    const QRgb faint = Theme::instance().colours().line.rgb();
    for (int point = 0; !m_found.empty() && point < numPoints(); ++point)
        if (!m_found[static_cast<std::size_t>(point)]) stampPoint(point, faint);
    for (int point = 0; point < numPoints(); ++point)
        if (m_found.empty() || m_found[static_cast<std::size_t>(point)]) stampPoint(point, m_colours[static_cast<std::size_t>(point)]);
    m_stale = false;
}

/// Where there are few they can be drawn one by one, with smooth edges.
void PointMap::drawFew() {
    QPainter painter(&m_image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    for (const bool front : {false, true})
        for (int point = 0; point < numPoints(); ++point) {
            const bool found = m_found.empty() || m_found[static_cast<std::size_t>(point)];
            if (found != front) continue;
            painter.setBrush(found ? QColor(m_colours[static_cast<std::size_t>(point)]) : Theme::instance().colours().line);
            painter.drawEllipse(placeOf(point), large_dot_radius, large_dot_radius);
        }
    m_stale = false;
}

void PointMap::stampPoint(int point, QRgb colour) {
    const double ratio = devicePixelRatioF(), radius = ratio * dot_radius;
    const QPointF place = placeOf(point) * ratio;
    if (place.x() < -radius || place.y() < -radius || place.x() > m_image.width() + radius || place.y() > m_image.height() + radius) return;
    for (int y = std::max(0, static_cast<int>(std::ceil(place.y() - radius)));
         y <= std::min(m_image.height() - 1, static_cast<int>(place.y() + radius)); ++y) {
        const double half = std::sqrt(std::max(0.0, radius * radius - (y - place.y()) * (y - place.y())));
        const int from = std::max(0, static_cast<int>(std::ceil(place.x() - half)));
        const int to = std::min(m_image.width() - 1, static_cast<int>(place.x() + half));
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(y));
        for (int x = from; x <= to; ++x) line[x] = colour | 0xFF000000U;
    }
}

void PointMap::ring(QPainter& painter, int point, const QColor& colour, double radius) const {
    painter.setPen(QPen(colour, 1.8));
    painter.drawEllipse(placeOf(point), radius, radius);
}

void PointMap::paintEvent(QPaintEvent*) {
    if (m_stale) stamp();
    QPainter painter(this);
    painter.drawImage(0, 0, m_image);
    painter.setRenderHint(QPainter::Antialiasing);
    const ThemeColours& colours = Theme::instance().colours();
    for (const int point : m_marked)
        if (point < numPoints()) ring(painter, point, colours.text, 5);
    if (m_chosen >= 0) {
        ring(painter, m_chosen, colours.surface, 9);
        ring(painter, m_chosen, colours.accent, 7.5);
    }
    if (!hasFocus()) return;
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(colours.accent);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void PointMap::resizeEvent(QResizeEvent*) {
    const double before = m_wholeScale;
    const bool whole = m_whole;
    const double scale = m_scale;
    const QPointF middle = m_middle;
    showAll();
    if (whole) return;
    m_whole = false;
    m_scale = scale * m_wholeScale / before;
    m_middle = middle;
}

void PointMap::wheelEvent(QWheelEvent* event) {
    zoom(std::pow(zoom_step, event->angleDelta().y() / 120.0), event->position());
    event->accept();
}

void PointMap::mousePressEvent(QMouseEvent* event) {
    m_pressed = m_last = event->position();
    m_dragged = false;
}

void PointMap::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & Qt::LeftButton)) return Q_EMIT pointHovered(pointAt(event->position()));
    if ((event->position() - m_pressed).manhattanLength() > drag_distance) m_dragged = true;
    if (m_dragged) pan(event->position() - m_last);
    m_last = event->position();
}

void PointMap::mouseReleaseEvent(QMouseEvent* event) {
    if (!m_dragged && event->button() == Qt::LeftButton) chooseHere(pointAt(event->position()));
}

void PointMap::keyPressEvent(QKeyEvent* event) {
    const QPointF middle(width() / 2.0, height() / 2.0);
    switch (event->key()) {
        case Qt::Key_Left:
            return pan({pan_step, 0});
        case Qt::Key_Right:
            return pan({-pan_step, 0});
        case Qt::Key_Up:
            return pan({0, pan_step});
        case Qt::Key_Down:
            return pan({0, -pan_step});
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(zoom_step, middle);
        case Qt::Key_Minus:
            return zoom(1 / zoom_step, middle);
        case Qt::Key_0:
        case Qt::Key_Home:
            return showAll();
        case Qt::Key_N:
            return chooseHere((m_chosen + 1) % std::max(1, numPoints()));
        case Qt::Key_P:
            return chooseHere((std::max(m_chosen, 0) + numPoints() - 1) % std::max(1, numPoints()));
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace faceter::desktop
