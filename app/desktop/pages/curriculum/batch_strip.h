#pragma once
#include <QWidget>

#include "pages/curriculum/curriculum_data.h"

namespace faceter::desktop {

/// A strip a run: its steps from left to right, coloured by task. Where a pixel holds several batches, or a batch several tasks, each task
/// has its share of the height. Zooms and pans as figures do: wheel, drag, + and -, Left and Right, 0; down to single batches. A click
/// chooses a batch, Enter the one in the middle of the strip that Up and Down go to. The strip of a run that has not begun, or
/// whose plan is of data sets, is empty until its order is planned.
class BatchStrip : public QWidget {
    Q_OBJECT
  public:
    explicit BatchStrip(QWidget* parent = nullptr);
    void setRuns(CurriculumDataPtr runs, const std::map<std::string, int>& colours);
    /// Steps that are in view: [first, last).
    std::pair<double, double> range() const { return {m_from, m_to}; }
    void setRange(double from, double to);
    /// "step 120 · retrieval, loss 0.31" at a place of the widget; over a strip the whole name of its run; else empty.
    QString textAt(const QPoint& position) const;
    /// What stands over a strip: a sweep's point with its keys' first letters, as on other pages.
    QString nameOf(int strip) const;
    /// Palette places of what a strip shows in a column of pixels, from the top; a share of 1 in all.
    std::map<int, double> sharesAt(int strip, int x) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {240, sizeHint().height()}; }

  Q_SIGNALS:
    /// A step of a run (id); the first one where a pixel holds several.
    void batchChosen(const QString& run, qint64 step);
    /// A strip was chosen whose order is to be planned.
    void orderWanted(const QString& run);
    /// By keys or mouse: `place` is to be in sight.
    void wentTo(const QRect& place);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

  private:
    struct Strip {
        const CurriculumRun* run = nullptr;
        std::vector<int> colours;  // one a task
    };
    QRect areaOf(int strip) const;
    QRect nameAreaOf(int strip) const;
    double stepAt(int x) const;
    /// Batches of the steps of a column; two iterators.
    std::pair<std::size_t, std::size_t> batchesAt(const TrainedOrder& order, int x) const;
    int stripAt(int y) const;
    void choose(int strip, int x);
    void goTo(int strip);
    void zoom(double factor, double at);
    void paintStrip(QPainter& painter, int strip) const;
    void paintSteps(QPainter& painter) const;

    CurriculumDataPtr m_runs;
    std::vector<Strip> m_strips;
    double m_from = 0, m_to = 1;
    double m_first = 0, m_last = 1;  // the first step of all, and behind the last
    int m_dragX = 0, m_pressX = 0, m_current = 0;
};

}  // namespace faceter::desktop
