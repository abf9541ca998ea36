#include "pages/router/router_page.h"

#include <QComboBox>
#include <QMenu>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "pages/page_parts.h"
#include "pages/router/gates_view.h"
#include "pages/router/route_view.h"
#include "widgets/labels.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("router"), QStringLiteral("Router"), 7, true, [](Workspace& workspace) { return new RouterPage(workspace); }}};

constexpr int num_views = 5;

std::vector<RouterRequest> requestsOf(const Workspace& workspace) {
    std::vector<RouterRequest> requests;
    for (const TrainedRun& run : shownTrainedRuns(workspace)) requests.push_back({run.run, run.label, run.done});
    return requests;
}

ReportCards* cardsOf(const RouterDocuments& documents) {
    return new ReportCards(QStringLiteral("router"), documents.figures, documents.tables);
}

}  // namespace

RouterPage::RouterPage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<RouterDataPtr>(
          workspace, this, [this] { return question(); }, [this](const RouterDataPtr& data) { take(data); })),
      m_run(new QComboBox),
      m_viewChoice(new QComboBox),
      m_actions(new QWidget),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_loading(new QWidget),
      m_empty(new EmptyState({}, {}, tr("Open the composer"))),
      m_cards{cardsOf(gateDocuments()), cardsOf(scoreDocuments()), cardsOf(mapDocuments())},
      m_route(new RouteView),
      m_gates(new GatesView),
      m_data(std::make_shared<std::vector<RouterRun>>()) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(makeHead());
    QLabel* subtitle = secondaryLabel(tr("Which gate the router sends queries through, and which would have been best."));
    subtitle->setWordWrap(true);
    layout->addWidget(subtitle);
    layout->addWidget(m_error);
    for (int i = 0; i < 3; ++i) m_views[i] = scrolled(m_cards[i]);
    m_views[3] = scrolled(m_route);
    m_views[4] = scrolled(m_gates);
    for (QWidget* view : m_views) m_stack->addWidget(view);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_loading);
    layout->addWidget(m_stack, 1);
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
    connect(m_gates, &GatesView::changed, m_route, &RouteView::askAgain);
    connectQuery();
    clear();
    m_query->ask();
}

QWidget* RouterPage::makeHead() {
    const QString page = QStringLiteral("router");
    setUpRunChoice(page, m_run, tr("The run whose router is shown"));
    setUpViewChoice(page, m_viewChoice, {tr("Best and routed gate"), tr("Scores"), tr("Maps"), tr("A query"), tr("Gates")});
    auto* menu = new QMenu(this);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExportMenu(menu); });
    connect(m_run, &QComboBox::currentIndexChanged, this, &RouterPage::showRun);
    connect(m_viewChoice, &QComboBox::currentIndexChanged, this, &RouterPage::showView);
    return pageHead(page, tr("Router"), m_actions, {m_run, m_viewChoice}, menu);
}

void RouterPage::connectQuery() {
    sayWhenLate(m_loading, tr("Reading the runs' routers…"), m_query);
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty()) return;
        take(std::make_shared<std::vector<RouterRun>>());
        m_error->setMessage(message);
    });
    connect(&workspace(), &Workspace::shownChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::projectChanged, this, &RouterPage::clear);
}

std::function<RouterDataPtr(Store&)> RouterPage::question() const {
    return [requests = requestsOf(workspace()), folder = workspace().session()->folder()](Store& store) {
        return loadRouters(store, folder, requests);
    };
}

bool RouterPage::isReady() const { return !m_query->isBusy() && !m_route->isBusy() && !m_gates->isBusy(); }

/// Another project's routers must not stand under this one's name.
void RouterPage::clear() {
    take(std::make_shared<std::vector<RouterRun>>());
    m_stack->setCurrentWidget(m_loading);
}

void RouterPage::take(const RouterDataPtr& data) {
    m_data = data;
    QStringList problems;
    for (const RouterRun& run : *m_data)
        for (const std::string& problem : run.report.problems) problems << qs(problem);
    m_error->setMessage(problems.join(QLatin1Char('\n')));
    fillRuns();
    showRun();
}

/// The one that was shown stays.
void RouterPage::fillRuns() {
    const QSignalBlocker quiet(m_run);
    m_run->clear();
    for (const RouterRun& run : *m_data) m_run->addItem(qs(run.request.label), qs(run.request.run));
    m_run->setCurrentIndex(std::max(m_run->count() > 0 ? 0 : -1, m_run->findData(m_wantedRun)));
}

const RouterRun* RouterPage::chosenRun() const {
    for (const RouterRun& run : *m_data)
        if (qs(run.request.run) == m_run->currentData().toString()) return &run;
    return nullptr;
}

void RouterPage::showRun() {
    const RouterRun* run = chosenRun();
    if (run) m_wantedRun = qs(run->request.run);
    for (ReportCards* cards : m_cards) cards->setReport(run ? run->report : Report{});
    m_route->setRun(run);
    m_gates->setRun(run);
    showView();
}

RouterPage::View RouterPage::view() const { return static_cast<View>(std::clamp(m_viewChoice->currentIndex(), 0, num_views - 1)); }

ReportCards* RouterPage::cards() const { return view() < View::query ? m_cards[static_cast<std::size_t>(view())] : nullptr; }

void RouterPage::showView() {
    m_actions->setVisible(!m_data->empty());
    const RouterRun* run = chosenRun();
    if (!run || (cards() && !cards()->hasAny(run->report))) return showEmpty();
    m_stack->setCurrentWidget(m_views[static_cast<std::size_t>(view())]);
}

void RouterPage::showEmpty() {
    if (m_data->empty())
        m_empty->setText(tr("No shown run has a router"),
                         tr("Best and routed gates, scores against the number of gates, and the way of a query would be here. Train a "
                            "variant with method router_retriever, and tick its runs in the navigator."));
    else
        m_empty->setText(tr("This run has no study of its router"),
                         tr("It comes from the analysis router_study, on retrieval sets: add it to the experiment's analyses. The views A "
                            "query and Gates ask the model itself."));
    m_stack->setCurrentWidget(m_empty);
}

void RouterPage::fillExportMenu(QMenu* menu) {
    menu->clear();
    if (const ReportCards* shown = cards(); shown && chosenRun()) shown->addExports(menu, this);
    if (view() == View::query) m_route->addExports(menu, this);
    if (menu->isEmpty()) menu->addAction(tr("Nothing to export in this view"))->setEnabled(false);
}

QJsonObject RouterPage::state() const {
    return {{QStringLiteral("run"), m_wantedRun},
            {QStringLiteral("view"), static_cast<int>(view())},
            {QStringLiteral("text"), m_route->text()}};
}

void RouterPage::restore(const QJsonObject& state) {
    m_wantedRun = state.value(QStringLiteral("run")).toString();
    m_route->setText(state.value(QStringLiteral("text")).toString());
    m_viewChoice->setCurrentIndex(std::clamp(state.value(QStringLiteral("view")).toInt(), 0, num_views - 1));
    fillRuns();
    showRun();
    if (m_query->isBusy() || m_data->empty()) m_stack->setCurrentWidget(m_loading);
}

}  // namespace faceter::desktop
