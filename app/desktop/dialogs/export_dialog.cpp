#include "dialogs/export_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFormLayout>
#include <QLineEdit>

#include "dialogs/path_edit.h"
#include "widgets/labels.h"
#include "widgets/save_file.h"
#include "workspace/workspace.h"

namespace faceter::desktop {

ExportDialog::ExportDialog(const Workspace& workspace, const RunRow& run, QWidget* parent)
    : CommandDialog(QStringLiteral("exportDialog"), tr("Export the model"),
                    tr("Writes the run's model as a folder that other programs load, opens it again and compares what it embeds with the "
                       "run. What a form cannot hold is refused with the reason."),
                    tr("Export"), parent),
      m_project(QString::fromStdString(workspace.session()->folder().string())),
      m_run(qs(run.info.id)),
      m_name(qs(run.info.shown_name())),
      m_target(new QComboBox),
      m_int8(new QCheckBox(tr("its weights in int8, too"))),
      m_force(new QCheckBox(tr("also into a folder that is not empty"))),
      m_task(new QLineEdit),
      m_folder(new PathEdit(QStringLiteral("exportFolder"), tr("Folder of the exported model"), PathEdit::Kind::newFolder)) {
    m_target->setObjectName(QStringLiteral("exportTarget"));
    m_target->setAccessibleName(tr("What the model is exported for"));
    m_target->addItem(tr("sentence-transformers"), QStringLiteral("sentence-transformers"));
    m_target->addItem(tr("ONNX"), QStringLiteral("onnx"));
    m_target->addItem(tr("PEFT (its adapters)"), QStringLiteral("peft"));
    m_target->addItem(tr("Faceter (all tasks in one folder)"), QStringLiteral("faceter"));
    m_int8->setObjectName(QStringLiteral("exportInt8"));
    m_task->setObjectName(QStringLiteral("exportTask"));
    m_task->setAccessibleName(tr("Task that is exported"));
    m_task->setPlaceholderText(tr("all; or one, such as retrieval.document"));
    m_folder->setPath(QDir(m_project).filePath(QStringLiteral("exported/") + fileNameFrom(m_name)));
    form()->addRow(tr("Run"), plainLabel(m_name));
    form()->addRow(tr("For"), m_target);
    form()->addRow(QString(), m_int8);
    form()->addRow(tr("Task"), m_task);
    form()->addRow(tr("Folder"), m_folder);
    form()->addRow(QString(), m_force);
    connect(m_target, &QComboBox::currentIndexChanged, this, &ExportDialog::review);
    connect(m_task, &QLineEdit::textChanged, this, &ExportDialog::review);
    connect(m_folder, &PathEdit::pathChanged, this, &ExportDialog::review);
    connect(m_force, &QCheckBox::toggled, this, &ExportDialog::review);
    review();
}

QString ExportDialog::missing() const {
    m_int8->setEnabled(m_target->currentData() == QStringLiteral("onnx"));
    if (m_target->currentData() == QStringLiteral("peft") && !m_task->text().trimmed().isEmpty())
        return tr("PEFT writes the adapters of all tasks; leave the task out.");
    if (m_folder->path().isEmpty()) return tr("The model needs a folder to be written to.");
    const QDir folder(m_folder->path());
    if (folder.exists() && !folder.isEmpty() && !m_force->isChecked()) return tr("%1 is not empty.").arg(folder.path());
    return {};
}

JobRequest ExportDialog::request() const {
    QStringList words{QStringLiteral("export"),          m_run,     m_folder->path(),
                      QStringLiteral("--project"),       m_project, QStringLiteral("--to"),
                      m_target->currentData().toString()};
    if (m_int8->isEnabled() && m_int8->isChecked()) words << QStringLiteral("--int8");
    if (const QString task = m_task->text().trimmed(); !task.isEmpty()) words << QStringLiteral("--task=") + task;
    if (m_force->isChecked()) words << QStringLiteral("--force");
    return {tr("Export of %1").arg(m_name), words, m_folder->path()};
}

}  // namespace faceter::desktop
