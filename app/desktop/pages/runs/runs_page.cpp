#include "pages/runs/runs_page.h"

#include <QJsonArray>
#include <QMenu>
#include <QSplitter>
#include <QStackedLayout>
#include <QTimer>
#include <QToolButton>
#include <algorithm>

#include "actions/run_actions.h"
#include "compare/counted_run.h"
#include "figure/elided_name.h"
#include "pages/page_parts.h"
#include "pages/runs/curve_card.h"
#include "pages/runs/runs_view.h"
#include "pages/runs/selection_actions.h"
#include "pages/runs/selection_bar.h"
#include "widgets/filter_edit.h"
#include "widgets/labels.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int most_curves = 8;          // colours of the palette without dashes
constexpr std::size_t most_seeds = 20;  // of a curve

const PageRegistration registration{
    {QStringLiteral("runs"), QStringLiteral("Runs"), 2, true, [](Workspace& workspace) { return new RunsPage(workspace); }}};

}  // namespace

QJsonObject RunsPage::state() const {
    QJsonObject widths;
    const QHash<QString, int> byId = m_table->widths();
    for (auto width = byId.cbegin(); width != byId.cend(); ++width) widths[width.key()] = width.value();
    QJsonArray open;
    for (const std::uint64_t group : m_open) open.append(QString::number(group, 16));
    return {{QStringLiteral("filter"), m_filter->text()},
            {QStringLiteral("group"), m_group.id()},
            {QStringLiteral("columns"), QJsonArray::fromStringList(m_columnIds)},
            {QStringLiteral("widths"), widths},
            {QStringLiteral("sort"), m_sort.column.id()},
            {QStringLiteral("descending"), m_sort.order == Qt::DescendingOrder},
            {QStringLiteral("open"), open},
            {QStringLiteral("archived"), m_archived},
            {QStringLiteral("series"), m_curves->series()},
            {QStringLiteral("splitter"), QString::fromLatin1(m_splitter->saveState().toBase64())}};
}

void RunsPage::restore(const QJsonObject& state) {
    if (state.isEmpty()) return;
    m_group = GroupBy::fromId(state[QStringLiteral("group")].toString());
    m_groupButton->setText(tr("Group: %1").arg(m_group.title()));
    if (const auto column = RunColumn::fromId(state[QStringLiteral("sort")].toString()))
        m_sort = {*column, state[QStringLiteral("descending")].toBool() ? Qt::DescendingOrder : Qt::AscendingOrder};
    m_columnIds.clear();
    for (const QJsonValue id : state[QStringLiteral("columns")].toArray())
        if (RunColumn::fromId(id.toString()) && !m_columnIds.contains(id.toString())) m_columnIds << id.toString();
    QHash<QString, int> widths;
    const QJsonObject byId = state[QStringLiteral("widths")].toObject();
    for (auto width = byId.constBegin(); width != byId.constEnd(); ++width)
        widths[width.key()] = std::clamp(width.value().toInt(100), 32, 2000);
    m_table->setWidths(widths);
    m_open.clear();
    for (const QJsonValue group : state[QStringLiteral("open")].toArray()) m_open.insert(group.toString().toULongLong(nullptr, 16));
    setArchivedShown(state[QStringLiteral("archived")].toBool());
    m_curves->setSeries(state[QStringLiteral("series")].toString());
    m_splitter->restoreState(QByteArray::fromBase64(state[QStringLiteral("splitter")].toString().toLatin1()));
    m_filter->edit()->setText(state[QStringLiteral("filter")].toString());  // read once the names are known
    m_query->ask();
}

bool RunsPage::isReady() const {
    const ProjectSession* session = workspace().session();
    if (!session) return true;
    return session->isLoaded() && !m_query->isBusy() && m_answer.data && m_answer.data->snapshot() == workspace().runs() &&
           m_filter->isSettled() && m_curves->isReady();
}

void RunsPage::shown() {
    const QSignalBlocker choosesNothing(m_table->selectionModel());  // with the focus a view makes its first row the current one
    focusPart(*this, m_stack->currentWidget() == m_content ? m_table : m_stack->currentWidget());
}

