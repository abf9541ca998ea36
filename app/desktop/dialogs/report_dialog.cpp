#include "dialogs/report_dialog.h"

#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QFormLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>

#include "dialogs/path_edit.h"
#include "widgets/save_file.h"
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
    learnBaselines(workspace);
    fillBaselines();
    m_title->setObjectName(QStringLiteral("reportTitle"));
    m_title->setAccessibleName(tr("Heading of the report"));
    m_title->setPlaceholderText(tr("Report on %1").arg(QDir(m_project).dirName()));
    // No report that is there is written over unasked.
    m_file->setPath(freeFile(QDir(m_project), QStringLiteral("report"), QStringLiteral("html")));
    form()->addRow(tr("Runs"), m_runs);
    form()->addRow(tr("Tested against"), m_baseline);
    form()->addRow(tr("Heading"), m_title);
    form()->addRow(tr("File"), m_file);
    connect(m_file, &PathEdit::pathChanged, this, &ReportDialog::review);
    connect(m_runs, &QComboBox::currentIndexChanged, this, &ReportDialog::fillBaselines);
    connect(m_baseline, &QComboBox::currentIndexChanged, this, [this] { m_wanted = m_baseline->currentData(Qt::UserRole + 1).toString(); });
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

void ReportDialog::learnBaselines(const Workspace& workspace) {
    m_baseline->setObjectName(QStringLiteral("reportBaseline"));
    m_baseline->setAccessibleName(tr("What the runs are tested against"));
    m_wanted = workspace.baseline();
    const RunsSnapshotPtr hold = workspace.runs();
    for (const RunGroupRef& group : workspace.groups()) {
        if (group.runs.empty() || group.runs.front()->info.is_baseline()) continue;
        Baseline one{group.key, group.label, {}};
        for (const RunRow* run : group.runs)
            if (run->num_scores > 0) one.scored << qs(run->info.id);
        m_baselines.push_back(std::move(one));
    }
}

/// Of groups that have a score among the chosen runs, by a run that has it: no other can be tested against.
void ReportDialog::fillBaselines() {
    const QStringList runs = m_runs->currentData().toStringList();
    const QSignalBlocker quiet(m_baseline);
    m_baseline->clear();
    m_baseline->addItem(tr("the untrained start model"));
    for (const Baseline& one : m_baselines) {
        const auto run =
            std::find_if(one.scored.begin(), one.scored.end(), [&](const QString& id) { return runs.isEmpty() || runs.contains(id); });
        if (run == one.scored.end()) continue;
        m_baseline->addItem(one.label, *run);
        m_baseline->setItemData(m_baseline->count() - 1, one.key, Qt::UserRole + 1);
        if (one.key == m_wanted) m_baseline->setCurrentIndex(m_baseline->count() - 1);
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
