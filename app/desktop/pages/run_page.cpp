#include "pages/run_page.h"

#include <QComboBox>
#include <QMenu>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <tuple>

#include "pages/page_parts.h"
#include "project/has_model.h"
#include "project/runs_snapshot.h"
#include "store/store.h"
#include "widgets/labels.h"
#include "widgets/name_box.h"
#include "widgets/run_label.h"

namespace faceter::desktop {
namespace {

constexpr std::size_t most_runs = 24;
constexpr int widest_choice = 260, follow_ms = 3000;

struct Candidate {
    const RunRow* row = nullptr;
    const RunGroupRef* group = nullptr;
    std::size_t inGroup = 0, place = 0;
};

/// Of many thousand runs: what they are called is made of those alone that are read.
std::vector<Candidate> candidates(const std::vector<RunGroupRef>& groups) {
    std::vector<Candidate> all;
    for (const RunGroupRef& group : groups) {
        std::size_t inGroup = 0;
        for (const RunRow* run : group.runs)
            if (!run->info.is_baseline()) all.push_back({run, &group, inGroup++, all.size()});
    }
    return all;
}

std::vector<TrainedRun> named(const std::vector<Candidate>& all) {
    std::vector<const RunRow*> rows;
    QStringList labels;
    for (const Candidate& one : all) {
        rows.push_back(one.row);
        labels << seedLabel(one.group->label, one.row->info.seed);
    }
    labels = toldApart(labels, rows);
    std::vector<TrainedRun> runs;
    for (std::size_t i = 0; i < rows.size(); ++i)
        runs.push_back(
            {rows[i]->info.id, labels[static_cast<qsizetype>(i)].toStdString(), hasModel(*rows[i]), rows[i]->info.is_imported()});
    return runs;
}

}  // namespace

std::vector<TrainedRun> shownTrainedRuns(const Workspace& workspace, const std::set<std::string>& methods) {
    const RunsSnapshotPtr hold = workspace.runs();
    const std::vector<RunGroupRef> groups = workspace.shownGroups();
    std::vector<Candidate> all = candidates(groups);
    const auto rank = [&](const Candidate& one) {
        return std::tuple(!methods.contains(one.row->info.method), !hasModel(*one.row), one.inGroup, one.place);
    };
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), most_runs));
    std::partial_sort(all.begin(), last, all.end(), [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
    all.erase(last, all.end());
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.place < b.place; });
    return named(all);
}

std::size_t unreadTrainedRuns(const Workspace& workspace) {
    const RunsSnapshotPtr hold = workspace.runs();
    const std::size_t all = candidates(workspace.shownGroups()).size();
    return all - std::min(all, most_runs);
}

/// Every stage logs its loss.
std::vector<std::string> seriesOfFirstStage(Store& store, const std::string& run) {
    std::vector<std::string> names = store.series_names(run);
    const std::set<std::string> all(names.begin(), names.end());
    std::erase_if(names, [&all](const std::string& name) {
        const std::size_t stage = name.rfind('@');
        return stage != std::string::npos && all.contains("loss" + name.substr(stage));
    });
    return names;
}

RunPage::RunPage(Workspace& workspace, const Texts& texts)
    : Page(workspace),
      m_run(new NameBox),
      m_viewChoice(new QComboBox),
      m_actions(new QWidget),
      m_subtitle(secondaryLabel(texts.subtitle)),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_loading(new QWidget),
      m_empty(new EmptyState({}, {}, tr("Open the composer"))),
      m_loadingText(texts.loading) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(makeHead(texts));
    m_subtitle->setWordWrap(true);
    m_subtitle->setObjectName(texts.id + QStringLiteral("Subtitle"));
    layout->addWidget(m_subtitle);
    layout->addWidget(m_error);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_loading);
    layout->addWidget(m_stack, 1);
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
}

QWidget* RunPage::makeHead(const Texts& texts) {
    setUpChoices(texts);
    auto* menu = new QMenu(this);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExportMenu(menu); });
    return pageHead(texts.id, texts.title, m_actions, {m_run, m_viewChoice}, menu);
}

void RunPage::setUpChoices(const Texts& texts) {
    m_run->setObjectName(texts.id + QStringLiteral("Run"));
    m_run->setAccessibleName(texts.runs);
    m_run->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_run->setMaximumWidth(widest_choice);
    m_viewChoice->setObjectName(texts.id + QStringLiteral("View"));
    m_viewChoice->setAccessibleName(tr("View"));
    connect(m_run, &QComboBox::currentIndexChanged, this, [this] {
        m_wantedRun = m_run->currentData().toString();
        showRun();
    });
    connect(m_viewChoice, &QComboBox::currentIndexChanged, this, [this] {
        m_viewChosen = true;
        showView();
    });
}

