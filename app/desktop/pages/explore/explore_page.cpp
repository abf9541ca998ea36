#include "pages/explore/explore_page.h"

#include <QComboBox>
#include <QJsonArray>
#include <QJsonObject>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QStringListModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "pages/explore/choice_button.h"
#include "pages/explore/map_view.h"
#include "pages/explore/neighbour_table.h"
#include "project/has_model.h"
#include "project/runs_snapshot.h"
#include "widgets/as_written.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("explore"), QStringLiteral("Explore"), 10, true, [](Workspace& workspace) { return new ExplorePage(workspace); }}};

constexpr int pause_ms = 400, neighbours_shown = 20, map_neighbours = 10;
constexpr std::size_t most_columns = 6, most_runs_at_first = 4;

QStringList stringsOf(const QJsonValue& value) {
    QStringList strings;
    for (const QJsonValue& one : value.toArray()) strings << one.toString();
    return strings;
}

QStringList thoseIn(QStringList wanted, const QStringList& there) {
    wanted.removeIf([&there](const QString& one) { return !there.contains(one); });
    return wanted;
}

}  // namespace

ExplorePage::ExplorePage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<ExploreDataPtr>(
          workspace, this, [this] { return question(); }, [this](const ExploreDataPtr& data) { take(data); })),
      m_corpusQuery(new WorkerQuery(this)),
      m_neighbourQuery(new WorkerQuery(this)),
      m_mapQuery(new WorkerQuery(this)),
      m_set(new QComboBox),
      m_viewChoice(new QComboBox),
      m_runs(choiceButton(QStringLiteral("exploreRuns"), tr("Runs"))),
      m_tasks(choiceButton(QStringLiteral("exploreTasks"), tr("Tasks"))),
      m_text(new QLineEdit),
      m_bar(new QWidget),
      m_status(new ElidedLabel),
      m_progress(new QProgressBar),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_again(new QPushButton(tr("Try again"))),
      m_export(new QPushButton(tr("Export"))),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_loading(new QWidget),
      m_empty(new EmptyState({}, {}, tr("Go to Runs"))),
      m_table(new NeighbourTable(QStringLiteral("exploreNeighbours"))),
      m_mapTable(new NeighbourTable(QStringLiteral("exploreMapNeighbours"))),
      m_map(new MapView),
      m_search(new QLineEdit),
      m_list(new QListView),
      m_examples(new QStringListModel(this)),
      m_found(new QSortFilterProxyModel(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(makeHead());
    layout->addWidget(makeBar());
    layout->addWidget(m_error);
    m_neighbours = makeNeighbours();
    m_mapPart = makeMap();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_loading, m_empty, m_neighbours, m_mapPart}) m_stack->addWidget(widget);
    layout->addWidget(m_stack, 1);
    m_pause.setSingleShot(true);
    m_pause.setInterval(pause_ms);
    connect(&m_pause, &QTimer::timeout, this, &ExplorePage::typed);
    connectQueries();
    clear();
    m_query->ask();
}

void ExplorePage::connectQueries() {
    connect(&workspace(), &Workspace::shownChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::projectChanged, this, &ExplorePage::clear);
    connect(m_query, &StoreQueryBase::failed, m_error, &ErrorBar::setMessage);
    connect(m_empty, &EmptyState::clicked, this, [this] { workspace().requestPage(QStringLiteral("runs")); });
    m_corpusQuery->setTitle(tr("Texts of a data set"));
    m_neighbourQuery->setTitle(tr("Neighbours of a text"));
    m_mapQuery->setTitle(tr("Map of a data set"));
    connectWorker(m_corpusQuery, [this](const Json& answer) { takeCorpus(answer); });
    connectWorker(m_neighbourQuery, [this](const Json& answer) { takeNeighbours(answer); });
    connectWorker(m_mapQuery, [this](const Json& answer) { takeMap(answer); });
    const auto goOn = [this](const QString& message) {  // the other side's run may be there
        m_mapProblem = message;
        if (m_askedMap) m_failedMaps.push_back(*m_askedMap);
        askMaps();
        showBusy();
    };
    connect(m_mapQuery, &WorkerQuery::failed, this, goOn, Qt::QueuedConnection);
}

