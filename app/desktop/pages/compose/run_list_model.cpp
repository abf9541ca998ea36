#include "pages/compose/run_list_model.h"

#include "project/runs_snapshot.h"

namespace faceter::desktop {

void RunListModel::setExperiment(std::shared_ptr<const Experiment> experiment) {
    beginResetModel();
    m_experiment = std::move(experiment);
    endResetModel();
}

int RunListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_experiment ? 0 : static_cast<int>(m_experiment->runs().size());
}

QVariant RunListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const ResolvedRun& run = m_experiment->runs()[static_cast<std::size_t>(index.row())];
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
