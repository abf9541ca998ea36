#include "pages/queue/queue_page.h"

#include <QAction>
#include <QHeaderView>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "actions/run_actions.h"
#include "pages/queue/queue_model.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("queue"), QStringLiteral("Queue"), 11, true, [](Workspace& workspace) { return new QueuePage(workspace); }}};

constexpr int look_ms = 2000, clock_ms = 1000, widest_column = 300;

QString summaryOf(const QueueData& data) {
    const int resumable = data.count(QueueRow::Kind::resumable);
    const QString counts = QueuePage::tr("%1 running · %2 waiting · %3 elsewhere · %4 that could go on")
                               .arg(data.count(QueueRow::Kind::running))
                               .arg(data.count(QueueRow::Kind::waiting))
                               .arg(data.count(QueueRow::Kind::elsewhere))
                               .arg(resumable + data.num_left_out);
    if (data.num_left_out == 0) return counts;
    return counts + QueuePage::tr(", of which the newest %1 stand here: page Runs has all").arg(resumable);
}

bool waits(const QueueRow& row) { return row.kind == QueueRow::Kind::waiting && row.place > 0; }

}  // namespace

QueuePage::QueuePage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<QueueDataPtr>(
          workspace, this, [this] { return question(); }, [this](const QueueDataPtr& data) { take(data); })),
      m_model(new QueueModel(this)),
      m_table(new DataTable),
      m_summary(secondaryLabel()),
      m_launches(plainLabel()),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_blank(new QWidget),
      m_empty(new EmptyState(tr("Nothing runs and nothing waits"),
                             tr("Runs that go on here or elsewhere stand here, in the order in which they start. Compose launches an "
                                "experiment; runs go on when this window is closed."),
                             tr("Open the composer"))),
      m_data(std::make_shared<const QueueData>()) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(makeHead());
    m_launches->setObjectName(QStringLiteral("queueLaunches"));
    m_launches->setWordWrap(true);
    layout->addWidget(m_launches);
    layout->addWidget(m_error);
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("queueTable"));
    m_table->setAccessibleName(tr("Runs that run, wait or could go on"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setDragDropMode(QAbstractItemView::InternalMove);
    m_table->setDragDropOverwriteMode(false);
    m_table->setDropIndicatorShown(true);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_blank, m_empty, m_table}) m_stack->addWidget(widget);
    layout->addWidget(m_stack, 1);
    layout->addWidget(makeActions());
    m_look.setInterval(look_ms);
    m_clock.setInterval(clock_ms);
    connectQuery();
    clear();
    m_query->ask();
}

QWidget* QueuePage::makeHead() {
    auto* head = new QWidget;
    auto* layout = new QHBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    layout->addWidget(titleLabel(tr("Queue")));
    m_summary->setObjectName(QStringLiteral("queueSummary"));
    m_summary->setWordWrap(true);
    layout->addWidget(m_summary, 1);
    m_pause = new QPushButton(tr("Pause"));
    m_pause->setObjectName(QStringLiteral("queuePause"));
    m_pause->setToolTip(tr("What runs goes on; nothing that waits starts"));
    connect(m_pause, &QPushButton::clicked, this,
            [this] { workspace().actions().setQueuesPaused(m_data->num_paused < m_data->num_queues); });
    layout->addWidget(m_pause);
    return head;
}

QPushButton* QueuePage::makeAction(const QString& text, const QString& name, const QString& tip, const std::function<void()>& act) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(tip);
    connect(button, &QPushButton::clicked, this, act);
    return button;
}

QWidget* QueuePage::makeActions() {
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_stop = makeAction(tr("Stop"), QStringLiteral("queueStop"), tr("Runs stop with a checkpoint; what waits leaves the queue"),
                        [this] { workspace().actions().stop(chosen([](const QueueRow& row) { return isStoppable(row.run); })); });
    m_resume = makeAction(tr("Resume"), QStringLiteral("queueResume"), tr("Go on from the last checkpoint"),
                          [this] { workspace().actions().resume(chosen([](const QueueRow& row) { return isResumable(row.run); })); });
    m_earlier =
        makeAction(tr("Earlier"), QStringLiteral("queueEarlier"), tr("Start before the one above it (Alt+Up)"), [this] { move(-1); });
    m_later = makeAction(tr("Later"), QStringLiteral("queueLater"), tr("Start after the one below it (Alt+Down)"), [this] { move(1); });
    for (QPushButton* button : {m_stop, m_resume, m_earlier, m_later}) layout->addWidget(button);
    layout->addStretch(1);
    const std::pair<Qt::Key, int> keys[] = {{Qt::Key_Up, -1}, {Qt::Key_Down, 1}};
    for (const auto& [key, by] : keys) {
        auto* action = new QAction(this);
        action->setShortcut(QKeySequence(Qt::ALT | key));
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, [this, by = by] { move(by); });
        addAction(action);
    }
    return bar;
}

