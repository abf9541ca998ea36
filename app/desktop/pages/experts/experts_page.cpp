#include "pages/experts/experts_page.h"

#include <QComboBox>
#include <QMenu>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "figure/figure_view.h"
#include "pages/experts/history_view.h"
#include "pages/experts/text_view.h"
#include "pages/page_parts.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("experts"), QStringLiteral("Experts"), 6, true, [](Workspace& workspace) { return new ExpertsPage(workspace); }}};

std::vector<ExpertsRequest> requestsOf(const Workspace& workspace) {
    std::vector<ExpertsRequest> requests;
    for (const TrainedRun& run : shownTrainedRuns(workspace)) requests.push_back({run.run, run.label, run.done});
    return requests;
}

}  // namespace

ExpertsPage::ExpertsPage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<ExpertsDataPtr>(
          workspace, this, [this] { return question(); }, [this](const ExpertsDataPtr& data) { take(data); })),
      m_run(new QComboBox),
      m_viewChoice(new QComboBox),
      m_actions(new QWidget),
      m_subtitle(secondaryLabel(tr("Which tokens and instructions go through which expert."))),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_loading(new QWidget),
      m_empty(new EmptyState({}, {}, tr("Open the composer"))),
      m_history(new ExpertHistoryView),
      m_text(new ExpertTextView),
      m_tasks(new ReportCards(QStringLiteral("experts"), {"expert_load", "router_entropy"}, {"expert_load"})),
      m_moves(new ReportCards(QStringLiteral("experts"), {"mote_moved", "mote_between"}, {"mote_experts"})),
      m_data(std::make_shared<std::vector<ExpertsRun>>()) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(makeHead());
    m_subtitle->setWordWrap(true);
    layout->addWidget(m_subtitle);
    layout->addWidget(m_error);
    m_views[0] = scrolled(m_history);
    m_views[1] = scrolled(m_tasks);
    m_views[2] = scrolled(m_text);
    m_views[3] = scrolled(m_moves);
    for (QWidget* view : m_views) m_stack->addWidget(view);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_loading);
    layout->addWidget(m_stack, 1);
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
    connectQuery();
    clear();
    m_query->ask();
}

QWidget* ExpertsPage::makeHead() {
    const QString page = QStringLiteral("experts");
    setUpRunChoice(page, m_run, tr("The run whose experts are shown"));
    setUpViewChoice(page, m_viewChoice, {tr("Over training"), tr("By task"), tr("A text"), tr("Moves")});
    auto* menu = new QMenu(this);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExportMenu(menu); });
    connect(m_run, &QComboBox::currentIndexChanged, this, &ExpertsPage::showRun);
    connect(m_viewChoice, &QComboBox::currentIndexChanged, this, [this] {
        m_viewChosen = true;
        showView();
    });
    return pageHead(page, tr("Experts"), m_actions, {m_run, m_viewChoice}, menu);
}

void ExpertsPage::connectQuery() {
    sayWhenLate(m_loading, tr("Reading the runs' experts…"), m_query);
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty()) return;
        take(std::make_shared<std::vector<ExpertsRun>>());
        m_error->setMessage(message);
    });
    connect(&workspace(), &Workspace::shownChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::projectChanged, this, &ExpertsPage::clear);
}

std::function<ExpertsDataPtr(Store&)> ExpertsPage::question() const {
    return [requests = requestsOf(workspace()), folder = workspace().session()->folder()](Store& store) {
        return loadExperts(store, folder, requests);
    };
}

bool ExpertsPage::isReady() const { return !m_query->isBusy() && !m_text->isBusy(); }

/// Another project's experts must not stand under this one's name.
void ExpertsPage::clear() {
    take(std::make_shared<std::vector<ExpertsRun>>());
    m_stack->setCurrentWidget(m_loading);
}

void ExpertsPage::take(const ExpertsDataPtr& data) {
    m_data = data;
    QStringList problems;
    for (const ExpertsRun& run : *m_data)
        for (const std::string& problem : run.report.problems) problems << qs(problem);
    m_error->setMessage(problems.join(QLatin1Char('\n')));
    fillRuns();
    showRun();
}

