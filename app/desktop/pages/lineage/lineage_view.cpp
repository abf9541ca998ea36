#include "pages/lineage/lineage_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "figure/elided_name.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

using Kind = LineageNode::Kind;

constexpr int margin = 12, box_width = 236, column_width = 296, padding = 8, row_gap = 12, page_rows = 10;
// Of the line down from a node, beside its box: to what hangs on it, and to its other ends; how far a line back goes beside a box.
constexpr int trunk = 16, other_trunk = 24, back_reach = 64;

std::uint64_t keyOf(std::size_t column, std::size_t row) { return (static_cast<std::uint64_t>(column) << 32) | row; }

/// Text of one line of a box.
int lineHeight() { return std::max(QFontMetrics(Theme::tableFont()).height(), QFontMetrics(Theme::headingFont()).height()); }

/// Where the variant with its point would be cut, "done" goes first: the score says it.
QString secondLine(const LineageNode& node, const QFontMetrics& metrics, int room) {
    if (node.kind != Kind::run) return qs(node.note);
    const QString dot = QStringLiteral(" · "), variant = qs(node.variant), seed = dot + LineageView::tr("seed %1").arg(node.seed);
    const bool isScored = std::isfinite(node.mean_score);
    const QString score = isScored ? dot + scoreText(node.mean_score) : QString();
    QString rest = seed + dot + qs(node.state) + score;
    if (isScored && node.state == "done" && metrics.horizontalAdvance(variant + rest) > room) rest = seed + score;
    return elidedName(variant, metrics, room - metrics.horizontalAdvance(rest)) + rest;
}

}  // namespace

LineageView::LineageView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Lineage: what runs come from"));
    connect(&Theme::instance(), &Theme::changed, this, &LineageView::fit);
}

int LineageView::nodeWithId(LineageNode::Kind kind, const std::string& id) const {
    for (int place = 0; place < numNodes(); ++place)
        if (node(place).id == id && node(place).kind == kind) return place;
    return -1;
}

void LineageView::setData(const LineageDataPtr& data, std::vector<int> colours) {
    const auto before = m_data;
    const int chosen = m_chosen;
    const std::vector<int> marked = std::exchange(m_marked, {});
    m_data = data;
    m_colours = std::move(colours);
    m_columns.assign(data->layout.columns, {});
    m_byPlace.clear();
    m_hasStages = false;
    for (int place = 0; place < numNodes(); ++place) {
        const LineagePlace& at = data->layout.places[static_cast<std::size_t>(place)];
        m_columns[at.column].push_back(place);
        m_byPlace[keyOf(at.column, at.row)] = place;
        m_hasStages = m_hasStages || !node(place).stages.empty();
    }
    for (std::vector<int>& column : m_columns)
        std::sort(column.begin(), column.end(), [&](int a, int b) {
            return data->layout.places[static_cast<std::size_t>(a)].row < data->layout.places[static_cast<std::size_t>(b)].row;
        });
    const auto again = [&](int place) {
        const LineageNode& old = before->lineage.nodes[static_cast<std::size_t>(place)];
        return nodeWithId(old.kind, old.id);
    };
    m_chosen = chosen < 0 ? -1 : again(chosen);
    for (const int place : marked)
        if (const int now = again(place); now >= 0) m_marked.push_back(now);
    fit();
    if (m_marked.size() != marked.size()) Q_EMIT marksChanged();
}

int LineageView::rowHeight() const { return boxHeight() + row_gap; }

QSize LineageView::sizeHint() const {
    const auto columns = static_cast<int>(m_data->layout.columns), rows = static_cast<int>(m_data->layout.rows);
    return {2 * margin + std::max(0, columns - 1) * column_width + box_width, 2 * margin + std::max(1, rows) * rowHeight() - row_gap};
}

/// In the scroll area: as large as what is drawn.
void LineageView::fit() {
    m_lineHeight = lineHeight();
    m_boxHeight = 2 * padding + m_lineHeight * (m_hasStages ? 3 : 2);
    setMinimumSize(sizeHint());
    update();
}

