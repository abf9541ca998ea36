#include "pages/curves/curves_page.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSlider>
#include <QStackedWidget>
#include <QToolButton>

#include "compare/counted_run.h"
#include "figure/cursor_link.h"
#include "figure/elided_name.h"
#include "figure/figure_view.h"
#include "pages/curves/curve_panel.h"
#include "pages/curves/panel_board.h"
#include "pages/curves/saved_views.h"
#include "pages/page_parts.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/run_label.h"
#include "widgets/scroll.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("curves"), QStringLiteral("Curves"), 3, true, [](Workspace& w) -> Page* { return new CurvesPage(w); }}};

constexpr int growing_ms = 2000, names_every = 5;  // of these
constexpr int most_tasks = 4;

/// Of all its stages where there are several.
QStringList patternsOf(const TaskLoss& task) {
    return task.series.size() > 1 ? QStringList{qs(task.name), qs(task.name) + QStringLiteral("@*")} : QStringList{qs(task.series.front())};
}

/// What is shown until somebody chooses. Where tasks alternate, one line through their losses is a saw that says nothing: a panel a task.
QList<PanelSpec> firstChoice(const QStringList& names) {
    std::vector<std::string> series;
    for (const QString& name : names) series.push_back(name.toStdString());
    const std::vector<TaskLoss> tasks = lossByTask(series);
    QList<PanelSpec> panels;
    if (tasks.size() > 1)
        for (const TaskLoss& task : tasks)
            if (panels.size() < most_tasks) panels.append({patternsOf(task)});
    QStringList others{QStringLiteral("lr"), QStringLiteral("grad_norm"), QStringLiteral("tokens_per_s")};
    if (panels.isEmpty()) others.prepend(QStringLiteral("loss"));
    for (const QString& name : std::as_const(others))
        if (names.contains(name)) panels.append({{name}});
    return panels;
}

}  // namespace

CurvesPage::CurvesPage(Workspace& workspace)
    : Page(workspace),
      m_query(new StoreQuery<std::vector<std::string>>(
          workspace, this, [this] { return nameQuestion(); },
          [this](const std::vector<std::string>& names) {
              QStringList list;
              for (const std::string& name : names) list << qs(name);
              if (std::exchange(m_onlyNew, false) && list == m_names) return;
              takeNames(list);
          })),
      m_link(new CursorLink(this)),
      m_subtitle(secondaryLabel()),
      m_x(new QComboBox),
      m_smoothing(new QSlider(Qt::Horizontal)),
      m_smoothingValue(secondaryLabel()),
      m_seeds(new QCheckBox(tr("Mean over seeds"))),
      m_logX(new QCheckBox(tr("log x"))),
      m_logY(new QCheckBox(tr("log y"))),
      m_linkRanges(new QCheckBox(tr("Zoom together"))),
      m_series(new QToolButton),
      m_pattern(new QLineEdit),
      m_patternProblem(plainLabel()),
      m_views(new SavedViews(workspace, this)),
      m_stack(new QStackedWidget),
      m_loading(secondaryLabel()),
      m_board(new PanelBoard) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    auto* head = new QHBoxLayout;
    head->addWidget(titleLabel(tr("Curves")), 1);
    head->addWidget(m_linkRanges);
    auto* views = new QToolButton;
    views->setText(tr("Views"));
    views->setProperty("role", QStringLiteral("button"));
    views->setObjectName(QStringLiteral("curvesViews"));
    views->setToolTip(tr("Boards of panels that this project keeps by name"));
    views->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(views);
    views->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillViewsMenu(menu); });
    head->addWidget(views);
    layout->addLayout(head);
    layout->addWidget(m_subtitle);
    buildBar(layout);
    auto* empty =
        new EmptyState(tr("No curves yet"),
                       tr("The loss, learning rate, throughput and every other series of the shown runs appear here while they train."),
                       tr("New experiment"));
    connect(empty, &EmptyState::clicked, this, [this] { this->workspace().requestCompose({}); });
    m_stack->addWidget(empty);
    m_stack->addWidget(scrolled(m_board));
    m_loading->setAlignment(Qt::AlignCenter);
    m_stack->addWidget(m_loading);
    auto* bare = new EmptyState(tr("No panel shows a series of these runs"),
                                tr("Series adds a panel of one, the field beside it a panel of several."), tr("The usual panels"));
    bare->setObjectName(QStringLiteral("curvesBare"));
    connect(bare, &EmptyState::clicked, this, [this] {
        m_choiceMade = false;
        takeNames(m_names);
    });
    m_stack->addWidget(bare);
    layout->addWidget(m_stack, 1);
    clear();
    connect(m_board, &PanelBoard::moveAsked, this, &CurvesPage::move);
    connect(&workspace, &Workspace::shownChanged, this, &CurvesPage::askNames);
    connect(&workspace, &Workspace::projectChanged, this, &CurvesPage::clear);
    connect(m_query, &StoreQueryBase::late, this,
            [this](bool isLate) { m_loading->setText(isLate ? tr("Reading the runs' curves…") : QString()); });
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (message.isEmpty() || std::exchange(m_onlyNew, false)) return;
        this->workspace().complain(message);
        takeNames({});
    });
    connect(&m_growing, &QTimer::timeout, this, &CurvesPage::refreshGrowing);
    m_growing.start(growing_ms);
    m_choiceMade = false;
    askNames();
}