/// The one that was shown stays.
void ExpertsPage::fillRuns() {
    const QSignalBlocker quiet(m_run);
    m_run->clear();
    for (const ExpertsRun& run : *m_data) m_run->addItem(qs(run.request.label), qs(run.request.run));
    m_run->setCurrentIndex(std::max(m_run->count() > 0 ? 0 : -1, m_run->findData(m_wantedRun)));
}

const ExpertsRun* ExpertsPage::chosenRun() const {
    for (const ExpertsRun& run : *m_data)
        if (qs(run.request.run) == m_run->currentData().toString()) return &run;
    return nullptr;
}

void ExpertsPage::showRun() {
    const ExpertsRun* run = chosenRun();
    if (run) m_wantedRun = qs(run->request.run);
    m_history->setHistory(run ? run->history : ExpertHistory{});
    m_text->setRun(run);
    for (ReportCards* cards : {m_tasks, m_moves}) cards->setReport(run ? run->report : Report{});
    if (run && !m_viewChosen) {
        const QSignalBlocker quiet(m_viewChoice);
        for (const View view : {View::training, View::moves, View::tasks, View::text})
            if (hasView(view)) {
                m_viewChoice->setCurrentIndex(static_cast<int>(view));
                break;
            }
    }
    showView();
}

ExpertsPage::View ExpertsPage::view() const { return static_cast<View>(std::clamp(m_viewChoice->currentIndex(), 0, 3)); }

bool ExpertsPage::hasView(View view) const {
    const ExpertsRun* run = chosenRun();
    if (!run || view == View::text) return run != nullptr;
    if (view == View::training) return !run->history.blocks.empty();
    return (view == View::tasks ? m_tasks : m_moves)->hasAny(run->report);
}

void ExpertsPage::showView() {
    m_actions->setVisible(!m_data->empty());
    if (!hasView(view())) return showEmpty();
    m_stack->setCurrentWidget(m_views[static_cast<std::size_t>(view())]);
}

void ExpertsPage::showEmpty() {
    const QString none =
        tr("Which tokens or instructions go through which expert would be here. Train a variant with method "
           "token_routed_moe or mote, and tick its runs in the navigator.");
    if (m_data->empty())
        m_empty->setText(tr("No shown run has experts"), none);
    else if (view() == View::training)
        m_empty->setText(tr("This run logged no load of experts"),
                         tr("Token routers log expert_load and router_entropy at each step; experts that the instruction picks have no "
                            "load to log: see the views A text and Moves."));
    else if (view() == View::tasks)
        m_empty->setText(tr("This run has no load by task"),
                         tr("It comes from the analysis expert_load: add it to the experiment's analyses."));
    else
        m_empty->setText(tr("This run has no moves of experts"),
                         tr("They come from the analysis expert_moves of method mote: add it to the experiment's analyses."));
    m_stack->setCurrentWidget(m_empty);
}

void ExpertsPage::fillExportMenu(QMenu* menu) {
    menu->clear();
    if (view() == View::training && hasView(View::training))
        for (const FigureView* figure : m_history->figures())
            addFigureExports(menu->addMenu(qs(figure->figure().title)), this, figure, qs(figure->figure().name));
    if (view() == View::tasks) m_tasks->addExports(menu, this);
    if (view() == View::moves) m_moves->addExports(menu, this);
    if (menu->isEmpty()) menu->addAction(tr("Nothing to export in this view"))->setEnabled(false);
}

QJsonObject ExpertsPage::state() const {
    return {{QStringLiteral("run"), m_wantedRun},
            {QStringLiteral("view"), m_viewChosen ? static_cast<int>(view()) : -1},
            {QStringLiteral("text"), m_text->text()}};
}

void ExpertsPage::restore(const QJsonObject& state) {
    m_wantedRun = state.value(QStringLiteral("run")).toString();
    const int view = state.value(QStringLiteral("view")).toInt(-1);
    if (view >= 0) m_viewChoice->setCurrentIndex(std::min(view, 3));
    m_viewChosen = view >= 0;
    if (const QString text = state.value(QStringLiteral("text")).toString(); !text.isEmpty()) m_text->setText(text);
    fillRuns();
    showRun();
    if (m_query->isBusy() || m_data->empty()) m_stack->setCurrentWidget(m_loading);
}

}  // namespace faceter::desktop