QRect LineageView::boxOf(int place) const {
    const LineagePlace& at = m_data->layout.places[static_cast<std::size_t>(place)];
    return {margin + static_cast<int>(at.column) * column_width, margin + static_cast<int>(at.row) * rowHeight(), box_width, boxHeight()};
}

int LineageView::nodeAt(const QPoint& place) const {
    if (place.x() < margin || place.y() < margin) return -1;
    const auto found = m_byPlace.find(
        keyOf(static_cast<std::size_t>((place.x() - margin) / column_width), static_cast<std::size_t>((place.y() - margin) / rowHeight())));
    return found != m_byPlace.end() && boxOf(found->second).contains(place) ? found->second : -1;
}

void LineageView::choose(int place) {
    if (place < -1 || place >= numNodes() || place == m_chosen) return;
    m_chosen = place;
    setAccessibleDescription(textOf(place));
    update();
    if (place >= 0) Q_EMIT shouldShow(boxOf(place));
    Q_EMIT nodeChosen(place);
}

void LineageView::toggleMark(int place) {
    if (place < 0 || place >= numNodes() || node(place).kind != Kind::run) return;
    if (const auto found = std::find(m_marked.begin(), m_marked.end(), place); found != m_marked.end())
        m_marked.erase(found);
    else
        m_marked.push_back(place);
    if (m_marked.size() > 2) m_marked.erase(m_marked.begin());
    update();
    Q_EMIT marksChanged();
}

QString LineageView::textOf(int place) const {
    if (place < 0 || place >= numNodes()) return {};
    const auto at = static_cast<std::size_t>(place);
    QStringList parts{qs(node(place).name)};
    for (const std::string& part : {lineage_description(node(place)), lineage_origin(m_data->lineage, at, std::nullopt)})
        if (!part.empty()) parts << qs(part);
    return parts.join(QStringLiteral(" · "));
}

void LineageView::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    for (const bool chosen : {false, true}) paintEdges(painter, event->rect(), chosen);  // the chosen node's on top
    const int first = std::max(0, (event->rect().top() - margin) / rowHeight()), last = (event->rect().bottom() - margin) / rowHeight();
    for (std::size_t column = 0; column < m_columns.size(); ++column)
        for (int row = first; row <= last; ++row)
            if (const auto found = m_byPlace.find(keyOf(column, static_cast<std::size_t>(row))); found != m_byPlace.end())
                paintNode(painter, found->second);
}

QPen LineageView::penOf(const LineageEdge& edge, bool isChosen) const {
    const ThemeColours& colours = Theme::instance().colours();
    QPen pen(isChosen ? colours.accent : edge.closes_cycle ? colours.error : colours.secondary, isChosen ? 2 : 1.5);
    if (edge.link == LineageLink::rerun) pen.setStyle(Qt::DashLine);
    if (!isDirect(edge)) pen.setStyle(Qt::DotLine);
    return pen;
}

bool LineageView::isDirect(const LineageEdge& edge) const { return m_data->forest.parent[edge.to] == edge.from; }