/// What the worker says is checked as it is read: an answer that lacks something is an error, not a crash.
void ExplorePage::connectWorker(WorkerQuery* query, std::function<void(const Json&)> take) {
    connect(query, &WorkerQuery::answered, this, [this, take = std::move(take)](const WorkerAnswer& answer) {
        m_error->setMessage({});
        try {
            take(*answer);
        } catch (const std::exception& error) {
            m_error->setMessage(QString::fromUtf8(error.what()));
        }
    });
    connect(query, &WorkerQuery::failed, m_error, &ErrorBar::setMessage);
    connect(query, &WorkerQuery::cancelled, this, [this] {  // in Activity
        m_cancelled = true;
        showBusy();
    });
    connect(query, &WorkerQuery::progressed, this, &ExplorePage::showProgress);
    connect(query, &WorkerQuery::busyChanged, this, &ExplorePage::showBusy);
}

bool ExplorePage::isReady() const {
    return !m_query->isBusy() && !m_corpusQuery->isBusy() && !m_neighbourQuery->isBusy() && !m_mapQuery->isBusy() && !m_pause.isActive();
}

bool ExplorePage::pose() {
    if (!m_lastQuestion.is_null() || m_found->rowCount() == 0) return false;
    m_list->setCurrentIndex(m_found->index(0, 0));
    return true;
}

/// Of each shown group the first run that has a model.
std::vector<ExploreRequest> ExplorePage::requests() const {
    const RunsSnapshotPtr hold = workspace().runs();
    std::vector<ExploreRequest> all;
    for (const RunGroupRef& group : workspace().shownGroups())
        for (const RunRow* run : group.runs)
            if (hasModel(*run)) {
                all.push_back({run->info.id, group.label.toStdString(), group.colour});
                break;
            }
    return all;
}

std::function<ExploreDataPtr(Store&)> ExplorePage::question() const {
    return [all = requests(), folder = workspace().session()->folder()](Store& store) { return loadExplore(store, folder, all); };
}

/// Another project's texts must not stand under this one's name.
void ExplorePage::clear() {
    for (WorkerQuery* query : {m_corpusQuery, m_neighbourQuery, m_mapQuery}) query->stop();
    m_pause.stop();
    m_table->setLists(nullptr, nullptr, {});
    m_mapTable->setLists(nullptr, nullptr, {});
    m_map->setCorpus(nullptr, nullptr, {}, {});
    m_examples->setStringList({});
    m_data = std::make_shared<const std::vector<ExploreRun>>();
    m_corpus.reset();
    m_asked.clear();
    m_numChosen = 0;
    m_askedMap.reset();
    m_failedMaps.clear();
    m_mapProblem.clear();
    m_lastQuestion = nullptr;
    m_text->clear();
    m_search->clear();
    m_error->setMessage({});
    m_bar->hide();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_viewChoice, m_export}) widget->hide();
    m_stack->setCurrentWidget(m_loading);
    showBusy();
}

/// What was asked stays where nothing that can be asked has changed.
void ExplorePage::take(const ExploreDataPtr& data) {
    const auto same = [](const ExploreRun& a, const ExploreRun& b) {
        return a.folder == b.folder && a.request.label == b.request.label && a.request.colour == b.request.colour &&
               a.sets.size() == b.sets.size();
    };
    if (m_corpus && std::equal(m_data->begin(), m_data->end(), data->begin(), data->end(), same)) return;
    const QString before = set();
    m_corpusQuery->stop();
    m_corpus.reset();
    m_neighbourQuery->stop();
    m_mapQuery->stop();
    m_table->setLists(nullptr, nullptr, {});
    m_mapTable->setLists(nullptr, nullptr, {});
    m_data = data;
    m_asked.clear();
    m_numChosen = 0;
    m_askedMap.reset();
    m_map->setCorpus(m_data, nullptr, {}, {});
    if (m_data->empty()) return showEmpty();
    m_bar->show();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_viewChoice, m_export}) widget->show();
    if (!before.isEmpty()) m_wantedSet = before;
    fillSets();
    if (!before.isEmpty() && set() != before) m_wantedTasks.clear();  // as where a person chooses another
    chooseSet();
}

void ExplorePage::fillSets() {
    const QSignalBlocker quiet(m_set);
    m_set->clear();
    for (const ExploreRun& run : *m_data)
        for (const ExploreRun::Set& one : run.sets)
            if (m_set->findData(qs(one.name)) < 0) m_set->addItem(qs(one.name), qs(one.name));
    m_set->setCurrentIndex(std::max(0, m_set->findData(m_wantedSet)));
}

