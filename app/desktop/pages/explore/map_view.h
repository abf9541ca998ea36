#pragma once
#include <QWidget>
#include <array>

#include "figure/table.h"
#include "pages/explore/explore_data.h"

class QComboBox;
class QLabel;
class QLineEdit;

namespace faceter::desktop {

class FlowLayout;
class PointMap;

/// The corpus as one or two runs have it, beside one another: coloured by label, cluster, score of the example, similarity to what was
/// asked, or how many neighbours the other run keeps; searched in both, and what is chosen in one is chosen in the other.
class MapView : public QWidget {
    Q_OBJECT
  public:
    enum class Colour { label, cluster, score, similarity, kept };
    explicit MapView(QWidget* parent = nullptr);
    /// `preferred`: places in `columns` of what the two maps show at first.
    void setCorpus(ExploreDataPtr hold, ExploredCorpusPtr corpus, const QString& set, std::vector<ExploreColumn> columns,
                   std::array<int, 2> preferred = {0, -1});
    /// The columns that the two maps are to show; the second may be none.
    std::vector<ExploreColumn> wanted() const;
    void setMap(const ExploreColumn& column, CorpusMap map);
    const CorpusMap* mapOf(const ExploreColumn& column) const;
    void setNeighbours(const std::vector<NeighbourList>& lists);
    Colour colour() const;
    void setColour(Colour colour);
    void choose(int document);
    /// The maps that are shown, a row a point, to be written: run, task, document, x, y, cluster, label, text.
    Table table() const;
    PointMap* map(int side) const { return m_sides[static_cast<std::size_t>(side)].map; }

  Q_SIGNALS:
    void columnsChanged();
    void colourChanged();
    void documentChosen(int document);

  private:
    struct Side {
        QWidget* frame = nullptr;
        QComboBox* column = nullptr;
        QLabel* caption = nullptr;
        PointMap* map = nullptr;
        int shown = -1;  ///< place in m_maps
    };
    QWidget* makeSide(int side);
    QWidget* makeBar();
    void showMaps();
    void paintColours();
    void search();
    void hover(int document);
    std::vector<double> valuesOf(std::size_t side) const;
    void paintCategories(const std::vector<int>& categories, const QStringList& names);
    void showLegend(const QStringList& names, const QList<QColor>& colours);
    void showRange(double low, double high);

    ExploreDataPtr m_hold;
    ExploredCorpusPtr m_corpus;
    QString m_set;
    std::vector<ExploreColumn> m_columns;
    std::vector<std::pair<ExploreColumn, CorpusMap>> m_maps;
    std::vector<NeighbourList> m_lists;
    std::array<Side, 2> m_sides;
    QComboBox* m_colour;
    QLineEdit* m_find;
    QLabel* m_found;
    QLabel* m_hovered;
    QWidget* m_legend;
};

}  // namespace faceter::desktop
