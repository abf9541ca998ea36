#pragma once
#include <QTableView>

class QStyledItemDelegate;

namespace faceter::desktop {

/// A table as the workbench shows all of them: 24 px a row, hairlines between rows only, no vertical lines, Ctrl+C copies the selection as
/// TSV, Ctrl+Shift+C as Markdown. What a model answers for Qt::DisplayRole is what is copied.
class DataTable : public QTableView {
    Q_OBJECT
  public:
    explicit DataTable(QWidget* parent = nullptr);
    /// Names of configurations, whose points of a sweep differ at their ends: where a cell is too narrow, keys give way before values. What
    /// is copied and exported stays whole.
    void shortenNames();
    /// Columns as wide as their content, up to `most` pixels, within the first rows; the last one takes what is left when `stretchLast`.
    void fitColumns(int most = 320, bool stretchLast = false);
    /// For rows that change while one looks: columns as fitColumns() left them get wider where there is more to show now, none gets
    /// narrower, and one that a person has dragged stays as it is.
    void widenColumns(int most = 320);
    /// As high as its rows, for tables within a scrolling page; where columns are wider than there is room, with the bar that scrolls them.
    void setHeightToRows(int mostRows = 1000);
    QString selectionAsTsv() const;
    QString selectionAsMarkdown() const;

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void takeHeightOfRows();
    QList<QStringList> selectedTexts() const;  // the header first
    int wantedWidth(int column) const;
    void setFitted(int column, int width);
    QList<int> m_fitted;  // what fitColumns() gave
    int m_mostRows = 0;   // of setHeightToRows()
};

}  // namespace faceter::desktop
