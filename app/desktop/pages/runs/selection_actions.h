#pragma once
#include <QAction>
#include <QObject>
#include <QStringList>
#include <functional>

#include "store/store.h"

class QMenu;
class QWidget;

namespace faceter::desktop {

class Workspace;

/// What can be done to the selected runs: one list of actions for the context menu, the keys and the bar under the table.
class SelectionActions : public QObject {
    Q_OBJECT
  public:
    /// `table` gets the keys; `selected` tells the runs.
    SelectionActions(Workspace& workspace, QWidget* table, std::function<QStringList()> selected);
    /// Call when the selection or the runs changed: what is possible with these.
    void refresh();
    void fill(QMenu& menu);
    QAction* action(const QString& name) const { return m_actions.value(name); }

  private:
    QAction* add(const QString& name, const QString& text, const QString& icon, QKeySequence key,
                 std::function<void(const QStringList&)> act);
    void addAll();
    void addMarks();
    void fillTags(QMenu& menu);
    void goTo(const QString& page, const QStringList& runs);
    void askTag(const QStringList& runs);
    void askNote(const QStringList& runs);
    /// Those of the runs that are still there.
    std::vector<const RunRow*> rowsOf(const QStringList& runs) const;

    Workspace& m_workspace;
    QWidget* m_table;
    std::function<QStringList()> m_selected;
    QHash<QString, QAction*> m_actions;
    QStringList m_order;
};

}  // namespace faceter::desktop
