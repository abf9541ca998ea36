#include "pages/lineage/lineage_page.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "common/hash.h"
#include "pages/lineage/lineage_view.h"
#include "pages/page_parts.h"
#include "widgets/labels.h"
#include "widgets/report_cards.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("lineage"), QStringLiteral("Lineage"), 14, true, [](Workspace& workspace) { return new LineagePage(workspace); }}};

const char* const difference_table = "run_difference";

}  // namespace

LineagePage::LineagePage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<LineageDataPtr>(
          workspace, this, [this] { return question(); }, [this](const LineageDataPtr& data) { take(data); })),
      m_differenceQuery(new StoreQuery<DifferencePtr>(
          workspace, this, [this] { return differenceQuestion(); }, [this](const DifferencePtr& one) { takeDifference(one); })),
      m_which(new QComboBox),
      m_actions(new QWidget),
      m_chosen(secondaryLabel()),
      m_notes(secondaryLabel()),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_body(new QSplitter(Qt::Vertical)),
      m_loading(new QWidget),
      m_empty(new EmptyState(tr("No runs are shown"), tr("What runs come from would be here. Tick runs in the navigator, or start some."),
                             tr("Open the composer"))),
      m_data(std::make_shared<LineageData>()) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(makeHead());
    QLabel* hint = secondaryLabel(
        tr("What runs come from, and what came of them. Arrows go along the lines; Space marks two runs, whose whole difference "
           "stands below; Enter opens a run."));
    hint->setWordWrap(true);
    layout->addWidget(hint);
    layout->addWidget(m_error);
    makeBody();
    for (QWidget* view : std::initializer_list<QWidget*>{m_body, m_empty, m_loading}) m_stack->addWidget(view);
    layout->addWidget(m_stack, 1);
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
    connectQueries();
    clear();
    m_query->ask();
}

QWidget* LineagePage::makeHead() {
    m_which->setObjectName(QStringLiteral("lineageWhich"));
    m_which->setAccessibleName(tr("Which runs"));
    m_which->addItem(tr("Ticked runs"), QStringLiteral("ticked"));
    m_which->addItem(tr("The selected run"), QStringLiteral("selected"));
    m_which->addItem(tr("All runs"), QStringLiteral("all"));
    auto* menu = new QMenu(this);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExportMenu(menu); });
    connect(m_which, &QComboBox::currentIndexChanged, this, [this] { m_query->ask(); });
    return pageHead(QStringLiteral("lineage"), tr("Lineage"), m_actions, {m_which}, menu);
}

QWidget* LineagePage::makeBody() {
    m_view = new LineageView;
    m_view->setObjectName(QStringLiteral("lineageView"));
    m_scroll = scrolled(m_view);
    auto* top = new QWidget;
    auto* graph = new QVBoxLayout(top);
    graph->setContentsMargins(0, 0, 0, 0);
    graph->setSpacing(8);
    m_chosen->setObjectName(QStringLiteral("lineageChosen"));
    m_chosen->setWordWrap(true);
    graph->addWidget(m_scroll, 1);
    graph->addWidget(m_chosen);
    auto* below = new QWidget;
    auto* layout = new QVBoxLayout(below);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_cards = new ReportCards(QStringLiteral("lineage"), {}, {difference_table});
    m_notes->setObjectName(QStringLiteral("lineageNotes"));
    m_notes->setWordWrap(true);
    layout->addWidget(m_cards);
    layout->addWidget(m_notes);
    m_difference = scrolled(below);
    m_body->addWidget(top);
    m_body->addWidget(m_difference);
    m_body->setChildrenCollapsible(false);
    connect(m_view, &LineageView::shouldShow, this,
            [this](const QRect& box) { m_scroll->ensureVisible(box.center().x(), box.center().y(), box.width() / 2 + 24, box.height()); });
    connect(m_view, &LineageView::nodeChosen, this, &LineagePage::showChosen);
    connect(m_view, &LineageView::marksChanged, this, &LineagePage::takeMarks);
    connect(m_view, &LineageView::opened, this, &LineagePage::open);
    return m_body;
}

void LineagePage::connectQueries() {
    sayWhenLate(m_loading, tr("Reading where runs come from…"), m_query);
    connect(m_query, &StoreQueryBase::failed, m_error, &ErrorBar::setMessage);
    connect(m_differenceQuery, &StoreQueryBase::failed, m_error, &ErrorBar::setMessage);
    connect(&workspace(), &Workspace::shownChanged, this, &LineagePage::askAgain);
    connect(&workspace(), &Workspace::runsChanged, this, &LineagePage::askAgain);
    connect(&workspace(), &Workspace::projectChanged, this, &LineagePage::clear);
    connect(&workspace(), &Workspace::currentRunChanged, this, [this] {
        if (workspace().currentRun() == m_followed) return;  // at each step of a run that goes on, too
        if (m_which->currentData() == QStringLiteral("selected")) m_query->ask();
        followCurrent();
    });
}

/// Not for each step of a run that goes on: what is drawn of a run is its state and its score.
void LineagePage::askAgain() {
    std::uint64_t seen = 1;
    const RunsSnapshotPtr runs = workspace().runs();
    for (const RunRow& run : runs->runs)
        seen = hash64(fmt::format("{} {} {}", run.info.id, static_cast<int>(run.state.phase), run.mean_score), seen);
    for (const RunGroupRef& group : workspace().shownGroups()) seen = hash64(group.key.toStdString(), seen);
    if (seen == m_seen) return;
    m_seen = seen;
    m_query->ask();
    m_differenceQuery->ask();
}

