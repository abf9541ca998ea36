#pragma once
#include <QSet>
#include <QWidget>

#include "project/answer.h"

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace faceter::desktop {

class Workspace;
struct RunGroupRef;

/// Left: projects, the experiments of the open one, and the groups of runs of the chosen experiment, each with its colour, its runs and a
/// tick that shows or hides it on Curves, Compare, Facets and Results. The search is among all of them, by name, run id and tag.
class Navigator : public QWidget {
    Q_OBJECT
  public:
    explicit Navigator(Workspace& workspace, QWidget* parent = nullptr);

  Q_SIGNALS:
    void projectChosen(const QString& folder);

  private:
    void lookForProjects();
    void rebuild();
    void restore(int kind, const QString& key);
    void fillProjects();
    void fillExperiments();
    void fillRuns();
    void addGroup(QTreeWidgetItem* section, const RunGroupRef& group, const QString& wanted);
    void addRuns(QTreeWidgetItem* item, const RunGroupRef& group, const QString& wanted);
    void open(QTreeWidgetItem* item, bool isOpen);
    void activated(QTreeWidgetItem* item);
    void ticked(QTreeWidgetItem* item);
    void applySearch();

    Workspace& m_workspace;
    QLineEdit* m_search;
    QTreeWidget* m_tree;
    QStringList m_recent;       // projects that are there
    QStringList m_experiments;  // that stand in the tree
    QSet<QString> m_opened;     // groups whose runs are shown
    bool m_filling = false;
};

/// Folders of projects opened before, the last one first (QSettings). Whether they are still there nobody has looked: a folder may be on a
/// mount that hangs.
QStringList recentProjects();
/// Those of `folders` that are there, looked at beside the interface.
Answer<QStringList> existingFolders(const QStringList& folders);
void rememberProject(const QString& folder);

}  // namespace faceter::desktop
