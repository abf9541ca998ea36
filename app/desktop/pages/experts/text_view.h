#pragma once
#include <QWidget>

#include "pages/experts/experts_data.h"
#include "worker/worker_query.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace faceter::desktop {

class DataTable;
class ErrorBar;
class TableModel;
class TokenStrip;

/// A text that one types, asked of the run's model by the live worker: its tokens by expert and block, and how many each expert got.
class ExpertTextView : public QWidget {
    Q_OBJECT
  public:
    explicit ExpertTextView(QWidget* parent = nullptr);
    /// Null: none. The text stays, and is asked again where it was asked before.
    void setRun(const ExpertsRun* run);
    bool isBusy() const { return m_query->isBusy(); }
    QString text() const;
    void setText(const QString& text);

  private:
    QWidget* makeBar();
    void ask();
    void take(const Json& answer);
    void showBlocks();
    void showLegend();
    void showTable();
    void showBusy(bool busy);

    WorkerQuery* m_query;
    QLineEdit* m_text;
    QComboBox* m_task;
    QComboBox* m_block;
    QPushButton* m_ask;
    ErrorBar* m_error;
    QLabel* m_status;
    QLabel* m_chosen;
    TokenStrip* m_strip;
    QWidget* m_legend;
    DataTable* m_table;
    TableModel* m_model;
    QString m_folder;
    bool m_asked = false;
};

}  // namespace faceter::desktop
