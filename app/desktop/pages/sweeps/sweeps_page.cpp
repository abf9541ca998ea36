#include "pages/sweeps/sweeps_page.h"

#include <QComboBox>
#include <QFrame>
#include <QMenu>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/counted_run.h"
#include "pages/page_parts.h"
#include "pages/sweeps/parallel_view.h"
#include "widgets/labels.h"
#include "widgets/report_cards.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("sweeps"), QStringLiteral("Sweeps"), 12, true, [](Workspace& workspace) { return new SweepsPage(workspace); }}};

std::vector<SweepRequest> requestsOf(const Workspace& workspace) {
    std::vector<SweepRequest> requests;
    const RunsSnapshotPtr hold = workspace.runs();
    for (const RunGroupRef& group : workspace.shownGroups())
        for (const RunRow* run : one_of_each_seed(group.runs, [](const RunRow* one) -> const RunRow& { return *one; }))
            if (!run->info.is_baseline())
                requests.push_back(
                    {run->info.id, group.label.toStdString(), run->info.method, run->info.shown_name()});  // a start model has none
    return requests;
}

/// The first few, and how many more.
QString firstNames(const std::vector<std::string>& names) {
    constexpr std::size_t most = 4;
    QStringList shown;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i) shown << qs(names[i]);
    const QString list = shown.join(QStringLiteral(", "));
    return names.size() <= most ? list : SweepsPage::tr("%1 and %2 more").arg(list).arg(names.size() - most);
}

bool isAlike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Do two answers show the same? A run that trains makes the page ask every few seconds.
bool areAlike(const SweepsData& a, const SweepsData& b) {
    const auto sameRun = [](const SweepsData::Run& one, const SweepsData::Run& other) {
        return one.request.run == other.request.run && one.request.point == other.request.point && *one.settings == *other.settings &&
               std::equal(one.scores.begin(), one.scores.end(), other.scores.begin(), other.scores.end(), isAlike);
    };
    const auto sameScore = [](const SweepsData::Score& one, const SweepsData::Score& other) {
        return one.id == other.id && one.name == other.name;
    };
    return a.lacking == b.lacking && a.numUnscored == b.numUnscored &&
           std::equal(a.scores.begin(), a.scores.end(), b.scores.begin(), b.scores.end(), sameScore) &&
           std::equal(a.runs.begin(), a.runs.end(), b.runs.begin(), b.runs.end(), sameRun);
}

/// What the means are not over; empty: nothing.
QString whatIsLeftOut(const SweepsData& data) {
    QStringList parts;
    if (!data.lacking.empty()) {
        const QString of =
            data.numCommon == 0
                ? SweepsPage::tr("No data set is scored in every shown run: there is no mean over them.")
                : SweepsPage::tr("Means are over the %1 of %2 data sets that every shown run has.").arg(data.numCommon).arg(data.numSets);
        parts << of << SweepsPage::tr("Some are lacking in %1.").arg(firstNames(data.lacking));
    }
    if (data.numUnscored == 1) parts << SweepsPage::tr("1 run has no score yet.");
    if (data.numUnscored > 1) parts << SweepsPage::tr("%1 runs have no score yet.").arg(data.numUnscored);
    return parts.join(QLatin1Char(' '));
}

}  // namespace

SweepsPage::SweepsPage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<SweepsDataPtr>(
          workspace, this, [this] { return question(); }, [this](const SweepsDataPtr& data) { take(data); })),
      m_score(new QComboBox),
      m_setting(new QComboBox),
      m_actions(new QWidget),
      m_subtitle(secondaryLabel(tr("What settings do to a score, over the runs that are ticked."))),
      m_left(secondaryLabel()),
      m_kept(secondaryLabel()),
      m_why(secondaryLabel()),
      m_error(new ErrorBar),
      m_stack(new QStackedWidget),
      m_body(makeBody()),
      m_loading(new QWidget),
      m_empty(new EmptyState({}, {}, tr("Open the composer"))),
      m_data(std::make_shared<SweepsData>()) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    layout->addWidget(makeHead());
    m_subtitle->setWordWrap(true);
    layout->addWidget(m_subtitle);
    m_left->setObjectName(QStringLiteral("sweepsLeftOut"));
    m_left->setWordWrap(true);
    layout->addWidget(m_left);
    layout->addWidget(m_error);
    for (QWidget* view : std::initializer_list<QWidget*>{m_body, m_empty, m_loading}) m_stack->addWidget(view);
    layout->addWidget(m_stack, 1);
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
    connectQuery();
    clear();
    m_query->ask();
}

