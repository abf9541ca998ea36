#pragma once
#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

#include "compare/sweep.h"

namespace faceter::desktop {

/// Parallel coordinates: a line a configuration through an axis a setting, the score's at the right, coloured by score. Dragging along an
/// axis keeps the lines that go through there, a click beside a range drops it; Left and Right choose an axis, Escape drops all ranges, N
/// and P choose a line.
class ParallelView : public QWidget {
    Q_OBJECT
  public:
    explicit ParallelView(QWidget* parent = nullptr);
    /// `settings`: which of the sweep's, from left to right.
    void setSweep(const Sweep& sweep, const std::string& scoreName);
    int numAxes() const { return static_cast<int>(m_axes.size()); }
    /// Of configurations, by their place in the sweep.
    std::vector<int> kept() const;
    /// Shares of the axis' length, from the bottom.
    void setRange(int axis, std::optional<std::pair<double, double>> range);
    int chosen() const { return m_chosen; }
    void choose(int point);
    QPointF placeOf(int point, int axis) const;
    QSize sizeHint() const override { return {640, 300}; }
    QSize minimumSizeHint() const override { return {240, 180}; }

  Q_SIGNALS:
    void keptChanged();
    void pointChosen(int point);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

  private:
    struct Axis {
        QString title, low, high;
        QStringList categories;      // from the bottom; empty: numbers
        std::vector<double> places;  // of each configuration, 0 at the bottom to 1
        std::optional<std::pair<double, double>> range;
        double least = 0, most = 0;  // numbers at its ends; their logarithms where it is logarithmic
        bool log = false;
        double shareOf(double end, const Axis& before) const;  // where an end of a range of what it was before lies now
    };
    static Axis axisOf(const Sweep& sweep, const SweepSetting& setting);
    static Axis scoreAxis(const Sweep& sweep, const QString& title);
    bool isKept(std::size_t point) const;
    QRectF plot() const;
    double xOf(int axis) const;
    double yOf(double place) const;
    int axisAt(double x) const;
    int pointAt(const QPointF& place) const;
    QString textOf(int point) const;
    void paintLine(QPainter& painter, std::size_t point, bool faint) const;
    void paintAxis(QPainter& painter, int axis) const;

    std::vector<Axis> m_axes;
    QStringList m_names;
    int m_chosen = -1, m_axis = 0, m_dragged = -1;
    double m_from = 0;
    bool m_moved = false;
};

}  // namespace faceter::desktop