void RunsPage::projectChanged() {
    m_answer = {};
    m_filter->setNames(nullptr);
    m_followed.clear();
    m_open.clear();
    m_wantsWidths = true;
    m_table->clearSelection();
    m_curves->clear();
    m_error->setMessage({});
    m_stack->setCurrentWidget(m_loading);
}

std::function<RunsAnswer(Store&)> RunsPage::question() const {
    return [snapshot = workspace().runs(), before = m_answer, filter = m_filter->filter(), keys = keysShown()](Store& store) {
        return readRuns(store, snapshot, before, filter, keys);
    };
}

void RunsPage::take(const RunsAnswer& answer) {
    const bool namesNew = answer.names != m_answer.names, dataNew = answer.data != m_answer.data;
    m_answer = answer;
    if (namesNew) m_filter->setNames(answer.names);  // may read the expression and ask again
    relayout();
    showCurves(dataNew);  // another filter leaves other lines
    if (hasFocus()) shown();
}

/// Also what the table is sorted or grouped by without showing it.
ColumnKeys RunsPage::keysShown() const {
    ColumnKeys keys;
    for (const QString& id : m_columnIds + QStringList{m_sort.column.id()}) {
        const auto column = RunColumn::fromId(id);
        if (column && column->kind == RunColumn::Kind::series) keys.series.insert(column->key);
        if (column && column->kind == RunColumn::Kind::setting) keys.settings.insert(column->key);
    }
    if (m_group.kind == GroupBy::Kind::setting) keys.settings.insert(m_group.key);
    return keys;
}

std::vector<RunColumn> RunsPage::columnsNow() const {
    std::vector<RunColumn> columns;
    if (m_columnIds.isEmpty()) {
        columns = m_answer.data->defaultColumns();
        if (m_group.kind == GroupBy::Kind::seeds) std::erase(columns, RunColumn{RunColumn::Kind::seed, {}});  // n stands beside the name
        return columns;
    }
    for (const QString& id : m_columnIds)
        if (const auto column = RunColumn::fromId(id)) columns.push_back(*column);
    return columns;
}

/// At once by what has been read; what is missing comes with an answer.
void RunsPage::relayout() {
    if (!m_answer.data) return;
    if (m_answer.keys != keysShown()) m_query->ask();
    LayoutOptions options;
    options.experiment = workspace().experiment().toStdString();
    options.kept = m_answer.kept.empty() ? nullptr : &m_answer.kept;
    options.archived = m_archived;
    options.group = m_group;
    options.sort = m_sort;
    options.columns = columnsNow();
    options.open = &m_open;
    RunsLayout layout = layOut(*m_answer.data, options);
    if (options.columns != m_model->columns())
        showColumns(std::move(options.columns), std::move(layout));
    else
        m_table->keepingPlace([&] { m_model->show(m_answer.data, m_model->columns(), std::move(layout)); });
    std::exchange(m_wantsWidths, m_model->rowCount() == 0) ? m_table->fitWidths() : m_table->widen();
    m_table->setSort(m_sort);
    m_stack->setCurrentWidget(m_answer.data->numRuns() == 0 ? static_cast<QWidget*>(m_empty) : m_content);
    showCounts();
    showSelection();
    followCurrentRun();
}

/// Other columns are another table: the selection is taken over by hand.
void RunsPage::showColumns(std::vector<RunColumn> columns, RunsLayout layout) {
    const QSet<quint64> selected = m_table->selectedLines();
    const quint64 current = m_table->currentLine();
    m_table->keepingPlace([&] { m_model->show(m_answer.data, std::move(columns), std::move(layout)); });
    m_table->fitWidths();
    m_table->selectLines(selected, current);
}

void RunsPage::showCounts() {
    const RunsLayout& layout = m_model->layout();
    QStringList parts;
    parts << (workspace().experiment().isEmpty() ? tr("all experiments") : isolated(workspace().experiment()));
    parts << (layout.numRuns == 1 ? tr("1 run") : tr("%1 runs").arg(countText(layout.numRuns)));
    if (m_group.kind != GroupBy::Kind::none && !layout.groups.empty()) {
        const auto shown = std::count_if(layout.lines.begin(), layout.lines.end(), [](const RunsLine& line) { return !line.isMember(); });
        parts.last() += shown == 1 ? tr(" in 1 line") : tr(" in %1 lines").arg(countText(shown));
    }
    if (layout.numArchived > 0)
        parts << (m_archived ? tr("%1 archived shown") : tr("%1 archived hidden")).arg(countText(layout.numArchived));
    static_cast<ElidedLabel*>(m_subtitle)->setFullText(parts.join(QStringLiteral(" · ")));
}

