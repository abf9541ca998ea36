#pragma once
#include <QMenu>
#include <QToolButton>
#include <functional>

#include "widgets/as_written.h"

namespace faceter::desktop {

/// A button whose menu has names that can be ticked.
inline QToolButton* choiceButton(const QString& name, const QString& text) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setObjectName(name);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setMenu(new QMenu(button));
    return button;
}

inline void fill(QToolButton* button, const QStringList& names, const QStringList& chosen, QObject* context,
                 const std::function<void()>& changed) {
    QMenu* menu = button->menu();
    menu->clear();
    for (const QString& name : names) {
        QAction* action = menu->addAction(asWritten(name));
        action->setData(name);
        action->setCheckable(true);
        action->setChecked(chosen.contains(name));
        QObject::connect(action, &QAction::toggled, context, changed);
    }
}

inline QStringList chosenOf(const QToolButton* button) {
    QStringList names;
    for (const QAction* action : button->menu()->actions())
        if (action->isChecked()) names << action->data().toString();
    return names;
}

}  // namespace faceter::desktop
