#include "pages/runs/runs_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "actions/run_actions.h"
#include "pages/runs/runs_delegate.h"
#include "widgets/as_written.h"

namespace faceter::desktop {
namespace {

constexpr int measured_lines = 100;
constexpr int head_padding = 20;                   // what the style sheet and the header take beside its text
constexpr int sort_room = 12;                      // for the arrow at the column that is sorted by
constexpr int least_name = 180, tight_name = 132;  // a sweep's points differ at their names' ends
constexpr int most_width = 300, most_name_width = 220, most_settings_width = 150;

/// How narrow a column may get for the others' sake, its head whole; numbers and states are never cut. `time`: of its first words.
int leastWidth(RunColumn::Kind kind, int wanted, int head, int content, int name, int time) {
    switch (kind) {
        case RunColumn::Kind::name:
            return std::min(wanted, name);
        case RunColumn::Kind::time:
            return std::min(wanted, std::max({100, head, time}));
        case RunColumn::Kind::key_settings:
        case RunColumn::Kind::point:
        case RunColumn::Kind::tags:
        case RunColumn::Kind::note:
            return std::min(wanted, std::max(72, head));
        default:
            return std::min(wanted, std::max(content, head));
    }
}

}  // namespace

RunsView::RunsView(RunsModel& model, QWidget* parent) : DataTable(parent), m_model(model), m_delegate(new RunsDelegate(this)) {
    setObjectName(QStringLiteral("runsTable"));
    setAccessibleName(tr("Runs"));
    setModel(&model);
    setItemDelegate(m_delegate);
    setContextMenuPolicy(Qt::CustomContextMenu);
    setMouseTracking(true);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    verticalScrollBar()->setSingleStep(verticalHeader()->defaultSectionSize());
    QHeaderView* header = horizontalHeader();
    header->setObjectName(QStringLiteral("runsHeader"));
    header->setSectionsMovable(true);
    header->setSectionsClickable(true);
    header->setSortIndicatorShown(true);
    header->setStretchLastSection(true);
    connect(&model, &QAbstractItemModel::modelReset, this, &RunsView::resetOrder);
    connect(header, &QHeaderView::sortIndicatorChanged, this, &RunsView::sortClicked);
    connect(header, &QHeaderView::sectionResized, this, [this](int section, int, int width) {
        const bool stretched = horizontalHeader()->visualIndex(section) == m_model.columnCount() - 1;
        if (m_fitting || stretched || section >= m_model.columnCount()) return;
        m_widths[m_model.columns()[static_cast<std::size_t>(section)].id()] = width;
    });
}

void RunsView::keepingPlace(const std::function<void()>& change) {
    const int top = rowAt(0);
    const quint64 identity = top >= 0 ? m_model.line(top).identity : 0;
    const int offset = top >= 0 ? rowViewportPosition(top) : 0;
    const bool atTop = verticalScrollBar()->value() == 0;
    change();
    const int now = top >= 0 && !atTop ? m_model.find(identity) : -1;
    if (now < 0) return;
    updateGeometries();  // the scroll bar knows the new number of lines only then
    verticalScrollBar()->setValue(now * verticalHeader()->defaultSectionSize() - offset);
}

QStringList RunsView::selectedRuns() const {
    QSet<int> seen;
    QStringList runs;
    QList<int> rows;
    for (const QItemSelectionRange& range : selectionModel()->selection())
        for (int row = range.top(); row <= range.bottom(); ++row) rows << row;
    std::sort(rows.begin(), rows.end());
    for (const int row : rows)
        for (const int run : m_model.runsOf(row)) {
            if (seen.contains(run)) continue;
            seen.insert(run);
            runs << qs(m_model.runsData().run(run).info.id);
        }
    return runs;
}

QSet<quint64> RunsView::selectedLines() const {
    QSet<quint64> lines;
    for (const QItemSelectionRange& range : selectionModel()->selection())
        for (int row = range.top(); row <= range.bottom(); ++row) lines.insert(m_model.line(row).identity);
    return lines;
}

quint64 RunsView::currentLine() const { return currentIndex().isValid() ? m_model.line(currentIndex().row()).identity : 0; }

void RunsView::selectLines(const QSet<quint64>& identities, quint64 current) {
    QItemSelection selection;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const quint64 identity = m_model.line(row).identity;
        if (identity == current) selectionModel()->setCurrentIndex(m_model.index(row, 0), QItemSelectionModel::NoUpdate);
        if (!identities.contains(identity)) continue;
        int last = row;
        while (last + 1 < m_model.rowCount() && identities.contains(m_model.line(last + 1).identity)) ++last;
        selection.select(m_model.index(row, 0), m_model.index(last, m_model.columnCount() - 1));
        row = last;
    }
    selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect);
}

