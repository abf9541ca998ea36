#pragma once
#include <QPen>
#include <QWidget>
#include <unordered_map>

#include "pages/lineage/lineage_data.h"

namespace faceter::desktop {

/// A lineage from the left to the right: a box a node, a line from each to what came of it, dashed for a rerun, with the link's name where
/// it is more than a start model. Left and Right go to what a node hangs on and to the first that hangs on it, Shift with them to its other
/// ends, Up and Down through a column; Space or Ctrl+click marks up to two runs, Escape drops the marks, Enter or a double click opens a
/// run.
class LineageView : public QWidget {
    Q_OBJECT
  public:
    explicit LineageView(QWidget* parent = nullptr);
    /// `colours`: places in the palette by node; below 0: none. What is chosen and marked stays, by id, where it is still there.
    void setData(const LineageDataPtr& data, std::vector<int> colours);
    int chosen() const { return m_chosen; }
    /// -1: none.
    void choose(int node);
    /// Up to two runs, the one that was marked first before the other.
    const std::vector<int>& marked() const { return m_marked; }
    void toggleMark(int node);
    QRect boxOf(int node) const;
    /// What the chosen node says of itself and of what it comes from.
    QString textOf(int node) const;
    QSize sizeHint() const override;

  Q_SIGNALS:
    void nodeChosen(int node);
    void marksChanged();
    void opened(int node);
    void shouldShow(const QRect& box);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;

  private:
    const LineageNode& node(int place) const { return m_data->lineage.nodes[static_cast<std::size_t>(place)]; }
    int numNodes() const { return static_cast<int>(m_data->lineage.nodes.size()); }
    int nodeWithId(LineageNode::Kind kind, const std::string& id) const;
    int nodeAt(const QPoint& place) const;
    int boxHeight() const { return m_boxHeight; }
    int rowHeight() const;
    void fit();
    void walk(int key, bool toOtherEnds);
    int otherEnd(bool back) const;
    int inColumn(int by) const;
    bool isDirect(const LineageEdge& edge) const;
    QPen penOf(const LineageEdge& edge, bool isChosen) const;
    void paintEdges(QPainter& painter, const QRect& seen, bool chosen) const;
    static void paintBack(QPainter& painter, const QRect& from, const QRect& to, const QPen& pen);
    void nameEdge(QPainter& painter, const LineageEdge& edge, const QRect& to, const QColor& colour) const;
    void paintNode(QPainter& painter, int place) const;
    void paintTexts(QPainter& painter, int place, const QRect& box) const;

    LineageDataPtr m_data = std::make_shared<LineageData>();
    std::vector<int> m_colours;
    std::vector<std::vector<int>> m_columns;           // nodes from the top down
    std::unordered_map<std::uint64_t, int> m_byPlace;  // column << 32 | row
    std::vector<int> m_marked;
    int m_chosen = -1, m_lineHeight = 16, m_boxHeight = 48;
    bool m_hasStages = false;
};

}  // namespace faceter::desktop
