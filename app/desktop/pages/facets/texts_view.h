#pragma once
#include <QWidget>
#include <vector>

#include "pages/facets/facets_data.h"

class QGridLayout;
class QLabel;
class QLineEdit;
class QListView;
class QSortFilterProxyModel;
class QStringListModel;

namespace faceter::desktop {

class DataTable;
class EmptyState;
class PlaneView;
class TableModel;

/// The same texts under each task in the plane of their two largest principal components, a plot a group; the text that is chosen, in the
/// list or by a click on a point, is marked under every task and shown with its similarities.
class TextsView : public QWidget {
    Q_OBJECT
  public:
    explicit TextsView(QWidget* parent = nullptr);
    void setPicture(const FacetsPicture& picture);
    void chooseText(int text);
    int chosenText() const { return m_chosen; }
    const std::vector<PlaneView*>& planes() const { return m_planes; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QWidget* makeList();
    QWidget* makeRight();
    void fillPlanes(const FacetsPicture& picture);
    void arrange();
    void showChosen();

    QLineEdit* m_search;
    QListView* m_list;
    QStringListModel* m_texts;
    QSortFilterProxyModel* m_found;
    QGridLayout* m_grid;
    EmptyState* m_empty;
    QWidget* m_plots;
    QLabel* m_text;
    DataTable* m_table;
    TableModel* m_model;
    std::vector<PlaneView*> m_planes;
    std::vector<QWidget*> m_cards;
    std::vector<SimilarityGroup> m_groups;
    int m_chosen = -1, m_columns = 0;
};

}  // namespace faceter::desktop
