#include "pages/curriculum/curriculum_page.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QMenu>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "figure/elided_name.h"
#include "figure/figure_view.h"
#include "figure/table_export.h"
#include "pages/curriculum/batch_examples.h"
#include "pages/curriculum/batch_strip.h"
#include "pages/curriculum/tour_ring.h"
#include "widgets/colour_dot.h"
#include "widgets/data_table.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"
#include "widgets/scroll.h"
#include "widgets/table_model.h"
#include "worker/worker_query.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{{QStringLiteral("curriculum"), QStringLiteral("Curriculum"), 8, true,
                                     [](Workspace& workspace) -> Page* { return new CurriculumPage(workspace); }}};

constexpr int figure_height = 300, widest_column = 220;

/// Of three tasks there is one tour: no annealing and no random orders to compare it with.
bool isEmpty(const Figure& figure) {
    if (figure.kind == FigureKind::heat_map) return figure.heat_map.values.empty();
    return std::all_of(figure.series.begin(), figure.series.end(), [](const Series& series) { return series.y.empty(); });
}

}  // namespace

CurriculumPage::CurriculumPage(Workspace& workspace)
    : RunPageOf(
          workspace,
          {QStringLiteral("curriculum"), tr("Curriculum"), {}, tr("The run whose report is shown"), tr("Reading the runs' curricula…")}),
      m_ring(new TourRing),
      m_strip(new BatchStrip),
      m_legend(new QWidget),
      m_examples(new BatchExamples),
      m_plan(new WorkerQuery(this)) {
    addView(tr("Tour"), makeTour());
    addView(tr("Difficulty"), makeDifficulty());
    addView(tr("Batches"), makeBatches());
    start();
}

bool CurriculumPage::isReady() const { return RunPageOf::isReady() && !m_examples->isBusy() && !m_plan->isBusy(); }

QWidget* CurriculumPage::makeCard(const std::string& figure) {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    auto* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(2, 2, 2, 2);
    auto* view = new FigureView;
    view->setObjectName(QStringLiteral("curriculum:") + qs(figure));
    view->setMinimumHeight(figure_height);
    layout->addWidget(view);
    m_cards.push_back({figure, frame, view});
    return frame;
}

QWidget* CurriculumPage::makeTable(const std::string& name, const QString& accessible) {
    auto* table = new DataTable;
    auto* model = new TableModel(this);
    table->setModel(model);
    table->setObjectName(QStringLiteral("curriculumTable:") + qs(name));
    table->setAccessibleName(accessible);
    m_tables.push_back({name, table, model});
    return table;
}

QWidget* CurriculumPage::makeTour() {
    auto* body = new QWidget;
    auto* grid = new QGridLayout(body);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    auto* ring = new QFrame;
    ring->setProperty("card", true);
    auto* layout = new QVBoxLayout(ring);
    layout->setContentsMargins(2, 2, 2, 2);
    m_ring->setObjectName(QStringLiteral("curriculumRing"));
    layout->addWidget(m_ring);
    m_ringCard = ring;
    grid->addWidget(ring, 0, 0);
    grid->addWidget(makeCard("similarity"), 0, 1);
    grid->addWidget(makeTable("plan", tr("The plan's tasks in the order of the tour")), 1, 0, 1, 2);
    grid->addWidget(makeCard("energy"), 2, 0);
    grid->addWidget(makeCard("tour"), 2, 1);
    grid->addWidget(makeTable("tour", tr("The tour against other orders")), 3, 0, 1, 2);
    grid->setRowStretch(4, 1);
    for (int column = 0; column < 2; ++column) grid->setColumnStretch(column, 1);
    DataTable* plan = m_tables.front().table;
    connect(m_ring, &TourRing::taskChosen, plan, &QTableView::selectRow);
    connect(plan->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& row) { m_ring->choose(row.row()); });
    return scrolled(body);
}

QWidget* CurriculumPage::makeDifficulty() {
    auto* body = new QWidget;
    auto* grid = new QGridLayout(body);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    grid->addWidget(makeCard("difficulty"), 0, 0);
    grid->addWidget(makeCard("underfitting"), 0, 1);
    grid->addWidget(makeTable("underfitting", tr("Underfitting of each task before and after training")), 1, 0, 1, 2);
    grid->setRowStretch(2, 1);
    for (int column = 0; column < 2; ++column) grid->setColumnStretch(column, 1);
    return scrolled(body);
}

