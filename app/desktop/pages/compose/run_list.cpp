#include "pages/compose/run_list.h"

#include <QKeyEvent>
#include <QStyle>

#include "pages/compose/run_list_model.h"

namespace faceter::desktop {

RunList::RunList(RunListModel& runs, QWidget* parent) : DataTable(parent), m_runs(runs) {
    setObjectName(QStringLiteral("plannedRuns"));
    setAccessibleName(tr("Runs that will be made"));
    setToolTip(tr("Runs without a tick are not launched. Space: ticks or unticks the selected ones."));
    setModel(&m_runs);
}

void RunList::fit() {
    fitColumns(260);
    const int box = style()->pixelMetric(QStyle::PM_IndicatorWidth, nullptr, this) + 8;
    setColumnWidth(RunListModel::number, columnWidth(RunListModel::number) + box);
}

void RunList::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Space || event->modifiers() != Qt::NoModifier) return DataTable::keyPressEvent(event);
    QList<int> rows;
    for (const QModelIndex& index : selectionModel()->selectedRows()) rows << index.row();
    if (rows.isEmpty() && currentIndex().isValid()) rows << currentIndex().row();
    const bool all = std::all_of(rows.begin(), rows.end(), [this](int row) { return m_runs.isTicked(row); });
    m_runs.setTicked(rows, !all);
}

}  // namespace faceter::desktop
