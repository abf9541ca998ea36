#include "pages/runs/runs_model.h"

#include <algorithm>
#include <cmath>

#include "actions/run_actions.h"
#include "pages/runs/group_text.h"
#include "theme/theme.h"
#include "widgets/run_label.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

using Kind = RunColumn::Kind;

bool isQuiet(const RunColumn& column) {
    return column.kind == Kind::key_settings || column.kind == Kind::time || column.kind == Kind::created || column.kind == Kind::note;
}

double progressOf(const RunState& state) {
    if (state.phase != RunPhase::running || state.total_steps <= 0) return -1;
    return std::clamp(static_cast<double>(state.step) / static_cast<double>(state.total_steps), 0.0, 1.0);
}

}  // namespace

RunsModel::RunsModel(QObject* parent)
    : QAbstractTableModel(parent), m_data(std::make_shared<RunsData>()), m_colourOf([](const RunInfo&) { return -1; }) {
    connect(&Theme::instance(), &Theme::changed, this, [this] { announce({}, true); });
}

int RunsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_layout.lines.size()); }
int RunsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_columns.size()); }

const RunsGroup* RunsModel::groupOf(int row) const {
    return line(row).isGroup() ? &m_layout.groups[static_cast<std::size_t>(line(row).group)] : nullptr;
}

std::vector<int> RunsModel::runsOf(int row) const {
    if (const RunsGroup* group = groupOf(row)) return group->rows;
    return line(row).row >= 0 ? std::vector<int>{line(row).row} : std::vector<int>();
}

int RunsModel::find(std::uint64_t identity) const {
    const auto found =
        std::find_if(m_layout.lines.begin(), m_layout.lines.end(), [&](const RunsLine& line) { return line.identity == identity; });
    return found == m_layout.lines.end() ? -1 : static_cast<int>(found - m_layout.lines.begin());
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    const RunsLine& line = this->line(index.row());
    const auto column = static_cast<std::size_t>(index.column());
    if (line.row < 0 && line.group < 0) return {};
    if (role == Qt::FontRole || role == Qt::ForegroundRole || role == Qt::TextAlignmentRole || role == Qt::ToolTipRole)
        return look(line, column, role);
    return line.isGroup() ? groupValue(line.group, column, role) : runValue(line, column, role);
}

QVariant RunsModel::look(const RunsLine& line, std::size_t column, int role) const {
    const RunColumn& what = m_columns[column];
    if (role == Qt::ToolTipRole) return toolTip(line, column);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter | (what.isNumber() || what.kind == Kind::time ? Qt::AlignRight : Qt::AlignLeft));
    if (role == Qt::FontRole) {
        if (!isBest(line, column)) return {};
        QFont font = Theme::tableFont();
        font.setWeight(QFont::DemiBold);
        return font;
    }
    const bool archived = line.row >= 0 && m_data->run(line.row).archived;
    return isQuiet(what) || archived ? QVariant(Theme::instance().colours().secondary) : QVariant();
}

QVariant RunsModel::runValue(const RunsLine& line, std::size_t column, int role) const {
    const RunColumn& what = m_columns[column];
    const RunRow& run = m_data->run(line.row);
    switch (role) {
        case Qt::DisplayRole:
            return runText(line, what);
        case numberRole:
            return m_data->number(line.row, what);
        case runRole:
            return qs(run.info.id);
        case extraRole:
            return what.kind == Kind::name
                       ? QString(run.info.smoke ? tr("trial") : QString()) + (run.archived ? tr(" archived") : QString())
                       : QString();
        case phaseRole:
            return static_cast<int>(run.state.phase);
        case progressRole:
            return progressOf(run.state);
        case seriesColourRole:
            return m_colourOf(run.info);
        case resumableRole:
            return isResumable(run);
        case pinnedRole:
            return run.pinned;
        default:
            return {};
    }
}