QString ExplorePage::set() const { return m_set->count() > 0 ? m_set->currentData().toString() : m_wantedSet; }
ExplorePage::View ExplorePage::view() const { return static_cast<View>(std::max(0, m_viewChoice->currentIndex())); }

const ExploreRun* ExplorePage::runOfSet() const {
    for (const ExploreRun& run : *m_data)
        if (run.find(set().toStdString())) return &run;
    return nullptr;
}

Json ExplorePage::about() const { return {{"run", runOfSet()->folder}, {"set", set().toStdString()}}; }

/// A handful of runs under the set's own task; where there is one run alone, under each of its tasks.
void ExplorePage::fillChoices() {
    QStringList runs, tasks, own;
    for (const ExploreRun& run : *m_data) {
        if (!run.find(set().toStdString())) continue;  // it was not scored on these texts
        runs << qs(run.request.label);
        for (const std::string& task : run.tasks)
            if (!tasks.contains(qs(task))) tasks << qs(task);
        if (const auto* one = run.find(set().toStdString()); one && !one->task.empty() && !own.contains(qs(one->task)))
            own << qs(one->task);
    }
    QStringList chosenRuns = thoseIn(m_wantedRuns, runs), chosenTasks = thoseIn(m_wantedTasks, tasks);
    if (chosenRuns.isEmpty()) chosenRuns = runs.mid(std::max<qsizetype>(0, runs.size() - static_cast<qsizetype>(most_runs_at_first)));
    if (chosenTasks.isEmpty()) chosenTasks = runs.size() == 1 || own.isEmpty() ? tasks : own;
    fill(m_runs, runs, chosenRuns, this, [this] {
        m_wantedRuns = chosenOf(m_runs);
        columnsChosen();
    });
    fill(m_tasks, tasks, chosenTasks, this, [this] {
        m_wantedTasks = chosenOf(m_tasks);
        columnsChosen();
    });
    m_tasks->setVisible(!tasks.isEmpty());
    m_table->setHint(hint());
}

QString ExplorePage::hint() const {
    if (!chosenColumns().empty())
        return tr(
            "The documents that are nearest to a text under each run and task stand here. Choose a text at the left, or type "
            "one above: only then models are opened.");
    if (chosenOf(m_runs).isEmpty()) return tr("No run is ticked: choose some under Runs, above.");
    if (chosenOf(m_tasks).isEmpty()) return tr("No task is ticked: choose some under Tasks, above.");
    return tr("None of the ticked runs has a ticked task: choose others under Runs or Tasks, above.");
}

std::vector<ExploreColumn> ExplorePage::allColumns() const {
    std::vector<ExploreColumn> columns;
    for (const ExploreRun& run : *m_data) {
        if (!run.find(set().toStdString())) continue;
        for (const std::string& task : run.tasks) columns.push_back({&run, task});
        if (run.tasks.empty()) columns.push_back({&run, {}});
    }
    return columns;
}

std::vector<ExploreColumn> ExplorePage::chosenColumns() const {
    const QStringList runs = chosenOf(m_runs), tasks = chosenOf(m_tasks);
    std::vector<ExploreColumn> columns;
    for (const ExploreColumn& column : allColumns())
        if (runs.contains(qs(column.run->request.label)) && (column.task.empty() || tasks.contains(qs(column.task))))
            columns.push_back(column);
    return columns;
}

void ExplorePage::columnsChosen() {
    m_table->setHint(hint());
    askAgain();
}

void ExplorePage::chooseSet() {
    if (!runOfSet()) return showEmpty();
    m_corpus.reset();
    if (!m_lastQuestion.contains("text")) m_lastQuestion = nullptr;  // of these texts; a typed one is asked of any
    m_table->setLists(nullptr, nullptr, {});
    m_mapTable->setLists(nullptr, nullptr, {});
    m_examples->setStringList({});
    m_cancelled = false;
    fillChoices();
    m_stack->setCurrentWidget(m_loading);
    m_corpusQuery->ask(QStringLiteral("corpus"), about());
}

void ExplorePage::takeCorpus(const Json& answer) {
    m_corpus = ExploredCorpus::from(answer);
    const std::vector<ExploreColumn> all = allColumns(), chosen = chosenColumns();
    const auto place = [&](const ExploreColumn& column) {
        return static_cast<int>(std::find(all.begin(), all.end(), column) - all.begin());
    };
    m_map->setCorpus(m_data, m_corpus, set(), all,
                     {chosen.empty() ? 0 : place(chosen.front()), chosen.size() > 1 ? place(chosen.back()) : -1});
    showExamples();
    showView();
}