QStringList RunsView::shownOrder() const {
    QStringList ids;
    for (int visual = 0; visual < m_model.columnCount(); ++visual)
        ids << m_model.columns()[static_cast<std::size_t>(horizontalHeader()->logicalIndex(visual))].id();
    return ids;
}

/// A header keeps its visual order through a reset; the model's columns come in theirs.
void RunsView::resetOrder() {
    const QSignalBlocker blocker(horizontalHeader());
    for (int place = 0; place < m_model.columnCount(); ++place)
        horizontalHeader()->moveSection(horizontalHeader()->visualIndex(place), place);
    viewport()->update();
}

QHash<QString, int> RunsView::widths() const { return m_widths; }

void RunsView::setWidths(const QHash<QString, int>& widths) {
    m_widths = widths;
    fitWidths();
}

int RunsView::headWidth(int column) const {
    const QString title = m_model.columns()[static_cast<std::size_t>(column)].title();
    return QFontMetrics(horizontalHeader()->font()).horizontalAdvance(title) + head_padding;
}

int RunsView::contentWidth(int column) const {
    const QFontMetrics body(font());
    int wide = 0;
    for (int row = 0; row < std::min(m_model.rowCount(), measured_lines); ++row)
        wide = std::max(wide, RunsDelegate::wantedWidth(m_model.index(row, column), body, m_delegate->areSpreadsShown()));
    return wide;
}

int RunsView::wantedWidth(int column) const {
    const RunColumn& what = m_model.columns()[static_cast<std::size_t>(column)];
    const int wide = std::max(headWidth(column) + sort_room, contentWidth(column));
    const bool settings = what.kind == RunColumn::Kind::key_settings;
    return std::min(wide, settings ? most_settings_width : what.kind == RunColumn::Kind::name ? most_name_width : most_width);
}

/// Columns as wide as their texts; where they do not all fit, texts give way before a column goes behind the scroll bar.
void RunsView::fitWidths() {
    m_delegate->setSpreadsShown(true);
    m_wanted.clear();
    widen();
    viewport()->update();
}

void RunsView::widen() {
    const std::vector<int> before = m_wanted;
    m_wanted.resize(static_cast<std::size_t>(m_model.columnCount()), 0);
    for (std::size_t i = 0; i < m_wanted.size(); ++i) m_wanted[i] = std::max(m_wanted[i], wantedWidth(static_cast<int>(i)));
    if (m_wanted == before || shareWidth() || !m_delegate->areSpreadsShown()) return;
    m_delegate->setSpreadsShown(false);
    m_wanted.clear();
    widen();
}

