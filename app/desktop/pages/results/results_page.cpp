#include "pages/results/results_page.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "experiment/manifest.h"
#include "pages/page_parts.h"
#include "pages/results/result_view.h"
#include "widgets/labels.h"
#include "widgets/run_label.h"

namespace faceter::desktop {
namespace {

const PageRegistration registration{
    {QStringLiteral("results"), QStringLiteral("Results"), 9, true, [](Workspace& workspace) { return new ResultsPage(workspace); }}};

std::vector<ResultRun> runsOf(const Workspace& workspace) {
    std::vector<ResultRun> runs;
    std::vector<const RunRow*> rows;
    QStringList labels;
    const RunsSnapshotPtr snapshot = workspace.runs();
    for (const RunGroupRef& group : workspace.shownGroups())
        for (const RunRow* run : group.runs) {
            rows.push_back(run);
            labels << (group.runs.size() > 1 ? seedLabel(group.label, run->info.seed) : group.label);
            runs.push_back({run->info.id, {}, run->info.plugin, group.colour, run->info.variant});
        }
    labels = toldApart(labels, rows);
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].label = labels[static_cast<qsizetype>(i)].toStdString();
    return runs;
}

}  // namespace

ResultsPage::ResultsPage(Workspace& workspace)
    : Page(workspace),
      m_model(new ResultListModel(this)),
      m_search(new QLineEdit),
      m_list(new QListView),
      m_view(new ResultView),
      m_overlay(new QPushButton(tr("Overlay runs"))),
      m_export(new QPushButton(tr("Export"))),
      m_stack(new QStackedWidget),
      m_empty(new EmptyState({}, {}, tr("Open the composer"))),
      m_loading(new QWidget),
      m_error(new ErrorBar),
      m_query(new StoreQuery<ResultsPtr>(
          workspace, this,
          [this] {
              return [runs = runsOf(this->workspace())](Store& store) -> ResultsPtr {
                  return std::make_shared<std::vector<ResultEntry>>(collectResults(store, runs, Catalogue::load(plugin_folders())));
              };
          },
          [this](const ResultsPtr& results) { take(results); })) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(12);
    layout->addWidget(makeHead());
    layout->addWidget(m_error);
    layout->addWidget(m_stack, 1);
    m_stack->addWidget(m_body = makeBody());
    m_stack->addWidget(m_empty);
    auto* loading = new QVBoxLayout(m_loading);
    QLabel* loadingText = secondaryLabel(tr("Reading the runs' figures and tables…"));
    loadingText->hide();  // until it takes long
    loading->addWidget(loadingText, 0, Qt::AlignHCenter);
    loading->addStretch(1);
    m_stack->addWidget(m_loading);
    connect(m_query, &StoreQueryBase::late, loadingText, &QWidget::setVisible);
    connect(m_query, &StoreQueryBase::failed, this, [this](const QString& message) {
        if (!message.isEmpty()) take(std::make_shared<std::vector<ResultEntry>>());
        m_error->setMessage(message);
    });
    connect(m_empty, &EmptyState::clicked, this, [this] { this->workspace().requestPage(QStringLiteral("compose")); });
    connect(&workspace, &Workspace::shownChanged, m_query, &StoreQueryBase::ask);
    connect(&workspace, &Workspace::projectChanged, this, &ResultsPage::clear);
    auto* find = new QShortcut(QKeySequence::Find, this, [this] { m_search->setFocus(Qt::ShortcutFocusReason); });
    find->setContext(Qt::WidgetWithChildrenShortcut);
    clear();
    m_query->ask();
}

QWidget* ResultsPage::makeHead() {
    auto* head = new QWidget;
    auto* layout = new QHBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    auto* names = new QVBoxLayout;
    names->setSpacing(2);
    names->addWidget(titleLabel(tr("Results")));
    QLabel* what = secondaryLabel(tr("Every figure and table that the shown runs' analyses stored, by plugin."));
    what->setWordWrap(true);
    names->addWidget(what);
    layout->addLayout(names, 1);
    m_overlay->setCheckable(true);
    m_overlay->setObjectName(QStringLiteral("resultsOverlay"));
    m_overlay->setToolTip(tr("Lines and densities over the same axes: all runs in one plot"));
    layout->addWidget(m_overlay, 0, Qt::AlignBottom);
    auto* menu = new QMenu(m_export);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { m_view->fillExportMenu(menu); });
    m_export->setMenu(menu);
    m_export->setObjectName(QStringLiteral("resultsExport"));
    layout->addWidget(m_export, 0, Qt::AlignBottom);
    connect(m_overlay, &QPushButton::toggled, this, &ResultsPage::showEntry);
    return head;
}