void ExplorePage::showExamples() {
    QStringList texts;
    for (const QString& text : m_corpus->queries.isEmpty() ? m_corpus->documents : m_corpus->queries) texts << text.simplified();
    m_examples->setStringList(texts);
}

void ExplorePage::typed() {
    m_pause.stop();
    const QString text = m_text->text().trimmed();
    if (text.isEmpty()) return forgetText();
    if (m_data->empty()) return;
    const Json question = {{"text", text.toStdString()}};
    if (m_corpus) {
        m_list->clearSelection();
        return askNeighbours(question);
    }
    if (!m_corpusQuery->isBusy()) chooseSet();  // its texts were cancelled, or their worker ended
    m_lastQuestion = question;
}

/// What was answered is of a text that is gone; an example or a point that was chosen still is.
void ExplorePage::forgetText() {
    if (!m_lastQuestion.contains("text")) return;
    m_lastQuestion = nullptr;
    m_neighbourQuery->stop();
    m_asked.clear();
    m_numChosen = 0;
    for (NeighbourTable* table : {m_table, m_mapTable}) table->setLists(nullptr, nullptr, {});
    m_map->setNeighbours({});
    m_error->setMessage(m_mapProblem);
    showBusy();
}

void ExplorePage::askAgain() {
    if (!m_lastQuestion.is_null()) askNeighbours(Json(m_lastQuestion));
}

void ExplorePage::askNeighbours(const Json& query) {
    m_lastQuestion = query;
    if (!m_corpus) return;
    const bool map = view() == View::map;
    m_asked = map ? m_map->wanted() : chosenColumns();
    m_numChosen = m_asked.size();
    m_asked.resize(std::min(m_asked.size(), most_columns));
    m_cancelled = false;
    if (m_asked.empty()) {
        m_table->setLists(nullptr, nullptr, {});
        return m_neighbourQuery->stop();
    }
    Json params = about();
    params["query"] = query;
    params["count"] = map ? map_neighbours : neighbours_shown;
    params["all"] = map && m_map->colour() == MapView::Colour::similarity;
    params["columns"] = Json::array();
    for (const ExploreColumn& column : m_asked) params["columns"].push_back(column.toJson());
    m_neighbourQuery->ask(QStringLiteral("neighbours"), params);
}

void ExplorePage::takeNeighbours(const Json& answer) {
    QStringList problems;
    std::vector<NeighbourList> lists = neighbourLists(answer, m_asked, problems);
    if (view() == View::map && !m_mapProblem.isEmpty()) problems << m_mapProblem;
    m_error->setMessage(problems.join(QLatin1Char('\n')));
    if (view() == View::map) {
        if (m_lastQuestion.contains("document")) m_map->choose(m_lastQuestion["document"].get<int>());
        m_map->setNeighbours(lists);
        m_mapTable->setLists(m_data, m_corpus, std::move(lists));
    } else {
        m_table->setLists(m_data, m_corpus, std::move(lists));
    }
    showBusy();
}

/// What was cancelled.
void ExplorePage::tryAgain() {
    m_cancelled = false;
    m_corpus ? showView() : chooseSet();
    showBusy();
}

/// The first of the chosen columns whose map is not there yet; -1: none, or it could not be made.
int ExplorePage::missingMap() const {
    if (view() != View::map || !m_corpus) return -1;
    const std::vector<ExploreColumn> columns = m_map->wanted();
    const bool kept = m_map->colour() == MapView::Colour::kept && columns.size() == 2;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const CorpusMap* map = m_map->mapOf(columns[i]);
        if (map && (!kept || !map->kept.empty())) continue;
        if (std::find(m_failedMaps.begin(), m_failedMaps.end(), columns[i]) != m_failedMaps.end()) continue;
        return static_cast<int>(i);
    }
    return -1;
}

/// One after another.
void ExplorePage::askMaps() {
    const int next = missingMap();
    if (next < 0 || m_mapQuery->isBusy()) return;
    const std::vector<ExploreColumn> columns = m_map->wanted();
    const bool kept = m_map->colour() == MapView::Colour::kept && columns.size() == 2;
    m_askedMap = columns[static_cast<std::size_t>(next)];
    Json params = about();
    params["column"] = m_askedMap->toJson();
    params["other"] = kept ? columns[static_cast<std::size_t>(1 - next)].toJson() : Json();
    m_mapQuery->ask(QStringLiteral("map"), params);
}

