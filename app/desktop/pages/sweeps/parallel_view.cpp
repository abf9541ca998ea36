#include "pages/sweeps/parallel_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "common/strings.h"
#include "figure/elided_name.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int margin = 12, title_height = 40, foot = 22, most_axes = 8, near = 6;
constexpr double log_span = 20;

std::string valueOf(const SweepConfiguration& point, const std::string& key) {
    const auto found = point.settings.find(key);
    return found == point.settings.end() ? std::string(unset_value) : found->second;
}

/// The shortest end of a setting's name that no other's has: "a.weight" where there is a "tasks.b.weight" beside "tasks.a.weight".
QString titleOf(const std::string& key, const std::vector<SweepSetting>& settings) {
    for (std::size_t dot = key.rfind('.'); dot != std::string::npos && dot > 0; dot = key.rfind('.', dot - 1)) {
        const std::string end = key.substr(dot);
        const auto has = [&](const SweepSetting& setting) { return ("." + setting.key).ends_with(end); };
        if (std::count_if(settings.begin(), settings.end(), has) == 1) return qs(end.substr(1));
    }
    return qs(key);
}

/// Of one value alone numbers on both its sides: it lies in the middle, and a range on the axis stays one of numbers.
std::pair<double, double> ends(const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (*least < *most) return {*least, *most};
    const double room = *least == 0 ? 1 : std::abs(*least) / 2;
    return {*least - room, *least + room};
}

/// From values to shares of the way from one end to the other.
std::vector<double> scaled(std::vector<double> values, double low, double high) {
    for (double& value : values) value = (value - low) / (high - low);
    return values;
}

/// Those of one method alone leave no room of others: they come behind those that all configurations have.
std::vector<SweepSetting> axisSettings(const Sweep& sweep) {
    std::vector<SweepSetting> settings = sweep.settings;
    std::stable_partition(settings.begin(), settings.end(), [&](const SweepSetting& setting) { return is_shared(sweep, setting); });
    settings.resize(std::min<std::size_t>(most_axes, settings.size()));
    return settings;
}

}  // namespace

ParallelView::ParallelView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Configurations through their settings, coloured by score"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

ParallelView::Axis ParallelView::axisOf(const Sweep& sweep, const SweepSetting& setting) {
    Axis axis{titleOf(setting.key, sweep.settings), {}, {}, {}, {}, {}, 0, 0, false};
    if (!setting.is_number) {
        SettingValues values;
        for (const SweepConfiguration& point : sweep.points) values.insert(valueOf(point, setting.key));
        for (const std::string& value : values) axis.categories << qs(value);
        const auto last = std::max<double>(1, static_cast<double>(values.size()) - 1);
        for (const SweepConfiguration& point : sweep.points)
            axis.places.push_back(static_cast<double>(std::distance(values.begin(), values.find(valueOf(point, setting.key)))) / last);
        return axis;
    }
    std::vector<double> numbers;
    for (const SweepConfiguration& point : sweep.points) numbers.push_back(parse_double(valueOf(point, setting.key)).value_or(0));
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    if (*least < *most) axis.low = seriesText(*least);
    axis.high = seriesText(*most);
    axis.log = *least > 0 && *most / *least >= log_span;
    if (axis.log)
        for (double& number : numbers) number = std::log(number);
    std::tie(axis.least, axis.most) = ends(numbers);
    axis.places = scaled(std::move(numbers), axis.least, axis.most);
    return axis;
}

ParallelView::Axis ParallelView::scoreAxis(const Sweep& sweep, const QString& title) {
    std::vector<double> scores;
    for (const SweepConfiguration& point : sweep.points) scores.push_back(point.score.mean);
    const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
    const QString low = *least < *most ? scoreText(*least) : QString(), high = scoreText(*most);
    const std::pair<double, double> both = ends(scores);
    return {title, low, high, {}, scaled(std::move(scores), both.first, both.second), {}, both.first, both.second, false};
}

/// An end at an end of the axis stays there: "the best" are whatever comes; elsewhere it is a number, which may lie beyond the axis for a
/// while, or lies between categories.
double ParallelView::Axis::shareOf(double end, const Axis& before) const {
    if (end == 0 || end == 1 || categories.isEmpty() != before.categories.isEmpty()) return end;
    if (categories.isEmpty()) {
        if (!(before.least < before.most) || !(least < most)) return end;
        if (before.least == least && before.most == most && before.log == log) return end;
        const double at = before.least + end * (before.most - before.least), number = before.log ? std::exp(at) : at;
        if (log && number <= 0) return 0;
        return ((log ? std::log(number) : number) - least) / (most - least);
    }
    const double last = std::max<double>(1, before.categories.size() - 1), steps = std::max<double>(1, categories.size() - 1);
    const int below = static_cast<int>(std::floor(end * last));
    const qsizetype low = categories.indexOf(before.categories.value(below)), high = categories.indexOf(before.categories.value(below + 1));
    if (low < 0 || high < 0) return end;
    const double part = end * last - below;
    return (static_cast<double>(low) + part * static_cast<double>(high - low)) / steps;
}