void RunsPage::showSelection() {
    m_actions->refresh();
    m_bar->show(static_cast<int>(m_table->selectedLines().size()), static_cast<int>(selectedRuns().size()));
    Q_EMIT selectedRunsChanged();
}

QStringList RunsPage::selectedRuns() const { return m_table->selectedRuns(); }

/// Rows of the selected runs; of what stands first in the table where nothing is selected.
std::vector<int> RunsPage::chosenRuns() const {
    std::vector<int> rows;
    const QSet<quint64> selected = m_table->selectedLines();
    for (int line = 0; line < m_model->rowCount() && rows.size() < most_curves * most_seeds; ++line) {
        if (!selected.isEmpty() && !selected.contains(m_model->line(line).identity)) continue;
        for (const int row : m_model->runsOf(line))
            if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    }
    return rows;
}

void RunsPage::showCurves(bool anew) {
    if (!m_answer.data) return;
    std::vector<CurveGroup> groups;
    std::vector<std::vector<const RunRow*>> members;  // of the groups
    QHash<QString, std::size_t> places;
    const std::vector<int> rows = chosenRuns();
    bool live = false, all = rows.size() < most_curves * most_seeds;
    for (const int row : rows) {
        const RunRow& run = m_answer.data->run(row);
        if (run.info.is_baseline()) continue;  // the start model is not trained
        const QString key = groupKey(run.info);
        if (!places.contains(key)) {
            if (groups.size() == most_curves) {
                all = false;
                continue;
            }
            places.insert(key, groups.size());
            members.emplace_back();
            groups.push_back(
                {m_answer.data->label(row, workspace().experiment().isEmpty()).toStdString(), workspace().colourOf(run.info), {}});
        }
        std::vector<const RunRow*>& seeds = members[places[key]];
        if (seeds.size() == most_seeds) continue;
        seeds.push_back(&run);
        live = live || !is_over(run.state.phase);
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::sort(members[i].begin(), members[i].end());  // the project's order, not the table's: which run of a seed is its first
        for (const RunRow* run : counting_first(members[i])) {
            groups[i].runs.push_back(run->info.id);
            groups[i].seeds.push_back(run->info.seed);
        }
    }
    // Those that have ended since have their last steps yet to be drawn.
    const bool grew = m_curvesGrow;
    if (anew || live) m_curvesGrow = live;
    m_curves->show(groups, anew && (live || grew), all);
}

void RunsPage::followCurrentRun() {
    const QString run = workspace().currentRun();
    if (run == m_followed || run.isEmpty() || !m_answer.data) return;
    const int row = m_answer.data->snapshot()->find(run.toStdString());
    if (row < 0) return;
    for (int line = 0; line < m_model->rowCount(); ++line) {
        const std::vector<int> runs = m_model->runsOf(line);
        if (std::find(runs.begin(), runs.end(), row) == runs.end()) continue;
        m_followed = run;
        const quint64 identity = m_model->line(line).identity;
        m_table->selectLines({identity}, identity);
        m_table->scrollTo(m_model->index(line, 0));
        return;
    }
}

void RunsPage::setGrouping(const GroupBy& group) {
    if (group == m_group) return;
    m_group = group;
    m_groupButton->setText(tr("Group: %1").arg(group.title()));
    m_wantsWidths = true;
    relayout();
    showCurves(false);
}

void RunsPage::setSort(const SortBy& sort) {
    m_sort = sort;
    relayout();
    m_table->scrollToTop();
    showCurves(false);
}

void RunsPage::setColumns(const QStringList& ids) {
    m_columnIds = ids;
    relayout();
}

void RunsPage::setOpen(quint64 group, bool open) {
    if (open)
        m_open.insert(group);
    else
        m_open.erase(group);
    relayout();
}

}  // namespace faceter::desktop
