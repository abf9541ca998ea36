#include "dialogs/path_edit.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>

namespace faceter::desktop {

PathEdit::PathEdit(const QString& name, const QString& accessibleName, Kind kind, QWidget* parent)
    : QWidget(parent), m_kind(kind), m_edit(new QLineEdit) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    m_edit->setObjectName(name);
    m_edit->setAccessibleName(accessibleName);
    m_edit->setMinimumWidth(320);
    row->addWidget(m_edit, 1);
    auto* button = new QPushButton(tr("Browse…"));
    button->setAutoDefault(false);
    row->addWidget(button);
    setFocusProxy(m_edit);
    connect(m_edit, &QLineEdit::textChanged, this, &PathEdit::pathChanged);
    connect(button, &QPushButton::clicked, this, &PathEdit::browse);
}

QString PathEdit::path() const {
    const QString typed = m_edit->text().trimmed();
    if (typed.isEmpty()) return {};
    return QDir::cleanPath(typed.startsWith(QStringLiteral("~/")) ? QDir::home().filePath(typed.mid(2))
                                                                  : QFileInfo(typed).absoluteFilePath());
}

void PathEdit::setPath(const QString& path) { m_edit->setText(QDir::toNativeSeparators(path)); }

void PathEdit::browse() {
    auto* dialog = new QFileDialog(this, m_edit->accessibleName(), QFileInfo(path()).path(), m_filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(m_edit->objectName() + QStringLiteral("Dialog"));
    const bool folder = m_kind == Kind::folder || m_kind == Kind::newFolder;
    dialog->setFileMode(folder ? QFileDialog::Directory : m_kind == Kind::file ? QFileDialog::ExistingFile : QFileDialog::AnyFile);
    if (m_kind == Kind::newFile) dialog->setAcceptMode(QFileDialog::AcceptSave);
    connect(dialog, &QFileDialog::fileSelected, this, &PathEdit::setPath);
    dialog->open();
}

}  // namespace faceter::desktop
