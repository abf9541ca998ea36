#pragma once
#include <QJsonObject>
#include <QWidget>
#include <functional>
#include <vector>

#include "workspace/workspace.h"

namespace faceter::desktop {

/// One task of the workbench: a folder under pages/ with a class of this kind that registers itself (PageRegistration). It is made when it
/// is first shown. It reads through workspace().session() and never blocks.
class Page : public QWidget {
    Q_OBJECT
  public:
    explicit Page(Workspace& workspace, QWidget* parent = nullptr) : QWidget(parent), m_workspace(workspace) {}

    Workspace& workspace() const { return m_workspace; }
    /// What the next start should find again: filters, chosen columns, scroll positions.
    virtual QJsonObject state() const { return {}; }
    virtual void restore(const QJsonObject&) {}
    /// Everything asked for has come and is drawn (screenshots and tests wait for it).
    virtual bool isReady() const { return true; }
    /// Before a picture is drawn: chooses what the page waits for a person to choose. Whether there was something.
    virtual bool pose() { return false; }
    /// The page's own part of the inspector (settings that differ, the test in words); may be null. Owned by the page.
    virtual QWidget* inspector() { return nullptr; }
    /// Called each time the page comes to the front.
    virtual void shown() {}
    /// What the window's menus and their keys work on; empty: the current run.
    virtual QStringList selectedRuns() const { return {}; }

  Q_SIGNALS:
    void selectedRunsChanged();

  private:
    Workspace& m_workspace;
};

struct PageEntry {
    QString id;  ///< "runs": for --screenshot, settings, object names
    QString title;
    int order = 0;  ///< place among the tabs; Ctrl+1..9 follow it
    bool needsProject = true;
    std::function<Page*(Workspace&)> make;
};

/// All pages by order.
std::vector<PageEntry> pageEntries();

/// `static const PageRegistration registration{{"runs", "Runs", 2, true, [](Workspace& w) { return new RunsPage(w); }}};`
struct PageRegistration {
    explicit PageRegistration(PageEntry entry);
};

}  // namespace faceter::desktop
