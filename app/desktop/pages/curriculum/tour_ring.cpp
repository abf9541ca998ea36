#include "pages/curriculum/tour_ring.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "project/runs_snapshot.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int most_names = 40, name_room = 96, thinnest = 2, widest = 6;
constexpr double dot_radius = 5, small_dot_radius = 2.5, hit_radius = 10;

}  // namespace

TourRing::TourRing(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(240, 240);
    setAccessibleName(tr("The tour over the tasks, as a ring"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void TourRing::setTour(const std::vector<TourTask>& tour, const std::vector<int>& colours) {
    m_tour = tour;
    m_colours = colours;
    m_least = 1, m_most = -1;
    for (const TourTask& task : m_tour)
        if (std::isfinite(task.toNext)) m_least = std::min(m_least, task.toNext), m_most = std::max(m_most, task.toNext);
    m_chosen = 0;
    setAccessibleDescription(chosenText());
    update();
}

void TourRing::choose(int task) {
    if (task < 0 || task >= static_cast<int>(m_tour.size()) || task == m_chosen) return;
    m_chosen = task;
    setAccessibleDescription(chosenText());
    update();
    Q_EMIT taskChosen(task);
}

double TourRing::radius() const {
    const bool names = m_tour.size() <= most_names;
    return std::max(40.0, std::min(width() / 2.0 - (names ? name_room : 16), height() / 2.0 - (names ? 26 : 16)));
}

QPointF TourRing::placeOf(int task) const {
    const double angle = 2 * std::numbers::pi * task / std::max<double>(1, static_cast<double>(m_tour.size())) - std::numbers::pi / 2;
    return QPointF(width() / 2.0, height() / 2.0) + radius() * QPointF(std::cos(angle), std::sin(angle));
}

/// 0 for the least similar neighbours of the tour, 1 for the most similar.
double TourRing::shareOf(double similarity) const {
    return m_most > m_least && std::isfinite(similarity) ? (similarity - m_least) / (m_most - m_least) : 0.5;
}

void TourRing::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::plotFont());
    if (m_tour.empty()) return;
    paintLines(painter);
    paintDots(painter);
    paintMiddle(painter);
    if (!hasFocus()) return;
    painter.setPen(Theme::instance().colours().accent);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

void TourRing::paintLines(QPainter& painter) const {
    const int count = static_cast<int>(m_tour.size());
    for (int task = 0; count > 1 && task < count; ++task) {
        const double share = shareOf(m_tour[static_cast<std::size_t>(task)].toNext);
        const double least = Theme::instance().isDark() ? 0.35 : 0.15;  // the ends of the colours are hard to see on their own ground
        painter.setPen(
            QPen(ThemeColours::sequential(least + 0.6 * share), thinnest + share * (widest - thinnest), Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(placeOf(task), placeOf((task + 1) % count));
    }
}

void TourRing::paintDots(QPainter& painter) const {
    const ThemeColours& colours = Theme::instance().colours();
    const bool names = m_tour.size() <= most_names;
    for (int task = 0; task < static_cast<int>(m_tour.size()); ++task) {
        const double size = (names ? dot_radius : small_dot_radius) + (task == m_chosen ? 2 : 0);
        painter.setPen(task == m_chosen ? QPen(colours.text, 2) : QPen(colours.surface, 1));
        painter.setBrush(colours.series(m_colours[static_cast<std::size_t>(task)]));
        painter.drawEllipse(placeOf(task), size, size);
        if (names) paintName(painter, task);
    }
}

/// Outside of the ring, away from its middle.
void TourRing::paintName(QPainter& painter, int task) const {
    const QPointF place = placeOf(task), middle(width() / 2.0, height() / 2.0);
    const double side = (place.x() - middle.x()) / radius();
    const QFontMetrics metrics(painter.font());
    const bool pole = std::abs(side) <= 0.2;
    const double room = pole ? width() / 2.0 : width() / 2.0 - std::abs(place.x() - middle.x()) - 15;
    const QString name = metrics.elidedText(qs(m_tour[static_cast<std::size_t>(task)].name), Qt::ElideMiddle, static_cast<int>(room));
    const int wide = metrics.horizontalAdvance(name);
    const double x = side > 0.2 ? place.x() + 11 : side < -0.2 ? place.x() - 11 - wide : place.x() - wide / 2.0;
    const double y = place.y() + (pole ? (place.y() < middle.y() ? -10 : 10 + metrics.ascent()) : metrics.ascent() / 2.0 - 1);
    painter.setPen(task == m_chosen ? Theme::instance().colours().text : Theme::instance().colours().secondary);
    painter.drawText(QPointF(x, y), name);
}

QString TourRing::chosenText() const {
    if (m_tour.empty()) return {};
    const TourTask& task = m_tour[static_cast<std::size_t>(m_chosen)];
    const TourTask& next = m_tour[(static_cast<std::size_t>(m_chosen) + 1) % m_tour.size()];
    return tr("%1\nthen %2\nsimilarity %3")
        .arg(qs(task.name), qs(next.name), std::isfinite(task.toNext) ? QString::number(task.toNext, 'f', 3) : QStringLiteral("—"));
}

void TourRing::paintMiddle(QPainter& painter) const {
    const double room = radius() * 1.3;
    QStringList lines;
    for (const QString& line : chosenText().split(QLatin1Char('\n')))
        lines << QFontMetrics(painter.font()).elidedText(line, Qt::ElideMiddle, static_cast<int>(room));
    painter.setPen(Theme::instance().colours().text);
    painter.drawText(QRectF(width() / 2.0 - room / 2, height() / 2.0 - room / 2, room, room), Qt::AlignCenter,
                     lines.join(QLatin1Char('\n')));
}

void TourRing::mousePressEvent(QMouseEvent* event) {
    for (int task = 0; task < static_cast<int>(m_tour.size()); ++task)
        if (QLineF(placeOf(task), event->position()).length() <= hit_radius) return choose(task);
}

void TourRing::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(m_tour.size());
    const bool on = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down,
               back = event->key() == Qt::Key_Left || event->key() == Qt::Key_Up;
    if (count == 0 || (!on && !back)) return QWidget::keyPressEvent(event);
    choose((m_chosen + (on ? 1 : count - 1)) % count);
}

}  // namespace faceter::desktop
