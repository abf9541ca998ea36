#pragma once
#include <QWidget>

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace faceter::desktop {

class Workspace;

/// Left: projects, the experiments of the open one, and the groups of runs of the chosen experiment, each with its colour and a tick that
/// shows or hides it on Curves, Compare, Facets and Results.
class Navigator : public QWidget {
    Q_OBJECT
  public:
    explicit Navigator(Workspace& workspace, QWidget* parent = nullptr);

  Q_SIGNALS:
    void projectChosen(const QString& folder);

  private:
    void rebuild();
    void fillProjects();
    void fillExperiments();
    void fillRuns();
    void activated(QTreeWidgetItem* item);
    void ticked(QTreeWidgetItem* item);
    void applySearch();

    Workspace& m_workspace;
    QLineEdit* m_search;
    QTreeWidget* m_tree;
    bool m_filling = false;
};

/// Folders of projects opened before, the last one first (QSettings).
QStringList recentProjects();
void rememberProject(const QString& folder);

}  // namespace faceter::desktop
