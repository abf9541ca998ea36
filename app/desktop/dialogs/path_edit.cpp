#include "dialogs/path_edit.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>

namespace faceter::desktop {

PathEdit::PathEdit(const QString& name, const QString& accessibleName, Kind kind, QWidget* parent)
    : QWidget(parent), m_edit(new QLineEdit) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    m_edit->setObjectName(name);
    m_edit->setAccessibleName(accessibleName);
    m_edit->setMinimumWidth(320);
    row->addWidget(m_edit, 1);
    const bool either = kind == Kind::fileOrFolder;  // one dialog of the system takes the one or the other
    addButton(either ? tr("File…") : tr("Browse…"), either ? Kind::file : kind);
    if (either) addButton(tr("Folder…"), Kind::folder);
    setFocusProxy(m_edit);
    connect(m_edit, &QLineEdit::textChanged, this, &PathEdit::pathChanged);
}

void PathEdit::addButton(const QString& text, Kind kind) {
    auto* button = new QPushButton(text);
    button->setAutoDefault(false);
    button->setAccessibleName(tr("%1: %2").arg(m_edit->accessibleName(), text));  // a dialog may have several
    layout()->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, kind] { browse(kind); });
}

QString PathEdit::path() const {
    const QString typed = m_edit->text().trimmed();
    if (typed.isEmpty()) return {};
    return QDir::cleanPath(typed.startsWith(QStringLiteral("~/")) ? QDir::home().filePath(typed.mid(2))
                                                                  : QFileInfo(typed).absoluteFilePath());
}

void PathEdit::setPath(const QString& path) { m_edit->setText(QDir::toNativeSeparators(path)); }

void PathEdit::browse(Kind kind) {
    auto* dialog = new QFileDialog(this, m_edit->accessibleName(), QFileInfo(path()).path(), m_filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(m_edit->objectName() + QStringLiteral("Dialog"));
    const bool folder = kind == Kind::folder || kind == Kind::newFolder;
    dialog->setFileMode(folder ? QFileDialog::Directory : kind == Kind::file ? QFileDialog::ExistingFile : QFileDialog::AnyFile);
    if (kind == Kind::newFile) {
        dialog->setAcceptMode(QFileDialog::AcceptSave);
        dialog->selectFile(QFileInfo(path()).fileName());
    }
    connect(dialog, &QFileDialog::fileSelected, this, &PathEdit::setPath);
    dialog->open();
}

}  // namespace faceter::desktop
