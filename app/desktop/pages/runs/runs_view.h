#pragma once
#include <QHash>
#include <QSet>

#include "pages/runs/runs_model.h"
#include "widgets/data_table.h"

class QMenu;

namespace faceter::desktop {

class RunsDelegate;

/// The runs table: DataTable with groups that open and close (arrow, Left, Right, + and -), columns that are moved and sized and keep that
/// by their id, and a place that stays when lines above it come and go.
class RunsView : public DataTable {
    Q_OBJECT
  public:
    explicit RunsView(RunsModel& model, QWidget* parent = nullptr);

    /// Calls change() and keeps the first visible line where it is.
    void keepingPlace(const std::function<void()>& change);
    /// Ids of the runs of the selected lines, those of groups included; in the order of the table.
    QStringList selectedRuns() const;
    void selectLines(const QSet<quint64>& identities, quint64 current);
    QSet<quint64> selectedLines() const;
    quint64 currentLine() const;

    /// Column ids as they stand on screen, and widths by id.
    QStringList shownOrder() const;
    QHash<QString, int> widths() const;
    /// Widths that nobody set follow the content.
    void setWidths(const QHash<QString, int>& widths);
    void fitWidths();
    /// Fits them again where something has come that is wider than all before; else no column moves.
    void widen();
    void setSort(const SortBy& sort);
    void addCopyActions(QMenu& menu);

  Q_SIGNALS:
    void openChanged(quint64 group, bool open);
    void sortRequested(const SortBy& sort);
    void showRequested();  ///< Enter or a double click
    void resumeRequested(const QStringList& runs);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    bool toggleAt(const QPoint& position);
    QStringList resumableAt(const QPoint& position) const;
    bool openCurrent(bool open);
    int headWidth(int column) const;
    int contentWidth(int column) const;
    int wantedWidth(int column) const;
    std::vector<int> slackOf(int leastName) const;
    bool shareWidth();
    void resetOrder();
    void sortClicked(int section, Qt::SortOrder order);
    void sortByCurrentColumn();

    RunsModel& m_model;
    RunsDelegate* m_delegate;
    QHash<QString, int> m_widths;  // those set by hand
    std::vector<int> m_wanted;     // by column, the widest since the last fitting
    SortBy m_sort;
    bool m_fitting = false;
};

}  // namespace faceter::desktop