QWidget* SweepsPage::makeHead() {
    m_score->setObjectName(QStringLiteral("sweepsScore"));
    m_score->setAccessibleName(tr("Score"));
    m_setting->setObjectName(QStringLiteral("sweepsSetting"));
    m_setting->setAccessibleName(tr("Setting that the score is drawn over"));
    for (QComboBox* box : {m_score, m_setting}) box->setMaximumWidth(260);
    auto* menu = new QMenu(this);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExportMenu(menu); });
    connect(m_score, &QComboBox::activated, this, [this] {
        m_wantedScore = m_score->currentData().toString();
        showSweep();
    });
    connect(m_setting, &QComboBox::activated, this, [this] {
        m_wantedSetting = m_setting->currentData().toString();
        showCards();
    });
    return pageHead(QStringLiteral("sweeps"), tr("Sweeps"), m_actions, {m_score, m_setting}, menu);
}

QWidget* SweepsPage::makeBody() {
    auto* body = new QWidget;
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    auto* card = new QVBoxLayout(frame);
    m_parallel = new ParallelView;
    m_parallel->setObjectName(QStringLiteral("sweepsParallel"));
    m_parallel->setMinimumHeight(280);
    m_kept->setObjectName(QStringLiteral("sweepsKept"));
    m_kept->setWordWrap(true);
    card->addWidget(m_parallel, 1);
    card->addWidget(m_kept);
    m_cards = new ReportCards(QStringLiteral("sweeps"), {"sweep_setting", "sweep_importance"}, {"sweep_points"});
    m_why->setObjectName(QStringLiteral("sweepsWhy"));
    m_why->setWordWrap(true);
    layout->addWidget(frame);
    layout->addWidget(m_why);
    layout->addWidget(m_cards, 1);
    connect(m_parallel, &ParallelView::keptChanged, this, &SweepsPage::showCards);
    connect(m_parallel, &ParallelView::pointChosen, this, &SweepsPage::showCards);
    return scrolled(body);
}

void SweepsPage::connectQuery() {
    sayWhenLate(m_loading, tr("Reading scores and settings…"), m_query);
    connect(m_query, &StoreQueryBase::failed, m_error, &ErrorBar::setMessage);
    connect(&workspace(), &Workspace::shownChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::runsChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace(), &Workspace::projectChanged, this, &SweepsPage::clear);
}

std::function<SweepsDataPtr(Store&)> SweepsPage::question() const {
    return [requests = requestsOf(workspace())](Store& store) { return loadSweeps(store, requests); };
}

/// Another project's runs must not stand under this one's name.
void SweepsPage::clear() {
    m_data = std::make_shared<SweepsData>();
    m_sweep = {};
    m_actions->hide();
    m_left->hide();
    m_error->setMessage({});
    m_stack->setCurrentWidget(m_loading);
}

/// What somebody chose, drags or reads stays where nothing has changed.
void SweepsPage::take(const SweepsDataPtr& data) {
    if (m_stack->currentWidget() != m_loading && areAlike(*m_data, *data)) return;
    m_data = data;
    m_left->setText(whatIsLeftOut(*data));
    m_left->setHidden(m_left->text().isEmpty());
    fillScores();
    showSweep();
}

void SweepsPage::fillScores() {
    const QSignalBlocker quiet(m_score);
    m_score->clear();
    for (const SweepsData::Score& score : m_data->scores) m_score->addItem(qs(score.name), qs(score.id));
    m_score->setCurrentIndex(std::max(m_score->count() > 0 ? 0 : -1, m_score->findData(m_wantedScore)));
}

