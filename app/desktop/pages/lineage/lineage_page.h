#pragma once
#include "pages/lineage/lineage_data.h"
#include "pages/page.h"
#include "workspace/store_query.h"

class QComboBox;
class QLabel;
class QMenu;
class QScrollArea;
class QSplitter;
class QStackedWidget;

namespace faceter::desktop {

class EmptyState;
class ErrorBar;
class LineageView;
class ReportCards;

/// What the ticked runs, or the selected one, come from and what came of them as a graph; of two that are marked, the whole difference of
/// settings, code, data and machine, with their scores.
class LineagePage : public Page {
    Q_OBJECT
  public:
    explicit LineagePage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    void shown() override;
    bool isReady() const override { return !m_query->isBusy() && !m_differenceQuery->isBusy(); }

  private:
    using DifferencePtr = std::shared_ptr<const RunDifference>;
    QWidget* makeHead();
    QWidget* makeBody();
    void connectQueries();
    std::function<LineageDataPtr(Store&)> question() const;
    std::function<DifferencePtr(Store&)> differenceQuestion() const;
    std::set<std::string> wantedRuns() const;
    void askAgain();
    void clear();
    void take(const LineageDataPtr& data);
    void takeDifference(const DifferencePtr& difference);
    void takeMarks();
    void followCurrent();
    void showChosen(int node);
    void open(int node);
    void fillExportMenu(QMenu* menu);
    /// Empty where it is no run of the project.
    QString runOf(int node) const;

    StoreQuery<LineageDataPtr>* m_query;
    StoreQuery<DifferencePtr>* m_differenceQuery;
    QComboBox* m_which;
    QWidget* m_actions;
    QLabel* m_chosen;
    QLabel* m_notes;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    QSplitter* m_body;
    QWidget* m_difference;
    ReportCards* m_cards;
    QScrollArea* m_scroll;
    LineageView* m_view;
    QWidget* m_loading;
    EmptyState* m_empty;
    LineageDataPtr m_data;
    QString m_followed;        // the current run that was chosen here
    std::uint64_t m_seen = 0;  // of the runs that were asked about: a heartbeat alone asks nothing anew
};

}  // namespace faceter::desktop