/// How much narrower each column may get than it is wanted; none of those whose width somebody chose. How long a run took is whole until
/// names have given way; when and where it was is not.
std::vector<int> RunsView::slackOf(int leastName) const {
    const auto firstWords = [this](int column) {
        const QFontMetrics body(font());
        int wide = 0;
        for (int row = 0; row < std::min(m_model.rowCount(), measured_lines); ++row) {
            const QModelIndex index = m_model.index(row, column);
            const QString whole = index.data().toString(), first = whole.section(QStringLiteral(" · "), 0, 0);
            wide = std::max(wide, RunsDelegate::wantedWidth(index, body, m_delegate->areSpreadsShown()) - body.horizontalAdvance(whole) +
                                      body.horizontalAdvance(first));
        }
        return wide;
    };
    std::vector<int> slack;
    for (int column = 0; column < m_model.columnCount(); ++column) {
        const RunColumn& what = m_model.columns()[static_cast<std::size_t>(column)];
        const int wanted = m_wanted[static_cast<std::size_t>(column)];
        const int head = headWidth(column) + (what == m_sort.column ? sort_room : 0);
        const int time = what.kind == RunColumn::Kind::time && leastName > tight_name ? firstWords(column) : 0;
        const int least = leastWidth(what.kind, wanted, head, contentWidth(column), leastName, time);
        slack.push_back(m_widths.contains(what.id()) ? 0 : wanted - least);
    }
    return slack;
}

/// Whether all of them are in sight.
bool RunsView::shareWidth() {
    std::vector<int> widths;
    for (std::size_t i = 0; i < m_wanted.size(); ++i) widths.push_back(m_widths.value(m_model.columns()[i].id(), m_wanted[i]));
    const int excess = std::accumulate(widths.begin(), widths.end(), 0) - viewport()->width();
    std::vector<int> given(widths.size(), 0);
    // Settings and moments give way before names, which say what a line is, and names once more before the last column goes out of sight.
    for (const int leastName : {most_name_width, least_name, tight_name}) {
        const std::vector<int> slack = slackOf(leastName);
        const int missing = excess - std::accumulate(given.begin(), given.end(), 0);
        const int yielding = std::accumulate(slack.begin(), slack.end(), -std::accumulate(given.begin(), given.end(), 0));
        if (missing <= 0 || yielding <= 0) continue;
        const double share = std::min(1.0, static_cast<double>(missing) / yielding);
        for (std::size_t i = 0; i < given.size(); ++i) given[i] += static_cast<int>(std::ceil((slack[i] - given[i]) * share));
    }
    m_fitting = true;
    for (std::size_t i = 0; i < widths.size(); ++i) setColumnWidth(static_cast<int>(i), std::max(32, widths[i] - given[i]));
    m_fitting = false;
    return excess <= std::accumulate(given.begin(), given.end(), 0);
}

void RunsView::resizeEvent(QResizeEvent* event) {
    DataTable::resizeEvent(event);
    if (event->size().width() != event->oldSize().width()) fitWidths();
}

void RunsView::setSort(const SortBy& sort) {
    const bool moved = !(sort.column == m_sort.column);
    m_sort = sort;
    const auto& columns = m_model.columns();
    {
        const QSignalBlocker blocker(horizontalHeader());
        const auto place = std::find(columns.begin(), columns.end(), sort.column);
        horizontalHeader()->setSortIndicator(place == columns.end() ? -1 : static_cast<int>(place - columns.begin()), sort.order);
    }
    if (moved && m_wanted.size() == columns.size()) shareWidth();  // the arrow takes its room
}

void RunsView::sortClicked(int section, Qt::SortOrder order) {
    if (section < 0 || section >= m_model.columnCount()) return;
    SortBy sort{m_model.columns()[static_cast<std::size_t>(section)], order};
    // Of a score the best is wanted first.
    if (!(sort.column == m_sort.column) && sort.column.direction() > 0) sort.order = Qt::DescendingOrder;
    Q_EMIT sortRequested(sort);
}

