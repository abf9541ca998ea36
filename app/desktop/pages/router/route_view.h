#pragma once
#include <QWidget>

#include "pages/router/router_data.h"
#include "worker/worker_query.h"

class QComboBox;
class QFrame;
class QLabel;
class QLineEdit;
class QMenu;
class QPushButton;

namespace faceter::desktop {

class DataTable;
class ErrorBar;
class FigureView;
class TableModel;

/// A query that one types, and the way that the run's router would send it, explained.
class RouteView : public QWidget {
    Q_OBJECT
  public:
    explicit RouteView(QWidget* parent = nullptr);
    /// Null: none. The text stays, and is asked again where it was asked before.
    void setRun(const RouterRun* run);
    /// The router is another one than before.
    void askAgain();
    bool isBusy() const { return m_query->isBusy(); }
    QString text() const;
    void setText(const QString& text);
    void addExports(QMenu* menu, QWidget* parent) const;

  private:
    QWidget* makeBar();
    void ask();
    void take(const Json& answer);
    void showRoute(const RouteAnswer& route);
    void hideAnswer();

    WorkerQuery* m_query;
    QLineEdit* m_text;
    QComboBox* m_task;
    QPushButton* m_ask;
    ErrorBar* m_error;
    QLabel* m_status;
    QWidget* m_answer;
    QFrame* m_mapCard;
    FigureView* m_map;
    DataTable* m_values;
    TableModel* m_valueModel;
    DataTable* m_pilots;
    TableModel* m_pilotModel;
    QString m_folder;
    bool m_asked = false;
};

}  // namespace faceter::desktop
