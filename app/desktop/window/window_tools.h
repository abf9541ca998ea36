#pragma once
#include <QHash>
#include <QObject>
#include <QPointer>
#include <QStringList>
#include <functional>

#include "jobs/job_list.h"

class QAction;
class QMainWindow;
class QMenu;

namespace faceter {
struct RunRow;
}

namespace faceter::desktop {

class CommandDialog;
class HelpWindow;
class Page;
class StartPage;
class Workspace;

/// The window's commands that take long or need a form: report, export, evaluate, import, a new experiment from data; and the manual. What
/// they start are jobs.
class WindowTools : public QObject {
    Q_OBJECT
  public:
    /// `front` tells the page in front, or null.
    WindowTools(Workspace& workspace, QMainWindow* window, std::function<Page*()> front);
    ~WindowTools() override;

    JobList& jobs() { return m_jobs; }
    /// Of the page in front, else the run that the inspector shows.
    QStringList selectedRuns() const;
    void addToFile(QMenu* menu);
    void addToRun(QMenu* menu);
    void addToHelp(QMenu* menu);
    /// What its buttons ask for: the form of a new experiment, `faceter setup`.
    void serve(StartPage* start);

    /// Opens what is neither a project, a run nor an experiment: a table or a data folder for a new experiment, a folder with results of
    /// mteb, a bundle of runs. False where it is none of these.
    bool openData(const QString& path);

    /// The form of a new experiment; `source` is empty, a table or a data folder.
    void newFromData(const QString& source);

  private:
    void importMteb(const QString& folder);
    void openBundle(const QString& file);
    /// A command of `faceter` that adds runs to the open project; `without` says what to do where none is open.
    void addRuns(const QString& title, QStringList command, const QString& without);
    void chooseMteb();
    void report();
    void exportModel();
    void evaluate();
    void open(CommandDialog* dialog);
    void takeEnd(ProgramJob* job);
    void showScores(const ProgramJob& job, const QString& caption);
    void refresh();
    QString projectPath() const;
    HelpWindow& help();
    void helpOnPage();

    Workspace& m_workspace;
    QMainWindow* m_window;
    std::function<Page*()> m_front;
    JobList m_jobs;
    HelpWindow* m_help = nullptr;
    QList<QAction*> m_ofProject, m_ofModel;  ///< need an open project; need a run with a model
    QHash<ProgramJob*, QString> m_scored;    ///< evaluations under way: caption of their table
    QHash<ProgramJob*, QString> m_imports;   ///< the project that they go into
};

}  // namespace faceter::desktop
