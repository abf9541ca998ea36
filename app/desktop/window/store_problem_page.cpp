#include "window/store_problem_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/labels.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

/// False where the runs' own folder cannot be seen: moved, deleted, or on a disk that is not mounted.
bool areRunsThere(const Workspace& workspace) {
    return workspace.session() && QDir(QString::fromStdString((workspace.session()->folder() / "runs").string())).exists();
}

}  // namespace

StoreProblemPage::StoreProblemPage(Workspace& workspace, const QString& message, QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("storeProblemPage"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(24, 24, 24, 24);
    layout->setSpacing(8);
    const bool runsThere = areRunsThere(workspace);
    layout->addWidget(titleLabel(runsThere ? tr("The project's store cannot be read") : tr("The project's folder is not there")));
    auto* text = plainLabel(message);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    layout->addWidget(text);
    auto* comfort = secondaryLabel(
        runsThere
            ? tr("Nothing is lost: the run folders are the record, and the store can be made again from them at any time.")
            : tr("It was moved, renamed or deleted, or its disk is not mounted. Bring it back and try again, or open it where it is."));
    comfort->setWordWrap(true);
    layout->addWidget(comfort);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    const auto add = [&](const QString& name, auto action) {
        auto* button = new QPushButton(name);
        connect(button, &QPushButton::clicked, this, action);
        row->addWidget(button);
        return button;
    };
    add(tr("Try again"), [&workspace] {
        if (workspace.session()) workspace.session()->refresh();
    });
    if (runsThere)
        add(tr("Make the store anew"), [&workspace] {
            if (workspace.session()) workspace.session()->rebuild();
        })->setObjectName(QStringLiteral("rebuildStoreButton"));
    add(tr("Copy details"), [message] { QApplication::clipboard()->setText(message); });
    row->addStretch(1);
    layout->addLayout(row);
    layout->addStretch(1);
}

}  // namespace faceter::desktop
