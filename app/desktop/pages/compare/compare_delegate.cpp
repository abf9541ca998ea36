#include "pages/compare/compare_delegate.h"

#include <QPainter>
#include <algorithm>

#include "pages/compare/compare_model.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int padding = 8, gap = 4;

QFont fontOf(bool strong) {
    QFont font = Theme::tableFont();
    if (strong) font.setWeight(QFont::DemiBold);
    return font;
}

int starsWidth() { return QFontMetrics(fontOf(true)).horizontalAdvance(QStringLiteral("***")); }

}  // namespace

void CompareDelegate::measure(const QAbstractItemModel& model) {
    const QFontMetrics metrics(fontOf(true));
    const int value = metrics.horizontalAdvance(QStringLiteral("00.00")), delta = metrics.horizontalAdvance(QStringLiteral("+00.00"));
    m_widths.assign(static_cast<std::size_t>(model.columnCount()), {value, delta});
    for (int column = CompareModel::firstGroup; column < model.columnCount(); ++column)
        for (int row = 0; row < model.rowCount(); ++row) {
            const QModelIndex cell = model.index(row, column);
            Widths& widths = m_widths[static_cast<std::size_t>(column)];
            widths.value = std::max(widths.value, metrics.horizontalAdvance(cell.data(CompareModel::valueRole).toString()));
            widths.delta = std::max(widths.delta, metrics.horizontalAdvance(cell.data(CompareModel::deltaRole).toString()));
        }
}

int CompareDelegate::deltaWidth(int column) const {
    return column < static_cast<int>(m_widths.size()) ? m_widths[static_cast<std::size_t>(column)].delta : 0;
}

int CompareDelegate::groupWidth(int column, bool withDelta) const {
    const int value = column < static_cast<int>(m_widths.size()) ? m_widths[static_cast<std::size_t>(column)].value : 0;
    return value + 2 * padding + (withDelta ? gap + deltaWidth(column) + starsWidth() : 0);
}

void CompareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const bool isMean = index.data(CompareModel::meanRole).toBool();
    const bool isGroup = index.data(CompareModel::valueRole).isValid() && index.column() >= CompareModel::firstGroup;
    if (isMean && !(option.state & QStyle::State_Selected)) painter->fillRect(option.rect, Theme::instance().colours().selection);
    if (!isGroup && !index.data(CompareModel::secondaryRole).isValid()) {
        QStyleOptionViewItem strong = option;
        if (isMean) strong.font = fontOf(true);
        return QStyledItemDelegate::paint(painter, strong, index);
    }
    QStyleOptionViewItem empty = option;  // background, selection, focus and the line between rows as everywhere
    initStyleOption(&empty, index);
    empty.text.clear();
    const QWidget* widget = option.widget;
    widget->style()->drawControl(QStyle::CE_ItemViewItem, &empty, painter, widget);
    painter->save();
    isGroup ? paintGroup(painter, option.rect, index) : paintName(painter, option.rect, index);
    painter->restore();
}

void CompareDelegate::paintGroup(QPainter* painter, const QRect& rect, const QModelIndex& index) const {
    const ThemeColours& colours = Theme::instance().colours();
    const bool strong = index.data(CompareModel::bestRole).toBool() || index.data(CompareModel::meanRole).toBool();
    const QString delta = index.data(CompareModel::deltaRole).toString();
    const bool withDelta = rect.width() >= groupWidth(index.column(), true) - 2;
    const int deltaPlace = deltaWidth(index.column());
    QRect place = rect.adjusted(padding, 0, -padding, 0);
    painter->setFont(fontOf(strong));
    if (withDelta) {
        const int significant = index.data(CompareModel::significantRole).toInt();
        painter->setPen(significant == 0 ? colours.secondary : colours.seriesText(significant < 0 ? 1 : 0));
        painter->drawText(QRect(place.right() - starsWidth() + 1, place.top(), starsWidth(), place.height()),
                          Qt::AlignLeft | Qt::AlignVCenter, index.data(CompareModel::starsRole).toString());
        place.setRight(place.right() - starsWidth());
        painter->drawText(QRect(place.right() - deltaPlace, place.top(), deltaPlace + 1, place.height()), Qt::AlignRight | Qt::AlignVCenter,
                          delta);
        place.setRight(place.right() - deltaPlace - gap);
    }
    painter->setPen(colours.text);
    painter->drawText(place, Qt::AlignRight | Qt::AlignVCenter, index.data(CompareModel::valueRole).toString());
}

void CompareDelegate::paintName(QPainter* painter, const QRect& rect, const QModelIndex& index) const {
    const ThemeColours& colours = Theme::instance().colours();
    const QFont font = fontOf(index.data(CompareModel::meanRole).toBool());
    const QFontMetrics metrics(font);
    const QRect place = rect.adjusted(padding, 0, -4, 0);
    const QString name = metrics.elidedText(index.data(CompareModel::valueRole).toString(), Qt::ElideMiddle, place.width());
    painter->setFont(font);
    painter->setPen(colours.text);
    painter->drawText(place, Qt::AlignLeft | Qt::AlignVCenter, name);
    painter->setPen(colours.secondary);
    const QRect rest = place.adjusted(metrics.horizontalAdvance(name + QLatin1Char(' ')), 0, 0, 0);
    painter->drawText(rest, Qt::AlignLeft | Qt::AlignVCenter,
                      metrics.elidedText(index.data(CompareModel::secondaryRole).toString(), Qt::ElideRight, std::max(0, rest.width())));
}

}  // namespace faceter::desktop
