#include "widgets/table_model.h"

#include <cmath>

#include "figure/format.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"

namespace faceter::desktop {

TableModel::TableModel(QObject* parent) : QAbstractTableModel(parent) {
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    });
}

void TableModel::setTable(Table table) {
    table.validate();
    beginResetModel();
    m_table = std::move(table);
    m_headings.clear();
    m_headingColours.clear();
    endResetModel();
}

void TableModel::setHeadings(QStringList headings) {
    m_headings = std::move(headings);
    if (columnCount() > 0) Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

void TableModel::setHeadingColours(QVector<int> places) {
    m_headingColours = std::move(places);
    if (columnCount() > 0) Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

int TableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size()); }
int TableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size()); }

QString TableModel::textOf(const Column& column, const Cell& cell) const {
    if (cell.kind == Cell::Kind::empty) return QStringLiteral("—");
    if (cell.kind == Cell::Kind::text) return qs(cell.text);
    QString text = qs(format_value(column, cell));
    if (std::isfinite(cell.spread)) text += QStringLiteral(" ± ") + qs(format_spread(column, cell));
    return text + QString(cell.stars, QLatin1Char('*'));
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Column& column = m_table.columns[static_cast<std::size_t>(index.column())];
    const Cell& cell = m_table.rows[static_cast<std::size_t>(index.row())].cells[static_cast<std::size_t>(index.column())];
    const ThemeColours& colours = Theme::instance().colours();
    switch (role) {
        case Qt::DisplayRole:
            return textOf(column, cell);
        case Qt::TextAlignmentRole: {
            const bool left =
                column.alignment == Alignment::left || (column.alignment == Alignment::automatic && column.kind == ColumnKind::text);
            return QVariant::fromValue(Qt::AlignVCenter | (left                                    ? Qt::AlignLeft
                                                           : column.alignment == Alignment::centre ? Qt::AlignHCenter
                                                                                                   : Qt::AlignRight));
        }
        case Qt::FontRole:
            if (cell.best) {
                QFont font = Theme::tableFont();
                font.setWeight(QFont::DemiBold);
                return font;
            }
            return {};
        case Qt::ForegroundRole:
            if (cell.kind == Cell::Kind::empty) return colours.secondary;
            if (column.kind == ColumnKind::delta && cell.stars > 0) return colours.seriesText(cell.value < 0 ? 1 : 0);
            return {};
        case Qt::ToolTipRole:
            if (cell.kind != Cell::Kind::number) return textOf(column, cell).toHtmlEscaped();
            return QString::number(cell.value, 'g', 10) + (cell.n > 0 ? tr(", n = %1").arg(cell.n) : QString());
        case Qt::UserRole:
            return cell.kind == Cell::Kind::number ? QVariant(cell.value) : QVariant(qs(cell.text));
        default:
            return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const Column& column = m_table.columns[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole && section < m_headings.size()) return m_headings[section];
    if (role == Qt::DisplayRole || role == Qt::UserRole) return qs(column_heading(column));
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter | (column.kind == ColumnKind::text ? Qt::AlignLeft : Qt::AlignRight));
    if (role == Qt::ToolTipRole) return qs(column.group.empty() ? column.name : column.group + ": " + column.name).toHtmlEscaped();
    if (role == Qt::ForegroundRole && section < m_headingColours.size() && m_headingColours[section] >= 0)
        return Theme::instance().colours().seriesText(m_headingColours[section]);
    return {};
}

}  // namespace faceter::desktop
