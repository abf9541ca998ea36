#include "pages/facets/texts_view.h"

#include <QGridLayout>
#include <QLineEdit>
#include <QListView>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStringListModel>
#include <QVBoxLayout>

#include "pages/facets/plane_view.h"
#include "project/runs_snapshot.h"
#include "widgets/colour_dot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/scroll.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

constexpr int narrowestPlane = 400, planeHeight = 300;

QStringList textsOf(const std::vector<SimilarityGroup>& groups) {
    QStringList texts;
    if (groups.empty()) return texts;
    const SimilaritySet& set = groups.front().set;
    for (std::size_t i = 0; i < set.num_texts(); ++i)
        texts << QStringLiteral("%1  ").arg(i + 1) +
                     (i < set.texts.size() ? qs(set.texts[i]).simplified() : TextsView::tr("(the run did not keep it)"));
    return texts;
}

/// The chosen text's similarity under every two tasks, a column a group.
Table similaritiesOf(const std::vector<SimilarityGroup>& groups, std::size_t text) {
    Table table;
    table.name = "text_similarities";
    table.add_column("pair of tasks", ColumnKind::text);
    for (const SimilarityGroup& group : groups) table.add_column(group.name, ColumnKind::number, 3);
    const std::vector<std::string> tasks = similarity_tasks(groups.front().set);
    for (const SimilarityPair& pair : groups.front().set.pairs) {
        std::vector<Cell> cells{Cell::of(short_task_name(pair.a, tasks) + " · " + short_task_name(pair.b, tasks))};
        for (const SimilarityGroup& group : groups) {
            Cell cell;
            for (const SimilarityPair& own : group.set.pairs)
                if (((own.a == pair.a && own.b == pair.b) || (own.a == pair.b && own.b == pair.a)) && text < own.values.size())
                    cell = Cell::of(own.values[text]);
            cells.push_back(cell);
        }
        table.add_row(std::move(cells));
    }
    return table;
}

}  // namespace

TextsView::TextsView(QWidget* parent)
    : QWidget(parent),
      m_search(new QLineEdit),
      m_list(new QListView),
      m_texts(new QStringListModel(this)),
      m_found(new QSortFilterProxyModel(this)),
      m_grid(nullptr),
      m_empty(new EmptyState(
          tr("No projection is stored"),
          tr("These runs were analysed before projections were kept. Run the experiment again (Rerun in the Run menu) to get them."))),
      m_plots(new QWidget),
      m_text(plainLabel()),
      m_table(new DataTable),
      m_model(new TableModel(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* splitter = new QSplitter(Qt::Horizontal);
    splitter->setHandleWidth(1);
    splitter->addWidget(makeList());
    splitter->addWidget(makeRight());
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({230, 560});
    splitter->setChildrenCollapsible(false);
    layout->addWidget(splitter);
}

QWidget* TextsView::makeList() {
    auto* left = new QWidget;
    left->setMinimumWidth(140);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 8, 0);
    column->setSpacing(8);
    m_search->setPlaceholderText(tr("find a text"));
    m_search->setAccessibleName(tr("Find a text"));
    m_search->setClearButtonEnabled(true);
    m_search->setObjectName(QStringLiteral("facetsTextSearch"));
    column->addWidget(m_search);
    m_found->setSourceModel(m_texts);
    m_found->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_list->setModel(m_found);
    m_list->setUniformItemSizes(true);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setObjectName(QStringLiteral("facetsTextList"));
    m_list->setAccessibleName(tr("The texts that were embedded"));
    column->addWidget(m_list, 1);
    connect(m_search, &QLineEdit::textChanged, m_found, &QSortFilterProxyModel::setFilterFixedString);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
        if (current.isValid()) chooseText(m_found->mapToSource(current).row());
    });
    return left;
}

QWidget* TextsView::makeRight() {
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(8, 0, 0, 0);
    column->setSpacing(8);
    m_grid = new QGridLayout(m_plots);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(8);
    m_plots->installEventFilter(this);
    column->addWidget(m_plots);
    column->addWidget(m_empty);
    m_text->setWordWrap(true);
    m_text->setObjectName(QStringLiteral("facetsText"));
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column->addWidget(m_text);
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("facetsTextTable"));
    m_table->setAccessibleName(tr("Similarities of the chosen text"));
    column->addWidget(m_table);
    column->addStretch(1);
    QScrollArea* scroll = scrolled(body);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    return scroll;
}

