#include "window/warning_line.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QPushButton>

#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/labels.h"
#include "workspace/workspace.h"

namespace faceter::desktop {

WarningLine::WarningLine(Workspace& workspace, QWidget* parent)
    : QWidget(parent), m_workspace(workspace), m_text(new ElidedLabel({}, Qt::ElideMiddle)) {
    setObjectName(QStringLiteral("warningLine"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 2, 4, 2);
    layout->setSpacing(8);
    auto* sign = new QLabel;
    sign->setAccessibleName(tr("Warning"));
    const auto paint = [sign] { sign->setPixmap(icon(QStringLiteral("warning")).pixmap(16, 16)); };
    paint();
    connect(&Theme::instance(), &Theme::changed, sign, paint);
    m_text->setObjectName(QStringLiteral("warningText"));
    auto* copy = new QPushButton(tr("Copy details"));
    auto* dismiss = new QPushButton(tr("Dismiss"));
    dismiss->setObjectName(QStringLiteral("dismissWarnings"));
    for (QPushButton* button : {copy, dismiss}) button->setProperty("link", true);
    layout->addWidget(sign);
    layout->addWidget(m_text, 1);
    layout->addWidget(copy);
    layout->addWidget(dismiss);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_warnings.join(QLatin1Char('\n'))); });
    connect(dismiss, &QPushButton::clicked, this, &WarningLine::clear);
    connect(&workspace, &Workspace::warned, this, &WarningLine::add);
    connect(&workspace, &Workspace::settled, this, &WarningLine::drop);
    connect(&workspace, &Workspace::projectChanged, this, &WarningLine::clear);
    clear();
}

void WarningLine::add(const QStringList& warnings) {
    m_warnings += warnings;
    showWarnings();
}

void WarningLine::drop(const QStringList& warnings) {
    for (const QString& warning : warnings) m_warnings.removeAll(warning);
    showWarnings();
}

void WarningLine::clear() {
    m_warnings.clear();
    showWarnings();
}

void WarningLine::showWarnings() {
    QString first = m_warnings.value(0);
    if (m_workspace.session()) first.remove(qs(m_workspace.session()->folder().string()) + QLatin1Char('/'));  // "Copy details" has it
    const auto more = m_warnings.size() - 1;
    m_text->setFullText(more <= 0 ? first : tr("%1 (and %2 more)").arg(first).arg(more));
    setVisible(!m_warnings.isEmpty());
}

}  // namespace faceter::desktop
