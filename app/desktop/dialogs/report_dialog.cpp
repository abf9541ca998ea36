#include "dialogs/report_dialog.h"

#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QFormLayout>
#include <QLineEdit>

#include "dialogs/path_edit.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

const QStringList endings{QStringLiteral("html"), QStringLiteral("pdf"), QStringLiteral("tex"),
                          QStringLiteral("md"),   QStringLiteral("csv"), QStringLiteral("json")};

}  // namespace

ReportDialog::ReportDialog(const Workspace& workspace, const QStringList& selected, QWidget* parent)
    : CommandDialog(QStringLiteral("reportDialog"), tr("Write a report"),
                    tr("Tables with their tests, figures, settings and data of runs. The file's ending says what it becomes: .html, .pdf, "
                       ".tex (booktabs), .md, .csv (the scores alone) or .json."),
                    tr("Write"), parent),
      m_project(QString::fromStdString(workspace.session()->folder().string())),
      m_runs(new QComboBox),
      m_baseline(new QComboBox),
      m_title(new QLineEdit),
      m_file(new PathEdit(QStringLiteral("reportFile"), tr("File of the report"), PathEdit::Kind::newFile)) {
    addRuns(workspace, selected);
    addBaselines(workspace);
    m_title->setObjectName(QStringLiteral("reportTitle"));
    m_title->setAccessibleName(tr("Heading of the report"));
    m_title->setPlaceholderText(tr("Report on %1").arg(QDir(m_project).dirName()));
    m_file->setPath(QDir(m_project).filePath(QStringLiteral("report.html")));
    form()->addRow(tr("Runs"), m_runs);
    form()->addRow(tr("Tested against"), m_baseline);
    form()->addRow(tr("Heading"), m_title);
    form()->addRow(tr("File"), m_file);
    connect(m_file, &PathEdit::pathChanged, this, &ReportDialog::review);
    review();
}

void ReportDialog::addRuns(const Workspace& workspace, const QStringList& selected) {
    m_runs->setObjectName(QStringLiteral("reportRuns"));
    m_runs->setAccessibleName(tr("Runs that the report is about"));
    if (!selected.isEmpty())
        m_runs->addItem(selected.size() == 1 ? tr("the selected run") : tr("the %1 selected runs").arg(selected.size()), selected);
    QStringList shown;
    const RunsSnapshotPtr hold = workspace.runs();
    for (const RunGroupRef& group : workspace.shownGroups())
        for (const RunRow* run : group.runs) shown << qs(run->info.id);
    if (!shown.isEmpty())
        m_runs->addItem(
            shown.size() == 1 ? tr("the run ticked in the navigator") : tr("the %1 runs ticked in the navigator").arg(shown.size()), shown);
    m_runs->addItem(tr("all runs of the project"), QStringList());
}

void ReportDialog::addBaselines(const Workspace& workspace) {
    m_baseline->setObjectName(QStringLiteral("reportBaseline"));
    m_baseline->setAccessibleName(tr("What the runs are tested against"));
    m_baseline->addItem(tr("the untrained start model"));
    const RunsSnapshotPtr hold = workspace.runs();
    for (const RunGroupRef& group : workspace.groups()) {
        if (group.runs.empty() || group.runs.front()->info.is_baseline()) continue;
        m_baseline->addItem(group.label, qs(group.runs.front()->info.id));
        if (group.key == workspace.baseline()) m_baseline->setCurrentIndex(m_baseline->count() - 1);
    }
}

QString ReportDialog::missing() const {
    if (m_file->path().isEmpty()) return tr("The report needs a file to be written to.");
    const QString ending = QFileInfo(m_file->path()).suffix().toLower();
    return endings.contains(ending) ? QString() : tr("A name that ends in .%1 is expected.").arg(endings.join(QStringLiteral(", .")));
}

JobRequest ReportDialog::request() const {
    const QStringList runs = m_runs->currentData().toStringList();
    const QString file = m_file->path(), baseline = m_baseline->currentData().toString();
    QStringList words{QStringLiteral("report")};
    words << runs << QStringLiteral("--project") << m_project;
    if (!baseline.isEmpty()) words << QStringLiteral("--baseline") << baseline;
    if (!m_title->text().trimmed().isEmpty()) words << QStringLiteral("--title=") + m_title->text().trimmed();
    words << (file.endsWith(QStringLiteral(".pdf"), Qt::CaseInsensitive) ? QStringLiteral("--pdf") : QStringLiteral("--output")) << file;
    const QString title = runs.isEmpty()     ? tr("Report on all runs")
                          : runs.size() == 1 ? tr("Report on a run")
                                             : tr("Report on %1 runs").arg(runs.size());
    return {title, words, file};
}

}  // namespace faceter::desktop
