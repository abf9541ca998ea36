#pragma once
#include <QAbstractListModel>

#include "pages/compose/check_report.h"

namespace faceter::desktop {

/// What is wrong, one row each: "line 14 · training.batch_size is 'x'; expected ...".
class ProblemModel : public QAbstractListModel {
    Q_OBJECT
  public:
    using QAbstractListModel::QAbstractListModel;
    void setProblems(std::vector<Problem> problems);
    const Problem& problem(int row) const { return m_problems[static_cast<std::size_t>(row)]; }
    int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_problems.size()); }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

  private:
    std::vector<Problem> m_problems;
};

}  // namespace faceter::desktop
