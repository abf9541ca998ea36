#include "dialogs/command_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

QString shellWord(const QString& word) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./:=,+-]+$"));
    if (plain.match(word).hasMatch()) return word;
    return QLatin1Char('\'') + QString(word).replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

}  // namespace

CommandDialog::CommandDialog(const QString& name, const QString& title, const QString& explanation, const QString& button, QWidget* parent)
    : QDialog(parent), m_form(new QFormLayout), m_missing(secondaryLabel()) {
    setObjectName(name);
    setWindowTitle(title);
    setAttribute(Qt::WA_DeleteOnClose);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(24, 24, 24, 16);
    layout->setSpacing(12);
    QLabel* text = secondaryLabel(explanation);
    text->setWordWrap(true);
    layout->addWidget(text);
    m_form->setHorizontalSpacing(16);
    m_form->setVerticalSpacing(8);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    layout->addLayout(m_form);
    m_missing->setObjectName(QStringLiteral("missing"));
    m_missing->setWordWrap(true);
    layout->addWidget(m_missing);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_start = buttons->addButton(button, QDialogButtonBox::AcceptRole);
    m_start->setObjectName(QStringLiteral("start"));
    m_start->setDefault(true);
    m_copy = buttons->addButton(tr("Copy command"), QDialogButtonBox::ActionRole);
    m_copy->setObjectName(QStringLiteral("copyCommand"));
    m_copy->setAutoDefault(false);
    buttons->button(QDialogButtonBox::Cancel)->setAutoDefault(false);  // Enter would be Cancel while something is missing
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_copy, &QPushButton::clicked, this, &CommandDialog::copyCommand);
    connect(this, &QDialog::accepted, this, [this] { Q_EMIT asked(request()); });
}

void CommandDialog::review() {
    const QString reason = missing();
    m_missing->setText(reason);
    m_missing->setVisible(!reason.isEmpty());
    m_start->setEnabled(reason.isEmpty());
    m_copy->setEnabled(reason.isEmpty());
}

void CommandDialog::copyCommand() const {
    QStringList words{QStringLiteral("faceter")};
    for (const QString& word : request().words) words << shellWord(word);
    QApplication::clipboard()->setText(words.join(QLatin1Char(' ')));
}

}  // namespace faceter::desktop
