#include "pages/compose/project_dialog.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/labels.h"

namespace faceter::desktop {

ProjectDialog::ProjectDialog(const QString& experiment, QWidget* parent) : QDialog(parent), m_folder(new QLineEdit) {
    setObjectName(QStringLiteral("projectDialog"));
    setWindowTitle(tr("Where shall the runs be kept?"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(24, 24, 24, 16);
    layout->setSpacing(12);
    auto* text = secondaryLabel(tr("A project is a folder that holds runs and their results. It is made where it is not there yet."));
    text->setWordWrap(true);
    layout->addWidget(text);
    auto* row = new QHBoxLayout;
    m_folder->setObjectName(QStringLiteral("projectFolder"));
    m_folder->setAccessibleName(tr("Project folder"));
    m_folder->setText(QDir::toNativeSeparators(QDir::home().filePath(QStringLiteral("faceter/") + experiment)));
    m_folder->setMinimumWidth(360);
    row->addWidget(m_folder, 1);
    auto* browse = new QPushButton(tr("Browse…"));
    browse->setAutoDefault(false);
    row->addWidget(browse);
    layout->addLayout(row);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    QPushButton* launch = buttons->addButton(tr("Make the project and launch"), QDialogButtonBox::AcceptRole);
    launch->setDefault(true);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_folder, &QLineEdit::textChanged, launch, [launch](const QString& path) { launch->setEnabled(!path.trimmed().isEmpty()); });
    connect(browse, &QPushButton::clicked, this, [this] {
        const QString chosen = QFileDialog::getExistingDirectory(this, tr("Project folder"), QDir::homePath());
        if (!chosen.isEmpty()) m_folder->setText(chosen);
    });
}

QString ProjectDialog::folder() const {
    const QString path = m_folder->text().trimmed();
    return QDir::cleanPath(path.startsWith(QStringLiteral("~/")) ? QDir::home().filePath(path.mid(2))
                                                                 : QDir::home().absoluteFilePath(path));
}

}  // namespace faceter::desktop
