#pragma once
#include "pages/page.h"
#include "pages/results/result_list_model.h"
#include "workspace/store_query.h"

class QLineEdit;
class QListView;
class QPushButton;
class QStackedWidget;

namespace faceter::desktop {

class EmptyState;
class ErrorBar;
class ResultView;

/// Every stored figure and table of the shown runs: where a new method's analysis has its place without a line of the desktop's.
class ResultsPage : public Page {
    Q_OBJECT
  public:
    explicit ResultsPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    void shown() override;

  private:
    QWidget* makeHead();
    QWidget* makeBody();
    void clear();
    void take(ResultsPtr results);
    void showEntry();
    void choose(const QModelIndex& index);
    void showEmpty();

    ResultListModel* m_model;
    QLineEdit* m_search;
    QListView* m_list;
    ResultView* m_view;
    QPushButton* m_overlay;
    QPushButton* m_export;
    QStackedWidget* m_stack;
    EmptyState* m_empty;
    QWidget* m_body = nullptr;
    QWidget* m_loading;
    ErrorBar* m_error;
    StoreQuery<ResultsPtr>* m_query;
    std::string m_key;  // of the entry that is shown, or that a restored state wants
};

}  // namespace faceter::desktop
