#include "window/window_tools.h"

#include <QAction>
#include <QDir>
#include <QDirIterator>
#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>
#include <QMenu>
#include <QRegularExpression>

#include "dialogs/evaluate_dialog.h"
#include "dialogs/export_dialog.h"
#include "dialogs/new_from_data.h"
#include "dialogs/report_dialog.h"
#include "help/help_window.h"
#include "pages/page.h"
#include "project/has_model.h"
#include "window/start_page.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int most_looked_at = 2000;

/// tickets.csv, tickets.jsonl.gz ...
bool isTable(const QString& path) {
    static const QRegularExpression table(QStringLiteral("\\.(csv|tsv|jsonl|ndjson|parquet)(\\.gz|\\.zst)?$"),
                                          QRegularExpression::CaseInsensitiveOption);
    return table.match(path).hasMatch();
}

/// One file that is named may be a table as JSON; among the files of a folder such ones are mostly settings.
bool isTableOrJson(const QString& path) {
    static const QRegularExpression json(QStringLiteral("\\.json(\\.gz|\\.zst)?$"), QRegularExpression::CaseInsensitiveOption);
    return isTable(path) || json.match(path).hasMatch();
}

/// The mteb package writes <model>/<revision>/model_meta.json beside the result files. Looks no deeper, and not for ever.
bool holdsMtebResults(const QString& folder) {
    QStringList folders{folder};
    constexpr int deepest = 2;
    for (int depth = 0; depth <= deepest; ++depth) {
        QStringList below;
        for (const QString& one : std::as_const(folders)) {
            if (QFileInfo::exists(one + QStringLiteral("/model_meta.json"))) return true;
            QDirIterator inside(one, QDir::Dirs | QDir::NoDotAndDotDot);
            while (depth < deepest && below.size() < most_looked_at && inside.hasNext()) below << inside.next();
        }
        folders = below;
    }
    return false;
}

/// A table of texts directly in it, or the labels of a BEIR folder.
bool holdsData(const QString& folder) {
    QDirIterator files(folder, QDir::Files);
    for (int i = 0; i < most_looked_at && files.hasNext(); ++i)
        if (const QString name = files.next(); isTable(name) || name.endsWith(QStringLiteral("/dataset.json"))) return true;
    return false;
}

}  // namespace

WindowTools::WindowTools(Workspace& workspace, QMainWindow* window, std::function<Page*()> front)
    : QObject(window), m_workspace(workspace), m_window(window), m_front(std::move(front)) {
    connect(&m_jobs, &JobList::ended, this, &WindowTools::takeEnd);
    connect(&workspace, &Workspace::projectChanged, this, &WindowTools::refresh);
    connect(&workspace, &Workspace::currentRunChanged, this, &WindowTools::refresh);
    connect(&workspace, &Workspace::runsChanged, this, &WindowTools::refresh);
}

WindowTools::~WindowTools() = default;

