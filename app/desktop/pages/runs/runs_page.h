#pragma once
#include <QHash>
#include <set>

#include "pages/page.h"
#include "pages/runs/runs_layout.h"
#include "pages/runs/runs_query.h"
#include "workspace/store_query.h"

class QLabel;
class QMenu;
class QSplitter;
class QStackedLayout;
class QToolButton;

namespace faceter::desktop {

class ColumnChooser;
class CurveCard;
class EmptyState;
class ErrorBar;
class FacetPanel;
class FilterEdit;
class RunsModel;
class RunsView;
class SelectionActions;
class SelectionBar;

/// Page Runs: the table of all runs of the experiment, live, with filter, groups and columns; below it the curves of the chosen ones.
class RunsPage : public Page {
    Q_OBJECT
  public:
    explicit RunsPage(Workspace& workspace, QWidget* parent = nullptr);

    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    void shown() override;
    QStringList selectedRuns() const override;

    RunsView* table() const { return m_table; }
    RunsModel* model() const { return m_model; }
    const GroupBy& grouping() const { return m_group; }
    void setGrouping(const GroupBy& group);
    void setSort(const SortBy& sort);
    /// Ids in their order; empty: the default ones.
    void setColumns(const QStringList& ids);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    QWidget* buildHead();
    QWidget* buildTools();
    QWidget* buildContent();
    void connectTools();
    void connectTable();
    void connectQuery();
    void projectChanged();
    /// What the snapshot shows under the filter; the answer lays the table out.
    std::function<RunsAnswer(Store&)> question() const;
    void take(const RunsAnswer& answer);
    void relayout();
    void showColumns(std::vector<RunColumn> columns, RunsLayout layout);
    std::vector<RunColumn> columnsNow() const;
    ColumnKeys keysShown() const;
    void showCounts();
    void showSelection();
    void showCurves(bool anew);
    std::vector<int> chosenRuns() const;
    void fillGroupMenu();
    void followCurrentRun();
    void setOpen(quint64 group, bool open);
    void setArchivedShown(bool shown);

    RunsModel* m_model;
    RunsView* m_table;
    SelectionActions* m_actions;
    SelectionBar* m_bar;
    FilterEdit* m_filter;
    QToolButton* m_groupButton;
    QMenu* m_groupMenu;
    FacetPanel* m_facets = nullptr;
    ColumnChooser* m_chooser = nullptr;
    CurveCard* m_curves;
    QSplitter* m_splitter;
    QLabel* m_subtitle;
    ErrorBar* m_error;
    EmptyState* m_empty;
    QLabel* m_loading;
    QWidget* m_content = nullptr;
    QStackedLayout* m_stack;
    StoreQuery<RunsAnswer>* m_query;

    RunsAnswer m_answer;
    GroupBy m_group{GroupBy::Kind::seeds, {}};
    SortBy m_sort;
    QStringList m_columnIds;         // empty: the default ones
    std::set<std::uint64_t> m_open;  // groups
    bool m_archived = false, m_wantsWidths = true;
    bool m_curvesGrow = false;  // some of the runs that were drawn went on
    QString m_followed;         // current run that the table knows of
};

}  // namespace faceter::desktop
