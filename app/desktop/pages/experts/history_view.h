#pragma once
#include <QWidget>

#include "pages/experts/experts_data.h"

class QComboBox;
class QLabel;
class QSlider;

namespace faceter::desktop {

class FigureView;

/// A run's token routers over training: the load of every block's experts at the step that the slider chooses, one block's load as curves,
/// the routers' entropy, and dropped assignments where there are some; of all steps or of those of one task.
class ExpertHistoryView : public QWidget {
    Q_OBJECT
  public:
    explicit ExpertHistoryView(QWidget* parent = nullptr);
    /// Keeps task, block and step where the new history has them.
    void setHistory(const ExpertHistory& history);
    std::vector<FigureView*> figures() const;

  private:
    QWidget* makeBar();
    void fillChoices();
    void showTask();
    void showStep();
    void showBlock();
    int task() const;

    ExpertHistory m_history;
    QComboBox* m_task;
    QComboBox* m_block;
    QSlider* m_slider;
    QLabel* m_step;
    FigureView* m_load;
    FigureView* m_curves;
    FigureView* m_entropy;
    FigureView* m_dropped;
    QWidget* m_droppedCard;
    bool m_atEnd = true;  // of the slider: it follows a run that goes on
};

}  // namespace faceter::desktop
