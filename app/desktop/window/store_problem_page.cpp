#include "window/store_problem_page.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/labels.h"
#include "workspace/workspace.h"

namespace faceter::desktop {

StoreProblemPage::StoreProblemPage(Workspace& workspace, const QString& message, QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("storeProblemPage"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(24, 24, 24, 24);
    layout->setSpacing(8);
    layout->addWidget(titleLabel(tr("The project's store cannot be read")));
    auto* text = plainLabel(message);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    layout->addWidget(text);
    auto* comfort =
        secondaryLabel(tr("Nothing is lost: the run folders are the record, and the store can be made again from them at any time."));
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
    add(tr("Make the store anew"), [&workspace] {
        if (workspace.session()) workspace.session()->rebuild();
    })->setObjectName(QStringLiteral("rebuildStoreButton"));
    add(tr("Copy details"), [message] { QApplication::clipboard()->setText(message); });
    row->addStretch(1);
    layout->addLayout(row);
    layout->addStretch(1);
}

}  // namespace faceter::desktop
