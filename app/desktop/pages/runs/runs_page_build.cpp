#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "actions/run_actions.h"
#include "pages/runs/column_chooser.h"
#include "pages/runs/curve_card.h"
#include "pages/runs/facet_panel.h"
#include "pages/runs/runs_page.h"
#include "pages/runs/runs_view.h"
#include "pages/runs/selection_actions.h"
#include "pages/runs/selection_bar.h"
#include "widgets/filter_edit.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/menu_heading.h"

namespace faceter::desktop {
namespace {

constexpr int lowest_with_curves = 500;  // px, of the page: below it neither a plot nor the table has room
constexpr int most_setting_groups = 40;  // of a menu; the rest by columns

QPushButton* newExperimentButton() {
    auto* button = new QPushButton(RunsPage::tr("New experiment"));
    button->setProperty("primary", true);
    button->setObjectName(QStringLiteral("newExperiment"));
    return button;
}

}  // namespace

RunsPage::RunsPage(Workspace& workspace, QWidget* parent)
    : Page(workspace, parent),
      m_model(new RunsModel(this)),
      m_table(new RunsView(*m_model)),
      m_actions(new SelectionActions(workspace, m_table, [this] { return m_table->selectedRuns(); })),
      m_bar(new SelectionBar(*m_actions)),
      m_filter(new FilterEdit(QStringLiteral("runsFilter"))),
      m_groupButton(dropDownButton(tr("Group"), QStringLiteral("group"), QStringLiteral("runsGroup"))),
      m_groupMenu(new QMenu(m_groupButton)),
      m_curves(new CurveCard(workspace)),
      m_splitter(new QSplitter(Qt::Vertical)),
      m_subtitle(new ElidedLabel),
      m_error(new ErrorBar),
      m_empty(new EmptyState(tr("No runs yet"),
                             tr("Compose an experiment and launch it: its runs appear here at once, also those that a cluster writes into "
                                "this project's folder."),
                             tr("New experiment"))),
      m_loading(secondaryLabel()),
      m_stack(new QStackedLayout),
      m_query(new StoreQuery<RunsAnswer>(
          workspace, this, [this] { return question(); }, [this](const RunsAnswer& answer) { take(answer); })) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_error);
    layout->addLayout(m_stack, 1);
    m_content = buildContent();
    m_groupButton->setText(tr("Group: %1").arg(m_group.title()));
    m_loading->setAlignment(Qt::AlignCenter);
    m_stack->addWidget(m_loading);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_content);
    m_model->setColours([this](const RunInfo& run) { return this->workspace().colourOf(run); });
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestCompose({}); });
    connectTools();
    connectTable();
    connectQuery();
    connect(&workspace, &Workspace::projectChanged, this, &RunsPage::projectChanged);
    connect(&workspace, &Workspace::currentRunChanged, this, &RunsPage::followCurrentRun);
    connect(&workspace, &Workspace::shownChanged, this, [this] {
        m_model->recolour();
        showCurves(false);
    });
    connect(&workspace, &Workspace::experimentChanged, this, [this] {
        m_wantsWidths = true;
        relayout();
        showCurves(false);
    });
    m_query->ask();
}

void RunsPage::connectQuery() {
    connect(&workspace(), &Workspace::runsChanged, m_query, &StoreQueryBase::ask);
    connect(m_query, &StoreQueryBase::failed, m_error, &ErrorBar::setMessage);
    connect(m_query, &StoreQueryBase::late, this, [this](bool isLate) {
        const ProjectSession* session = this->workspace().session();
        const bool first = session && !session->isLoaded();
        m_loading->setText(!isLate ? QString() : first ? tr("Reading the run folders…") : tr("Loading runs…"));
    });
}

QWidget* RunsPage::buildHead() {
    auto* head = new QWidget;
    auto* layout = new QHBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* titles = new QVBoxLayout;
    titles->setSpacing(2);
    titles->addWidget(titleLabel(tr("Runs")));
    m_subtitle->setProperty("role", QStringLiteral("secondary"));
    m_subtitle->setObjectName(QStringLiteral("runsSubtitle"));
    titles->addWidget(m_subtitle);
    layout->addLayout(titles, 1);
    QPushButton* make = newExperimentButton();
    connect(make, &QPushButton::clicked, this, [this] { workspace().requestCompose({}); });
    layout->addWidget(make, 0, Qt::AlignBottom);
    return head;
}

QWidget* RunsPage::buildTools() {
    auto* tools = new QWidget;
    auto* layout = new FlowLayout(tools);
    auto* values = dropDownButton(tr("Filter by"), QStringLiteral("filter"), QStringLiteral("runsFacets"));
    auto* columns = dropDownButton(tr("Columns"), QStringLiteral("columns"), QStringLiteral("runsColumns"));
    m_facets = new FacetPanel(values);
    m_chooser = new ColumnChooser(columns);
    layout->addStretched(m_filter);
    for (QToolButton* button : {values, m_groupButton, columns}) {
        layout->addWidget(button);
        layout->setAlignment(button, Qt::AlignTop);
    }
    return tools;
}