void ExplorePage::takeMap(const Json& answer) {
    if (m_askedMap) m_map->setMap(*m_askedMap, CorpusMap::from(answer));
    m_error->setMessage(m_mapProblem);
    askMaps();
    showBusy();
}

void ExplorePage::showView() {
    if (!m_corpus) return;
    m_failedMaps.clear();
    m_mapProblem.clear();
    m_stack->setCurrentWidget(view() == View::map ? m_mapPart : m_neighbours);
    m_runs->setVisible(view() == View::neighbours);
    m_tasks->setVisible(view() == View::neighbours && !m_tasks->menu()->actions().isEmpty());
    askMaps();
    askAgain();
}

void ExplorePage::showEmpty() {
    m_bar->hide();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_viewChoice, m_export}) widget->hide();
    const QString here =
        tr("The texts of a data set, the nearest documents to any text under each run and task, and a map of them would be here.");
    if (requests().empty())
        m_empty->setText(tr("No shown run has a model to ask"), here + QLatin1Char(' ') + tr("Tick runs that are done in the navigator."));
    else
        m_empty->setText(tr("No shown run was scored on a data set"),
                         here + QLatin1Char(' ') + tr("Give the experiment an evaluation, or tick other runs in the navigator."));
    m_stack->setCurrentWidget(m_empty);
}

void ExplorePage::showProgress(const WorkerProgress& progress) {
    m_status->setFullText(progress.what);
    m_progress->setRange(0, static_cast<int>(progress.total));
    m_progress->setValue(static_cast<int>(progress.done));
}

void ExplorePage::showBusy() {
    const bool busy = m_corpusQuery->isBusy() || m_neighbourQuery->isBusy() || m_mapQuery->isBusy();
    m_progress->setVisible(busy);
    m_cancel->setVisible(busy);
    m_again->setVisible(!busy && !m_data->empty() && (m_cancelled || missingMap() >= 0));
    if (busy) return;
    QString text;
    if (m_cancelled)
        text = tr("cancelled");
    else if (m_corpus && static_cast<std::size_t>(m_corpus->documents.size()) < m_corpus->total)
        text = tr("%1 of %2 documents").arg(countText(m_corpus->documents.size()), countText(static_cast<std::int64_t>(m_corpus->total)));
    else if (m_corpus)
        text = tr("%1 documents").arg(countText(m_corpus->documents.size()));
    if (m_corpus && !m_corpus->part.isEmpty()) text += tr(" of %1").arg(m_corpus->part);
    if (m_corpus && m_numChosen > m_asked.size())
        text += tr(" · the first %1 of %2 columns: choose fewer runs or tasks").arg(m_asked.size()).arg(m_numChosen);
    const NeighbourModel* shown = (view() == View::map ? m_mapTable : m_table)->model();
    if (const QString part = readPart(shown->lists()); !m_cancelled && !part.isEmpty()) text += QStringLiteral(" · ") + part;
    m_status->setFullText(text);
}

QJsonObject ExplorePage::state() const {
    return {{QStringLiteral("set"), set()},
            {QStringLiteral("view"), static_cast<int>(view())},
            {QStringLiteral("colour"), static_cast<int>(m_map->colour())},
            {QStringLiteral("runs"), QJsonArray::fromStringList(m_wantedRuns)},
            {QStringLiteral("tasks"), QJsonArray::fromStringList(m_wantedTasks)}};
}

void ExplorePage::restore(const QJsonObject& state) {
    m_wantedSet = state.value(QStringLiteral("set")).toString();
    m_wantedRuns = stringsOf(state.value(QStringLiteral("runs")));
    m_wantedTasks = stringsOf(state.value(QStringLiteral("tasks")));
    m_map->setColour(static_cast<MapView::Colour>(std::clamp(state.value(QStringLiteral("colour")).toInt(), 0, 4)));
    m_viewChoice->setCurrentIndex(std::clamp(state.value(QStringLiteral("view")).toInt(), 0, 1));
    if (m_data->empty()) return;
    fillSets();
    chooseSet();
}

}  // namespace faceter::desktop
