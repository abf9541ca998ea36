#pragma once
#include "pages/page.h"
#include "pages/router/router_data.h"
#include "workspace/store_query.h"

class QComboBox;
class QMenu;
class QStackedWidget;

namespace faceter::desktop {

class EmptyState;
class ErrorBar;
class GatesView;
class RouteView;

/// How a router chooses among gates: best against routed gate by data set, scores against the number of gates, pilots and training size
/// with the oracles as ceilings, maps, a query of one's own explained, and the gates themselves.
class RouterPage : public Page {
    Q_OBJECT
  public:
    enum class View { gates, scores, maps, query, list };
    explicit RouterPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    View view() const;

  private:
    QWidget* makeHead();
    void connectQuery();
    std::function<RouterDataPtr(Store&)> question() const;
    void clear();
    void take(const RouterDataPtr& data);
    void fillRuns();
    void showRun();
    void showView();
    void showEmpty();
    ReportCards* cards() const;
    void fillExportMenu(QMenu* menu);
    const RouterRun* chosenRun() const;

    StoreQuery<RouterDataPtr>* m_query;
    QComboBox* m_run;
    QComboBox* m_viewChoice;
    QWidget* m_actions;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    QWidget* m_loading;
    EmptyState* m_empty;
    ReportCards* m_cards[3];  // gates, scores, maps
    RouteView* m_route;
    GatesView* m_gates;
    QWidget* m_views[5] = {};
    RouterDataPtr m_data;
    QString m_wantedRun;
};

}  // namespace faceter::desktop
