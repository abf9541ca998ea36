#include "pages/page_parts.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

#include "pages/page.h"
#include "widgets/labels.h"
#include "widgets/run_label.h"

namespace faceter::desktop {
namespace {

constexpr std::size_t most_runs = 24;
constexpr int widest_choice = 260;

}  // namespace

std::vector<TrainedRun> shownTrainedRuns(const Workspace& workspace) {
    std::vector<TrainedRun> runs;
    const RunsSnapshotPtr hold = workspace.runs();
    for (const RunGroupRef& group : workspace.shownGroups())
        for (const RunRow* run : group.runs) {
            if (run->info.is_baseline() || runs.size() == most_runs) continue;
            runs.push_back({run->info.id, seedLabel(group.label, run->info.seed).toStdString(),
                            run->state.phase == RunPhase::done && !run->info.is_imported()});
        }
    return runs;
}

QWidget* pageHead(const QString& page, const QString& title, QWidget* actions, std::initializer_list<QComboBox*> choices, QMenu* exports) {
    auto* head = new QWidget;
    auto* layout = new QHBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(titleLabel(title), 1);
    auto* row = new QHBoxLayout(actions);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    for (QComboBox* choice : choices) row->addWidget(choice);
    exports->setObjectName(page + QStringLiteral("ExportMenu"));
    auto* button = new QPushButton(Page::tr("Export"));
    button->setObjectName(page + QStringLiteral("Export"));
    button->setMenu(exports);
    row->addWidget(button);
    layout->addWidget(actions);
    return head;
}

void setUpRunChoice(const QString& page, QComboBox* run, const QString& accessibleName) {
    run->setObjectName(page + QStringLiteral("Run"));
    run->setAccessibleName(accessibleName);
    run->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    run->setMaximumWidth(widest_choice);
}

void setUpViewChoice(const QString& page, QComboBox* view, const QStringList& views) {
    view->addItems(views);
    view->setObjectName(page + QStringLiteral("View"));
    view->setAccessibleName(Page::tr("View"));
}

void sayWhenLate(QWidget* loading, const QString& text, StoreQueryBase* query) {
    QLabel* label = secondaryLabel(text, loading);
    auto* layout = new QVBoxLayout(loading);
    layout->addWidget(label, 0, Qt::AlignHCenter);
    layout->addStretch(1);
    label->hide();
    QObject::connect(query, &StoreQueryBase::late, label, &QWidget::setVisible);
}

}  // namespace faceter::desktop
