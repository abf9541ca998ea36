#include "pages/router/router_page.h"

#include <algorithm>
#include <iterator>

#include "pages/router/gates_view.h"
#include "pages/router/route_view.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("router"), QStringLiteral("Router"), 7, true, [](Workspace& workspace) { return new RouterPage(workspace); }}};

ReportCards* cardsOf(const RouterDocuments& documents) {
    return new ReportCards(QStringLiteral("router"), documents.figures, documents.tables);
}

}  // namespace

RouterPage::RouterPage(Workspace& workspace)
    : RunPageOf(workspace,
                {QStringLiteral("router"), tr("Router"), tr("Which gate the router sends queries through, and which would have been best."),
                 tr("The run whose router is shown"), tr("Reading the runs' routers…")}),
      m_cards{cardsOf(gateDocuments()), cardsOf(scoreDocuments()), cardsOf(mapDocuments())},
      m_route(new RouteView),
      m_gates(new GatesView) {
    addView(tr("Best and routed gate"), scrolled(m_cards[0]));
    addView(tr("Scores"), scrolled(m_cards[1]));
    addView(tr("Maps"), scrolled(m_cards[2]));
    addView(tr("A query"), scrolled(m_route));
    addView(tr("Gates"), scrolled(m_gates));
    connect(m_gates, &GatesView::changed, m_route, &RouteView::askAgain);
    start();
}

std::function<RouterDataPtr(Store&)> RouterPage::question() const {
    return [requests = shownTrainedRuns(workspace(), {"router_retriever"}), folder = workspace().session()->folder()](Store& store) {
        return loadRouters(store, folder, requests);
    };
}

bool RouterPage::isReady() const { return RunPageOf::isReady() && !m_route->isBusy() && !m_gates->isBusy(); }

void RouterPage::fillViews() {
    const RouterRun* run = chosenRun();
    for (ReportCards* cards : m_cards) cards->setReport(run ? run->report : Report{});
    m_route->setRun(run);
    m_gates->setRun(run);
}

ReportCards* RouterPage::cards(int view) const {
    return view < static_cast<int>(View::query) ? m_cards[static_cast<std::size_t>(view)] : nullptr;
}

bool RouterPage::hasView(int view) const {
    const RouterRun* run = chosenRun();
    return run && (!cards(view) || cards(view)->hasAny(run->report));
}

RunPage::Nothing RouterPage::nothing() const {
    if (runs().empty())
        return {tr("No shown run has a router"),
                tr("Best and routed gates, scores against the number of gates, and the way of a query would be here. Train a "
                   "variant with method router_retriever, and tick its runs in the navigator.")};
    const RouterRun* run = chosenRun();
    const bool studied = run && std::any_of(std::begin(m_cards), std::end(m_cards), [&](auto* one) { return one->hasAny(run->report); });
    const QString text =
        studied ? missingPart() : tr("It comes from the analysis router_study, on retrieval sets: add it to the experiment's analyses.");
    return {studied ? tr("The study has nothing for this view") : tr("This run has no study of its router"),
            text + QLatin1Char(' ') + modelPart(run)};
}

QString RouterPage::missingPart() const {
    switch (view()) {
        case View::scores:
            return tr(
                "Scores through the router, and over the number of gates and pilots, would be here: the run has none of the "
                "study's figures and tables of them.");
        case View::maps:
            return tr("Queries and documents in two dimensions would be here: the run has none of the study's maps.");
        default:
            return tr("Best and routed gates by data set would be here: the run has none of the study's figures and tables of them.");
    }
}

QString RouterPage::modelPart(const RouterRun* run) {
    if (run && run->request.isDone) return tr("The views A query and Gates ask the model itself.");
    if (run && run->request.isImported) return tr("The run was taken in as results alone: there is no model to ask in A query and Gates.");
    return tr("The views A query and Gates ask the model itself, once the run is done.");
}

void RouterPage::addExports(QMenu* menu) {
    if (const ReportCards* shown = cards(viewIndex()); shown && chosenRun()) shown->addExports(menu, this);
    if (view() == View::query) m_route->addExports(menu, this);
}

QJsonObject RouterPage::state() const {
    QJsonObject state = RunPage::state();
    state[QStringLiteral("text")] = m_route->text();
    return state;
}

void RouterPage::restore(const QJsonObject& state) {
    m_route->setText(state.value(QStringLiteral("text")).toString());
    RunPage::restore(state);
}

}  // namespace faceter::desktop
