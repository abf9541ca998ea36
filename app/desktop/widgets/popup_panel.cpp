#include "widgets/popup_panel.h"

#include <QScreen>
#include <algorithm>

#include "theme/icons.h"

namespace faceter::desktop {

PopupPanel::PopupPanel(QToolButton* button) : QFrame(button, Qt::Popup), m_button(button) {
    setProperty("card", true);
    setAttribute(Qt::WA_StyledBackground);
    connect(button, &QToolButton::clicked, this, &PopupPanel::drop);
}

void PopupPanel::drop() {
    Q_EMIT aboutToShow();
    adjustSize();
    const QRect screen = m_button->screen()->availableGeometry();
    QPoint place = m_button->mapToGlobal(QPoint(0, m_button->height() + 2));
    place.setX(std::max(screen.left(), std::min(place.x(), screen.right() - width())));
    place.setY(std::max(screen.top(), std::min(place.y(), screen.bottom() - height())));
    move(place);
    show();
    setFocus();
}

QToolButton* dropDownButton(const QString& text, const QString& iconName, const QString& name) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setIcon(icon(iconName));
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setProperty("role", QStringLiteral("button"));
    button->setObjectName(name);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

}  // namespace faceter::desktop
