#pragma once
#include <QWidget>
#include <set>
#include <string>

#include "common/json.h"
#include "figure/table.h"

class QLabel;

namespace faceter::desktop {

class DataTable;
class ErrorBar;
class TableModel;
class WorkerQuery;

/// The examples of one step of a run, which the live worker draws again.
class BatchExamples : public QWidget {
    Q_OBJECT
  public:
    explicit BatchExamples(QWidget* parent = nullptr);
    /// `tasks`: those that the run logged a loss of at the step.
    void ask(const QString& folder, const QString& label, qint64 step, const std::set<std::string>& tasks);
    void clear();
    /// In place of examples.
    void say(const QString& status, const QString& problem = {});
    bool isBusy() const;
    const Table& table() const;

  private:
    void take(const Json& answer);
    void showTable(Table table);
    QString ofStep() const;

    WorkerQuery* m_query;
    QLabel* m_status;
    ErrorBar* m_error;
    DataTable* m_table;
    TableModel* m_model;
    QString m_label;
    qint64 m_step = 0;
    std::set<std::string> m_tasks;
};

}  // namespace faceter::desktop