void TextsView::setPicture(const FacetsPicture& picture) {
    const int wanted = m_chosen;
    m_groups = picture.groups;
    m_texts->setStringList(textsOf(m_groups));
    fillPlanes(picture);
    m_chosen = wanted >= 0 && wanted < m_texts->rowCount() ? wanted : m_texts->rowCount() > 0 ? 0 : -1;
    showChosen();
}

void TextsView::fillPlanes(const FacetsPicture& picture) {
    for (QWidget* card : m_cards) delete card;
    m_cards.clear();
    m_planes.clear();
    for (std::size_t i = 0; i < picture.groups.size(); ++i) {
        if (!picture.planes[i]) continue;
        auto* card = new QFrame;
        card->setProperty("card", true);
        auto* layout = new QVBoxLayout(card);
        layout->setContentsMargins(2, 8, 2, 2);
        layout->setSpacing(0);
        auto* head = new QHBoxLayout;
        head->setContentsMargins(10, 0, 10, 0);
        head->setSpacing(6);
        head->addWidget(new ColourDot(picture.groups[i].colour));
        auto* name = new ElidedLabel(qs(picture.groups[i].name));
        name->setProperty("role", QStringLiteral("heading"));
        head->addWidget(name, 1);
        layout->addLayout(head);
        auto* plane = new PlaneView(*picture.planes[i]);
        plane->setObjectName(QStringLiteral("facetsPlane"));
        plane->setMinimumHeight(planeHeight);
        plane->setAccessibleName(tr("%1: %2").arg(name->fullText(), plane->accessibleName()));  // all runs' have one title
        layout->addWidget(plane);
        connect(plane, &PlaneView::textClicked, this, &TextsView::chooseText);
        m_planes.push_back(plane);
        m_cards.push_back(card);
    }
    m_columns = 0;
    arrange();
    m_plots->setVisible(!m_planes.empty());
    m_empty->setVisible(m_planes.empty() && !picture.groups.empty());
}

/// Side by side where each plane has room for its legend beside the points.
void TextsView::arrange() {
    const int columns = std::clamp(m_plots->width() / narrowestPlane, 1, 2);
    if (columns == m_columns) return;
    m_columns = columns;
    for (QWidget* card : m_cards) m_grid->removeWidget(card);
    int place = 0;
    for (QWidget* card : m_cards) {
        m_grid->addWidget(card, place / columns, place % columns);
        ++place;
    }
}

bool TextsView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_plots && event->type() == QEvent::Resize) arrange();
    return QWidget::eventFilter(watched, event);
}

void TextsView::chooseText(int text) {
    if (text == m_chosen || text < 0 || text >= m_texts->rowCount()) return;
    m_chosen = text;
    showChosen();
}

void TextsView::showChosen() {
    for (PlaneView* plane : m_planes) plane->markText(m_chosen);
    m_text->setVisible(m_chosen >= 0);
    m_table->setVisible(m_chosen >= 0);
    if (m_chosen < 0) return;
    const auto text = static_cast<std::size_t>(m_chosen);
    const auto& texts = m_groups.front().set.texts;
    m_text->setText(text < texts.size() ? qs(texts[text]) : tr("Text %1; the run did not keep its words.").arg(m_chosen + 1));
    m_model->setTable(similaritiesOf(m_groups, text));
    QVector<int> colours{-1};
    for (const SimilarityGroup& group : m_groups) colours << group.colour;
    m_model->setHeadingColours(colours);
    m_table->fitColumns(240);
    m_table->setHeightToRows();
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const QModelIndex index = m_found->mapFromSource(m_texts->index(m_chosen));
    if (index.isValid() && index != m_list->currentIndex()) {
        m_list->setCurrentIndex(index);
        m_list->scrollTo(index);
    }
}

}  // namespace faceter::desktop