/// What the colours are and the examples of a batch stay in sight, however many strips are between them.
QWidget* CurriculumPage::makeBatches() {
    auto* body = new QWidget;
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    m_strip->setObjectName(QStringLiteral("curriculumStrip"));
    m_legend->setLayout(new FlowLayout);
    m_legend->setObjectName(QStringLiteral("curriculumLegend"));
    const auto column = [](QWidget* content) {
        auto* whole = new QWidget;
        auto* lines = new QVBoxLayout(whole);
        lines->setContentsMargins(0, 0, 0, 0);
        lines->addWidget(content);
        lines->addStretch(1);
        return scrolled(whole);
    };
    m_strips = column(m_strip);
    layout->addWidget(m_legend);
    layout->addWidget(m_strips, 2);
    layout->addWidget(column(m_examples), 1);
    connect(m_strip, &BatchStrip::batchChosen, this, &CurriculumPage::showExamples);
    connect(m_strip, &BatchStrip::orderWanted, this, &CurriculumPage::planOrder);
    m_plan->setTitle(tr("Planned order of batches"));
    connect(m_plan, &WorkerQuery::answered, this, [this](const WorkerAnswer& answer) {
        try {
            TrainedOrder order = plannedOrder(*answer);
            if (order.batches.empty()) return m_examples->say(labelOf(m_planning), tr("its plan has no batches"));
            m_planned[m_planning.toStdString()] = std::move(order);
            m_examples->clear();
            m_drawn = nullptr;
            showBatches();
        } catch (const std::exception& error) {
            m_examples->say(labelOf(m_planning), QString::fromUtf8(error.what()));
        }
    });
    connect(m_plan, &WorkerQuery::failed, this, [this](const QString& message) { m_examples->say(labelOf(m_planning), message); });
    connect(m_plan, &WorkerQuery::cancelled, this, [this] { m_examples->say(tr("%1: cancelled").arg(labelOf(m_planning))); });
    connect(m_plan, &WorkerQuery::progressed, this,
            [this](const WorkerProgress& progress) { m_examples->say(tr("%1: %2").arg(labelOf(m_planning), progress.what)); });
    connect(m_strip, &BatchStrip::wentTo, this, [this](const QRect& place) {
        const QPoint middle = m_strip->mapTo(m_strips->widget(), QPoint(0, place.center().y()));
        m_strips->ensureVisible(m_strips->horizontalScrollBar()->value(), middle.y(), 0, place.height() / 2 + 1);
    });
    return body;
}

/// Of a batch that was chosen on the strip.
void CurriculumPage::showExamples(const QString& id, qint64 step) {
    if (!workspace().session()) return;
    m_plan->stop();  // what it would say stands where the examples do
    for (const CurriculumRun& run : runs()) {
        if (qs(run.request.run) != id) continue;
        std::set<std::string> tasks;
        for (const TrainedBatch& batch : run.order.batches)
            if (batch.step == step) tasks.insert(run.order.tasks[static_cast<std::size_t>(batch.task)]);
        const auto folder = workspace().session()->folder() / "runs" / run.request.run;
        m_examples->ask(qs(folder.string()), withShortKeys(qs(run.request.label)), step, tasks);
    }
}

QString CurriculumPage::labelOf(const QString& id) const {
    for (const CurriculumRun& run : runs())
        if (qs(run.request.run) == id) return withShortKeys(qs(run.request.label));
    return id;
}

/// Of a run that has not begun, or whose curriculum planned the data sets of a task, whose strip was chosen.
void CurriculumPage::planOrder(const QString& id) {
    if (!workspace().session()) return;
    m_planning = id;
    m_examples->say(tr("%1: planning its batches").arg(labelOf(id)));
    const bool isByDataSet =
        std::any_of(runs().begin(), runs().end(), [&id](const CurriculumRun& run) { return qs(run.request.run) == id && run.isByDataSet; });
    m_plan->ask(QStringLiteral("planned_order"),
                {{"run", (workspace().session()->folder() / "runs" / id.toStdString()).string()}, {"data_sets", isByDataSet}});
}

std::function<CurriculumDataPtr(Store&)> CurriculumPage::question() const {
    return [requests = shownTrainedRuns(workspace()), folder = workspace().session()->folder()](Store& store) -> CurriculumDataPtr {
        return std::make_shared<const std::vector<CurriculumRun>>(loadCurriculum(store, folder, requests));
    };
}

void CurriculumPage::fillViews() {
    const CurriculumRun* run = chosenRun();
    showBatches();
    showReport(run);
    showRing(run ? *run : CurriculumRun{});
    QString said = run && !run->summary.empty() ? qs(run->summary) : tr("The order in which the runs met their tasks.");
    const std::size_t unread = runs().empty() ? 0 : unreadTrainedRuns(workspace());  // of which the strips would have one each
    if (unread > 0) said += QLatin1Char('\n') + tr("%1 more are ticked and were not looked at: untick others").arg(unread);
    setSubtitle(said);
}

/// Of all runs: another run that is chosen leaves the strip where it was zoomed to.
void CurriculumPage::showBatches() {
    if (m_drawn == sharedRuns()) return;
    m_drawn = sharedRuns();
    if (m_drawn->empty()) {
        m_examples->clear();
        m_plan->stop();
        m_planned.clear();
    }
    auto stripped = std::make_shared<std::vector<CurriculumRun>>(runs());
    for (CurriculumRun& run : *stripped)
        if (const auto planned = m_planned.find(run.request.run); run.isToPlan() && planned != m_planned.end()) run.order = planned->second;
    m_stripped = stripped;
    m_colours = taskColours(*m_stripped);
    m_strip->setRuns(m_stripped, m_colours);
    m_strip->setMinimumHeight(m_strip->sizeHint().height());
    m_strips->setMaximumHeight(m_strip->minimumHeight());
    showLegend();
}

