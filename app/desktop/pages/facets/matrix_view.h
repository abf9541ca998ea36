#pragma once
#include <QScrollArea>
#include <vector>

#include "pages/facets/facets_data.h"

class QGridLayout;

namespace faceter::desktop {

class FigureView;

/// The mean similarity of every two tasks as a heat map for each group (MoTE, Figure 1).
class MatrixView : public QScrollArea {
    Q_OBJECT
  public:
    explicit MatrixView(QWidget* parent = nullptr);
    void setPicture(const FacetsPicture& picture);
    const std::vector<FigureView*>& views() const { return m_views; }

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void arrange();
    QGridLayout* m_grid;
    std::vector<FigureView*> m_views;
    std::vector<QWidget*> m_cards;
    int m_columns = 0;
};

}  // namespace faceter::desktop
