#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QStatusBar>

#include "experiment/machine.h"
#include "record/run_directory.h"
#include "widgets/labels.h"
#include "window/main_window.h"
#include "window/navigator.h"
#include "window/window_tools.h"
#include "workspace/workspace.h"

namespace faceter::desktop {

void MainWindow::chooseProject() {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a project folder"));
    if (!folder.isEmpty()) openPath(folder);
}

/// It may lie on a mount that hangs: who may wait looks first.
void MainWindow::openRemembered(const QString& folder) {
    m_remembered = folder;
    statusBar()->showMessage(tr("Looking for %1…").arg(folder));
    existingFolders({folder}).then(this, [this, folder](const QStringList& found) {
        if (m_remembered != folder) return;  // something else was wanted meanwhile
        forgetRemembered();
        if (!found.isEmpty()) return static_cast<void>(openPath(folder));
        m_complaint->setMessage(tr("%1: no such file or folder").arg(folder));
    });
}

void MainWindow::forgetRemembered() {
    if (m_remembered.isEmpty()) return;
    m_remembered.clear();
    statusBar()->clearMessage();
}

bool MainWindow::openPath(const QString& path) {
    forgetRemembered();
    const QFileInfo info(path);
    const QDir folder(info.absoluteFilePath());
    const QString ending = info.suffix().toLower();
    if (info.isFile() && (ending == QStringLiteral("yaml") || ending == QStringLiteral("yml"))) {
        goTo(QStringLiteral("compose"));
        m_workspace.requestCompose(info.absoluteFilePath());
        return true;
    }
    if (!info.isDir()) {
        if (m_tools->openData(info.absoluteFilePath())) return true;
        const QString said = info.exists() ? tr("%1: this file is none that can be opened: neither an experiment (*.yaml), nor a table of "
                                                "texts (*.csv, *.tsv, *.jsonl, *.ndjson, *.json, *.parquet), nor a bundle of runs "
                                                "(*.tar.gz).")
                                           : tr("%1: no such file or folder");
        m_complaint->setMessage(said.arg(path));
        return false;
    }
    if (folder.exists(QStringLiteral("run.json"))) return openRun(folder);
    if (!folder.exists(QStringLiteral("runs"))) {
        if (m_tools->openData(folder.absolutePath())) return true;
        m_complaint->setMessage(
            tr("%1: this folder is no project: it holds no folder 'runs'. faceter run FILE.yaml --project makes one, and so does Compose.")
                .arg(path));
        return false;
    }
    rememberProject(folder.absolutePath());
    m_workspace.openProject(folder.absolutePath().toStdString());
    return true;
}

/// PROJECT/runs/RUN.
bool MainWindow::openRun(const QDir& folder) {
    const QString above = QDir(QDir::cleanPath(folder.filePath(QStringLiteral("..")))).dirName();
    if (above == QStringLiteral("runs")) {
        if (!openPath(QDir::cleanPath(folder.filePath(QStringLiteral("../.."))))) return false;
        m_workspace.reveal(folder.dirName());
        return true;
    }
    const bool trashed = above == QStringLiteral("trash") || above == QStringLiteral(".trash");
    m_complaint->setMessage((trashed ? tr("%1: this run was deleted and lies in its project's trash. faceter restore brings it back.")
                                     : tr("%1: this run is in no project: its folder is not within one's 'runs'. Copy it there, and open "
                                          "the project."))
                                .arg(folder.absolutePath()));
    return false;
}

bool MainWindow::openOrMakeProject(const QString& path) {
    const QFileInfo info(path);
    const QDir folder(info.absoluteFilePath());
    const bool isEmpty = info.isDir() && folder.isEmpty(QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot);
    const bool isOther = info.isDir() && !isEmpty && !folder.exists(QStringLiteral("runs")) && !folder.exists(QStringLiteral("run.json"));
    if (isOther) {
        m_complaint->setMessage(tr("%1: this folder is no project, and holds other things: no folder 'runs' is among them. Name a folder "
                                   "that is empty or not there yet: it is made one.")
                                    .arg(path));
        return false;
    }
    try {
        if (isEmpty || !info.exists()) const Project made(path.toStdString(), true);
    } catch (const std::exception& error) {
        m_complaint->setMessage(QString::fromUtf8(error.what()));
        return false;
    }
    return openPath(path);
}

QString MainWindow::complaint() const { return m_complaint->message(); }

void MainWindow::quickStart() {
    forgetRemembered();
    try {
        goTo(QStringLiteral("compose"));
        m_workspace.requestCompose(QString::fromStdString(shared_resource("experiments/quickstart.yaml").string()));
    } catch (const std::exception& error) {
        m_complaint->setMessage(QString::fromUtf8(error.what()));
    }
}

}  // namespace faceter::desktop