QWidget* RunsPage::buildContent() {
    auto* content = new QWidget;
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(16, 16, 16, 12);
    layout->setSpacing(10);
    layout->addWidget(buildHead());
    layout->addWidget(buildTools());
    auto* upper = new QWidget;
    auto* upperLayout = new QVBoxLayout(upper);
    upperLayout->setContentsMargins(0, 0, 0, 8);
    upperLayout->setSpacing(8);
    upperLayout->addWidget(m_table, 1);
    upperLayout->addWidget(m_bar);
    m_splitter->addWidget(upper);
    m_splitter->addWidget(m_curves);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    m_splitter->setSizes({360, 220});
    m_splitter->setChildrenCollapsible(true);
    m_splitter->setCollapsible(0, false);
    layout->addWidget(m_splitter, 1);
    return content;
}

void RunsPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    m_curves->setVisible(height() >= lowest_with_curves);
}

void RunsPage::connectTools() {
    connect(m_filter, &FilterEdit::filterChanged, m_query, &StoreQueryBase::ask);
    connect(m_facets, &PopupPanel::aboutToShow, this, [this] {
        if (m_answer.data) m_facets->show(facetsOf(*m_answer.data, workspace().experiment().toStdString(), m_archived), m_filter->text());
    });
    connect(m_facets, &FacetPanel::expressionChanged, m_filter, &FilterEdit::setText);
    connect(m_facets, &FacetPanel::archivedToggled, this, &RunsPage::setArchivedShown);
    connect(m_chooser, &PopupPanel::aboutToShow, this, [this] {
        std::vector<RunColumn> chosen;
        for (const QString& id : m_table->shownOrder()) chosen.push_back(*RunColumn::fromId(id));
        if (m_answer.data) m_chooser->show(m_answer.data->allColumns(), chosen);
    });
    connect(m_chooser, &ColumnChooser::chosen, this, &RunsPage::setColumns);
    connect(m_chooser, &ColumnChooser::resetRequested, this, [this] {
        m_table->setWidths({});
        setColumns({});
        m_chooser->show(m_answer.data->allColumns(), m_model->columns());
    });
    connect(m_groupMenu, &QMenu::aboutToShow, this, &RunsPage::fillGroupMenu);
    connect(m_groupButton, &QToolButton::clicked, this,
            [this] { m_groupMenu->popup(m_groupButton->mapToGlobal(QPoint(0, m_groupButton->height() + 2))); });
    auto* find = new QShortcut(QKeySequence::Find, this);
    connect(find, &QShortcut::activated, this, [this] { m_filter->edit()->setFocus(Qt::ShortcutFocusReason); });
}

void RunsPage::connectTable() {
    connect(m_table, &RunsView::openChanged, this, &RunsPage::setOpen);
    connect(m_table, &RunsView::sortRequested, this, &RunsPage::setSort);
    connect(m_table, &RunsView::showRequested, m_actions->action(QStringLiteral("curves")), &QAction::trigger);
    connect(m_table, &RunsView::resumeRequested, this, [this](const QStringList& runs) { workspace().actions().resume(runs); });
    // A column that was dragged is chosen, where it stands now. The model follows later: the header is still at it.
    connect(m_table->horizontalHeader(), &QHeaderView::sectionMoved, this, [this] {
        m_columnIds = m_table->shownOrder();
        QMetaObject::invokeMethod(this, &RunsPage::relayout, Qt::QueuedConnection);
    });
    connect(m_table, &QWidget::customContextMenuRequested, this, [this](const QPoint& place) {
        auto* menu = new QMenu(m_table);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->setObjectName(QStringLiteral("runsMenu"));
        m_actions->fill(*menu);
        menu->addSeparator();
        m_table->addCopyActions(*menu);
        menu->popup(m_table->viewport()->mapToGlobal(place));
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        showSelection();
        showCurves(false);
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        const std::vector<int> runs = now.isValid() ? m_model->runsOf(now.row()) : std::vector<int>();
        if (runs.empty()) return;
        const int current = m_model->runsData().snapshot()->find(workspace().currentRun().toStdString());
        const int chosen = std::find(runs.begin(), runs.end(), current) == runs.end() ? runs.front() : current;  // a group keeps its run
        m_followed = qs(m_model->runsData().run(chosen).info.id);
        workspace().setCurrentRun(m_followed);
    });
}

void RunsPage::fillGroupMenu() {
    m_groupMenu->clear();
    const auto add = [this](const GroupBy& group) {
        QAction* action = m_groupMenu->addAction(group.kind == GroupBy::Kind::setting ? qs(group.key) : group.title(), this,
                                                 [this, group] { setGrouping(group); });
        action->setCheckable(true);
        action->setChecked(group == m_group);
    };
    for (const auto kind : {GroupBy::Kind::none, GroupBy::Kind::seeds, GroupBy::Kind::variant, GroupBy::Kind::method,
                            GroupBy::Kind::experiment, GroupBy::Kind::state})
        add({kind, {}});
    if (!m_answer.data || m_answer.data->settings()->keys.empty()) return;
    addHeading(*m_groupMenu, tr("settings"));
    int count = 0;
    for (const std::string& key : m_answer.data->settings()->keys)
        if (count++ < most_setting_groups) add({GroupBy::Kind::setting, key});
}

void RunsPage::setArchivedShown(bool shown) {
    m_facets->setArchivedShown(shown);
    if (shown == m_archived) return;
    m_archived = shown;
    relayout();
    showCurves(false);
}

}  // namespace faceter::desktop
