#include "pages/explore/map_view.h"

#include <QComboBox>
#include <QLineEdit>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <map>

#include "pages/explore/point_map.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int most_colours = 8, swatch = 10;  // colours that are told apart; what is rarer is grey
constexpr int narrowest_find = 120;

/// A legend's entry; the colour is of the moment, since legends are made anew when the theme changes.
QWidget* legendEntry(const QColor& colour, const QString& name) {
    auto* entry = new QWidget;
    auto* layout = new QHBoxLayout(entry);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    auto* dot = new QLabel;
    QPixmap picture(swatch, swatch);
    picture.fill(colour);
    dot->setPixmap(picture);
    layout->addWidget(dot);
    layout->addWidget(secondaryLabel(name.size() > 28 ? name.left(27) + QStringLiteral("…") : name));
    return entry;
}

}  // namespace

MapView::MapView(QWidget* parent)
    : QWidget(parent),
      m_colour(new QComboBox),
      m_find(new QLineEdit),
      m_found(secondaryLabel()),
      m_hovered(new ElidedLabel),
      m_legend(new QWidget) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    layout->addWidget(makeBar());
    new FlowLayout(m_legend, 12);
    m_legend->setObjectName(QStringLiteral("exploreLegend"));
    layout->addWidget(m_legend);
    auto* maps = new QHBoxLayout;
    maps->setSpacing(8);
    for (const int side : {0, 1}) maps->addWidget(makeSide(side), 1);
    layout->addLayout(maps, 1);
    m_hovered->setProperty("role", QStringLiteral("secondary"));
    layout->addWidget(m_hovered);
    connect(&Theme::instance(), &Theme::changed, this, &MapView::paintColours);
}

QWidget* MapView::makeBar() {
    auto* bar = new QWidget;
    auto* layout = new FlowLayout(bar);
    m_colour->setObjectName(QStringLiteral("exploreColour"));
    m_colour->setAccessibleName(tr("What colours the points"));
    m_colour->addItems({tr("colour: label"), tr("colour: cluster"), tr("colour: score"), tr("colour: similarity to the question"),
                        tr("colour: neighbours kept by the other")});
    m_find->setObjectName(QStringLiteral("exploreFind"));
    m_find->setAccessibleName(tr("Find in the corpus"));
    m_find->setPlaceholderText(tr("find in the corpus"));
    m_find->setClearButtonEnabled(true);
    m_found->setObjectName(QStringLiteral("exploreFound"));
    layout->addWidget(m_colour);
    m_find->setMinimumWidth(narrowest_find);
    layout->addStretched(m_find);
    layout->addWidget(m_found);
    connect(m_colour, &QComboBox::currentIndexChanged, this, [this] {
        paintColours();
        Q_EMIT colourChanged();
    });
    connect(m_find, &QLineEdit::textChanged, this, &MapView::search);
    return bar;
}

QWidget* MapView::makeSide(int side) {
    Side& one = m_sides[static_cast<std::size_t>(side)];
    one.frame = new QWidget;
    one.column = new QComboBox;
    one.caption = secondaryLabel();
    one.map = new PointMap;
    one.column->setObjectName(QStringLiteral("exploreMap%1").arg(side));
    one.column->setAccessibleName(side == 0 ? tr("Run and task of the first map") : tr("Run and task of the second map"));
    one.map->setObjectName(QStringLiteral("exploreMapPoints%1").arg(side));
    auto* layout = new QVBoxLayout(one.frame);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    one.column->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    head->addWidget(one.column, 1);
    head->addWidget(one.caption);
    layout->addLayout(head);
    layout->addWidget(one.map, 1);
    layout->addStretch();  // where the map is hidden
    connect(one.column, &QComboBox::currentIndexChanged, this, [this] {
        showMaps();
        Q_EMIT columnsChanged();
    });
    connect(one.map, &PointMap::pointHovered, this, &MapView::hover);
    connect(one.map, &PointMap::pointChosen, this, [this](int document) {
        choose(document);
        Q_EMIT documentChosen(document);
    });
    return one.frame;
}

MapView::Colour MapView::colour() const { return static_cast<Colour>(std::max(0, m_colour->currentIndex())); }
void MapView::setColour(Colour colour) { m_colour->setCurrentIndex(static_cast<int>(colour)); }

void MapView::setCorpus(ExploreDataPtr hold, ExploredCorpusPtr corpus, const QString& set, std::vector<ExploreColumn> columns,
                        std::array<int, 2> preferred) {
    const bool other = corpus != m_corpus, chosen = !m_columns.empty();
    const QStringList before{m_sides[0].column->currentText(), m_sides[1].column->currentText()};
    m_hold = std::move(hold);
    m_corpus = std::move(corpus);
    m_set = set;
    m_columns = std::move(columns);
    if (other) m_lists.clear();
    m_maps.clear();  // their columns point into data that is gone
    for (int side = 0; side < 2; ++side) {
        QComboBox* box = m_sides[static_cast<std::size_t>(side)].column;
        const QSignalBlocker quiet(box);
        box->clear();
        if (side == 1) box->addItem(tr("no second map"), -1);
        for (std::size_t i = 0; i < m_columns.size(); ++i) box->addItem(m_columns[i].label(), static_cast<int>(i));
        const int old = chosen ? box->findText(before[side]) : -1;
        box->setCurrentIndex(std::max(0, old >= 0 ? old : box->findData(preferred[static_cast<std::size_t>(side)])));
    }
    showMaps();
}

