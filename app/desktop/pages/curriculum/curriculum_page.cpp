#include "pages/curriculum/curriculum_page.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QMenu>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "figure/table_export.h"
#include "pages/curriculum/batch_strip.h"
#include "pages/curriculum/tour_ring.h"
#include "pages/page_parts.h"
#include "widgets/colour_dot.h"
#include "widgets/data_table.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"
#include "widgets/scroll.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{{QStringLiteral("curriculum"), QStringLiteral("Curriculum"), 8, true,
                                     [](Workspace& workspace) -> Page* { return new CurriculumPage(workspace); }}};

constexpr int figure_height = 300, widest_column = 220;

std::vector<CurriculumRequest> requestsOf(const Workspace& workspace) {
    std::vector<CurriculumRequest> requests;
    for (const TrainedRun& run : shownTrainedRuns(workspace)) requests.push_back({run.run, run.label});
    return requests;
}

}  // namespace

CurriculumPage::CurriculumPage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<CurriculumDataPtr>(
          workspace, this, [this] { return question(); }, [this](const CurriculumDataPtr& data) { take(data); })),
      m_run(new QComboBox),
      m_viewChoice(new QComboBox),
      m_actions(new QWidget),
      m_subtitle(secondaryLabel()),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_loading(new QWidget),
      m_empty(new EmptyState({}, {}, tr("Open the composer"))),
      m_ring(new TourRing),
      m_strip(new BatchStrip),
      m_legend(new QWidget),
      m_data(std::make_shared<std::vector<CurriculumRun>>()) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(makeHead());
    m_subtitle->setWordWrap(true);
    m_subtitle->setObjectName(QStringLiteral("curriculumSubtitle"));
    layout->addWidget(m_subtitle);
    layout->addWidget(m_error);
    m_views[0] = makeTour();
    m_views[1] = makeDifficulty();
    m_views[2] = makeBatches();
    for (QWidget* view : m_views) m_stack->addWidget(view);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_loading);
    layout->addWidget(m_stack, 1);
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
    connectQuery();
    clear();
    m_query->ask();
}

QWidget* CurriculumPage::makeHead() {
    const QString page = QStringLiteral("curriculum");
    setUpRunChoice(page, m_run, tr("The run whose report is shown"));
    setUpViewChoice(page, m_viewChoice, {tr("Tour"), tr("Difficulty"), tr("Batches")});
    auto* menu = new QMenu(this);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExportMenu(menu); });
    connect(m_run, &QComboBox::currentIndexChanged, this, &CurriculumPage::showRun);
    connect(m_viewChoice, &QComboBox::currentIndexChanged, this, &CurriculumPage::showView);
    return pageHead(page, tr("Curriculum"), m_actions, {m_run, m_viewChoice}, menu);
}

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

QWidget* CurriculumPage::makeBatches() {
    auto* body = new QWidget;
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    m_strip->setObjectName(QStringLiteral("curriculumStrip"));
    m_legend->setLayout(new FlowLayout);
    m_legend->setObjectName(QStringLiteral("curriculumLegend"));
    layout->addWidget(m_strip);
    layout->addWidget(m_legend);
    layout->addStretch(1);
    return scrolled(body);
}

void CurriculumPage::connectQuery() {
    sayWhenLate(m_loading, tr("Reading the runs' curricula…"), m_query);
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty()) return;
        take(std::make_shared<std::vector<CurriculumRun>>());
        m_error->setMessage(message);
    });
    connect(&workspace(), &Workspace::shownChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::projectChanged, this, &CurriculumPage::clear);
}

std::function<CurriculumDataPtr(Store&)> CurriculumPage::question() const {
    return [requests = requestsOf(workspace())](Store& store) -> CurriculumDataPtr {
        return std::make_shared<const std::vector<CurriculumRun>>(loadCurriculum(store, requests));
    };
}

/// Another project's plans must not stand under this one's name.
void CurriculumPage::clear() {
    take(std::make_shared<std::vector<CurriculumRun>>());
    m_stack->setCurrentWidget(m_loading);
}

void CurriculumPage::take(CurriculumDataPtr data) {
    m_data = std::move(data);
    m_colours = taskColours(*m_data);
    QStringList problems;
    for (const CurriculumRun& run : *m_data)
        for (const std::string& problem : run.problems) problems << qs(problem);
    m_error->setMessage(problems.join(QLatin1Char('\n')));
    m_strip->setRuns(m_data, m_colours);
    showLegend();
    fillRuns();
    showRun();
}

