#include "pages/compose/run_list_model.h"

#include <QGuiApplication>
#include <QPalette>

#include "project/runs_snapshot.h"

namespace faceter::desktop {

void RunListModel::setExperiment(std::shared_ptr<const Experiment> experiment) {
    beginResetModel();
    m_experiment = std::move(experiment);
    endResetModel();
    Q_EMIT ticksChanged();
}

void RunListModel::tickAll() {
    QList<int> rows;
    m_unticked.clear();
    for (int row = 0; row < rowCount(); ++row) rows << row;
    setTicked(rows, true);
}

bool RunListModel::isTicked(int row) const { return !m_unticked.contains(name_of(m_experiment->runs()[static_cast<std::size_t>(row)])); }

void RunListModel::setTicked(const QList<int>& rows, bool ticked) {
    for (const int row : rows) {
        const std::string name = name_of(m_experiment->runs()[static_cast<std::size_t>(row)]);
        ticked ? void(m_unticked.erase(name)) : void(m_unticked.insert(name));
        Q_EMIT dataChanged(index(row, 0), index(row, num_columns - 1));
    }
    Q_EMIT ticksChanged();
}

std::vector<const ResolvedRun*> RunListModel::ticked() const {
    std::vector<const ResolvedRun*> runs;
    for (int row = 0; row < rowCount(); ++row)
        if (isTicked(row)) runs.push_back(&m_experiment->runs()[static_cast<std::size_t>(row)]);
    return runs;
}

ChosenRuns RunListModel::chosen() const {
    ChosenRuns names;
    for (const ResolvedRun* run : ticked()) names.push_back(name_of(*run));
    return static_cast<int>(names.size()) == rowCount() ? ChosenRuns() : names;
}

bool RunListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || index.column() != number || index.row() >= rowCount()) return false;
    setTicked({index.row()}, value.toInt() == Qt::Checked);
    return true;
}

Qt::ItemFlags RunListModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == number ? flags | Qt::ItemIsUserCheckable : flags;
}

int RunListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_experiment ? 0 : static_cast<int>(m_experiment->runs().size());
}

QVariant RunListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const ResolvedRun& run = m_experiment->runs()[static_cast<std::size_t>(index.row())];
    if (role == Qt::CheckStateRole && index.column() == number) return isTicked(index.row()) ? Qt::Checked : Qt::Unchecked;
    if (role == Qt::ForegroundRole && !isTicked(index.row())) return QGuiApplication::palette().color(QPalette::Disabled, QPalette::Text);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((index.column() == number || index.column() == seed ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case number:
            return index.row() + 1;
        case variant:
            return qs(run.variant);
        case point:
            return run.point.empty() ? QStringLiteral("—") : qs(run.point);
        case seed:
            return QString::number(run.seed);
        case method:
            return qs(run.method);
        case plugin:
            return qs(run.plugin);
        default:
            return {};
    }
}

QVariant RunListModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((section == number || section == seed ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case number:
            return tr("run");
        case variant:
            return tr("variant");
        case point:
            return tr("sweep point");
        case seed:
            return tr("seed");
        case method:
            return tr("method");
        case plugin:
            return tr("from");
        default:
            return {};
    }
}

}  // namespace faceter::desktop