std::vector<ExploreColumn> MapView::wanted() const {
    std::vector<ExploreColumn> columns;
    for (const Side& side : m_sides)
        if (const int place = side.column->currentData().isValid() ? side.column->currentData().toInt() : -1; place >= 0)
            columns.push_back(m_columns[static_cast<std::size_t>(place)]);
    return columns;
}

const CorpusMap* MapView::mapOf(const ExploreColumn& column) const {
    for (const auto& [own, map] : m_maps)
        if (own == column) return &map;
    return nullptr;
}

void MapView::setMap(const ExploreColumn& column, CorpusMap map) {
    std::erase_if(m_maps, [&](const auto& entry) { return entry.first == column; });
    m_maps.emplace_back(column, std::move(map));
    showMaps();
}

Table MapView::table() const {
    Table table;
    table.name = "map";
    table.caption = tr("Points of the maps").toStdString();
    for (const char* name : {"run", "task"}) table.add_column(name, ColumnKind::text);
    table.add_column("document", ColumnKind::count);
    for (const char* name : {"x", "y"}) table.add_column(name, ColumnKind::number, 4);
    for (const char* name : {"cluster", "label", "text"}) table.add_column(name, ColumnKind::text);
    const std::vector<ExploreColumn> columns = m_corpus ? wanted() : std::vector<ExploreColumn>();
    const CorpusMap* first = columns.empty() ? nullptr : mapOf(columns.front());  // whose clusters colour both
    for (const ExploreColumn& column : columns) {
        if (&column != &columns.front() && column == columns.front()) continue;  // both sides show it
        const CorpusMap* map = mapOf(column);
        const std::size_t count = map ? std::min<std::size_t>(map->x.size(), static_cast<std::size_t>(m_corpus->documents.size())) : 0;
        for (std::size_t i = 0; i < count; ++i) {
            const int cluster = first && i < first->clusters.size() ? first->clusters[i] + 1 : 0;
            const int label = i < m_corpus->labels.size() ? m_corpus->labels[i] : -1;
            table.add_row({Cell::of(column.run->request.label), Cell::of(column.task), Cell::of(static_cast<double>(m_corpus->placeOf(i))),
                           Cell::of(double{map->x[i]}), Cell::of(double{map->y[i]}),
                           Cell::of(cluster > 0 ? std::to_string(cluster) : std::string()),
                           Cell::of(m_corpus->labelNames.value(label).toStdString()),
                           Cell::of(m_corpus->documents[static_cast<qsizetype>(i)].toStdString())});
        }
    }
    return table;
}

void MapView::showMaps() {
    const std::vector<ExploreColumn> columns = wanted();
    for (std::size_t i = 0; i < 2; ++i) {
        Side& side = m_sides[i];
        const CorpusMap* map = i < columns.size() ? mapOf(columns[i]) : nullptr;
        side.map->setVisible(i == 0 || columns.size() > 1);
        side.map->setPoints(map ? map->x : std::vector<float>(), map ? map->y : std::vector<float>());
        side.caption->setText(
            map ? tr("%1 % + %2 % of the variance").arg(100 * map->explained[0], 0, 'f', 0).arg(100 * map->explained[1], 0, 'f', 0)
                : QString());
    }
    paintColours();
    search();
}

/// The number that colours each point of a map; empty: there is none.
std::vector<double> MapView::valuesOf(std::size_t side) const {
    const std::vector<ExploreColumn> columns = wanted();
    if (side >= columns.size() || !m_corpus) return {};
    if (colour() == Colour::kept) {
        const CorpusMap* map = mapOf(columns[side]);
        return map ? std::vector<double>(map->kept.begin(), map->kept.end()) : std::vector<double>();
    }
    if (colour() == Colour::similarity) {
        for (const NeighbourList& list : m_lists)
            if (list.column == columns[side]) return {list.similarities.begin(), list.similarities.end()};
        return {};
    }
    const ExploreRun::Set* set = columns[side].run->find(m_set.toStdString());
    std::vector<double> values;
    if (!set || set->scores.size() != m_corpus->total || !m_corpus->queries.isEmpty()) return values;
    for (const std::size_t place : m_corpus->places) values.push_back(set->scores[place]);
    return values;
}