QString RunsModel::runText(const RunsLine& line, const RunColumn& column) const {
    if (column.kind != Kind::name) return m_data->text(line.row, column);
    const RunInfo& info = m_data->run(line.row).info;
    // Below a group of seeds the sweep point is said already.
    if (line.isMember()) {
        const QString& label = m_layout.groups[static_cast<std::size_t>(line.group)].label;
        if (label == m_data->label(line.row, false) || label == m_data->label(line.row, true))
            return seedLabel(qs(info.shown_name()), info.seed);
    }
    return qs(info.shown_name()) + (info.point.empty() ? QString() : QStringLiteral(" · ") + qs(info.point));
}

RunsModel::GroupTexts& RunsModel::textsOf(int group) const {
    m_groupTexts.resize(m_layout.groups.size());
    auto& texts = m_groupTexts[static_cast<std::size_t>(group)];
    if (!texts) {
        const RunsGroup& runs = m_layout.groups[static_cast<std::size_t>(group)];
        texts = GroupTexts{mostUrgent(*m_data, runs), groupProgress(*m_data, runs), {}};
        texts->cells.resize(m_columns.size());
    }
    return *texts;
}

const RunsModel::GroupCell& RunsModel::cellOf(int group, std::size_t column) const {
    auto& cell = textsOf(group).cells[column];
    if (!cell) {
        const RunsGroup& runs = m_layout.groups[static_cast<std::size_t>(group)];
        const RunColumn& what = m_columns[column];
        const QString spread = spreadText(what, runs.cells[column]);
        cell = GroupCell{groupText(*m_data, runs, what, runs.cells[column]) + spread, spread,
                         groupExtra(*m_data, runs, what, runs.cells[column])};
    }
    return *cell;
}

QVariant RunsModel::groupValue(int place, std::size_t column, int role) const {
    const RunsGroup& group = m_layout.groups[static_cast<std::size_t>(place)];
    switch (role) {
        case Qt::DisplayRole:
            return cellOf(place, column).text;
        case numberRole:
            return group.cells[column].mean;
        case spreadRole:
            return cellOf(place, column).spread;
        case extraRole:
            return cellOf(place, column).extra;
        case phaseRole:
            return static_cast<int>(m_data->run(textsOf(place).urgent).state.phase);
        case progressRole:
            return textsOf(place).progress;
        case seriesColourRole:
            return m_colourOf(m_data->run(group.rows.front()).info);
        case resumableRole:
            return isResumable(m_data->run(textsOf(place).urgent));
        case pinnedRole:
            return group.pinned;
        case runRole:
            return QString();
        default:
            return {};
    }
}

bool RunsModel::isBest(const RunsLine& line, std::size_t column) const {
    return !line.isMember() && column < m_layout.best.size() && m_layout.best[column].contains(line.identity);
}

QString RunsModel::toolTip(const RunsLine& line, std::size_t column) const {
    const RunColumn& what = m_columns[column];
    if (line.isGroup()) {
        const RunsGroup& group = m_layout.groups[static_cast<std::size_t>(line.group)];
        const Aggregate& cell = group.cells[column];
        const QString text = groupText(*m_data, group, what, cell);
        if (!what.isNumber() || cell.n == 0) return text.toHtmlEscaped();
        return tr("%1%2: mean and standard deviation over n = %3 of %4 runs")
            .arg(text, spreadText(what, cell))
            .arg(cell.n)
            .arg(group.rows.size())
            .toHtmlEscaped();
    }
    const RunRow& run = m_data->run(line.row);
    if (what.kind == Kind::name)
        return m_data->text(line.row, what).toHtmlEscaped() + QStringLiteral("<br>") + qs(run.info.id).toHtmlEscaped();
    if (what.kind == Kind::note) return qs(run.note).toHtmlEscaped();
    if (what.kind == Kind::state && !run.state.cause.empty()) return qs(run.state.cause).toHtmlEscaped();
    return m_data->text(line.row, what).toHtmlEscaped();
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const RunColumn& column = m_columns[static_cast<std::size_t>(section)];
    switch (role) {
        case Qt::DisplayRole:
            return column.title();
        case Qt::ToolTipRole:
            return column.toolTip().toHtmlEscaped();
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter |
                                       (column.isNumber() || column.kind == Kind::time ? Qt::AlignRight : Qt::AlignLeft));
        default:
            return {};
    }
}

}  // namespace faceter::desktop
