#include "pages/page_parts.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

#include "pages/page.h"
#include "widgets/labels.h"

namespace faceter::desktop {
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

void sayWhenLate(QWidget* loading, const QString& text, StoreQueryBase* query) {
    QLabel* label = secondaryLabel(text, loading);
    auto* layout = new QVBoxLayout(loading);
    layout->addWidget(label, 0, Qt::AlignHCenter);
    layout->addStretch(1);
    label->hide();
    QObject::connect(query, &StoreQueryBase::late, label, &QWidget::setVisible);
}

}  // namespace faceter::desktop