void QueuePage::connectQuery() {
    connect(m_query, &StoreQueryBase::failed, m_error, &ErrorBar::setMessage);
    connect(&workspace(), &Workspace::runsChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::projectChanged, this, &QueuePage::clear);
    connect(&workspace().actions(), &RunActions::pendingChanged, this, &QueuePage::showLaunches);
    connect(&workspace().actions(), &RunActions::pendingChanged, m_query, &StoreQueryBase::ask);
    connect(&m_look, &QTimer::timeout, m_query, &StoreQueryBase::ask);
    connect(&m_clock, &QTimer::timeout, this, &QueuePage::showLaunches);
    connect(m_empty, &EmptyState::clicked, this, [this] { workspace().requestPage(QStringLiteral("compose")); });
    connect(m_model, &QueueModel::moveAsked, this, &QueuePage::moveTo);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &QueuePage::showActions);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
        if (const QueueRow* row = m_model->row(current.row())) workspace().setCurrentRun(qs(row->run.info.id));
    });
}

void QueuePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    m_look.start();
    showLaunches();
}

void QueuePage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    m_look.stop();
    m_clock.stop();
}

std::function<QueueDataPtr(Store&)> QueuePage::question() const {
    const RunsSnapshotPtr snapshot = workspace().runs();
    std::vector<RunRow> runs;
    for (const RunRow& run : snapshot->runs)
        if (run.state.phase != RunPhase::done && !(run.archived && is_over(run.state.phase))) runs.push_back(run);
    return [runs, folder = workspace().session()->folder()](Store& store) { return loadQueue(store, folder, runs); };
}

/// Another project's runs must not stand under this one's name.
void QueuePage::clear() {
    m_data = std::make_shared<const QueueData>();
    m_model->setData(m_data);
    m_error->setMessage({});
    m_summary->clear();
    m_pause->hide();
    m_stack->setCurrentWidget(m_blank);
    m_stop->parentWidget()->hide();
    showActions();
}

/// What was chosen stays chosen, wherever it stands now.
void QueuePage::take(const QueueDataPtr& data) {
    QStringList before;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) before << qs(m_model->row(index.row())->run.info.id);
    const QueueRow* current = m_model->row(m_table->currentIndex().row());
    const QString currentRun = current ? qs(current->run.info.id) : QString();
    const bool first = m_model->rowCount() == 0;
    m_data = data;
    {
        const QSignalBlocker quiet(m_table->selectionModel());
        m_model->setData(data);
        if (const int row = m_model->rowOf(currentRun); row >= 0)
            m_table->selectionModel()->setCurrentIndex(m_model->index(row, QueueModel::run), QItemSelectionModel::NoUpdate);
        for (const QString& run : before)
            if (const int row = m_model->rowOf(run); row >= 0)
                m_table->selectionModel()->select(m_model->index(row, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
    first ? m_table->fitColumns(widest_column, true) : m_table->widenColumns(widest_column);  // what waits has next to nothing to show
    m_table->viewport()->update();
    m_summary->setText(summaryOf(*data));
    m_pause->setVisible(data->num_queues > 0);
    m_pause->setText(data->num_queues > 0 && data->num_paused == data->num_queues ? tr("Continue") : tr("Pause"));
    m_stack->setCurrentWidget(data->rows.empty() ? static_cast<QWidget*>(m_empty) : m_table);
    m_stop->parentWidget()->setVisible(!data->rows.empty());
    showActions();
}

/// A launch over ssh may take minutes: it says what it does and since when.
void QueuePage::showLaunches() {
    QStringList lines;
    for (const RunActions::Pending& work : workspace().actions().pendingWork())
        lines << tr("%1 … %2").arg(work.doing, durationText(static_cast<double>(work.since.elapsed() / 1000)));
    m_launches->setText(lines.join(QLatin1Char('\n')));
    m_launches->setVisible(!lines.isEmpty());
    if (lines.isEmpty() || !isVisible())
        m_clock.stop();
    else if (!m_clock.isActive())
        m_clock.start();
}

QStringList QueuePage::chosen(const std::function<bool(const QueueRow&)>& wanted) const {
    QStringList runs;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
        if (const QueueRow* row = m_model->row(index.row()); row && wanted(*row)) runs << qs(row->run.info.id);
    return runs;
}

QStringList QueuePage::selectedRuns() const {
    return chosen([](const QueueRow&) { return true; });
}

void QueuePage::showActions() {
    const QStringList stoppable = chosen([](const QueueRow& row) { return isStoppable(row.run); });
    const bool allWait = !stoppable.isEmpty() && chosen(waits).size() == stoppable.size();
    m_stop->setText(allWait ? tr("Cancel") : tr("Stop"));
    m_stop->setEnabled(!stoppable.isEmpty());
    m_resume->setEnabled(!chosen([](const QueueRow& row) { return isResumable(row.run); }).isEmpty());
    const QStringList waiting = chosen(waits);
    const QueueRow* one = waiting.size() == 1 ? m_model->row(m_model->rowOf(waiting.first())) : nullptr;
    m_earlier->setEnabled(one && one->place > 1);
    m_later->setEnabled(one && !one->last);
    Q_EMIT selectedRunsChanged();
}

void QueuePage::move(int by) {
    const QStringList runs = chosen(waits);
    if (runs.size() != 1) return;
    const QueueRow& row = *m_model->row(m_model->rowOf(runs.first()));
    if (by < 0 ? row.place > 1 : !row.last) moveTo(runs.first(), row.place - 1 + by);
}

void QueuePage::moveTo(const QString& run, int place) { workspace().actions().moveInQueue(run, place); }

}  // namespace faceter::desktop
