#pragma once
#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QTest>
#include <QTimer>

namespace faceter::testing {

/// Answers the next save dialog as a person would: types the path, Enter.
inline void answer_save_dialog(const QString& path) {
    auto* look = new QTimer(qApp);
    QObject::connect(look, &QTimer::timeout, qApp, [look, path] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        look->deleteLater();
        look->stop();
        auto* edit = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        edit->setText(path);
        QTest::keyClick(edit, Qt::Key_Return);
    });
    look->start(20);
}

/// Triggers the action of a menu (or of its menus) with this name; false where there is none.
inline bool trigger_in(QMenu* menu, const QString& name) {
    for (QAction* action : menu->actions()) {
        if (action->menu() && trigger_in(action->menu(), name)) return true;
        if (action->objectName() != name || !action->isEnabled()) continue;
        action->trigger();
        return true;
    }
    return false;
}

}  // namespace faceter::testing
