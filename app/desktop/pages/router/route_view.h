#pragma once
#include "pages/router/router_data.h"
#include "pages/text_question.h"

class QFrame;
class QMenu;

namespace faceter::desktop {

class DataTable;
class FigureView;
class TableModel;

/// The way that the run's router would send a query, explained.
class RouteView : public TextQuestion {
    Q_OBJECT
  public:
    explicit RouteView(QWidget* parent = nullptr);
    /// Null: none.
    void setRun(const RouterRun* run);
    void addExports(QMenu* menu, QWidget* parent) const;

  private:
    QWidget* makeAnswer();
    void take(const Json& answer) override;
    void hideAnswer() override;
    void showRoute(const RouteAnswer& route);

    QWidget* m_answer;
    QFrame* m_mapCard;
    FigureView* m_map;
    DataTable* m_values;
    TableModel* m_valueModel;
    DataTable* m_pilots;
    TableModel* m_pilotModel;
};

}  // namespace faceter::desktop
