#include "pages/experts/experts_page.h"

#include <QMenu>

#include "figure/figure_view.h"
#include "figure/table_export.h"
#include "pages/experts/history_view.h"
#include "pages/experts/text_view.h"
#include "project/runs_snapshot.h"
#include "widgets/save_file.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("experts"), QStringLiteral("Experts"), 6, true, [](Workspace& workspace) { return new ExpertsPage(workspace); }}};

}  // namespace

ExpertsPage::ExpertsPage(Workspace& workspace)
    : RunPageOf(workspace, {QStringLiteral("experts"), tr("Experts"), tr("Which tokens and instructions go through which expert."),
                            tr("The run whose experts are shown"), tr("Reading the runs' experts…")}),
      m_history(new ExpertHistoryView),
      m_text(new ExpertTextView),
      m_tasks(new ReportCards(QStringLiteral("experts"), {"expert_load", "router_entropy"}, {"expert_load"})),
      m_moves(new ReportCards(QStringLiteral("experts"), {"mote_moved", "mote_between"}, {"mote_experts"})) {
    addView(tr("Over training"), scrolled(m_history));
    addView(tr("By task"), scrolled(m_tasks));
    addView(tr("A text"), scrolled(m_text));
    addView(tr("Moves"), scrolled(m_moves));
    start();
}

std::function<ExpertsDataPtr(Store&)> ExpertsPage::question() const {
    return [requests = shownTrainedRuns(workspace(), {"mote", "token_routed_moe"}),
            folder = workspace().session()->folder()](Store& store) { return loadExperts(store, folder, requests); };
}

bool ExpertsPage::isReady() const { return RunPageOf::isReady() && !m_text->isBusy(); }

void ExpertsPage::fillViews() {
    const ExpertsRun* run = chosenRun();
    m_history->setHistory(run ? run->history : ExpertHistory{});
    m_text->setRun(run);
    for (ReportCards* cards : {m_tasks, m_moves}) cards->setReport(run ? run->report : Report{});
}

std::vector<int> ExpertsPage::preferredViews() const {
    return {static_cast<int>(View::training), static_cast<int>(View::moves), static_cast<int>(View::tasks), static_cast<int>(View::text)};
}

bool ExpertsPage::hasView(int index) const {
    const auto view = static_cast<View>(index);
    const ExpertsRun* run = chosenRun();
    if (!run || view == View::text) return run != nullptr;
    if (view == View::training) return !run->history.blocks.empty();
    return (view == View::tasks ? m_tasks : m_moves)->hasAny(run->report);
}

RunPage::Nothing ExpertsPage::nothing() const {
    if (runs().empty())
        return {tr("No shown run has experts"),
                tr("Which tokens or instructions go through which expert would be here. Train a variant with method "
                   "token_routed_moe or mote, and tick its runs in the navigator.")};
    if (view() == View::training)
        return {tr("This run logged no load of experts"),
                tr("Token routers log expert_load and router_entropy at each step; experts that the instruction picks have no "
                   "load to log: see the views A text and Moves.")};
    if (view() == View::tasks)
        return {tr("This run has no load by task"), tr("It comes from the analysis expert_load: add it to the experiment's analyses.")};
    return {tr("This run has no moves of experts"),
            tr("They come from the analysis expert_moves of method mote: add it to the experiment's analyses.")};
}

void ExpertsPage::addExports(QMenu* menu) {
    if (view() == View::training && hasView(viewIndex()))
        for (const FigureView* figure : m_history->figures())
            addFigureExports(menu->addMenu(qs(figure->figure().title)), this, figure, qs(figure->figure().name));
    if (view() == View::tasks) m_tasks->addExports(menu, this);
    if (view() == View::moves) m_moves->addExports(menu, this);
    if (view() != View::text) return;
    if (const Table table = m_text->tokenTable(); !table.rows.empty())
        addTableExports(menu->addMenu(qs(table.caption)), this, qs(table.name),
                        [table](TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); });
}

QJsonObject ExpertsPage::state() const {
    QJsonObject state = RunPage::state();
    state[QStringLiteral("text")] = m_text->text();
    return state;
}

void ExpertsPage::restore(const QJsonObject& state) {
    if (const QString text = state.value(QStringLiteral("text")).toString(); !text.isEmpty()) m_text->setText(text);
    RunPage::restore(state);
}

}  // namespace faceter::desktop
