#pragma once
#include "pages/runs/runs_data.h"
#include "widgets/popup_panel.h"

class QCheckBox;
class QTreeWidget;
class QTreeWidgetItem;

namespace faceter::desktop {

struct FacetValue {
    QString value;
    int count = 0;
};
struct Facet {
    QString column;            ///< of the filter: state, variant, tag, experiment
    QList<FacetValue> values;  ///< most frequent first
};
/// Values with their counts over the runs of an experiment (empty: all).
QList<Facet> facetsOf(const RunsData& data, const std::string& experiment, bool archived);

/// Lists of values with counts; ticks compose the expression.
class FacetPanel : public PopupPanel {
    Q_OBJECT
  public:
    explicit FacetPanel(QToolButton* button);
    /// Fills the lists; values that the expression names are ticked.
    void show(const QList<Facet>& facets, const QString& expression);
    void setArchivedShown(bool shown);

  Q_SIGNALS:
    void expressionChanged(const QString& expression);
    void archivedToggled(bool shown);

  private:
    void ticked(QTreeWidgetItem* item);
    QTreeWidget* m_tree;
    QCheckBox* m_archived;
    QString m_expression;
    bool m_filling = false;
};

}  // namespace faceter::desktop