/// What comes of a node hangs on one line down from it: thousands of runs of one start model are neither a black wedge nor a second's work.
void LineageView::paintEdges(QPainter& painter, const QRect& seen, bool chosen) const {
    struct Trunk {
        QPen pen;
        int x = 0, top = 0, bottom = 0;
    };
    std::map<std::tuple<std::size_t, bool, bool>, Trunk> trunks;  // by node and look
    painter.setBrush(Qt::NoBrush);
    for (const LineageEdge& edge : m_data->lineage.edges) {
        if ((static_cast<int>(edge.from) == m_chosen || static_cast<int>(edge.to) == m_chosen) != chosen) continue;
        const QRect from = boxOf(static_cast<int>(edge.from)), to = boxOf(static_cast<int>(edge.to));
        const QPen pen = penOf(edge, chosen);
        if (to.left() <= from.right()) {
            if (from.united(to).adjusted(-back_reach, -4, back_reach, 4).intersects(seen)) paintBack(painter, from, to, pen);
        } else {
            const int x = from.right() + (isDirect(edge) ? trunk : other_trunk), begin = from.center().y(), end = to.center().y();
            auto& own =
                trunks.try_emplace({edge.from, isDirect(edge), pen.style() == Qt::DashLine}, Trunk{pen, x, begin, begin}).first->second;
            own.top = std::min(own.top, end);
            own.bottom = std::max(own.bottom, end);
            painter.setPen(pen);
            if (seen.top() <= end && end <= seen.bottom()) painter.drawLine(x, end, to.left() - 1, end);
            if (seen.top() <= begin && begin <= seen.bottom()) painter.drawLine(from.right() + 1, begin, x, begin);
        }
        if (to.adjusted(-column_width, -to.height(), 0, 0).intersects(seen)) nameEdge(painter, edge, to, pen.color());
    }
    for (const auto& [of, line] : trunks) {
        painter.setPen(line.pen);
        const int top = std::max(line.top, seen.top() - 1), bottom = std::min(line.bottom, seen.bottom() + 1);
        if (top < bottom) painter.drawLine(line.x, top, line.x, bottom);
    }
}

/// To a node that stands further left.
void LineageView::paintBack(QPainter& painter, const QRect& from, const QRect& to, const QPen& pen) {
    const QPointF begin(from.right() + 1, from.center().y()), end(to.left(), to.center().y());
    constexpr double bend = 30;
    QPainterPath path(begin);
    path.cubicTo(begin + QPointF(bend, 0), end - QPointF(bend, 0), end);
    painter.setPen(pen);
    painter.drawPath(path);
}

void LineageView::nameEdge(QPainter& painter, const LineageEdge& edge, const QRect& to, const QColor& colour) const {
    if (edge.link == LineageLink::start && isDirect(edge)) return;
    painter.setFont(Theme::plotFont());
    painter.setPen(colour);
    const QString name = edge.closes_cycle ? tr("cycle") : QString::fromUtf8(lineage_link_name(edge.link));
    painter.drawText(QPointF(to.left() - 4 - painter.fontMetrics().horizontalAdvance(name), to.center().y() - 4), name);
}

void LineageView::paintNode(QPainter& painter, int place) const {
    const ThemeColours& colours = Theme::instance().colours();
    const QRectF box = QRectF(boxOf(place)).adjusted(0.5, 0.5, -0.5, -0.5);
    const bool isMarked = std::find(m_marked.begin(), m_marked.end(), place) != m_marked.end(), isChosen = place == m_chosen;
    const bool isThere = node(place).kind != Kind::missing;
    QPen frame(isMarked || isChosen ? colours.accent : colours.line, isChosen && hasFocus() ? 2 : 1);
    if (!isThere && !isMarked && !isChosen) frame.setColor(colours.secondary);
    if (!isThere) frame.setStyle(Qt::DashLine);
    painter.setPen(frame);
    painter.setBrush(isMarked ? colours.selection : node(place).kind == Kind::run ? colours.surface : colours.window);
    painter.drawRoundedRect(box, 4, 4);
    if (const int colour = m_colours[static_cast<std::size_t>(place)]; colour >= 0)
        painter.fillRect(QRectF(box.left() + 1, box.top() + 4, 3, box.height() - 8), colours.series(colour));
    paintTexts(painter, place, boxOf(place).adjusted(padding + 2, padding, -padding, -padding));
}

