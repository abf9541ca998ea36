#include "pages/queue/queue_model.h"

#include <QMimeData>

#include "figure/elided_name.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/colour_dot.h"
#include "widgets/run_label.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

const QString mime_type = QStringLiteral("application/x-faceter-queued-run");

bool isNumber(int column) { return column == QueueModel::place || (column >= QueueModel::rate && column <= QueueModel::devices); }

/// "1.31 of 1.40 GiB": measured, and what was forecast.
QString memoryText(const QueueRow& row) {
    const auto gib = [](double value) { return QString::number(value, 'f', 2); };
    if (row.memory_gib > 0 && row.forecast_gib > 0) return QueueModel::tr("%1 of %2 GiB").arg(gib(row.memory_gib), gib(row.forecast_gib));
    if (row.memory_gib > 0) return QueueModel::tr("%1 GiB").arg(gib(row.memory_gib));
    return row.forecast_gib > 0 ? QueueModel::tr("forecast %1 GiB").arg(gib(row.forecast_gib)) : QString();
}

/// "EM · lr=2e-05 · seed 2": in a column, the whole keys would push the values and the seed out of sight.
QString nameText(const RunInfo& run) {
    const QString point = run.point.empty() ? QString() : QStringLiteral(" · ") + qs(run.point);
    return seedLabel(withShortKeys(qs(run.shown_name()) + point), run.seed);
}

QString leftText(const QueueRow& row) {
    const double left = secondsLeft(row.run.state);
    if (left >= 0) return durationText(left);
    return row.forecast_s > 0 && row.kind == QueueRow::Kind::waiting ? QueueModel::tr("forecast %1").arg(durationText(row.forecast_s))
                                                                     : QString();
}

}  // namespace

void QueueModel::setData(QueueDataPtr data) {
    beginResetModel();
    m_data = std::move(data);
    endResetModel();
}

const QueueRow* QueueModel::row(int row) const {
    return row >= 0 && row < rowCount() ? &m_data->rows[static_cast<std::size_t>(row)] : nullptr;
}

int QueueModel::rowOf(const QString& run) const {
    for (int i = 0; i < rowCount(); ++i)
        if (qs(row(i)->run.info.id) == run) return i;
    return -1;
}

int QueueModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_data->rows.size()); }

QString QueueModel::text(const QueueRow& row, int column) const {
    const RunState& now = row.run.state;
    switch (column) {
        case place:
            return row.kind == QueueRow::Kind::waiting && row.place > 0 ? QString::number(row.place) : QString();
        case run:
            return nameText(row.run.info);
        case state:
            return row.kind == QueueRow::Kind::waiting && row.paused ? tr("paused")
                   : row.kind == QueueRow::Kind::waiting             ? tr("waiting")
                                                                     : qs(run_phase_name(now.phase));
        case progress:
            return row.kind == QueueRow::Kind::waiting ? QString() : progressText(now);
        case rate:
            return now.steps_per_s > 0 && now.phase == RunPhase::running ? tr("%1 steps/s").arg(now.steps_per_s, 0, 'g', 3) : QString();
        case left:
            return leftText(row);
        case memory:
            return memoryText(row);
        case devices:
            return row.where.empty() ? QString::number(row.devices) : QString();
        default:
            return row.where.empty() ? tr("this machine") : qs(row.where);
    }
}

QVariant QueueModel::data(const QModelIndex& index, int role) const {
    const QueueRow* one = row(index.row());
    if (!one) return {};
    if (role == Qt::DisplayRole) return text(*one, index.column());
    if (role == Qt::ToolTipRole) {
        const QString whole = index.column() == run ? runLabel(one->run.info) : text(*one, index.column());
        return (qs(one->run.info.id) + QLatin1Char('\n') + whole).toHtmlEscaped();
    }
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment((isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role == Qt::ForegroundRole && index.column() != run) {
        const ThemeColours& colours = Theme::instance().colours();
        const bool over = one->forecast_gib > 0 && one->memory_gib > one->forecast_gib;
        return index.column() == memory && over ? colours.warning : colours.secondary;
    }
    return {};
}

QVariant QueueModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role != Qt::DisplayRole) return {};
    const QStringList names{tr("next"), tr("run"),    tr("state"),   tr("progress"), tr("rate"),
                            tr("left"), tr("memory"), tr("devices"), tr("where")};
    return names.value(section);
}

Qt::ItemFlags QueueModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    const QueueRow* one = row(index.row());
    if (!one) return flags | Qt::ItemIsDropEnabled;  // between rows
    return one->kind == QueueRow::Kind::waiting && one->place > 0 ? flags | Qt::ItemIsDragEnabled : flags;
}

QStringList QueueModel::mimeTypes() const { return {mime_type}; }

QMimeData* QueueModel::mimeData(const QModelIndexList& indexes) const {
    auto* data = new QMimeData;
    if (const QueueRow* one = indexes.isEmpty() ? nullptr : row(indexes.first().row()))
        data->setData(mime_type, QByteArray::fromStdString(one->run.info.id));
    return data;
}

/// The rows stay until the queue says that they have moved.
bool QueueModel::dropMimeData(const QMimeData* data, Qt::DropAction, int row, int, const QModelIndex& parent) {
    const QString run = QString::fromUtf8(data->data(mime_type));
    const int from = rowOf(run), to = row >= 0 ? row : parent.isValid() ? parent.row() : rowCount();
    if (from < 0) return false;
    int place = 0;  // so many others that wait in its queue stand before the gap
    for (int i = 0; i < std::min(to, rowCount()); ++i)
        place += i != from && this->row(i)->kind == QueueRow::Kind::waiting && this->row(i)->place > 0 &&
                 this->row(i)->queue == this->row(from)->queue;
    Q_EMIT moveAsked(run, place);
    return false;
}

}  // namespace faceter::desktop