std::set<std::string> LineagePage::wantedRuns() const {
    std::set<std::string> runs;
    const RunsSnapshotPtr hold = workspace().runs();
    const QString which = m_which->currentData().toString();
    if (which == QStringLiteral("selected")) return {workspace().currentRun().toStdString()};
    if (which == QStringLiteral("all"))
        for (const RunRow& run : hold->runs) runs.insert(run.info.id);
    else
        for (const RunGroupRef& group : workspace().shownGroups())
            for (const RunRow* run : group.runs) runs.insert(run->info.id);
    return runs;
}

std::function<LineageDataPtr(Store&)> LineagePage::question() const {
    return [folder = workspace().session()->folder(), runs = wantedRuns()](Store& store) { return loadLineage(store, folder, runs); };
}

std::function<LineagePage::DifferencePtr(Store&)> LineagePage::differenceQuestion() const {
    const std::vector<int>& marked = m_view->marked();
    if (marked.size() < 2) return [](Store&) { return DifferencePtr(); };
    return [folder = workspace().session()->folder(), before = runOf(marked[0]).toStdString(),
            after = runOf(marked[1]).toStdString()](Store& store) { return loadDifference(store, folder, before, after); };
}

/// Another project's runs must not stand under this one's name.
void LineagePage::clear() {
    m_data = std::make_shared<LineageData>();
    m_view->setData(m_data, {});
    m_seen = 0;
    m_followed.clear();
    takeDifference(nullptr);
    showChosen(-1);
    m_error->setMessage({});
    m_stack->setCurrentWidget(m_loading);
}

void LineagePage::take(const LineageDataPtr& data) {
    m_data = data;
    std::unordered_map<std::string, int> colourOf;
    const RunsSnapshotPtr runs = workspace().runs();
    for (const RunRow& run : runs->runs) colourOf[run.info.id] = workspace().colourOf(run.info);
    std::vector<int> colours;
    for (const LineageNode& node : data->lineage.nodes) {
        const auto found = colourOf.find(node.id);
        colours.push_back(node.kind == LineageNode::Kind::run && found != colourOf.end() ? found->second : -1);
    }
    m_view->setData(data, std::move(colours));
    m_stack->setCurrentWidget(data->lineage.nodes.empty() ? static_cast<QWidget*>(m_empty) : m_body);
    if (hasFocus()) shown();
    if (m_view->chosen() < 0 || workspace().currentRun() != m_followed) followCurrent();
    m_chosen->setText(m_view->textOf(m_view->chosen()));
}

void LineagePage::takeMarks() {
    if (m_view->marked().size() < 2) takeDifference(nullptr);
    m_differenceQuery->ask();
}

void LineagePage::takeDifference(const DifferencePtr& difference) {
    const bool wasHidden = m_difference->isHidden();
    m_difference->setVisible(difference != nullptr);
    Report report;
    QStringList notes;
    if (difference) {
        report.tables[difference_table] = run_difference_table(*difference);
        for (const std::string& note : difference->notes) notes << qs(note);
        if (difference->lines.empty() && difference->scores.empty()) notes.prepend(tr("Nothing that is recorded differs."));
    }
    m_cards->setReport(report);
    m_notes->setText(notes.join(QLatin1Char('\n')));
    m_notes->setVisible(!notes.isEmpty());
    if (difference && wasHidden) m_body->setSizes({m_body->height() / 2, m_body->height() / 2});
}

QString LineagePage::runOf(int node) const {
    if (node < 0) return {};
    const LineageNode& one = m_data->lineage.nodes[static_cast<std::size_t>(node)];
    return one.kind == LineageNode::Kind::run ? qs(one.id) : QString();
}

void LineagePage::showChosen(int node) {
    m_chosen->setText(m_view->textOf(node));
    if (const QString run = runOf(node); !run.isEmpty() && m_which->currentData() != QStringLiteral("selected"))
        workspace().setCurrentRun(run);
}

/// The run that the inspector shows.
void LineagePage::followCurrent() {
    const std::string run = workspace().currentRun().toStdString();
    for (std::size_t i = 0; i < m_data->lineage.nodes.size(); ++i)
        if (m_data->lineage.nodes[i].kind == LineageNode::Kind::run && m_data->lineage.nodes[i].id == run) {
            m_followed = workspace().currentRun();
            return m_view->choose(static_cast<int>(i));
        }
}

void LineagePage::open(int node) {
    const QString run = runOf(node);
    if (run.isEmpty()) return workspace().say(tr("%1 is no run of this project").arg(m_view->textOf(node)));
    workspace().setCurrentRun(run);
    workspace().requestPage(QStringLiteral("runs"));
}

void LineagePage::fillExportMenu(QMenu* menu) {
    menu->clear();
    m_cards->addExports(menu, this);
    if (menu->isEmpty()) menu->addAction(tr("Mark two runs to export their difference"))->setEnabled(false);
}

void LineagePage::shown() { focusPart(*this, m_stack->currentWidget()); }

QJsonObject LineagePage::state() const { return {{QStringLiteral("which"), m_which->currentData().toString()}}; }

void LineagePage::restore(const QJsonObject& state) {
    if (const int place = m_which->findData(state.value(QStringLiteral("which")).toString()); place >= 0) m_which->setCurrentIndex(place);
}

}  // namespace faceter::desktop
