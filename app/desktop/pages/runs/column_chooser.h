#pragma once
#include "pages/runs/run_column.h"
#include "widgets/popup_panel.h"

class QLineEdit;
class QListWidget;

namespace faceter::desktop {

/// Which columns stand in the table, and in which order (drag, or Alt+Up and Alt+Down). The name always does. Columns of series are listed
/// where one looks for them; NAME:STEP finds the value at a step.
class ColumnChooser : public PopupPanel {
    Q_OBJECT
  public:
    explicit ColumnChooser(QToolButton* button);
    /// `chosen` first, in its order, then the rest of `all`.
    void show(const std::vector<RunColumn>& all, const std::vector<RunColumn>& chosen);

  Q_SIGNALS:
    void chosen(const QStringList& ids);
    void resetRequested();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void addItem(const RunColumn& column, bool on);
    void announce();
    void moveCurrent(int by);
    void search(const QString& wanted);
    void offerStep(const QString& wanted);

    QLineEdit* m_search;
    QListWidget* m_list;
    QSet<QString> m_series;  // names
    bool m_filling = false;
};

}  // namespace faceter::desktop