void MapView::paintColours() {
    if (!m_corpus) return showLegend({}, {});
    const std::vector<ExploreColumn> columns = wanted();
    if (colour() == Colour::label) return paintCategories(m_corpus->labels, m_corpus->labelNames);
    if (colour() == Colour::cluster) {
        const CorpusMap* map = columns.empty() ? nullptr : mapOf(columns.front());
        QStringList names;
        for (int i = 0; i < 24; ++i) names << tr("cluster %1").arg(i + 1);
        return paintCategories(map ? map->clusters : std::vector<int>(), names);
    }
    double low = INFINITY, high = -INFINITY;
    std::array<std::vector<double>, 2> values{valuesOf(0), valuesOf(1)};
    for (const auto& side : values)
        for (const double value : side) low = std::min(low, value), high = std::max(high, value);
    for (std::size_t i = 0; i < 2; ++i) {
        std::vector<QRgb> colours(static_cast<std::size_t>(m_sides[i].map->numPoints()), Theme::instance().colours().secondary.rgb());
        for (std::size_t point = 0; point < std::min(colours.size(), values[i].size()); ++point)
            colours[point] = ThemeColours::sequential(high > low ? (values[i][point] - low) / (high - low) : 0.5).rgb();
        m_sides[i].map->setColours(std::move(colours));
    }
    showRange(low, high);
}

/// The most frequent ones have colours, the same in both maps.
void MapView::paintCategories(const std::vector<int>& categories, const QStringList& names) {
    std::map<int, int> counts;
    for (const int category : categories) ++counts[category];
    std::vector<std::pair<int, int>> order(counts.begin(), counts.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    const ThemeColours& theme = Theme::instance().colours();
    const std::size_t coloured = order.size() <= most_colours ? order.size() : most_colours - 1;
    std::map<int, QColor> colours;
    QStringList shown;
    QList<QColor> swatches;
    for (std::size_t i = 0; i < coloured; ++i) {
        colours[order[i].first] = theme.series(static_cast<int>(i));
        shown << names.value(order[i].first, QString::number(order[i].first));
        swatches << colours[order[i].first];
    }
    const QColor rest = categories.empty() ? theme.series(0) : theme.series(most_colours - 1);
    if (coloured < order.size()) shown << tr("%1 others").arg(order.size() - coloured), swatches << rest;
    std::vector<QRgb> points;
    for (const int category : categories) points.push_back((colours.contains(category) ? colours[category] : rest).rgb());
    for (const Side& side : m_sides) {
        std::vector<QRgb> own = points;
        own.resize(static_cast<std::size_t>(side.map->numPoints()), rest.rgb());
        side.map->setColours(std::move(own));
    }
    if (categories.empty()) shown << (colour() == Colour::label ? tr("this data set has no labels") : tr("no map yet")), swatches << rest;
    showLegend(shown, swatches);
}

void MapView::showLegend(const QStringList& names, const QList<QColor>& colours) {
    while (QLayoutItem* item = m_legend->layout()->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (qsizetype i = 0; i < names.size(); ++i) m_legend->layout()->addWidget(legendEntry(colours[i], names[i]));
    m_legend->updateGeometry();
}

void MapView::showRange(double low, double high) {
    if (!(high >= low)) {
        const QString none = colour() == Colour::score        ? tr("no scores of these texts themselves")
                             : colour() == Colour::similarity ? tr("ask something, or choose a point")
                                                              : tr("choose a second map");
        return showLegend({none}, {Theme::instance().colours().secondary});
    }
    const int decimals = colour() == Colour::score ? 0 : 2;
    const QString unit = colour() == Colour::score ? QStringLiteral(" %") : QString();
    QStringList names;
    QList<QColor> colours;
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        names << QString::number(low + share * (high - low), 'f', decimals) + unit;
        colours << ThemeColours::sequential(share);
    }
    showLegend(names, colours);
}

void MapView::setNeighbours(const std::vector<NeighbourList>& lists) {
    m_lists = lists;
    const std::vector<ExploreColumn> columns = wanted();
    for (std::size_t i = 0; i < 2; ++i) {
        std::vector<int> marked;
        for (const NeighbourList& list : m_lists)
            if (i < columns.size() && list.column == columns[i])
                for (const Neighbour& hit : list.hits) marked.push_back(hit.document);
        m_sides[i].map->setMarked(std::move(marked));
    }
    if (colour() == Colour::similarity) paintColours();
}

void MapView::choose(int document) {
    for (const Side& side : m_sides) side.map->choose(document);
    hover(document);
}

void MapView::hover(int document) {
    const bool any = m_corpus && document >= 0 && document < m_corpus->documents.size();
    static_cast<ElidedLabel*>(m_hovered)->setFullText(any ? m_corpus->documents[document].simplified() : QString());
}

void MapView::search() {
    const QString part = m_find->text().trimmed();
    std::vector<bool> found;
    int count = 0;
    for (qsizetype i = 0; m_corpus && !part.isEmpty() && i < m_corpus->documents.size(); ++i) {
        found.push_back(m_corpus->documents[i].contains(part, Qt::CaseInsensitive));
        count += found.back();
    }
    m_found->setText(part.isEmpty() ? QString() : tr("%1 found").arg(countText(count)));
    for (const Side& side : m_sides)
        side.map->setFound(static_cast<std::size_t>(side.map->numPoints()) == found.size() ? found : std::vector<bool>());
}

}  // namespace faceter::desktop