/// Those with a report; the one that was shown stays.
void CurriculumPage::fillRuns() {
    const QSignalBlocker quiet(m_run);
    m_run->clear();
    for (const CurriculumRun& run : *m_data)
        if (run.hasReport()) m_run->addItem(qs(run.request.label), qs(run.request.run));
    m_run->setCurrentIndex(std::max(m_run->count() > 0 ? 0 : -1, m_run->findData(m_wantedRun)));
}

const CurriculumRun* CurriculumPage::chosenRun() const {
    for (const CurriculumRun& run : *m_data)
        if (run.hasReport() && qs(run.request.run) == m_run->currentData().toString()) return &run;
    return nullptr;
}

void CurriculumPage::showRun() {
    const CurriculumRun* run = chosenRun();
    if (run) m_wantedRun = qs(run->request.run);
    for (const Card& card : m_cards) {
        const bool any = run && run->figures.contains(card.name);
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
    showRing(run ? *run : CurriculumRun{});
    m_subtitle->setText(run && !run->summary.empty() ? qs(run->summary) : tr("The order in which the runs met their tasks."));
    showView();
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
    std::vector<std::string> tasks(m_colours.size());  // in the order of their colours: the tour's
    for (const auto& [task, place] : m_colours) tasks[static_cast<std::size_t>(place)] = task;
    for (std::size_t place = 0; place < tasks.size(); ++place) {
        auto* entry = new QWidget;
        auto* layout = new QHBoxLayout(entry);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(6);
        layout->addWidget(new ColourDot(static_cast<int>(place)));
        layout->addWidget(plainLabel(qs(tasks[place])));
        m_legend->layout()->addWidget(entry);
    }
}

CurriculumPage::View CurriculumPage::view() const { return static_cast<View>(std::clamp(m_viewChoice->currentIndex(), 0, 2)); }
void CurriculumPage::setView(View view) { m_viewChoice->setCurrentIndex(static_cast<int>(view)); }

void CurriculumPage::showView() {
    const bool batches = std::any_of(m_data->begin(), m_data->end(), [](const CurriculumRun& run) { return !run.order.batches.empty(); });
    m_actions->setVisible(!m_data->empty());
    m_run->setVisible(m_run->count() > 0 && view() != View::batches);
    const bool any = view() == View::batches ? batches : chosenRun() != nullptr;
    if (!any) return showEmpty();
    m_stack->setCurrentWidget(m_views[static_cast<std::size_t>(view())]);
}

void CurriculumPage::showEmpty() {
    if (view() == View::batches)
        m_empty->setText(tr("No order of tasks yet"),
                         tr("Which task each step trained stands here once a shown run has logged its losses by task (loss/…)."));
    else
        m_empty->setText(
            tr("No shown run has a curriculum's report"),
            tr("Data-CUBE's tour, similarities, annealing, difficulties and underfitting would be here. Train a variant with "
               "curriculum: {method: data_cube}, with the analysis data_cube_report. The view Batches shows the order of any run."));
    m_stack->setCurrentWidget(m_empty);
}

void CurriculumPage::fillExportMenu(QMenu* menu) {
    menu->clear();
    for (const Card& card : m_cards)
        if (card.figure->isVisible())
            addFigureExports(menu->addMenu(qs(card.figure->figure().title)), this, card.figure, qs(card.figure->figure().name));
    for (const TablePart& part : m_tables) {
        if (!part.table->isVisible()) continue;
        const Table table = part.model->table();
        addTableExports(menu->addMenu(qs(table.caption)), this, qs(table.name),
                        [table](TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); });
    }
    QAction* batches = menu->addAction(tr("Batches as CSV…"), this, [this] {
        askAndSave(this, QStringLiteral("batches.csv"), [this] { return QByteArray::fromStdString(batchesCsv(*m_data)); });
    });
    batches->setObjectName(QStringLiteral("exportBatches"));
}

QJsonObject CurriculumPage::state() const {
    return {{QStringLiteral("run"), m_wantedRun}, {QStringLiteral("view"), static_cast<int>(view())}};
}

void CurriculumPage::restore(const QJsonObject& state) {
    m_wantedRun = state.value(QStringLiteral("run")).toString();
    setView(static_cast<View>(std::clamp(state.value(QStringLiteral("view")).toInt(), 0, 2)));
    fillRuns();
    showRun();
    if (m_query->isBusy() || m_data->empty()) m_stack->setCurrentWidget(m_loading);
}

}  // namespace faceter::desktop