void RunPage::addView(const QString& title, QWidget* view) {
    const QSignalBlocker quiet(m_viewChoice);
    m_viewChoice->addItem(title);
    m_views.push_back(view);
    m_stack->addWidget(view);
}

int RunPage::viewIndex() const { return std::max(0, m_viewChoice->currentIndex()); }
void RunPage::setViewIndex(int index) { m_viewChoice->setCurrentIndex(std::min(index, m_viewChoice->count() - 1)); }
void RunPage::setSubtitle(const QString& text) { m_subtitle->setText(text); }

void RunPage::start(StoreQueryBase* query) {
    sayWhenLate(m_loading, m_loadingText, query);
    connect(query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty()) return;
        forget();
        m_error->setMessage(message);
    });
    connect(&workspace(), &Workspace::shownChanged, query, &StoreQueryBase::ask);
    auto* again = new QTimer(this);
    again->setSingleShot(true);
    again->setInterval(follow_ms);
    connect(again, &QTimer::timeout, query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::runsChanged, again, [this, again] {
        if (followsTraining() && isTraining() && !again->isActive()) again->start();
    });
    connect(&workspace(), &Workspace::projectChanged, this, &RunPage::clear);
    clear();
    query->ask();
}

/// Its steps are no news to Workspace::shownChanged.
bool RunPage::isTraining() const {
    const RunsSnapshotPtr hold = workspace().runs();
    const auto groups = workspace().shownGroups();
    return std::any_of(groups.begin(), groups.end(), [](const RunGroupRef& group) {
        return std::any_of(group.runs.begin(), group.runs.end(), [](const RunRow* run) { return run->state.phase == RunPhase::running; });
    });
}

void RunPage::clear() {
    forget();
    m_error->setMessage({});
    m_stack->setCurrentWidget(m_loading);
}

void RunPage::showAnswer(const QString& problems) {
    m_error->setMessage(problems);
    fillRuns();
    showRun();
}

/// The one that was chosen, else the one that was shown, stays; until there was one, the first that has a model.
void RunPage::fillRuns() {
    const QSignalBlocker quiet(m_run);
    m_run->clear();
    int first = -1;
    for (const TrainedRun& run : choices()) {
        if (first < 0 && run.isDone) first = m_run->count();
        m_run->addItem(qs(run.label), qs(run.run));
    }
    const int wanted = m_run->findData(m_wantedRun), shown = m_run->findData(m_shownRun);
    m_run->setCurrentIndex(wanted >= 0 ? wanted : shown >= 0 ? shown : first >= 0 ? first : m_run->count() > 0 ? 0 : -1);
    const std::size_t unread = unreadTrainedRuns(workspace());
    if (m_run->count() == 0 || unread == 0) return;
    m_run->addItem(tr("%1 more are ticked and were not looked at: untick others").arg(unread));
    static_cast<QStandardItemModel*>(m_run->model())->item(m_run->count() - 1)->setEnabled(false);
}

bool RunPage::isChosen(const TrainedRun& run) const { return m_run->currentData().toString() == qs(run.run); }

void RunPage::showRun() {
    if (m_run->currentIndex() >= 0) m_shownRun = m_run->currentData().toString();
    fillViews();
    if (!m_viewChosen) choosePreferred();
    showView();
}

void RunPage::choosePreferred() {
    const QSignalBlocker quiet(m_viewChoice);
    const std::vector<int> preferred = preferredViews();
    const auto first = std::find_if(preferred.begin(), preferred.end(), [this](int view) { return hasView(view); });
    if (first != preferred.end()) setViewIndex(*first);
}

void RunPage::showView() {
    m_actions->setVisible(hasData());
    m_run->setVisible(m_run->count() > 0 && isOfOneRun(viewIndex()));
    if (hasView(viewIndex())) return m_stack->setCurrentWidget(m_views[static_cast<std::size_t>(viewIndex())]);
    const Nothing said = nothing();
    m_empty->setText(said.title, said.text);
    m_stack->setCurrentWidget(m_empty);
}

void RunPage::fillExportMenu(QMenu* menu) {
    menu->clear();
    addExports(menu);
    if (menu->isEmpty()) menu->addAction(tr("Nothing to export in this view"))->setEnabled(false);
}

QJsonObject RunPage::state() const {
    return {{QStringLiteral("run"), m_wantedRun.isEmpty() ? m_shownRun : m_wantedRun},
            {QStringLiteral("view"), m_viewChosen ? viewIndex() : -1}};
}

void RunPage::restore(const QJsonObject& state) {
    m_wantedRun = state.value(QStringLiteral("run")).toString();
    const int view = state.value(QStringLiteral("view")).toInt(-1);
    if (view >= 0) setViewIndex(view);
    m_viewChosen = view >= 0;
    fillRuns();
    showRun();
    if (isAsking() || !hasData()) m_stack->setCurrentWidget(m_loading);
}

}  // namespace faceter::desktop