void CurvesPage::buildBar(QVBoxLayout* layout) {
    auto* bar = new FlowLayout;
    m_series->setText(tr("Series"));
    m_series->setProperty("role", QStringLiteral("button"));
    m_series->setObjectName(QStringLiteral("curvesSeries"));
    m_series->setPopupMode(QToolButton::InstantPopup);
    m_series->setMenu(new QMenu(m_series));
    for (const QString& name : {tr("step"), tr("examples"), tr("tokens"), tr("time")}) m_x->addItem(tr("x: %1").arg(name));
    m_x->setObjectName(QStringLiteral("curvesX"));
    m_x->setAccessibleName(tr("What x counts"));
    m_smoothing->setRange(0, 100);
    m_smoothing->setFixedWidth(110);
    m_smoothing->setObjectName(QStringLiteral("curvesSmoothing"));
    m_smoothing->setAccessibleName(tr("Smoothing"));
    m_smoothing->setToolTip(tr("Exponential average; the raw line stays visible behind it"));
    m_smoothingValue->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("0.000")));
    m_seeds->setChecked(true);
    m_seeds->setObjectName(QStringLiteral("curvesSeeds"));
    m_seeds->setToolTip(tr("One line for the seeds of a configuration, with a band of one standard deviation"));
    m_logX->setObjectName(QStringLiteral("curvesLogX"));
    m_logY->setObjectName(QStringLiteral("curvesLogY"));
    m_linkRanges->setObjectName(QStringLiteral("curvesLink"));
    m_linkRanges->setToolTip(tr("A zoom along x in one panel moves all"));
    m_pattern->setObjectName(QStringLiteral("curvesPattern"));
    m_pattern->setPlaceholderText(tr("one panel of: loss/*, lr"));
    m_pattern->setAccessibleName(tr("Series of a new panel"));
    m_pattern->setToolTip(
        tr("Names, * for anything, or a /regular expression/; several between commas. Enter adds a panel with all of them."));
    m_pattern->setClearButtonEnabled(true);
    m_pattern->setFixedWidth(190);
    m_patternProblem->setProperty("role", QStringLiteral("error"));
    m_patternProblem->setObjectName(QStringLiteral("curvesPatternProblem"));
    m_patternProblem->setWordWrap(true);
    m_patternProblem->hide();
    connect(m_pattern, &QLineEdit::returnPressed, this, [this] { addPanel(patternsFrom(m_pattern->text())); });
    connect(m_pattern, &QLineEdit::textEdited, m_patternProblem, &QWidget::hide);
    bar->addWidget(m_series);
    bar->addWidget(m_pattern);
    bar->addWidget(m_x);
    bar->addWidget(secondaryLabel(tr("Smoothing")));
    bar->addWidget(m_smoothing);
    bar->addWidget(m_smoothingValue);
    for (QCheckBox* box : {m_seeds, m_logX, m_logY}) bar->addWidget(box);
    layout->addLayout(bar);
    layout->addWidget(m_patternProblem);
    connect(m_x, &QComboBox::currentIndexChanged, this, &CurvesPage::sendRequests);
    connect(m_smoothing, &QSlider::valueChanged, this, &CurvesPage::sendRequests);
    for (QCheckBox* box : {m_seeds, m_logX, m_logY}) connect(box, &QCheckBox::toggled, this, &CurvesPage::sendRequests);
    connect(m_linkRanges, &QCheckBox::toggled, m_link, &CursorLink::setRangesLinked);
}

/// Another project's curves must not stand under this one's name.
void CurvesPage::clear() {
    m_names.clear();
    m_namesKnown = m_onlyNew = false;
    showMatches();
    m_subtitle->clear();
    m_patternProblem->hide();
    m_stack->setCurrentWidget(m_loading);
}

std::function<std::vector<std::string>(Store&)> CurvesPage::nameQuestion() const {
    return [groups = shownCurves()](Store& store) { return curveNames(store, groups); };
}

void CurvesPage::askNames() {
    if (!workspace().session()) return;
    m_onlyNew = false;
    std::size_t runs = 0;
    const std::vector<CurveGroup> groups = shownCurves();
    for (const CurveGroup& group : groups) runs += group.runs.size();
    m_subtitle->setText(QStringList{workspace().experiment().isEmpty() ? tr("all experiments") : isolated(workspace().experiment()),
                                    runs == 1 ? tr("1 run") : tr("%1 runs").arg(runs),
                                    groups.size() == 1 ? tr("1 group") : tr("%1 groups").arg(groups.size())}
                            .join(QStringLiteral(" · ")));
    m_query->ask();
}

