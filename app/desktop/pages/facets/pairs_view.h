#pragma once
#include <QScrollArea>
#include <vector>

#include "pages/facets/facets_data.h"

class QGridLayout;
class QLabel;

namespace faceter::desktop {

class DataTable;
class DensityCard;
class TableModel;

/// The grid of densities and the table of means and tests below it.
class PairsView : public QScrollArea {
    Q_OBJECT
  public:
    explicit PairsView(QWidget* parent = nullptr);
    void setPicture(const FacetsPicture& picture);
    /// Corners and table by another test of the same picture.
    void setTest(const FacetsPicture& picture, SimilarityTestKind kind);
    const std::vector<DensityCard*>& cards() const { return m_cards; }

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void arrange();
    void spreadColumns();
    void fillTable(const FacetsPicture& picture, SimilarityTestKind kind);

    QGridLayout* m_grid;
    std::vector<DensityCard*> m_cards;
    DataTable* m_table;
    TableModel* m_model;
    QLabel* m_notes;
    int m_columns = 0;
};

}  // namespace faceter::desktop
