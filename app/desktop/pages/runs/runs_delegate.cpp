#include "pages/runs/runs_delegate.h"

#include <QApplication>
#include <QPainter>
#include <algorithm>

#include "figure/elided_name.h"
#include "pages/runs/runs_model.h"
#include "theme/icons.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

using Kind = RunColumn::Kind;
// What stands behind the decimal point of most numbers of a column with spreads.
const QString widest_spread = QStringLiteral(" ± 00.00");
constexpr int padding = 6, arrow_width = 16, indent = 20, dot = 8, gap = 6, bar_height = 3;

const RunsModel& modelOf(const QModelIndex& index) { return *static_cast<const RunsModel*>(index.model()); }
const RunColumn& columnOf(const QModelIndex& index) { return modelOf(index).columns()[static_cast<std::size_t>(index.column())]; }

bool showsSpread(const RunsModel& model, std::size_t column, bool asked) {
    return asked && column < model.layout().spreads.size() && model.layout().spreads[column];
}

/// More where a spread is of three digits, or its font sets them wider: its number is out of line then, and it is whole.
int spreadWidth(const QFontMetrics& metrics, const QString& spread) {
    return std::max(metrics.horizontalAdvance(widest_spread), metrics.horizontalAdvance(spread));
}

QColor stateColour(RunPhase phase) {
    const ThemeColours& colours = Theme::instance().colours();
    switch (phase) {
        case RunPhase::done:
            return colours.series(2);
        case RunPhase::running:
            return colours.series(0);
        case RunPhase::failed:
        case RunPhase::dead:
            return colours.series(1);
        case RunPhase::silent:
            return colours.series(4);
        case RunPhase::stopped:
        case RunPhase::queued:
            return colours.series(7);
    }
    return colours.secondary;
}

/// "learning_rate 1e-05 · method mote" to "lr 1e-05 · m mote": what differs is the values, and a column has seldom room for the whole keys.
QString withShortSettings(const QString& text) {
    const QString between = QStringLiteral(" · ");
    QStringList parts = text.split(between);
    for (QString& part : parts) {
        const qsizetype space = part.indexOf(QLatin1Char(' '));
        if (space >= 0) part = initials(part.left(space)) + part.mid(space);
    }
    return parts.join(between);
}

QString resumeText() { return RunsDelegate::tr("Resume"); }

/// Draws one cell, from its left (or right) end inwards.
class CellPainter {
  public:
    CellPainter(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index, bool spreads)
        : m_painter(painter),
          m_index(index),
          m_spreads(spreads),
          m_colours(Theme::instance().colours()),
          m_rect(option.rect.adjusted(padding, 0, -padding, 0)),
          m_font(option.font),
          m_cell(option.rect) {
        const QVariant colour = index.data(Qt::ForegroundRole);
        m_colour = colour.isValid() ? colour.value<QColor>() : m_colours.text;
        m_painter.setFont(m_font);
    }

    void name() {
        const RunsLine& line = modelOf(m_index).line(m_index.row());
        if (line.isGroup()) arrow();
        m_rect.setLeft(m_rect.left() + (line.isMember() ? indent : arrow_width));
        colourBar();
        if (m_index.data(RunsModel::pinnedRole).toBool()) {
            icon(QStringLiteral("pin")).paint(&m_painter, QRect(m_rect.left(), m_rect.center().y() - 6, 12, 12));
            m_rect.setLeft(m_rect.left() + 16);
        }
        textAndExtra(Qt::ElideMiddle);  // names of a sweep differ at their ends
    }

    void state() {
        const auto phase = static_cast<RunPhase>(m_index.data(RunsModel::phaseRole).toInt());
        m_painter.setRenderHint(QPainter::Antialiasing);
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(stateColour(phase));
        m_painter.drawEllipse(QRectF(m_rect.left(), m_rect.center().y() - dot / 2.0 + 0.5, dot, dot));
        m_rect.setLeft(m_rect.left() + dot + gap);
        const double progress = m_index.data(RunsModel::progressRole).toDouble();
        if (progress >= 0) progressBar(progress);
        textAndExtra();
    }