/// The other way round where it is sorted by that already, as a click on the header does.
void RunsView::sortByCurrentColumn() {
    const int column = currentIndex().column();
    const bool again = m_model.columns()[static_cast<std::size_t>(column)] == m_sort.column;
    sortClicked(column, again && m_sort.order == Qt::AscendingOrder ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void RunsView::addCopyActions(QMenu& menu) {
    if (currentIndex().isValid()) {
        const QString column = m_model.columns()[static_cast<std::size_t>(currentIndex().column())].title();
        menu.addAction(tr("Sort by %1").arg(asWritten(column)), QKeySequence(Qt::Key_S), this, &RunsView::sortByCurrentColumn);
        menu.addSeparator();
    }
    menu.addAction(tr("Copy as TSV"), QKeySequence::Copy, this, [this] { QApplication::clipboard()->setText(selectionAsTsv()); });
    menu.addAction(tr("Copy as Markdown"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), this,
                   [this] { QApplication::clipboard()->setText(selectionAsMarkdown()); });
}

bool RunsView::toggleAt(const QPoint& position) {
    const QModelIndex index = indexAt(position);
    if (!index.isValid() || m_model.columns()[static_cast<std::size_t>(index.column())].kind != RunColumn::Kind::name) return false;
    const RunsGroup* group = m_model.groupOf(index.row());
    if (!group || !RunsDelegate::arrowRect(visualRect(index)).contains(position)) return false;
    Q_EMIT openChanged(group->identity, !group->open);
    return true;
}

/// The runs that "Resume" stands for at a place: of a group those that can go on.
QStringList RunsView::resumableAt(const QPoint& position) const {
    const QModelIndex index = indexAt(position);
    if (!index.isValid()) return {};
    QStyleOptionViewItem option;
    initViewItemOption(&option);
    option.rect = visualRect(index);
    QStringList runs;
    if (!RunsDelegate::resumeRect(option, index).contains(position)) return runs;
    for (const int place : m_model.runsOf(index.row()))
        if (const RunRow& run = m_model.runsData().run(place); isResumable(run)) runs << qs(run.info.id);
    return runs;
}

void RunsView::mousePressEvent(QMouseEvent* event) {
    const QPoint position = event->position().toPoint();
    if (event->button() == Qt::LeftButton && toggleAt(position)) return;
    if (const QStringList runs = resumableAt(position); event->button() == Qt::LeftButton && !runs.isEmpty()) {
        Q_EMIT resumeRequested(runs);
        return;
    }
    DataTable::mousePressEvent(event);
}

void RunsView::mouseDoubleClickEvent(QMouseEvent* event) {
    const QPoint position = event->position().toPoint();
    const bool onArrow = event->button() == Qt::LeftButton && toggleAt(position);
    if (!onArrow && event->button() == Qt::LeftButton && indexAt(position).isValid()) Q_EMIT showRequested();
}

void RunsView::mouseMoveEvent(QMouseEvent* event) {
    viewport()->setCursor(resumableAt(event->position().toPoint()).isEmpty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
    DataTable::mouseMoveEvent(event);
}

/// Right opens a group and then steps into it; Left closes it, from any of its runs.
bool RunsView::openCurrent(bool open) {
    if (!currentIndex().isValid()) return false;
    const int row = currentIndex().row();
    if (const RunsGroup* group = m_model.groupOf(row)) {
        if (group->open == open) return false;
        Q_EMIT openChanged(group->identity, open);
        return true;
    }
    if (open || !m_model.line(row).isMember()) return false;
    int above = row;
    while (above > 0 && !m_model.line(above).isGroup()) --above;
    const quint64 group = m_model.line(above).identity;
    selectLines({group}, group);
    return true;
}

void RunsView::keyPressEvent(QKeyEvent* event) {
    const Qt::KeyboardModifiers modifiers = event->modifiers() & ~Qt::KeypadModifier;
    const int key = event->key();
    // Whether it takes Shift is a matter of the layout.
    const bool isPlus = (key == Qt::Key_Plus || key == Qt::Key_Equal) && !(modifiers & ~Qt::ShiftModifier);
    if (modifiers == Qt::NoModifier && (key == Qt::Key_Return || key == Qt::Key_Enter)) {
        Q_EMIT showRequested();
        return;
    }
    if (modifiers == Qt::NoModifier && key == Qt::Key_S && currentIndex().isValid()) return sortByCurrentColumn();
    if ((isPlus || (modifiers == Qt::NoModifier && key == Qt::Key_Right)) && openCurrent(true)) return;
    if (modifiers == Qt::NoModifier && (key == Qt::Key_Left || key == Qt::Key_Minus) && openCurrent(false)) return;
    DataTable::keyPressEvent(event);
}

}  // namespace faceter::desktop