void ParallelView::setSweep(const Sweep& sweep, const std::string& scoreName) {
    std::map<QString, Axis> ranged;  // a range stays while runs come in
    for (const Axis& axis : m_axes)
        if (axis.range) ranged[axis.title] = axis;
    m_axes.clear();
    m_names.clear();
    m_chosen = m_dragged = -1;
    m_axis = 0;
    if (!sweep.points.empty()) {
        for (const SweepSetting& setting : axisSettings(sweep)) m_axes.push_back(axisOf(sweep, setting));
        m_axes.push_back(scoreAxis(sweep, qs(scoreName)));
    }
    for (Axis& axis : m_axes)
        if (const auto found = ranged.find(axis.title); found != ranged.end()) {
            const Axis& before = found->second;
            axis.range = std::pair(axis.shareOf(before.range->first, before), axis.shareOf(before.range->second, before));
        }
    for (const SweepConfiguration& point : sweep.points) m_names << tr("%1: %2").arg(qs(point.name), scoreText(point.score.mean));
    update();
    Q_EMIT keptChanged();
}

bool ParallelView::isKept(std::size_t point) const {
    return std::all_of(m_axes.begin(), m_axes.end(), [&](const Axis& axis) {
        return !axis.range || (axis.places[point] >= axis.range->first && axis.places[point] <= axis.range->second);
    });
}

std::vector<int> ParallelView::kept() const {
    std::vector<int> points;
    for (int point = 0; point < m_names.size(); ++point)
        if (isKept(static_cast<std::size_t>(point))) points.push_back(point);
    return points;
}

void ParallelView::setRange(int axis, std::optional<std::pair<double, double>> range) {
    if (axis < 0 || axis >= numAxes()) return;
    m_axes[static_cast<std::size_t>(axis)].range = range;
    update();
    Q_EMIT keptChanged();
}

void ParallelView::choose(int point) {
    if (point < -1 || point >= m_names.size() || point == m_chosen) return;
    m_chosen = point;
    setAccessibleDescription(textOf(point));
    update();
    Q_EMIT pointChosen(point);
}

QString ParallelView::textOf(int point) const { return point < 0 ? QString() : m_names[point]; }

QRectF ParallelView::plot() const { return QRectF(rect()).adjusted(margin + 40, title_height, -margin - 40, -foot); }
double ParallelView::xOf(int axis) const {
    return numAxes() < 2 ? plot().center().x() : plot().left() + plot().width() * axis / (numAxes() - 1);
}
double ParallelView::yOf(double place) const { return plot().bottom() - place * plot().height(); }
QPointF ParallelView::placeOf(int point, int axis) const {
    return {xOf(axis), yOf(m_axes[static_cast<std::size_t>(axis)].places[static_cast<std::size_t>(point)])};
}

int ParallelView::axisAt(double x) const {
    for (int axis = 0; axis < numAxes(); ++axis)
        if (std::abs(x - xOf(axis)) <= 2 * near) return axis;
    return -1;
}

/// The line that passes next to a place.
int ParallelView::pointAt(const QPointF& place) const {
    int found = -1;
    double least = near;
    for (int axis = 0; axis + 1 < numAxes(); ++axis) {
        const double left = xOf(axis), right = xOf(axis + 1);
        if (place.x() < left || place.x() > right) continue;
        for (int point = 0; point < m_names.size(); ++point) {
            if (!isKept(static_cast<std::size_t>(point))) continue;
            const double share = (place.x() - left) / (right - left);
            const double y = placeOf(point, axis).y() * (1 - share) + placeOf(point, axis + 1).y() * share;
            if (std::abs(y - place.y()) < least) least = std::abs(y - place.y()), found = point;
        }
    }
    return found;
}

void ParallelView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::plotFont());
    const auto count = static_cast<std::size_t>(m_names.size());
    for (std::size_t point = count; point-- > 0;)
        if (!isKept(point)) paintLine(painter, point, true);
    for (std::size_t point = count; point-- > 0;)  // the best on top
        if (isKept(point)) paintLine(painter, point, false);
    if (m_chosen >= 0) paintLine(painter, static_cast<std::size_t>(m_chosen), false);
    for (int axis = 0; axis < numAxes(); ++axis) paintAxis(painter, axis);
}