    /// The main number ends where a spread would begin, so that points stand under points: that of the best, which is semibold, too.
    void number() {
        const RunsModel& model = modelOf(m_index);
        const auto column = static_cast<std::size_t>(m_index.column());
        QString text = m_index.data().toString();
        const QString spread = m_index.data(RunsModel::spreadRole).toString();
        const QFontMetrics metrics(m_font);
        if (showsSpread(model, column, true)) {
            text.chop(spread.size());
        }
        if (showsSpread(model, column, m_spreads)) {
            QFont plain = m_font;
            plain.setWeight(QFont::Normal);
            const int reserved = spreadWidth(QFontMetrics(plain), spread);
            m_painter.setFont(plain);
            draw(m_rect.adjusted(m_rect.width() - reserved, 0, 0, 0), spread, m_colours.secondary, Qt::AlignLeft);
            m_painter.setFont(m_font);
            m_rect.setRight(m_rect.right() - reserved);
        }
        draw(m_rect, text, m_colour, Qt::AlignRight);
        const QString extra = m_index.data(RunsModel::extraRole).toString();
        if (extra.isEmpty()) return;
        m_rect.setRight(m_rect.right() - metrics.horizontalAdvance(text + QLatin1Char(' ')));
        draw(m_rect, extra, m_colours.secondary, Qt::AlignRight);
    }

    void time(const QRect& resume) {
        if (!resume.isNull()) {
            draw(resume, resumeText(), m_colours.accent, Qt::AlignRight);
            m_rect.setRight(resume.left() - gap);
        }
        // Where there is no room for all of it, when and where gives way before how long.
        QString text = m_index.data().toString();
        const QFontMetrics metrics(m_font);
        const QString between = QStringLiteral(" · ");
        while (text.contains(between) && metrics.horizontalAdvance(text) > m_rect.width()) text = text.left(text.lastIndexOf(between));
        draw(m_rect, text, m_colour, Qt::AlignRight);
    }

    void settings() {
        const QString whole = m_index.data().toString();
        const bool fits = QFontMetrics(m_font).horizontalAdvance(whole) <= m_rect.width();
        draw(m_rect, fits ? whole : withShortSettings(whole), m_colour, Qt::AlignLeft);
    }

    void text(Qt::TextElideMode mode) { draw(m_rect, m_index.data().toString(), m_colour, Qt::AlignLeft, mode); }

  private:
    void draw(const QRect& rect, const QString& text, const QColor& colour, Qt::Alignment alignment,
              Qt::TextElideMode mode = Qt::ElideRight) {
        m_painter.setPen(colour);
        const QFontMetrics metrics(m_font);
        m_painter.drawText(
            rect, Qt::AlignVCenter | Qt::TextSingleLine | alignment,
            mode == Qt::ElideMiddle ? elidedName(text, metrics, rect.width()) : metrics.elidedText(text, mode, rect.width()));
    }

    void textAndExtra(Qt::TextElideMode mode = Qt::ElideRight) {
        const QString text = m_index.data().toString(), extra = m_index.data(RunsModel::extraRole).toString();
        const QFontMetrics metrics(m_font);
        const int wide = extra.isEmpty() ? 0 : metrics.horizontalAdvance(extra) + gap;
        const QRect main = m_rect.adjusted(0, 0, -wide, 0);
        draw(main, text, m_colour, Qt::AlignLeft, mode);
        if (extra.isEmpty()) return;
        const int end = std::min(metrics.horizontalAdvance(text), main.width()) + gap;
        draw(m_rect.adjusted(end, 0, 0, 0), extra, m_colours.secondary, Qt::AlignLeft);
    }