void WindowTools::addToFile(QMenu* menu) {
    menu->addAction(tr("New experiment from data…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_N), this, [this] { newFromData({}); })
        ->setObjectName(QStringLiteral("newFromData"));
    QAction* import = menu->addAction(tr("Import results of mteb…"), this, &WindowTools::chooseMteb);
    import->setObjectName(QStringLiteral("importMteb"));
    m_ofProject << import;
    refresh();
}

void WindowTools::addToRun(QMenu* menu) {
    const auto add = [&](const QString& name, const QString& text, QKeySequence key, void (WindowTools::*act)(), QList<QAction*>& kind) {
        QAction* action = menu->addAction(text, key, this, act);
        action->setObjectName(name);
        kind << action;
    };
    add(QStringLiteral("report"), tr("Write a report…"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_R), &WindowTools::report, m_ofProject);
    add(QStringLiteral("export"), tr("Export the model…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E), &WindowTools::exportModel,
        m_ofModel);
    add(QStringLiteral("evaluate"), tr("Evaluate on data…"), QKeySequence(), &WindowTools::evaluate, m_ofModel);
    refresh();
}

void WindowTools::addToHelp(QMenu* menu) {
    menu->addAction(tr("Manual"), QKeySequence(Qt::Key_F1), this, [this] { help().showContents(); })
        ->setObjectName(QStringLiteral("manual"));
    menu->addAction(tr("About this page"), QKeySequence(Qt::SHIFT | Qt::Key_F1), this, &WindowTools::helpOnPage)
        ->setObjectName(QStringLiteral("pageHelp"));
    menu->addAction(tr("Search the manual"), this, [this] { help().search(); })->setObjectName(QStringLiteral("searchManual"));
}

void WindowTools::serve(StartPage* start) {
    connect(start, &StartPage::dataChosen, this, [this] { newFromData({}); });
    connect(start, &StartPage::setUpChosen, this, [this, start](const QStringList& words) {
        const ProgramJob* job = m_jobs.start({tr("Set-up"), words});
        connect(job, &ProgramJob::ended, start, [this, start, job] {
            start->examine();
            if (job->state() == ProgramJob::State::done)
                m_workspace.complain(
                    tr("The set-up is done. Close Faceter and open it again: the programs that it starts find libtorch then."));
        });
    });
}

void WindowTools::refresh() {
    const RunsSnapshotPtr hold = m_workspace.runs();
    const RunRow* run = m_workspace.current();
    for (QAction* action : std::as_const(m_ofProject)) action->setEnabled(m_workspace.session());
    for (QAction* action : std::as_const(m_ofModel)) action->setEnabled(run && hasModel(*run));
}

QString WindowTools::projectPath() const { return QString::fromStdString(m_workspace.session()->folder().string()); }

QStringList WindowTools::selectedRuns() const {
    const Page* page = m_front();
    const QStringList selected = page ? page->selectedRuns() : QStringList();
    return !selected.isEmpty() || m_workspace.currentRun().isEmpty() ? selected : QStringList{m_workspace.currentRun()};
}

void WindowTools::open(CommandDialog* dialog) {
    connect(dialog, &CommandDialog::asked, this, [this, dialog](const JobRequest& request) {
        ProgramJob* job = m_jobs.start(request);
        if (qobject_cast<EvaluateDialog*>(dialog)) m_scored[job] = request.title;
    });
    dialog->open();
}

void WindowTools::report() {
    if (m_workspace.session()) open(new ReportDialog(m_workspace, selectedRuns(), m_window));
}

void WindowTools::exportModel() {
    const RunsSnapshotPtr hold = m_workspace.runs();
    if (const RunRow* run = m_workspace.current()) open(new ExportDialog(m_workspace, *run, m_window));
}

void WindowTools::evaluate() {
    const RunsSnapshotPtr hold = m_workspace.runs();
    if (const RunRow* run = m_workspace.current()) open(new EvaluateDialog(m_workspace, *run, {}, m_window));
}

void WindowTools::newFromData(const QString& source) {
    auto* dialog = new NewFromDataDialog(source, m_window);
    connect(dialog, &NewFromDataDialog::written, this, [this](const QString& file) { m_workspace.requestCompose(file); });
    connect(dialog, &NewFromDataDialog::looked, this, [this](const DataSource& data) { DataSources::of(m_workspace).show(data); });
    // Who looks at data sets wants to see these; who looks at something else is asked.
    if (!source.isEmpty() && m_front() && m_front()->property("looksAtTables").toBool())
        dialog->lookAtOnce();
    else
        dialog->open();
}

void WindowTools::chooseMteb() {
    auto* dialog = new QFileDialog(m_window, tr("Folder with results of the mteb package"));
    dialog->setObjectName(QStringLiteral("mtebDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, &WindowTools::importMteb);
    dialog->open();
}

void WindowTools::addRuns(const QString& title, QStringList command, const QString& without) {
    if (!m_workspace.session()) return m_workspace.complain(without);
    command << QStringLiteral("--project") << projectPath();
    ProgramJob* job = m_jobs.start({title, command});
    m_imports[job] = projectPath();
}

void WindowTools::importMteb(const QString& folder) {
    addRuns(tr("Import of %1").arg(QDir(folder).dirName()), {QStringLiteral("import"), QStringLiteral("mteb"), folder},
            tr("%1 holds results of mteb; open the project that they shall go into first.").arg(folder));
}

void WindowTools::openBundle(const QString& file) {
    addRuns(tr("Runs of %1").arg(QFileInfo(file).fileName()), {QStringLiteral("open"), file},
            tr("%1 is a bundle of runs; open the project that they shall go into first.").arg(file));
}

bool WindowTools::openData(const QString& path) {
    const QFileInfo info(path);
    if (info.isFile() && isTableOrJson(path)) return newFromData(path), true;
    if (info.isFile() && path.endsWith(QStringLiteral(".tar.gz"), Qt::CaseInsensitive)) return openBundle(path), true;
    if (!info.isDir()) return false;
    if (holdsMtebResults(path)) return importMteb(path), true;
    if (holdsData(path)) return newFromData(path), true;
    return false;
}

void WindowTools::takeEnd(ProgramJob* job) {
    const QString caption = m_scored.take(job), project = m_imports.take(job), &title = job->request().title;
    if (!caption.isEmpty()) showScores(*job, caption);
    if (job->state() == ProgramJob::State::failed) return m_workspace.complain(tr("%1 failed: %2").arg(title, job->status()));
    if (job->state() == ProgramJob::State::cancelled) return m_workspace.say(tr("%1 was cancelled").arg(title));
    m_workspace.say(tr("%1 is done").arg(title));
    if (!job->warnings().isEmpty()) m_workspace.complain(tr("%1 is done; %2").arg(title, job->warnings().join(QLatin1Char('\n'))));
    if (!project.isEmpty() && m_workspace.session() && projectPath() == project) m_workspace.session()->refresh();
}

/// An evaluation that failed or was cancelled has printed what it had scored by then.
void WindowTools::showScores(const ProgramJob& job, const QString& caption) {
    const bool isDone = job.state() == ProgramJob::State::done;
    try {
        const Table scores = scoresOf(job.output(), caption);
        if (isDone || !scores.rows.empty()) makeScoresWindow(scores, m_window)->show();
    } catch (const std::exception& error) {
        if (isDone) m_workspace.complain(QString::fromUtf8(error.what()));
    }
}

HelpWindow& WindowTools::help() {
    if (!m_help) m_help = new HelpWindow(m_window);
    return *m_help;
}

void WindowTools::helpOnPage() {
    const Page* front = m_front();
    for (const PageEntry& entry : pageEntries())
        if (front && front->objectName() == entry.id + QStringLiteral("Page")) return help().showAbout(entry.title);
    help().showContents();
}

}  // namespace faceter::desktop
