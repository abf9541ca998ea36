#include "pages/compose/problem_list.h"

#include "project/runs_snapshot.h"
#include "theme/icons.h"
#include "theme/theme.h"

namespace faceter::desktop {

void ProblemModel::setProblems(std::vector<Problem> problems) {
    beginResetModel();
    m_problems = std::move(problems);
    endResetModel();
}

QVariant ProblemModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Problem& one = problem(index.row());
    if (role == Qt::DisplayRole) return (one.line > 0 ? tr("line %1 · ").arg(one.line) : QString()) + qs(one.message);
    if (role == Qt::ToolTipRole) return qs(one.message).toHtmlEscaped();
    if (role == Qt::DecorationRole) return icon(QStringLiteral("warning"), Theme::instance().colours().error);
    return {};
}

}  // namespace faceter::desktop
