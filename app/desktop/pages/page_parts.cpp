#include "pages/page_parts.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "pages/page.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"

namespace faceter::desktop {
QWidget* pageHead(const QString& page, const QString& title, QWidget* actions, std::initializer_list<QComboBox*> choices, QMenu* exports) {
    auto* head = new QWidget;
    auto* layout = new FlowLayout(head);
    layout->addStretched(titleLabel(title));
    auto* row = new FlowLayout(actions);
    for (QComboBox* choice : choices) row->addWidget(choice);
    exports->setObjectName(page + QStringLiteral("ExportMenu"));
    auto* button = new QPushButton(Page::tr("Export"));
    button->setObjectName(page + QStringLiteral("Export"));
    button->setMenu(exports);
    row->addWidget(button);
    layout->addWidget(actions);
    return head;
}

void focusPart(QWidget& page, QWidget* part) {
    QList<QWidget*> all = part->findChildren<QWidget*>();
    all.prepend(part);
    for (QWidget* widget : std::as_const(all))
        if ((widget->focusPolicy() & Qt::TabFocus) && widget->isVisible() && widget->isEnabled())
            return widget->setFocus(Qt::OtherFocusReason);
    page.setFocus(Qt::OtherFocusReason);
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