    void arrow() {
        const RunsModel& model = modelOf(m_index);
        const bool open = model.groupOf(m_index.row())->open;
        const QRect rect = RunsDelegate::arrowRect(m_cell);
        icon(open ? QStringLiteral("arrow-down") : QStringLiteral("arrow-right"))
            .paint(&m_painter, QRect(rect.left(), rect.center().y() - 6, 12, 12));
    }

    void colourBar() {
        const int place = m_index.data(RunsModel::seriesColourRole).toInt();
        if (place < 0) return;
        m_painter.fillRect(QRect(m_rect.left(), m_rect.center().y() - 6, 3, 13), m_colours.series(place));
        m_rect.setLeft(m_rect.left() + 3 + gap);
    }

    void progressBar(double progress) {
        const QRect bar(m_rect.left(), m_cell.bottom() - bar_height - 1, m_rect.width(), bar_height);
        m_painter.fillRect(bar, m_colours.line);
        m_painter.fillRect(QRect(bar.left(), bar.top(), static_cast<int>(bar.width() * progress), bar_height), m_colours.accent);
    }

    QPainter& m_painter;
    const QModelIndex& m_index;
    bool m_spreads;
    const ThemeColours& m_colours;
    QRect m_rect;
    QFont m_font;
    QRect m_cell;
    QColor m_colour;
};

}  // namespace

void RunsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    cell.text.clear();
    const QStyle* style = cell.widget ? cell.widget->style() : QApplication::style();
    style->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);
    painter->save();
    CellPainter content(*painter, cell, index, m_spreads);
    switch (const RunColumn& column = columnOf(index); column.kind) {
        case Kind::name:
            content.name();
            break;
        case Kind::state:
            content.state();
            break;
        case Kind::time:
            content.time(resumeRect(option, index));
            break;
        case Kind::key_settings:
            content.settings();
            break;
        case Kind::experiment:
        case Kind::variant:
        case Kind::point:
            content.text(Qt::ElideMiddle);
            break;
        default:
            column.isNumber() ? content.number() : content.text(Qt::ElideRight);
    }
    painter->restore();
}

QRect RunsDelegate::arrowRect(const QRect& cell) { return {cell.left() + padding - 2, cell.top(), arrow_width, cell.height()}; }

QRect RunsDelegate::resumeRect(const QStyleOptionViewItem& option, const QModelIndex& index) {
    if (columnOf(index).kind != Kind::time || !index.data(RunsModel::resumableRole).toBool()) return {};
    const int wide = QFontMetrics(option.font).horizontalAdvance(resumeText());
    return {option.rect.right() - padding - wide, option.rect.top(), wide + 1, option.rect.height()};
}

int RunsDelegate::wantedWidth(const QModelIndex& index, const QFontMetrics& usual, bool spreads) {
    const QVariant own = index.data(Qt::FontRole);  // the best value is semibold
    const QFontMetrics metrics = own.isValid() ? QFontMetrics(own.value<QFont>()) : usual;
    int wide = metrics.horizontalAdvance(index.data().toString()) + 2 * padding + 8;
    if (const QString extra = index.data(RunsModel::extraRole).toString(); !extra.isEmpty()) wide += metrics.horizontalAdvance(extra) + gap;
    if (columnOf(index).kind == Kind::name) wide += indent + 9 + (index.data(RunsModel::pinnedRole).toBool() ? 16 : 0);
    const QString spread = index.data(RunsModel::spreadRole).toString();
    if (showsSpread(modelOf(index), static_cast<std::size_t>(index.column()), true))
        wide += (spreads ? spreadWidth(usual, spread) : 0) - metrics.horizontalAdvance(spread);
    if (columnOf(index).kind == Kind::state) wide += dot + gap;
    if (columnOf(index).kind == Kind::time && index.data(RunsModel::resumableRole).toBool())
        wide += metrics.horizontalAdvance(resumeText()) + gap;
    return wide;
}

}  // namespace faceter::desktop
