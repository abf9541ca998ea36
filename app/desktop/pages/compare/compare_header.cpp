#include "pages/compare/compare_header.h"

#include <QPainter>
#include <algorithm>

#include "figure/elided_name.h"
#include "pages/compare/compare_model.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int padding = 8;

/// Where a line ends that has `room`: behind a space or comma, within a word only where it has none.
qsizetype firstLine(const QString& name, const QFontMetrics& metrics, int room) {
    qsizetype fitting = 1, end = 0;
    while (fitting < name.size() && metrics.horizontalAdvance(name.left(fitting + 1)) <= room) ++fitting;
    for (qsizetype i = 1; i <= fitting; ++i)
        if (name[i - 1] == QLatin1Char(' ') || name[i - 1] == QLatin1Char(',')) end = i;
    return end > 0 ? end : fitting;
}

}  // namespace

CompareHeader::CompareHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
    setHighlightSections(false);
    setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    setMinimumSectionSize(32);
}

void CompareHeader::paintSection(QPainter* painter, const QRect& rect, int section) const {
    const QVariant colour = model()->headerData(section, Qt::Horizontal, Qt::ForegroundRole);
    if (!colour.isValid()) return QHeaderView::paintSection(painter, rect, section);
    const ThemeColours& colours = Theme::instance().colours();
    painter->save();
    painter->fillRect(rect, colours.window);
    painter->setPen(colours.line);
    painter->drawLine(rect.bottomLeft(), rect.bottomRight());
    painter->setFont(nameFont());
    painter->setPen(colour.value<QColor>());
    const QString count = countOf(section);
    const int countHeight = count.isEmpty() ? 0 : QFontMetrics(font()).height();
    painter->drawText(rect.adjusted(padding, 0, -padding, -countHeight), Qt::AlignRight | Qt::AlignVCenter,
                      linesOf(section).join(QLatin1Char('\n')));
    painter->setFont(font());
    painter->setPen(colours.secondary);
    painter->drawText(rect.adjusted(padding, rect.height() - countHeight - countHeight / 4, -padding, -countHeight / 4),
                      Qt::AlignRight | Qt::AlignVCenter, count);
    painter->restore();
}

/// How many seeds are behind the column, below its name.
QString CompareHeader::countOf(int section) const {
    return model()->headerData(section, Qt::Horizontal, CompareModel::countRole).toString();
}

QFont CompareHeader::nameFont() const {
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    return bold;
}

QStringList CompareHeader::linesOf(int section) const {
    const QFontMetrics metrics(nameFont());
    const int room = sectionSize(section) - 2 * padding;
    const QString whole = model()->headerData(section, Qt::Horizontal).toString(), name = withShortKeys(whole);
    if (metrics.horizontalAdvance(whole) <= room) return {isolated(whole)};
    if (metrics.horizontalAdvance(name) <= room) return {name};
    const qsizetype end = firstLine(name, metrics, room);
    return {name.left(end).trimmed(), metrics.elidedText(name.mid(end).trimmed(), Qt::ElideMiddle, room)};
}

QSize CompareHeader::sectionSizeFromContents(int section) const {
    QSize size = QHeaderView::sectionSizeFromContents(section);
    if (!model()->headerData(section, Qt::Horizontal, Qt::ForegroundRole).isValid()) return size;
    const int lines = static_cast<int>(linesOf(section).size()) * QFontMetrics(nameFont()).height();
    size.rheight() = std::max(size.height(), lines + (countOf(section).isEmpty() ? 0 : QFontMetrics(font()).height()) + padding);
    return size;
}

}  // namespace faceter::desktop
