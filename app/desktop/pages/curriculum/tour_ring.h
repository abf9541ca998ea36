#pragma once
#include <QWidget>

#include "pages/curriculum/curriculum_data.h"

namespace faceter::desktop {

/// The tour as a ring: a dot a task in its colour, neighbours joined by a line that is the brighter and wider the more similar they are.
/// A click or the arrow keys choose a task, whose name and similarity to the next stand in the middle.
class TourRing : public QWidget {
    Q_OBJECT
  public:
    explicit TourRing(QWidget* parent = nullptr);
    /// `colours`: the tasks' places in the palette.
    void setTour(const std::vector<TourTask>& tour, const std::vector<int>& colours);
    int chosen() const { return m_chosen; }
    void choose(int task);
    /// Where a task's dot stands.
    QPointF placeOf(int task) const;
    QSize sizeHint() const override { return {360, 320}; }

  Q_SIGNALS:
    void taskChosen(int task);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    double radius() const;
    double shareOf(double similarity) const;
    void paintLines(QPainter& painter) const;
    void paintDots(QPainter& painter) const;
    void paintName(QPainter& painter, int task) const;
    void paintMiddle(QPainter& painter) const;
    QString chosenText() const;

    std::vector<TourTask> m_tour;
    std::vector<int> m_colours;
    double m_least = 0, m_most = 1;  // similarities of neighbours
    int m_chosen = 0;
};

}  // namespace faceter::desktop
