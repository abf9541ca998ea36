#pragma once
#include "pages/experts/experts_data.h"
#include "pages/page.h"
#include "workspace/store_query.h"

class QComboBox;
class QLabel;
class QMenu;
class QStackedWidget;

namespace faceter::desktop {

class EmptyState;
class ErrorBar;
class ExpertHistoryView;
class ExpertTextView;

/// Which expert what goes through: the load of token routers over training and by task, a text of one's own by token, and how far task
/// experts have moved from the dense block and from one another.
class ExpertsPage : public Page {
    Q_OBJECT
  public:
    enum class View { training, tasks, text, moves };
    explicit ExpertsPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    View view() const;

  private:
    QWidget* makeHead();
    void connectQuery();
    std::function<ExpertsDataPtr(Store&)> question() const;
    void clear();
    void take(const ExpertsDataPtr& data);
    void fillRuns();
    void showRun();
    void showView();
    void showEmpty();
    bool hasView(View view) const;
    void fillExportMenu(QMenu* menu);
    const ExpertsRun* chosenRun() const;

    StoreQuery<ExpertsDataPtr>* m_query;
    QComboBox* m_run;
    QComboBox* m_viewChoice;
    QWidget* m_actions;
    QLabel* m_subtitle;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    QWidget* m_loading;
    EmptyState* m_empty;
    ExpertHistoryView* m_history;
    ExpertTextView* m_text;
    QWidget* m_views[4] = {};
    ReportCards* m_tasks;
    ReportCards* m_moves;
    ExpertsDataPtr m_data;
    QString m_wantedRun;
    bool m_viewChosen = false;  // by a person: else the first that has something
};

}  // namespace faceter::desktop
