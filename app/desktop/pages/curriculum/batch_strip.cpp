#include "pages/curriculum/batch_strip.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "figure/elided_name.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int strip_height = 30, gap = 10, single_width = 4;
constexpr double zoom_step = 0.8, pan_step = 0.1, smallest_range = 8;

/// Of a line of text, however large the user has it.
int lineHeight() { return QFontMetrics(Theme::plotFont()).height() + 4; }

}  // namespace

BatchStrip::BatchStrip(QWidget* parent) : QWidget(parent), m_runs(std::make_shared<std::vector<CurriculumRun>>()) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(
        tr("Batches by step, coloured by task; + and - zoom, Left and Right pan, 0 shows all, Enter shows the examples of one"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void BatchStrip::setRuns(CurriculumDataPtr runs, const std::map<std::string, int>& colours) {
    m_runs = std::move(runs);
    m_strips.clear();
    const bool whole = m_from <= m_first && m_to >= m_last;
    m_first = std::numeric_limits<double>::infinity(), m_last = 1;
    for (const CurriculumRun& run : *m_runs) {
        if (run.order.batches.empty() && !run.isToPlan()) continue;
        Strip strip{&run, {}};
        for (const std::string& task : run.order.tasks) strip.colours.push_back(colours.at(task));
        m_strips.push_back(std::move(strip));
        if (run.order.batches.empty()) continue;
        m_first = std::min(m_first, static_cast<double>(run.order.batches.front().step));
        m_last = std::max(m_last, static_cast<double>(run.order.batches.back().step) + 1);
    }
    if (!std::isfinite(m_first)) m_first = 0;  // no batch at all
    m_current = std::clamp(m_current, 0, std::max(0, static_cast<int>(m_strips.size()) - 1));
    setRange(whole ? m_first : m_from, whole ? m_last : m_to);
    updateGeometry();
}

QSize BatchStrip::sizeHint() const { return {640, static_cast<int>(m_strips.size()) * (lineHeight() + strip_height + gap) + lineHeight()}; }

QRect BatchStrip::areaOf(int strip) const { return {0, strip * (lineHeight() + strip_height + gap) + lineHeight(), width(), strip_height}; }

QRect BatchStrip::nameAreaOf(int strip) const { return {4, areaOf(strip).top() - lineHeight(), width() - 8, lineHeight()}; }

QString BatchStrip::nameOf(int strip) const {
    const QString whole = qs(m_strips[static_cast<std::size_t>(strip)].run->request.label), name = withShortKeys(whole);
    const QFontMetricsF metrics(Theme::plotFont());
    const int room = nameAreaOf(strip).width();
    return metrics.horizontalAdvance(name) <= room ? name : elidedName(whole, metrics, room);
}

void BatchStrip::setRange(double from, double to) {
    const double all = m_last - m_first, size = std::clamp(to - from, std::min(smallest_range, all), all);
    m_from = std::clamp(from, m_first, m_last - size);
    m_to = m_from + size;
    update();
}

double BatchStrip::stepAt(int x) const { return m_from + (m_to - m_from) * x / std::max(1, width()); }

/// A step belongs to the column that its left edge is in, or, where a step is wider than a column, to all columns it covers.
std::pair<std::size_t, std::size_t> BatchStrip::batchesAt(const TrainedOrder& order, int x) const {
    const double left = stepAt(x), right = stepAt(x + 1);
    const bool wide = right - left < 1;
    const auto first = static_cast<std::int64_t>(wide ? std::floor(left) : std::ceil(left));
    const auto behind = wide ? first + 1 : static_cast<std::int64_t>(std::ceil(right));
    const auto place = [&](std::int64_t step) {
        return static_cast<std::size_t>(
            std::lower_bound(order.batches.begin(), order.batches.end(), step,
                             [](const TrainedBatch& batch, std::int64_t wanted) { return batch.step < wanted; }) -
            order.batches.begin());
    };
    return {place(first), place(behind)};
}

std::map<int, double> BatchStrip::sharesAt(int strip, int x) const {
    const Strip& one = m_strips[static_cast<std::size_t>(strip)];
    const auto [first, behind] = batchesAt(one.run->order, x);
    std::map<int, double> shares;
    for (std::size_t i = first; i < behind; ++i)
        shares[one.colours[static_cast<std::size_t>(one.run->order.batches[i].task)]] += 1.0 / static_cast<double>(behind - first);
    return shares;
}

QString BatchStrip::textAt(const QPoint& position) const {
    for (int strip = 0; strip < static_cast<int>(m_strips.size()); ++strip) {
        if (nameAreaOf(strip).contains(position)) return qs(m_strips[static_cast<std::size_t>(strip)].run->request.label);
        if (!areaOf(strip).contains(position)) continue;
        const TrainedOrder& order = m_strips[static_cast<std::size_t>(strip)].run->order;
        if (order.batches.empty())
            return m_strips[static_cast<std::size_t>(strip)].run->isByDataSet
                       ? tr("one task: a click, or Enter, draws its batches by data set again")
                       : tr("not begun: a click, or Enter, plans its batches");
        const auto [first, behind] = batchesAt(order, position.x());
        if (first == behind) return {};
        const std::int64_t from = order.batches[first].step, to = order.batches[behind - 1].step;
        if (from != to)
            return tr("steps %1 to %2 · %3 batches")
                .arg(countText(from), countText(to), countText(static_cast<std::int64_t>(behind - first)));
        QStringList parts{tr("step %1").arg(countText(from))};
        for (std::size_t i = first; i < behind; ++i) {
            const QString task = qs(order.tasks[static_cast<std::size_t>(order.batches[i].task)]);
            const double loss = order.batches[i].loss;
            parts << (std::isfinite(loss) ? tr("%1, loss %2").arg(task, QString::number(loss, 'g', 4)) : tr("%1, planned").arg(task));
        }
        return parts.join(QStringLiteral(" · "));
    }
    return {};
}

void BatchStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(Theme::plotFont());
    for (int strip = 0; strip < static_cast<int>(m_strips.size()); ++strip) paintStrip(painter, strip);
    paintSteps(painter);
    if (!hasFocus()) return;
    painter.setPen(Theme::instance().colours().accent);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void BatchStrip::paintStrip(QPainter& painter, int strip) const {
    const ThemeColours& colours = Theme::instance().colours();
    const QRect area = areaOf(strip);
    painter.setPen(hasFocus() && strip == m_current ? colours.accent : colours.text);
    painter.drawText(nameAreaOf(strip), Qt::AlignLeft | Qt::AlignVCenter, nameOf(strip));
    painter.fillRect(area, colours.line);
    if (m_strips[static_cast<std::size_t>(strip)].run->order.batches.empty()) {
        painter.setPen(colours.text);
        painter.drawText(area.adjusted(8, 0, -8, 0), Qt::AlignLeft | Qt::AlignVCenter, textAt(area.center()));
        return;
    }
    for (int x = 0; x < width(); ++x) {
        double top = area.top();
        for (const auto& [place, share] : sharesAt(strip, x)) {
            painter.fillRect(QRectF(x, top, 1, share * area.height()), colours.series(place));
            top += share * area.height();
        }
    }
    const double step_width = width() / (m_to - m_from);
    painter.setPen(colours.surface);
    for (double step = std::ceil(m_from); step_width >= single_width && step < m_to; ++step) {
        const int x = static_cast<int>((step - m_from) * step_width);
        painter.drawLine(x, area.top(), x, area.bottom());
    }
}

void BatchStrip::paintSteps(QPainter& painter) const {
    if (std::all_of(m_strips.begin(), m_strips.end(), [](const Strip& strip) { return strip.run->order.batches.empty(); })) return;
    const QRect line(4, height() - lineHeight(), width() - 8, lineHeight());
    painter.setPen(Theme::instance().colours().secondary);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, tr("step %1").arg(countText(static_cast<std::int64_t>(std::ceil(m_from)))));
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, countText(static_cast<std::int64_t>(std::ceil(m_to)) - 1));
}

