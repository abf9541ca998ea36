#pragma once
#include <QImage>
#include <QWidget>
#include <vector>

namespace faceter::desktop {

/// A corpus in the plane: tens of thousands of points that pan and zoom without a stutter, since they are stamped into one image instead of
/// being drawn one by one. Wheel and + and - zoom, drag and arrow keys pan, 0 shows all; a click chooses a point, N and P its next and
/// previous one in the order of the documents.
class PointMap : public QWidget {
    Q_OBJECT
  public:
    explicit PointMap(QWidget* parent = nullptr);
    void setPoints(std::vector<float> x, std::vector<float> y);
    /// One a point.
    void setColours(std::vector<QRgb> colours);
    /// Those that a search found; the others are faint. Empty: no search.
    void setFound(std::vector<bool> found);
    /// Rings round these: the neighbours of the chosen one.
    void setMarked(std::vector<int> points);
    /// Chosen or marked elsewhere: says nothing of it. -1: none.
    void choose(int point);
    int chosen() const { return m_chosen; }
    int numPoints() const { return static_cast<int>(m_x.size()); }
    QPointF placeOf(int point) const;
    /// The nearest point within a few pixels; -1: none.
    int pointAt(const QPointF& position) const;
    void showAll();
    double zoomFactor() const { return m_scale / m_wholeScale; }
    QSize sizeHint() const override { return {420, 320}; }
    QSize minimumSizeHint() const override { return {180, 140}; }

  Q_SIGNALS:
    void pointChosen(int point);
    void pointHovered(int point);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void changed();
    void stamp();
    void drawFew();
    void stampPoint(int point, QRgb colour);
    void zoom(double factor, const QPointF& at);
    void pan(const QPointF& by);
    void chooseHere(int point);
    void ring(QPainter& painter, int point, const QColor& colour, double radius) const;

    std::vector<float> m_x, m_y;
    std::vector<QRgb> m_colours;
    std::vector<bool> m_found;
    std::vector<int> m_marked;
    int m_chosen = -1;
    double m_left = 0, m_top = 0, m_width = 1, m_height = 1;  // of all points
    QPointF m_middle;                                         // of what is in view
    double m_scale = 1, m_wholeScale = 1;                     // pixels a unit
    QImage m_image;
    bool m_stale = true, m_whole = true, m_dragged = false;
    QPointF m_pressed, m_last;
};

}  // namespace faceter::desktop