void CurvesPage::takeNames(const QStringList& names) {
    m_names = names;
    m_namesKnown = true;
    if (!m_choiceMade) return setPanels(firstChoice(names));
    showMatches();
}

CurveRequest CurvesPage::request() const {
    CurveRequest request;
    request.x = static_cast<SeriesX>(m_x->currentIndex());
    request.smoothing = smoothingWeight(m_smoothing->value());
    request.logX = m_logX->isChecked();
    request.logY = m_logY->isChecked();
    request.overSeeds = m_seeds->isChecked();
    request.groups = shownCurves();
    return request;
}

std::vector<CurveGroup> CurvesPage::shownCurves() const {
    std::vector<CurveGroup> curves;
    const RunsSnapshotPtr hold = workspace().runs();
    for (const RunGroupRef& group : workspace().shownGroups()) {
        CurveGroup curve{group.label.toStdString(), group.colour, {}, {}};
        const std::vector<const RunRow*> runs = m_seeds->isChecked() ? counting_first(group.runs) : group.runs;
        QStringList names;
        for (const RunRow* run : runs) {
            curve.runs.push_back(run->info.id);
            curve.seeds.push_back(run->info.seed);
            names << seedLabel(group.label, run->info.seed);
        }
        for (const QString& name : toldApart(names, runs)) curve.names.push_back(name.toStdString());
        curves.push_back(std::move(curve));
    }
    return curves;
}

void CurvesPage::sendRequests() {
    m_smoothingValue->setText(QString::number(smoothingWeight(m_smoothing->value()), 'f', 3));
    const auto common = std::make_shared<const CurveRequest>(request());
    for (CurvePanel* panel : std::as_const(m_panels)) panel->setRequest(common, m_smoothing->value());
}

/// Runs that train add points all the time without a change of which runs are shown.
void CurvesPage::refreshGrowing() {
    if (!isVisible() || !workspace().session()) return;
    const RunsSnapshotPtr hold = workspace().runs();
    bool growing = false;
    for (const RunGroupRef& group : workspace().shownGroups())
        for (const RunRow* run : group.runs) growing = growing || run->state.phase == RunPhase::running;
    if (!growing) return;
    if (m_stack->currentIndex() != board_index) return askNames();
    if (++m_grown % names_every == 0 && !m_query->isBusy()) {  // series begin late: of a task, of scores
        m_onlyNew = true;
        m_query->ask();
    }
    for (CurvePanel* panel : std::as_const(m_panels)) panel->refresh();
}

bool CurvesPage::isReady() const {
    return m_namesKnown && !m_query->isBusy() &&
           std::all_of(m_panels.begin(), m_panels.end(), [](const CurvePanel* panel) { return panel->isReady(); });
}

void CurvesPage::shown() {
    refreshGrowing();
    takeFocus();
}

void CurvesPage::takeFocus() {
    focusPart(*this, m_stack->currentIndex() == board_index && !m_panels.isEmpty() ? m_panels.first()->view() : m_stack->currentWidget());
}

QJsonObject CurvesPage::state() const {
    QJsonObject state{{QStringLiteral("x"), m_x->currentIndex()},      {QStringLiteral("smoothing"), m_smoothing->value()},
                      {QStringLiteral("seeds"), m_seeds->isChecked()}, {QStringLiteral("logX"), m_logX->isChecked()},
                      {QStringLiteral("logY"), m_logY->isChecked()},   {QStringLiteral("link"), m_linkRanges->isChecked()}};
    if (!m_choiceMade) return state;
    QJsonArray panels;
    for (const CurvePanel* panel : m_panels) panels.append(panel->spec().toJson());
    state.insert(QStringLiteral("panels"), panels);
    return state;
}

void CurvesPage::restore(const QJsonObject& state) {
    if (state.isEmpty()) return;
    m_x->setCurrentIndex(std::clamp(state[QStringLiteral("x")].toInt(), 0, 3));
    m_smoothing->setValue(state[QStringLiteral("smoothing")].toInt());
    m_seeds->setChecked(state[QStringLiteral("seeds")].toBool(true));
    m_logX->setChecked(state[QStringLiteral("logX")].toBool());
    m_logY->setChecked(state[QStringLiteral("logY")].toBool());
    m_linkRanges->setChecked(state[QStringLiteral("link")].toBool());
    if (!state.contains(QStringLiteral("panels"))) return;
    m_choiceMade = true;
    QList<PanelSpec> panels;
    for (const QJsonValue& panel : state[QStringLiteral("panels")].toArray()) panels.append(PanelSpec::fromJson(panel.toObject()));
    setPanels(panels);
}

}  // namespace faceter::desktop
