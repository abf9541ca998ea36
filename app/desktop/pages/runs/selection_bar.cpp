#include "pages/runs/selection_bar.h"

#include <QMenu>
#include <QPushButton>
#include <QToolButton>

#include "pages/runs/selection_actions.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/popup_panel.h"
#include "widgets/texts.h"

namespace faceter::desktop {

SelectionBar::SelectionBar(SelectionActions& actions, QWidget* parent) : QWidget(parent), m_actions(actions), m_text(new ElidedLabel) {
    auto* layout = new FlowLayout(this);
    m_text->setProperty("role", QStringLiteral("secondary"));
    m_text->setObjectName(QStringLiteral("selectionText"));
    m_text->setMinimumWidth(m_text->fontMetrics().horizontalAdvance(tr("%1 runs selected").arg(countText(1000))));
    layout->addStretched(m_text);
    addButton(QStringLiteral("undo"), tr("Undo delete"));
    addButton(QStringLiteral("curves"), tr("Curves"));
    addButton(QStringLiteral("compare"), tr("Compare"));
    addButton(QStringLiteral("resume"), tr("Resume"));
    addButton(QStringLiteral("stop"), tr("Stop"));
    auto* more = dropDownButton(tr("More"), QStringLiteral("arrow-down"), QStringLiteral("runsMore"));
    auto* menu = new QMenu(more);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        m_actions.fill(*menu);
    });
    connect(more, &QToolButton::clicked, this, [more, menu] { menu->popup(more->mapToGlobal(QPoint(0, more->height() + 2))); });
    layout->addWidget(more);
    show(0, 0);
}

void SelectionBar::addButton(const QString& action, const QString& text) {
    QAction* what = m_actions.action(action);
    auto* button = new QPushButton(text);
    button->setObjectName(QStringLiteral("runs") + action.left(1).toUpper() + action.mid(1));
    const auto follow = [button, what, hides = action == QStringLiteral("undo")] {
        button->setEnabled(what->isEnabled());
        if (hides) button->setVisible(what->isEnabled());
    };
    connect(what, &QAction::changed, button, follow);
    connect(button, &QPushButton::clicked, what, &QAction::trigger);
    layout()->addWidget(button);
    follow();
}

void SelectionBar::show(int lines, int runs) {
    QString text = tr("Select runs to compare, resume or tag them");
    if (runs > 0) text = runs == 1 ? tr("1 run selected") : tr("%1 runs selected").arg(countText(runs));
    if (lines > 0 && lines < runs) text += lines == 1 ? tr(" in 1 line") : tr(" in %1 lines").arg(countText(lines));
    static_cast<ElidedLabel*>(m_text)->setFullText(text);
}

}  // namespace faceter::desktop