void ParallelView::paintLine(QPainter& painter, std::size_t point, bool faint) const {
    const ThemeColours& colours = Theme::instance().colours();
    QColor colour = ThemeColours::sequential(0.05 + 0.8 * m_axes.back().places[point]);
    while (contrastOf(colour, colours.surface) < 3) colour = colours.dark ? colour.lighter(112) : colour.darker(112);
    const bool ringed = static_cast<int>(point) == m_chosen;
    painter.setPen(faint ? QPen(colours.line, 1) : QPen(ringed ? colours.accent : colour, ringed ? 3 : 1.5));
    painter.setBrush(Qt::NoBrush);
    QPolygonF line;
    for (int axis = 0; axis < numAxes(); ++axis) line << placeOf(static_cast<int>(point), axis);
    painter.drawPolyline(line);
}

void ParallelView::paintAxis(QPainter& painter, int place) const {
    const ThemeColours& colours = Theme::instance().colours();
    const Axis& axis = m_axes[static_cast<std::size_t>(place)];
    const double x = xOf(place);
    painter.setPen(QPen(hasFocus() && place == m_axis ? colours.accent : colours.secondary, 1));
    painter.drawLine(QPointF(x, plot().top()), QPointF(x, plot().bottom()));
    if (axis.range) {
        QColor fill = colours.accent;
        fill.setAlphaF(0.3F);
        const auto end = [this](double place) { return yOf(std::clamp(place, 0.0, 1.0)); };
        painter.fillRect(QRectF(QPointF(x - near, end(axis.range->second)), QPointF(x + near, end(axis.range->first))), fill);
    }
    const QFontMetrics metrics = painter.fontMetrics();
    const double room = numAxes() < 2 ? width() : plot().width() / (numAxes() - 1) - 8;
    const auto write = [&](const QString& text, double y, bool isNumber = false) {
        if (isNumber && metrics.horizontalAdvance(text) > room) return;  // a part of a number is another number
        const QString shown = elidedName(text, metrics, room);
        const double wide = metrics.horizontalAdvance(shown), left = std::clamp(x - wide / 2, 2.0, std::max(2.0, width() - wide - 2));
        painter.drawText(QPointF(left, y), shown);
    };
    painter.setPen(colours.text);
    write(axis.title, margin + metrics.ascent() - 4);
    painter.setPen(colours.secondary);
    if (axis.categories.isEmpty()) {
        const bool isOne = axis.low.isEmpty();  // its value stands where all lines go through
        write(axis.high, isOne ? yOf(0.5) - 3 : plot().top() - 4, true);
        write(axis.low, plot().bottom() + metrics.ascent() + 2, true);
        return;
    }
    const double last = std::max<double>(1, axis.categories.size() - 1);
    for (int i = 0; i < axis.categories.size(); ++i) {
        const bool top = i == axis.categories.size() - 1 && i > 0;
        write(axis.categories[i], i == 0 ? plot().bottom() + metrics.ascent() + 2 : top ? plot().top() - 4 : yOf(i / last) - 3);
    }
}

void ParallelView::mousePressEvent(QMouseEvent* event) {
    m_dragged = axisAt(event->position().x());
    m_from = event->position().y();
    m_moved = false;
    if (m_dragged >= 0) m_axis = m_dragged;
    update();
}

void ParallelView::mouseMoveEvent(QMouseEvent* event) {
    if (m_dragged < 0 || (!m_moved && std::abs(event->position().y() - m_from) < near)) return;
    m_moved = true;
    const auto share = [&](double y) { return std::clamp((plot().bottom() - y) / plot().height(), 0.0, 1.0); };
    const double from = share(m_from), to = share(event->position().y());
    setRange(m_dragged, std::pair(std::min(from, to), std::max(from, to)));
}

void ParallelView::mouseReleaseEvent(QMouseEvent* event) {
    if (!m_moved && m_dragged >= 0) setRange(m_dragged, std::nullopt);
    if (!m_moved && m_dragged < 0) choose(pointAt(event->position()));
    m_dragged = -1;
}

void ParallelView::keyPressEvent(QKeyEvent* event) {
    const auto step = [&](int by) {
        const std::vector<int> points = kept();
        if (points.empty()) return;
        const auto now = std::find(points.begin(), points.end(), m_chosen);
        const auto count = static_cast<int>(points.size());
        const int place = now == points.end() ? (by > 0 ? 0 : count - 1) : (static_cast<int>(now - points.begin()) + by + count) % count;
        choose(points[static_cast<std::size_t>(place)]);
    };
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
            m_axis = std::clamp(m_axis + (event->key() == Qt::Key_Right ? 1 : -1), 0, std::max(0, numAxes() - 1));
            return update();
        case Qt::Key_Escape:
            for (int axis = 0; axis < numAxes(); ++axis) setRange(axis, std::nullopt);
            return;
        case Qt::Key_N:
            return step(1);
        case Qt::Key_P:
            return step(-1);
        default:
            QWidget::keyPressEvent(event);
    }
}

bool ParallelView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), textOf(pointAt(help->pos())).toHtmlEscaped(), this);
    return true;
}

}  // namespace faceter::desktop