void LineageView::paintTexts(QPainter& painter, int place, const QRect& box) const {
    const ThemeColours& colours = Theme::instance().colours();
    QRect line(box.left(), box.top(), box.width(), m_lineHeight);
    const auto write = [&](const QString& text, const QFont& font, const QColor& colour) {
        painter.setFont(font);
        painter.setPen(colour);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                         elidedName(text, painter.fontMetrics(), line.width()));
        line.translate(0, line.height());
    };
    const auto mark = std::find(m_marked.begin(), m_marked.end(), place);
    if (mark != m_marked.end()) {  // which of the two is compared with which
        const QString number = QString::number(mark - m_marked.begin() + 1);
        painter.setFont(Theme::headingFont());
        painter.setPen(colours.accent);
        painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, number);
        line.setWidth(line.width() - painter.fontMetrics().horizontalAdvance(number) - 4);
    }
    const QColor text = node(place).kind == Kind::missing ? colours.secondary : colours.text;
    write(qs(node(place).name), Theme::headingFont(), text);
    line.setWidth(box.width());
    write(secondLine(node(place), QFontMetrics(Theme::tableFont()), line.width()), Theme::tableFont(), colours.secondary);
    if (node(place).stages.empty()) return;
    QStringList stages;
    for (const std::string& stage : node(place).stages) stages << qs(stage);
    write(stages.join(QStringLiteral(" › ")), Theme::tableFont(), colours.secondary);
}

void LineageView::mousePressEvent(QMouseEvent* event) {
    const int place = nodeAt(event->position().toPoint());
    if (place < 0) return;
    if (event->modifiers().testFlag(Qt::ControlModifier)) toggleMark(place);
    choose(place);
}

void LineageView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const int place = nodeAt(event->position().toPoint()); place >= 0) Q_EMIT opened(place);
}

/// The next end of an edge that is not drawn as the node's place in the forest.
int LineageView::otherEnd(bool back) const {
    const auto at = static_cast<std::size_t>(m_chosen);
    for (const LineageEdge& edge : m_data->lineage.edges) {
        const std::size_t own = back ? edge.to : edge.from, other = back ? edge.from : edge.to;
        if (own == at && m_data->forest.parent[edge.to] != edge.from && other != at) return static_cast<int>(other);
    }
    return m_chosen;
}

int LineageView::inColumn(int by) const {
    const std::vector<int>& column = m_columns[m_data->layout.places[static_cast<std::size_t>(m_chosen)].column];
    const auto now = static_cast<int>(std::find(column.begin(), column.end(), m_chosen) - column.begin());
    return column[static_cast<std::size_t>(std::clamp(now + by, 0, static_cast<int>(column.size()) - 1))];
}

void LineageView::walk(int key, bool toOtherEnds) {
    const auto at = static_cast<std::size_t>(m_chosen);
    const bool back = key == Qt::Key_Left;
    if (toOtherEnds) return choose(otherEnd(back));
    if (back && m_data->forest.parent[at]) choose(static_cast<int>(*m_data->forest.parent[at]));
    if (!back && !m_data->forest.children[at].empty()) choose(static_cast<int>(m_data->forest.children[at].front()));
}

void LineageView::keyPressEvent(QKeyEvent* event) {
    if (m_chosen < 0 || numNodes() == 0) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
            return walk(event->key(), event->modifiers().testFlag(Qt::ShiftModifier));
        case Qt::Key_Up:
            return choose(inColumn(-1));
        case Qt::Key_Down:
            return choose(inColumn(1));
        case Qt::Key_PageUp:
            return choose(inColumn(-page_rows));
        case Qt::Key_PageDown:
            return choose(inColumn(page_rows));
        case Qt::Key_Home:
            return choose(m_columns.front().front());
        case Qt::Key_End:
            return choose(m_columns.front().back());
        case Qt::Key_Space:
            return toggleMark(m_chosen);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return Q_EMIT opened(m_chosen);
        case Qt::Key_Escape:
            while (!m_marked.empty()) toggleMark(m_marked.back());
            return;
        default:
            QWidget::keyPressEvent(event);
    }
}

void LineageView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    if (m_chosen < 0 && !m_columns.empty()) choose(m_columns.front().front());
}

bool LineageView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), textOf(nodeAt(help->pos())).toHtmlEscaped(), this);
    return true;
}

}  // namespace faceter::desktop
