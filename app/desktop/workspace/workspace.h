#pragma once
#include <QHash>
#include <QJsonObject>
#include <QObject>
#include <QSet>
#include <QStringList>
#include <memory>
#include <optional>

#include "project/project_session.h"

namespace faceter::desktop {

class RunActions;

/// The seeds of one configuration: what a row of Compare, a band of Curves and a colour stand for.
struct RunGroupRef {
    QString key;                      ///< RunInfo::group(): experiment/variant[/point]
    QString label;                    ///< variant, with the sweep point where there is one
    int colour = 0;                   ///< place in the palette, the same on every page; another beside other experiments' groups
    std::vector<const RunRow*> runs;  ///< of the snapshot that Workspace::groups() was taken from
};

/// What all pages look at together: the project, the experiment, the groups that are shown, the run that is selected and the baseline.
class Workspace : public QObject {
    Q_OBJECT
  public:
    explicit Workspace(QObject* parent = nullptr);
    ~Workspace() override;

    /// Null where no project is open.
    ProjectSession* session() const { return m_session.get(); }
    /// One that is open already stays as it is.
    void openProject(const std::filesystem::path& folder);
    /// Returns at once: what it was doing ends in the background.
    void closeProject();
    RunActions& actions() const { return *m_actions; }

    /// Never null.
    RunsSnapshotPtr runs() const;
    /// Experiments of the project, newest first.
    QStringList experiments() const;
    /// The experiment that the pages show; empty: the runs of all.
    QString experiment() const { return m_experiment; }
    void setExperiment(const QString& name);

    /// Groups of the experiment in the order of their first run, without what is archived (and without trial runs where there are others),
    /// but for groups of nothing else that showOnly() asked for. Each keeps its colour. The pointers live as long as `runs()`'s snapshot,
    /// so hold that as well.
    std::vector<RunGroupRef> groups() const;
    /// Those of groups() that are ticked in the navigator: what Curves, Compare, Facets and Results show.
    std::vector<RunGroupRef> shownGroups() const;
    bool isShown(const QString& group) const { return !m_hidden.contains(group); }
    void setShown(const QString& group, bool shown);
    /// Shows just these runs' groups.
    void showOnly(const QStringList& groups);
    int colourOf(const RunInfo& run) const;
    /// The chosen experiment and the ticks, for restoreChoice() of the same project later.
    QJsonObject choice() const;
    /// An experiment that has no runs any more is not chosen.
    void restoreChoice(const QJsonObject& choice);

    /// Run id of what the inspector shows; empty: none.
    QString currentRun() const { return m_currentRun; }
    void setCurrentRun(const QString& id);
    const RunRow* current() const;
    /// Makes it the current run, and once it is known shows its experiment, where another one is shown.
    void reveal(const QString& run);
    /// Group that the others are compared with; empty: the start model, else the first.
    QString baseline() const { return m_baseline; }
    void setBaseline(const QString& group);

    /// Asks the window to go to a page.
    void requestPage(const QString& page) { Q_EMIT pageRequested(page); }
    /// Asks the composer to open an experiment file; empty: a new one.
    void requestCompose(const QString& file) { Q_EMIT composeRequested(file); }
    /// A sentence in the status line, for a few seconds.
    void say(const QString& message) { Q_EMIT said(message); }
    /// Something failed that the user asked for: shown where it happened, else in a bar of the window, with "Copy details".
    void complain(const QString& message) { Q_EMIT complained(message); }

  Q_SIGNALS:
    void projectClosing();  ///< it is still open
    void projectChanged();  ///< twice where another is opened: between them there is none
    void runsChanged();     ///< a new snapshot
    void experimentChanged();
    void shownChanged();  ///< which groups, their order or their runs (also after experimentChanged and when runs come or go)
    void currentRunChanged();
    void baselineChanged();
    void storeProblem(const QString& message);
    void warned(const QStringList& warnings);   ///< ProjectSession::warned
    void settled(const QStringList& warnings);  ///< ProjectSession::settled
    void pageRequested(const QString& page);
    void composeRequested(const QString& file);
    void said(const QString& message);
    void complained(const QString& message);

  private:
    void takeRuns();
    void learnGroups();
    void learnShown();
    bool chooseExperiment();
    void showRevealed();
    bool isWanted(const RunRow& run) const { return m_experiment.isEmpty() || qs(run.info.experiment) == m_experiment; }

    std::unique_ptr<ProjectSession> m_session;
    std::unique_ptr<RunActions> m_actions;
    QString m_experiment, m_currentRun, m_baseline;
    bool m_experimentChosen = false;
    std::optional<QString> m_wantedExperiment;  // chosen before; no run of it has been seen yet
    QString m_revealed;                         // run, likewise
    QSet<QString> m_hidden, m_asked;            // groups; m_asked: those of showOnly()
    QHash<QString, int> m_colours;              // group -> place in the palette
    QHash<QString, int> m_nextColour;           // experiment -> first free place
    QHash<QString, int> m_coloursOfAll;         // shown group -> its place where the experiments stand together
    QStringList m_shownRuns;                    // ids, to see whether shownChanged is due
};

/// Where the palette starts again for each experiment.
QString groupKey(const RunInfo& run);

}  // namespace faceter::desktop
