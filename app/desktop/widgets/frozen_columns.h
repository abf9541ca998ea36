#pragma once
#include <QTableView>

namespace faceter::desktop {

/// The first columns of a table, laid over it so that they stay where they are when it scrolls sideways. Model, selection, delegate, widths
/// and order of the table are the table's; this one takes no focus.
class FrozenColumns : public QTableView {
    Q_OBJECT
  public:
    /// Over `table`, whose child it is; the table has its model and headers already.
    FrozenColumns(QTableView& table, int columns, QHeaderView* header);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

  private:
    void place();
    int fitting() const;

    QTableView& m_table;
    int m_columns;
    bool m_placing = false;
};

}  // namespace faceter::desktop
