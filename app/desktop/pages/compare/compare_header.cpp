#include "pages/compare/compare_header.h"

#include <QPainter>

#include "figure/elided_name.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int padding = 8;

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
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    painter->setFont(bold);
    painter->setPen(colour.value<QColor>());
    const QRect place = rect.adjusted(padding, 0, -padding, 0);
    const QString text = model()->headerData(section, Qt::Horizontal).toString();
    painter->drawText(place, Qt::AlignRight | Qt::AlignVCenter, elidedName(text, QFontMetrics(bold), place.width()));
    painter->restore();
}

}  // namespace faceter::desktop