void BatchStrip::zoom(double factor, double at) { setRange(at - (at - m_from) * factor, at + (m_to - at) * factor); }

void BatchStrip::wheelEvent(QWheelEvent* event) {
    zoom(std::pow(zoom_step, event->angleDelta().y() / 120.0), stepAt(static_cast<int>(event->position().x())));
    event->accept();
}

void BatchStrip::mousePressEvent(QMouseEvent* event) { m_dragX = m_pressX = static_cast<int>(event->position().x()); }

void BatchStrip::mouseReleaseEvent(QMouseEvent* event) {
    const QPoint place = event->position().toPoint();
    if (event->button() != Qt::LeftButton || std::abs(place.x() - m_pressX) > QApplication::startDragDistance()) return;
    const int strip = stripAt(place.y());
    if (strip < 0) return;
    goTo(strip);
    choose(strip, place.x());
}

int BatchStrip::stripAt(int y) const {
    for (int strip = 0; strip < static_cast<int>(m_strips.size()); ++strip)
        if (const QRect area = areaOf(strip); y >= area.top() && y <= area.bottom()) return strip;
    return -1;
}

void BatchStrip::choose(int strip, int x) {
    if (strip < 0 || strip >= static_cast<int>(m_strips.size())) return;
    const CurriculumRun& run = *m_strips[static_cast<std::size_t>(strip)].run;
    if (run.order.batches.empty()) return Q_EMIT orderWanted(qs(run.request.run));
    const auto [first, behind] = batchesAt(run.order, x);
    if (first != behind) Q_EMIT batchChosen(qs(run.request.run), run.order.batches[first].step);
}

void BatchStrip::goTo(int strip) {
    m_current = std::clamp(strip, 0, std::max(0, static_cast<int>(m_strips.size()) - 1));
    update();
    if (m_strips.empty()) return;
    QRect place = areaOf(m_current).united(nameAreaOf(m_current));
    if (m_current + 1 == static_cast<int>(m_strips.size())) place.setBottom(height() - 1);  // the steps stand below the last
    Q_EMIT wentTo(place);
}

void BatchStrip::mouseMoveEvent(QMouseEvent* event) {
    const int x = static_cast<int>(event->position().x());
    const double by = (m_to - m_from) * (m_dragX - x) / std::max(1, width());
    setRange(m_from + by, m_to + by);
    m_dragX = x;
}

void BatchStrip::keyPressEvent(QKeyEvent* event) {
    const double size = m_to - m_from, middle = (m_from + m_to) / 2;
    switch (event->key()) {
        case Qt::Key_Left:
            return setRange(m_from - pan_step * size, m_to - pan_step * size);
        case Qt::Key_Right:
            return setRange(m_from + pan_step * size, m_to + pan_step * size);
        case Qt::Key_Up:
            return goTo(m_current - 1);
        case Qt::Key_Down:
            return goTo(m_current + 1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return choose(m_current, width() / 2);
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(zoom_step, middle);
        case Qt::Key_Minus:
            return zoom(1 / zoom_step, middle);
        case Qt::Key_0:
        case Qt::Key_Home:
            return setRange(m_first, m_last);
        default:
            QWidget::keyPressEvent(event);
    }
}

bool BatchStrip::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), textAt(help->pos()).toHtmlEscaped(), this);
    return true;
}

}  // namespace faceter::desktop