void SweepsPage::fillSettings() {
    const QSignalBlocker quiet(m_setting);
    m_setting->clear();
    for (const SweepSetting& setting : m_sweep.settings) m_setting->addItem(qs(setting.key), qs(setting.key));
    m_setting->setCurrentIndex(std::max(m_setting->count() > 0 ? 0 : -1, m_setting->findData(m_wantedSetting)));
}

std::string SweepsPage::scoreName() const { return m_score->currentText().toStdString(); }

void SweepsPage::showSweep() {
    const int place = m_score->currentIndex();  // as they stand in the data
    std::vector<SweepRun> runs;
    for (const SweepsData::Run& run : m_data->runs)
        runs.push_back({run.request.point, *run.settings,
                        place < 0 ? std::numeric_limits<double>::quiet_NaN() : run.scores.at(static_cast<std::size_t>(place))});
    m_sweep = make_sweep(runs);
    fillSettings();
    m_parallel->setSweep(m_sweep, scoreName());
    const bool differs = m_sweep.points.size() > 1 && !m_sweep.settings.empty();
    m_actions->setVisible(differs);
    m_stack->setCurrentWidget(differs ? m_body : static_cast<QWidget*>(m_empty));
    if (hasFocus()) shown();
    if (differs) return;
    m_empty->setText(
        tr("No shown runs differ in a setting"),
        tr("What each setting does to a score would be here. Give an experiment a sweep or several variants, and tick runs that "
           "are evaluated in the navigator."));
}

/// The cards are of the configurations that the ranges on the axes let through; what explains the score is of all.
void SweepsPage::showCards() {
    if (m_sweep.points.empty()) return m_cards->setReport({});
    const std::vector<int> places = m_parallel->kept();
    Sweep kept{{}, m_sweep.settings};
    for (const int place : places) kept.points.push_back(m_sweep.points[static_cast<std::size_t>(place)]);
    Report report;
    if (!m_setting->currentData().toString().isEmpty() && !kept.points.empty())
        report.figures["sweep_setting"] = sweep_setting_figure(kept, m_setting->currentData().toString().toStdString(), scoreName());
    const Figure importance = sweep_importance_figure(m_sweep, scoreName());
    if (!importance.series.front().y.empty()) report.figures["sweep_importance"] = importance;
    m_why->setText(whyNothingExplains());
    m_why->setVisible(importance.series.front().y.empty());
    report.tables["sweep_points"] = sweep_table(kept, scoreName());
    m_cards->setReport(report);
    QStringList parts{tr("%1 of %2 configurations").arg(places.size()).arg(m_sweep.points.size())};
    if (m_parallel->chosen() >= 0) {
        const SweepConfiguration& point = m_sweep.points[static_cast<std::size_t>(m_parallel->chosen())];
        parts << qs(point.name) << tr("mean %1 (n = %2)").arg(point.score.mean, 0, 'f', 2).arg(point.score.n);
    } else {
        parts << tr("drag along an axis to keep some, click a line to name it");
    }
    m_kept->setText(parts.join(QStringLiteral(" · ")));
}

QString SweepsPage::whyNothingExplains() const {
    if (m_sweep.points.size() < 3)
        return tr(
            "What explains the score is not told: the two configurations differ in all these settings together. A third one tells "
            "them apart.");
    return tr(
        "What explains the score is not told: each setting has too many values for so few runs. More seeds or configurations would "
        "tell.");
}

void SweepsPage::fillExportMenu(QMenu* menu) {
    menu->clear();
    m_cards->addExports(menu, this);
    if (menu->isEmpty()) menu->addAction(tr("Nothing to export"))->setEnabled(false);
}

void SweepsPage::shown() { focusPart(*this, m_stack->currentWidget()); }

QJsonObject SweepsPage::state() const { return {{QStringLiteral("score"), m_wantedScore}, {QStringLiteral("setting"), m_wantedSetting}}; }

void SweepsPage::restore(const QJsonObject& state) {
    m_wantedScore = state.value(QStringLiteral("score")).toString();
    m_wantedSetting = state.value(QStringLiteral("setting")).toString();
    fillScores();
    if (!m_data->runs.empty()) showSweep();
}

}  // namespace faceter::desktop