void CurriculumPage::showReport(const CurriculumRun* run) {
    for (const Card& card : m_cards) {
        const bool any = run && run->figures.contains(card.name) && !isEmpty(run->figures.at(card.name));
        card.frame->setVisible(any);
        if (any) card.figure->setFigure(run->figures.at(card.name));
    }
    for (const TablePart& part : m_tables) {
        const bool any = run && run->tables.contains(part.name);
        part.table->setVisible(any);
        if (!any) continue;
        part.model->setTable(run->tables.at(part.name));
        part.table->fitColumns(widest_column);
        part.table->setHeightToRows();
    }
}

void CurriculumPage::showRing(const CurriculumRun& run) {
    std::vector<int> colours;
    for (const TourTask& task : run.tour) colours.push_back(m_colours.at(task.name));
    m_ring->setTour(run.tour, colours);
    m_ringCard->setVisible(!run.tour.empty());
}

void CurriculumPage::showLegend() {
    while (QLayoutItem* item = m_legend->layout()->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    std::set<std::string> drawn;  // a tour through the data sets of a task has stops that no strip has
    bool isWithinTasks = false;
    for (const CurriculumRun& run : *m_stripped) {
        drawn.insert(run.order.tasks.begin(), run.order.tasks.end());
        isWithinTasks |=
            !run.tour.empty() && !run.order.tasks.empty() && std::none_of(run.tour.begin(), run.tour.end(), [&run](const TourTask& stop) {
                return std::find(run.order.tasks.begin(), run.order.tasks.end(), stop.name) != run.order.tasks.end();
            });
    }
    std::vector<std::string> tasks(m_colours.size());  // in the order of their colours: the tour's
    for (const auto& [task, place] : m_colours) tasks[static_cast<std::size_t>(place)] = task;
    for (std::size_t place = 0; place < tasks.size(); ++place) {
        if (!drawn.contains(tasks[place])) continue;
        auto* entry = new QWidget;
        auto* layout = new QHBoxLayout(entry);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(6);
        layout->addWidget(new ColourDot(static_cast<int>(place)));
        layout->addWidget(plainLabel(qs(tasks[place])));
        m_legend->layout()->addWidget(entry);
    }
    if (!isWithinTasks) return;
    QLabel* note = secondaryLabel(tr("The tour goes through data sets of a task: which one a batch is of stands with its examples."));
    note->setObjectName(QStringLiteral("curriculumWithinTasks"));
    m_legend->layout()->addWidget(note);
}

bool CurriculumPage::hasView(int view) const {
    if (isOfOneRun(view)) return chosenRun() != nullptr;
    return std::any_of(runs().begin(), runs().end(), [](const CurriculumRun& run) { return run.isToPlan() || !run.order.batches.empty(); });
}

RunPage::Nothing CurriculumPage::nothing() const {
    if (runs().empty())  // nor is there a choice of views
        return {tr("No shown run has trained several tasks"),
                tr("The order in which runs met their tasks would be here, and Data-CUBE's tour, similarities, annealing, difficulties and "
                   "underfitting of variants with curriculum: {method: data_cube} and the analysis data_cube_report. Tick runs of several "
                   "tasks, or of one whose data sets a curriculum planned, in the navigator.")};
    if (view() == View::batches)
        return {tr("No order of tasks yet"),
                tr("Which task each step trained stands here once a shown run has logged its losses by task (loss/…).")};
    return {tr("No shown run has a curriculum's report"),
            tr("Data-CUBE's tour, similarities, annealing, difficulties and underfitting would be here. Train a variant with "
               "curriculum: {method: data_cube}, with the analysis data_cube_report. The view Batches shows the order of any run.")};
}

void CurriculumPage::addExports(QMenu* menu) {
    for (const Card& card : m_cards)
        if (card.figure->isVisible())
            addFigureExports(menu->addMenu(qs(card.figure->figure().title)), this, card.figure, qs(card.figure->figure().name));
    for (const TablePart& part : m_tables) {
        if (!part.table->isVisible()) continue;
        const Table table = part.model->table();
        addTableExports(menu->addMenu(qs(table.caption)), this, qs(table.name),
                        [table](TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); });
    }
    if (view() == View::batches && !m_examples->table().rows.empty())
        addTableExports(
            menu->addMenu(tr("Examples of the batch")), this, QStringLiteral("batch_examples"),
            [table = m_examples->table()](TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); });
    QAction* batches = menu->addAction(tr("Batches as CSV…"), this, [this] {
        askAndSave(this, QStringLiteral("batches.csv"), [this] { return QByteArray::fromStdString(batchesCsv(*m_stripped)); });
    });
    batches->setObjectName(QStringLiteral("exportBatches"));
}

}  // namespace faceter::desktop
