#pragma once
#include "widgets/data_table.h"

namespace faceter::desktop {

class RunListModel;

/// The runs with their ticks: Space ticks those that are selected, or unticks them where all are.
class RunList : public DataTable {
    Q_OBJECT
  public:
    explicit RunList(RunListModel& runs, QWidget* parent = nullptr);
    void fit();

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    RunListModel& m_runs;
};

}  // namespace faceter::desktop
