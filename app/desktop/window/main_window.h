#pragma once
#include <QHash>
#include <QMainWindow>

class QAction;
class QDir;
class QStackedWidget;
class QScrollArea;
class QSplitter;
class QTabBar;

namespace faceter::desktop {

class Activity;
class EmptyState;
class ErrorBar;
class Inspector;
class Navigator;
class Page;
class StartPage;
class WindowTools;
class Workspace;

/// Wiring only: the panels around the pages, menus, what is restored at the next start.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    explicit MainWindow(Workspace& workspace);
    ~MainWindow() override;

    /// Opens a project folder, a run folder of one, or an experiment file. False (with a complaint shown) where it is none of these.
    bool openPath(const QString& path);
    /// A project of before, once it has been found in the background.
    void openRemembered(const QString& folder);
    /// The same as openPath(); a folder that is empty or not there is made a project, as `faceter run --project` does. One with other
    /// things is refused.
    bool openOrMakeProject(const QString& path);
    /// What was last complained of; empty: nothing.
    QString complaint() const;
    void quickStart();
    /// By PageEntry::id, or "start"; false where there is no such page.
    bool goTo(const QString& page);
    Page* page(const QString& id) const { return m_pages.value(id); }
    QString currentPage() const;
    /// The page in front, or null on the start page.
    Page* frontPage() const;

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void buildPanels();
    void buildMenus();
    void buildFileMenu();
    void buildViewMenu();
    void buildRunMenu();
    void refreshRunMenu();
    void closeWhenDone();
    QList<int> failedActions() const;
    int inspectorRoom() const;
    int pageWidth() const;
    bool isNarrow() const;
    void forgetRemembered();
    void foldInspector();
    void foldActivity(bool folded);
    void showStart();
    void showProject();
    void showStoreProblem(const QString& message);
    void tabChosen(int index);
    Page* makePage(int index);
    void chooseProject();
    bool openRun(const QDir& folder);
    void saveLayout() const;
    void restoreLayout();
    void showShortcuts();

    Workspace& m_workspace;
    WindowTools* m_tools;
    Navigator* m_navigator;
    Inspector* m_inspector;
    Activity* m_activity;
    QSplitter* m_horizontal;
    QSplitter* m_vertical;
    ErrorBar* m_complaint;
    QTabBar* m_tabs;
    QStackedWidget* m_stack;
    StartPage* m_start;
    QList<QAction*> m_panels;       ///< that show and hide one each
    QScrollArea* m_room = nullptr;  ///< round the page in front
    QAction* m_navigatorWanted = nullptr;
    QAction* m_inspectorWanted = nullptr;
    int m_activityHeight = 120;  ///< before it was folded
    QString m_remembered;        ///< the project of before that is looked for
    QString m_lastPage;          ///< of the project before: another one is looked at on the same page
    QAction* m_stop = nullptr;
    QAction* m_resume = nullptr;
    QAction* m_rerun = nullptr;
    bool m_closing = false;     ///< when what is under way is done
    QStringList m_warned;       ///< jobs of which it was said that closing ends them
    QList<int> m_failedBefore;  ///< RunActions::Failed, when closing began
    QString m_lostNote;         ///< that could not be written when the window was to close
    QWidget* m_problemPage = nullptr;
    QString m_problem;
    QHash<QString, Page*> m_pages;
};

}  // namespace faceter::desktop