QWidget* ResultsPage::makeBody() {
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 8, 0);
    column->setSpacing(8);
    m_search->setPlaceholderText(tr("find a figure or table"));
    m_search->setAccessibleName(tr("Find a figure or table"));
    m_search->setClearButtonEnabled(true);
    m_search->setObjectName(QStringLiteral("resultsSearch"));
    column->addWidget(m_search);
    m_list->setModel(m_model);
    m_list->setObjectName(QStringLiteral("resultsList"));
    m_list->setAccessibleName(tr("Figures and tables"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setIconSize(QSize(14, 14));
    m_list->setTextElideMode(Qt::ElideMiddle);
    column->addWidget(m_list, 1);
    auto* splitter = new QSplitter(Qt::Horizontal);
    splitter->addWidget(left);
    splitter->addWidget(m_view);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({220, 600});
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(1);
    left->setMinimumWidth(140);
    m_view->setMinimumWidth(240);
    m_view->setContentsMargins(8, 0, 0, 0);
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_model->setSearch(text);
        const QModelIndex found = m_model->find(m_key);
        choose(found.isValid() ? found : m_model->firstEntry());
    });
    connect(m_search, &QLineEdit::returnPressed, this, [this] { m_list->setFocus(); });
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, &ResultsPage::showEntry);
    return splitter;
}

/// Another project's figures must not stand under this one's name.
void ResultsPage::clear() {
    m_error->setMessage({});
    take(std::make_shared<std::vector<ResultEntry>>());
    m_stack->setCurrentWidget(m_loading);
}

void ResultsPage::take(ResultsPtr results) {
    m_view->clear();  // before its entries go
    m_model->setResults(results);
    if (results->empty())
        showEmpty();
    else
        m_stack->setCurrentWidget(m_body);
    const QModelIndex known = m_model->find(m_key);
    choose(known.isValid() ? known : m_model->firstEntry());
    m_export->setEnabled(!results->empty());
    if (hasFocus()) shown();
}

void ResultsPage::choose(const QModelIndex& index) {
    if (m_list->currentIndex() == index)
        showEntry();
    else
        m_list->setCurrentIndex(index);  // shows it
    if (index.isValid()) m_list->scrollTo(index);
}

void ResultsPage::showEntry() {
    const ResultEntry* entry = m_model->entryAt(m_list->currentIndex());
    m_overlay->setEnabled(entry && !overlays(*entry).empty());
    if (!entry) {
        m_view->clear();
        return;
    }
    m_key = entry->key();
    m_view->show(*entry, m_overlay->isChecked());
}

void ResultsPage::showEmpty() {
    const bool any = !workspace().shownGroups().empty();
    m_empty->setText(
        any ? tr("No figures or tables yet") : tr("No run is shown"),
        any ? tr("What the analyses of an experiment make stands here when its runs are done: list some under analyses: in the experiment, "
                 "for one - {method: inter_task_similarity, texts: {source: debian, view: descriptions, count: 128}}.")
            : tr("Tick a run in the navigator, or start an experiment that has analyses."));
    m_stack->setCurrentWidget(m_empty);
}

bool ResultsPage::isReady() const { return !m_query->isBusy() && m_view->isReady(); }

void ResultsPage::shown() { focusPart(*this, m_stack->currentWidget() == m_body ? m_list : m_stack->currentWidget()); }

QJsonObject ResultsPage::state() const {
    return {{QStringLiteral("entry"), qs(m_key)},
            {QStringLiteral("overlay"), m_overlay->isChecked()},
            {QStringLiteral("search"), m_search->text()}};
}

void ResultsPage::restore(const QJsonObject& state) {
    const std::string wanted = state.value(QStringLiteral("entry")).toString().toStdString();
    m_overlay->setChecked(state.value(QStringLiteral("overlay")).toBool());
    m_search->setText(state.value(QStringLiteral("search")).toString());
    m_key = wanted;  // what came to the front meanwhile is not it
    const QModelIndex known = m_model->find(m_key);
    if (m_model->rowCount() > 0) choose(known.isValid() ? known : m_model->firstEntry());
}

}  // namespace faceter::desktop
