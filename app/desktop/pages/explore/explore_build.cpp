#include <QComboBox>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStringListModel>
#include <QToolButton>
#include <QVBoxLayout>

#include "pages/explore/explore_page.h"
#include "pages/explore/map_view.h"
#include "pages/explore/neighbour_table.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int most_characters = 1'000'000;  // a field's own limit is 32,767: more that is pasted would be cut without a word
constexpr int least_room = 140;             // of what takes the rest of a row

}  // namespace

QWidget* ExplorePage::makeHead() {
    auto* head = new QWidget;
    auto* layout = new FlowLayout(head);
    layout->addWidget(titleLabel(tr("Explore")));
    m_status->setObjectName(QStringLiteral("exploreStatus"));
    m_status->setProperty("role", QStringLiteral("secondary"));
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(120, 4);
    m_progress->setAccessibleName(tr("Progress of the live worker"));
    m_cancel->setObjectName(QStringLiteral("exploreCancel"));
    m_again->setObjectName(QStringLiteral("exploreAgain"));
    m_status->setMinimumWidth(least_room);
    layout->addStretched(m_status);
    layout->addWidget(m_progress);
    layout->addWidget(m_cancel);
    layout->addWidget(m_again);
    m_viewChoice->setObjectName(QStringLiteral("exploreView"));
    m_viewChoice->setAccessibleName(tr("View"));
    m_viewChoice->addItems({tr("Neighbours"), tr("Map")});
    layout->addWidget(m_viewChoice);
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("exploreExportMenu"));
    m_export->setObjectName(QStringLiteral("exploreExport"));
    m_export->setMenu(menu);
    layout->addWidget(m_export);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillExports(menu); });
    connect(m_viewChoice, &QComboBox::currentIndexChanged, this, &ExplorePage::showView);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        for (WorkerQuery* query : {m_corpusQuery, m_neighbourQuery, m_mapQuery}) query->stop();
        m_cancelled = true;
        showBusy();
    });
    connect(m_again, &QPushButton::clicked, this, &ExplorePage::tryAgain);
    return head;
}

QWidget* ExplorePage::makeBar() {
    auto* layout = new FlowLayout(m_bar);
    m_set->setObjectName(QStringLiteral("exploreSet"));
    m_set->setAccessibleName(tr("Data set that is searched"));
    m_set->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_text->setObjectName(QStringLiteral("exploreText"));
    m_text->setAccessibleName(tr("Text to search for"));
    m_text->setPlaceholderText(tr("type a text to find what is nearest to it"));
    m_text->setClearButtonEnabled(true);
    m_text->setMaxLength(most_characters);
    layout->addWidget(m_set);
    layout->addWidget(m_runs);
    layout->addWidget(m_tasks);
    m_text->setMinimumWidth(least_room);
    layout->addStretched(m_text);
    connect(m_set, &QComboBox::currentIndexChanged, this, [this] {
        m_wantedTasks.clear();
        chooseSet();
    });
    connect(m_text, &QLineEdit::textEdited, &m_pause, qOverload<>(&QTimer::start));
    connect(m_text, &QLineEdit::returnPressed, this, &ExplorePage::typed);
    return m_bar;
}

QWidget* ExplorePage::makeNeighbours() {
    auto* split = new QSplitter(Qt::Horizontal);
    split->setHandleWidth(1);
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 8, 0);
    column->setSpacing(8);
    m_search->setObjectName(QStringLiteral("exploreSearch"));
    m_search->setAccessibleName(tr("Find an example"));
    m_search->setPlaceholderText(tr("find an example"));
    m_search->setClearButtonEnabled(true);
    m_found->setSourceModel(m_examples);
    m_found->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_list->setModel(m_found);
    m_list->setUniformItemSizes(true);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setObjectName(QStringLiteral("exploreExamples"));
    m_list->setAccessibleName(tr("Texts of the data set"));
    column->addWidget(m_search);
    column->addWidget(m_list, 1);
    connect(m_search, &QLineEdit::textChanged, m_found, &QSortFilterProxyModel::setFilterFixedString);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
        if (!current.isValid() || !m_corpus) return;
        const int place = m_found->mapToSource(current).row();
        const QSignalBlocker quiet(m_text);
        m_text->setText(m_examples->stringList().value(place));
        m_text->setCursorPosition(0);
        askNeighbours({{m_corpus->queries.isEmpty() ? "document" : "query", place}});
    });
    split->addWidget(left);
    split->addWidget(m_table);
    split->setStretchFactor(1, 1);
    split->setSizes({200, 640});
    split->setChildrenCollapsible(false);
    return split;
}

QWidget* ExplorePage::makeMap() {
    auto* split = new QSplitter(Qt::Vertical);
    split->setHandleWidth(1);
    m_mapTable->setTextShown(false);  // the map says it
    split->addWidget(m_map);
    split->addWidget(m_mapTable);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 1);
    split->setChildrenCollapsible(false);
    const auto askAnew = [this] {
        m_failedMaps.clear();
        m_mapProblem.clear();
        askMaps();
    };
    connect(m_map, &MapView::columnsChanged, this, [this, askAnew] {
        askAnew();
        askAgain();
    });
    connect(m_map, &MapView::colourChanged, this, [this, askAnew] {
        askAnew();
        if (m_map->colour() == MapView::Colour::similarity) askAgain();
    });
    connect(m_map, &MapView::documentChosen, this, [this](int document) { askNeighbours({{"document", document}}); });
    return split;
}

}  // namespace faceter::desktop
