#include "window/main_window.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QResizeEvent>
#include <QScreen>
#include <QScrollArea>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "actions/run_actions.h"
#include "experiment/machine.h"
#include "jobs/jobs_panel.h"
#include "pages/page.h"
#include "pages/state_place.h"
#include "theme/theme.h"
#include "widgets/as_written.h"
#include "widgets/labels.h"
#include "widgets/scroll.h"
#include "window/activity.h"
#include "window/diagnose_card.h"
#include "window/inspector.h"
#include "window/navigator.h"
#include "window/notifier.h"
#include "window/start_page.h"
#include "window/store_problem_page.h"
#include "window/window_tools.h"
#include "workspace/kept_choice.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr int navigator_width = 140, page_width = 420, inspector_width = 200;            // the least of each
constexpr QSize least_size(page_width + inspector_width + 2, 300), usual_frame(16, 48);  // what a window manager puts round a window

/// A screen at 200 % may be smaller than the usual size; off screen there is none.
QSize firstSize() {
    constexpr QSize usual(1280, 800);
    const QScreen* display = QGuiApplication::primaryScreen();
    if (!display || QGuiApplication::platformName() == QStringLiteral("offscreen")) return usual;
    return usual.boundedTo(display->availableSize() - usual_frame);
}

/// The page in front within the scroll area round it. What a page needs at least is no reason for a window that is higher than its
/// screen: it is scrolled instead. No layout: that would ask for what the highest of all pages needs.
class PageRoom : public QWidget {
  public:
    /// `changed`: where it may need more or less than before.
    PageRoom(QStackedWidget* pages, std::function<void()> changed) : m_pages(pages), m_changed(std::move(changed)) {
        pages->setParent(this);
        connect(pages, &QStackedWidget::currentChanged, this, [this] { updateGeometry(); });
    }
    QSize minimumSizeHint() const override {
        const QWidget* page = m_pages->currentWidget();
        return page ? page->minimumSizeHint().expandedTo(page->minimumSize()) : QSize();
    }

  protected:
    bool event(QEvent* event) override {
        if (event->type() == QEvent::LayoutRequest) {
            updateGeometry();
            m_changed();
        }
        return QWidget::event(event);
    }
    void resizeEvent(QResizeEvent*) override { m_pages->setGeometry(rect()); }

  private:
    QStackedWidget* m_pages;
    std::function<void()> m_changed;
};

}  // namespace

MainWindow::MainWindow(Workspace& workspace)
    : m_workspace(workspace),
      m_tools(new WindowTools(workspace, this, [this] { return frontPage(); })),
      m_navigator(new Navigator(workspace)),
      m_inspector(new Inspector(workspace)),
      m_activity(new Activity(workspace)),
      m_horizontal(new QSplitter(Qt::Horizontal)),
      m_vertical(new QSplitter(Qt::Vertical)),
      m_complaint(new ErrorBar),
      m_tabs(new QTabBar),
      m_stack(new QStackedWidget),
      m_start(new StartPage) {
    setWindowTitle(QStringLiteral("Faceter"));
    setAcceptDrops(true);
    qApp->installEventFilter(this);
    buildPanels();
    m_activity->setJobs(new JobsPanel(m_tools->jobs()));
    m_inspector->addRunPart(new DiagnoseCard(workspace, m_tools->jobs()));
    buildMenus();
    connect(m_navigator, &Navigator::projectChosen, this, &MainWindow::openRemembered);
    connect(m_start, &StartPage::projectChosen, this, &MainWindow::openRemembered);
    m_tools->serve(m_start);
    connect(m_start, &StartPage::openChosen, this, &MainWindow::chooseProject);
    connect(m_start, &StartPage::quickStartChosen, this, &MainWindow::quickStart);
    connect(&m_workspace, &Workspace::projectClosing, this, [this] { keepChoice(m_workspace); });
    connect(&m_workspace, &Workspace::projectChanged, this, [this] { restoreChoice(m_workspace); });
    connect(&m_workspace, &Workspace::projectChanged, this, &MainWindow::showProject);
    connect(&m_workspace, &Workspace::storeProblem, this, &MainWindow::showStoreProblem);
    connect(&m_workspace, &Workspace::pageRequested, this, &MainWindow::goTo);
    connect(&m_workspace, &Workspace::composeRequested, this, [this](const QString& file) {
        const bool made = page(QStringLiteral("compose")) != nullptr;
        goTo(QStringLiteral("compose"));
        if (!made && page(QStringLiteral("compose")))
            m_workspace.requestCompose(file);  // what is made while a signal is sent does not hear it
    });
    connect(&m_workspace, &Workspace::complained, m_complaint, &ErrorBar::setMessage);
    auto* notifier = new Notifier(m_workspace, this);
    connect(notifier, &Notifier::noticed, this,
            [this](const Notice& notice) { m_workspace.say(notice.title + QLatin1String(": ") + notice.text); });
    connect(notifier, &Notifier::failed, m_complaint, &ErrorBar::setMessage);
    connect(&m_workspace, &Workspace::said, this, [this](const QString& text) { statusBar()->showMessage(text, 6000); });
    connect(&m_workspace.actions(), &RunActions::launched, this, [this](const QStringList& runs) {
        m_workspace.reveal(runs.first());
        goTo(QStringLiteral("runs"));
    });
    connect(&m_workspace.actions(), &RunActions::pendingChanged, this, &MainWindow::closeWhenDone, Qt::QueuedConnection);
    connect(&m_workspace, &Workspace::currentRunChanged, this, &MainWindow::foldInspector);
    connect(&m_workspace, &Workspace::projectChanged, this, &MainWindow::foldInspector);
    connect(m_activity, &Activity::foldedChanged, this, &MainWindow::foldActivity);
    showProject();
    restoreLayout();
    foldInspector();
    foldActivity(m_activity->isFolded());
    m_tabs->setFocus();
}

MainWindow::~MainWindow() = default;

void MainWindow::buildPanels() {
    auto* centre = new QWidget;
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* all = new QWidget;
    auto* rows = new QVBoxLayout(all);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    m_tabs->setObjectName(QStringLiteral("pageTabs"));
    m_tabs->setExpanding(false);
    m_tabs->setDrawBase(true);
    m_tabs->setAccessibleName(tr("Pages"));
    for (const PageEntry& entry : pageEntries()) m_tabs->setTabData(m_tabs->addTab(entry.title), entry.id);
    layout->addWidget(m_complaint);
    m_room = scrolled(new PageRoom(m_stack, [this] { foldInspector(); }));
    m_room->setObjectName(QStringLiteral("pageRoom"));
    layout->addWidget(m_room, 1);
    m_stack->addWidget(m_start);
    m_horizontal->addWidget(m_navigator);
    m_horizontal->addWidget(centre);
    m_horizontal->addWidget(m_inspector);
    m_horizontal->setStretchFactor(1, 1);
    m_horizontal->setSizes({208, 824, 248});
    m_horizontal->setChildrenCollapsible(false);
    m_vertical->addWidget(m_horizontal);
    m_vertical->addWidget(m_activity);
    m_vertical->setStretchFactor(0, 1);
    m_vertical->setSizes({676, 96});
    m_vertical->setChildrenCollapsible(false);
    for (QSplitter* splitter : {m_horizontal, m_vertical}) splitter->setHandleWidth(1);
    m_navigator->setMinimumWidth(navigator_width);
    m_inspector->setMinimumWidth(inspector_width);
    centre->setMinimumWidth(page_width);
    all->setMinimumSize(least_size);
    rows->addWidget(m_tabs);  // over the whole width: beside the panels there is no room for all of them
    rows->addWidget(m_vertical, 1);
    setCentralWidget(all);
    statusBar()->setSizeGripEnabled(false);
    connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
        const bool byArrows = m_tabs->hasFocus() && QGuiApplication::mouseButtons() == Qt::NoButton;
        tabChosen(index);
        if (byArrows) m_tabs->setFocus(Qt::OtherFocusReason);  // they go on to the next one
    });
    connect(m_tabs, &QTabBar::tabBarClicked, this, [this](int index) {
        if (index == m_tabs->currentIndex()) tabChosen(index);
    });
}

void MainWindow::buildMenus() {
    buildFileMenu();
    buildViewMenu();
    buildRunMenu();
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    m_tools->addToHelp(help);
    help->addAction(tr("What this machine can do"), this, &MainWindow::showStart);
    help->addAction(tr("Keyboard shortcuts"), QKeySequence(Qt::CTRL | Qt::Key_F1), this, &MainWindow::showShortcuts);
    help->addAction(tr("About Faceter"), this, [this] {
        QMessageBox::about(this, tr("Faceter"),
                           tr("Faceter %1: a workbench for task-specialised text embeddings.").arg(QStringLiteral(FACETER_VERSION)));
    });
}

void MainWindow::buildFileMenu() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("New experiment"), QKeySequence::New, this, [this] { m_workspace.requestCompose({}); });
    m_tools->addToFile(file);
    file->addAction(tr("Open experiment…"), QKeySequence::Open, this, [this] {
        const QString name = QFileDialog::getOpenFileName(this, tr("Open an experiment"), {}, tr("Experiments (*.yaml *.yml)"));
        if (!name.isEmpty()) openPath(name);
    });
    file->addAction(tr("Open project…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), this, &MainWindow::chooseProject);
    file->addAction(tr("Quick start"), this, &MainWindow::quickStart);
    QMenu* recent = file->addMenu(tr("Open recent"));
    connect(recent, &QMenu::aboutToShow, this, [this, recent] {
        recent->clear();
        for (const QString& folder : recentProjects())
            recent->addAction(asWritten(folder), this, [this, folder] { openRemembered(folder); });
    });
    file->addAction(tr("Close project"), this, [this] {
        forgetRemembered();
        QSettings().remove(QStringLiteral("project"));  // the next start does not open it
        m_workspace.closeProject();
    });
    file->addSeparator();
    file->addAction(tr("Quit"), QKeySequence::Quit, this, &QWidget::close);
}

void MainWindow::buildViewMenu() {
    QMenu* view = menuBar()->addMenu(tr("&View"));
    int number = 1;
    for (const PageEntry& entry : pageEntries()) {
        const int modifiers = number <= 10 ? static_cast<int>(Qt::CTRL) : static_cast<int>(Qt::CTRL) | static_cast<int>(Qt::ALT);
        const QKeySequence key(modifiers | (Qt::Key_0 + number % 10));  // the tenth has 0, the eleventh begins with Alt
        view->addAction(entry.title, key, this, [this, id = entry.id] { goTo(id); });
        ++number;
    }
    view->addSeparator();
    const auto panel = [&](const QString& id, const QString& name, int key, auto show) {
        QAction* action = view->addAction(name, QKeySequence(key), this, show);
        action->setObjectName(id);
        action->setCheckable(true);
        action->setChecked(true);
        m_panels << action;
        return action;
    };
    m_navigatorWanted = panel(QStringLiteral("showNavigator"), tr("Navigator"), Qt::Key_F7, [this](bool on) {
        if (!on && isNarrow() && m_inspector->isVisible()) {  // it had made way: now the inspector does
            m_navigatorWanted->setChecked(true);
            m_inspectorWanted->setChecked(false);
        }
        foldInspector();
    });
    m_inspectorWanted = panel(QStringLiteral("showInspector"), tr("Inspector"), Qt::Key_F8, [this] { foldInspector(); });
    panel(QStringLiteral("showActivity"), tr("Activity"), Qt::Key_F9, [this](bool on) { m_activity->setVisible(on); });
    view->addSeparator();
    auto* modes = new QActionGroup(this);
    const auto mode = [&](const QString& name, Theme::Mode value) {
        QAction* action = view->addAction(name, this, [value] {
            Theme::instance().setMode(value);
            QSettings().setValue(QStringLiteral("theme"), static_cast<int>(value));
        });
        action->setCheckable(true);
        action->setChecked(Theme::instance().mode() == value);
        modes->addAction(action);
    };
    mode(tr("As the system"), Theme::Mode::system);
    mode(tr("Light"), Theme::Mode::light);
    mode(tr("Dark"), Theme::Mode::dark);
}

void MainWindow::buildRunMenu() {
    QMenu* run = menuBar()->addMenu(tr("&Run"));
    RunActions& actions = m_workspace.actions();
    m_stop = run->addAction(tr("Stop with a checkpoint"), QKeySequence(Qt::CTRL | Qt::Key_Period), this,
                            [this, &actions] { actions.stop(actions.those(m_tools->selectedRuns(), isStoppable)); });
    m_resume = run->addAction(tr("Resume"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R), this,
                              [this, &actions] { actions.resume(actions.those(m_tools->selectedRuns(), isResumable)); });
    m_rerun = run->addAction(tr("Rerun"), this, [this, &actions] { actions.rerun(m_tools->selectedRuns()); });
    connect(&m_workspace, &Workspace::currentRunChanged, this, &MainWindow::refreshRunMenu);
    connect(m_stack, &QStackedWidget::currentChanged, this, &MainWindow::refreshRunMenu);  // each page has its selection
    connect(&m_workspace, &Workspace::projectChanged, this, &MainWindow::refreshRunMenu);
    refreshRunMenu();
    run->addSeparator();
    m_tools->addToRun(run);
    run->addSeparator();
    QAction* undo =
        run->addAction(tr("Undo delete"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_Z), this, [this] { m_workspace.actions().undo(); });
    undo->setEnabled(false);
    connect(&m_workspace.actions(), &RunActions::undoChanged, undo, [this, undo] { undo->setEnabled(m_workspace.actions().canUndo()); });
    run->addAction(tr("Notifications…"), this, [this] { Notifier::askFor(this); });
    run->addAction(tr("Look for new runs"), QKeySequence::Refresh, this, [this] {
        if (m_workspace.session()) m_workspace.session()->refresh();
    });
}

/// With the handle beside it; 0: it is hidden.
int MainWindow::inspectorRoom() const { return m_inspectorWanted->isChecked() && m_inspector->hasContent() ? inspector_width + 1 : 0; }

/// What the page needs, where that much is left beside the inspector; it is scrolled else.
int MainWindow::pageWidth() const {
    return std::max(page_width, std::min(m_room->widget()->minimumSizeHint().width(), width() - inspectorRoom()));
}

/// Navigator, page and inspector do not all fit beside each other.
bool MainWindow::isNarrow() const { return width() < navigator_width + 1 + pageWidth() + inspectorRoom(); }

/// While it has nothing to say its room is the page's; where there is little, the navigator's is its own.
void MainWindow::foldInspector() {
    m_room->parentWidget()->setMinimumWidth(pageWidth());
    m_inspector->setVisible(inspectorRoom() > 0);
    m_navigator->setVisible(m_navigatorWanted->isChecked() && !isNarrow());
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    foldInspector();
}

/// A splitter leaves the room of a panel that gets smaller empty unless it is told who has it now.
void MainWindow::foldActivity(bool folded) {
    const QList<int> sizes = m_vertical->sizes();
    const int all = sizes.value(0) + sizes.value(1), low = m_activity->maximumHeight();
    if (folded && sizes.value(1) > low) m_activityHeight = sizes.value(1);
    const int high = folded ? low : m_activityHeight;
    if (all > high) m_vertical->setSizes({all - high, high});
}

void MainWindow::refreshRunMenu() {
    const RunActions& actions = m_workspace.actions();
    const QStringList runs = m_tools->selectedRuns();
    m_stop->setEnabled(!actions.those(runs, isStoppable).isEmpty());
    m_resume->setEnabled(!actions.those(runs, isResumable).isEmpty());
    m_rerun->setEnabled(!runs.isEmpty());
}

QString MainWindow::currentPage() const { return m_tabs->tabData(m_tabs->currentIndex()).toString(); }
Page* MainWindow::frontPage() const { return qobject_cast<Page*>(m_stack->currentWidget()); }

bool MainWindow::goTo(const QString& page) {
    if (page == QStringLiteral("start")) return showStart(), true;
    for (int i = 0; i < m_tabs->count(); ++i)
        if (m_tabs->tabData(i).toString() == page) {
            const QSignalBlocker quiet(m_tabs);
            m_tabs->setCurrentIndex(i);
            return tabChosen(i), true;
        }
    return false;
}

/// Until a tab is chosen; a project that is open stays so.
void MainWindow::showStart() {
    m_start->refresh();
    m_stack->setCurrentWidget(m_start);
    m_inspector->setPagePart(nullptr);
    foldInspector();
}

Page* MainWindow::makePage(int index) {
    const PageEntry entry = pageEntries()[static_cast<std::size_t>(index)];
    if (entry.needsProject && !m_workspace.session()) return nullptr;
    Page*& page = m_pages[entry.id];
    if (!page) {
        page = entry.make(m_workspace);
        page->setObjectName(entry.id + QStringLiteral("Page"));
        page->restore(QJsonDocument::fromJson(StatePlace::own().state(entry.id)).object());
        m_stack->addWidget(page);
        connect(page, &Page::selectedRunsChanged, this, &MainWindow::refreshRunMenu);
    }
    return page;
}

void MainWindow::tabChosen(int index) {
    if (index < 0) return;
    if (m_workspace.session()) m_lastPage = currentPage();
    Page* page = makePage(index);
    const bool problem = page && !m_problem.isEmpty() && pageEntries()[static_cast<std::size_t>(index)].needsProject;
    m_stack->setCurrentWidget(problem ? m_problemPage : page ? static_cast<QWidget*>(page) : m_start);
    m_inspector->setPagePart(page && !problem ? page->inspector() : nullptr);
    foldInspector();
    if (page && !problem) page->shown();
}

void MainWindow::showProject() {
    const bool open = m_workspace.session() != nullptr;
    m_problem.clear();
    m_complaint->setMessage({});  // both were of the project before
    statusBar()->clearMessage();
    for (int i = 0; i < m_tabs->count(); ++i) m_tabs->setTabEnabled(i, open || !pageEntries()[static_cast<std::size_t>(i)].needsProject);
    setWindowTitle(open ? QDir(QString::fromStdString(m_workspace.session()->folder().string())).dirName() + QStringLiteral(" — Faceter")
                        : QStringLiteral("Faceter"));
    if (!open) {
        m_start->refresh();
        m_stack->setCurrentWidget(m_start);
        m_inspector->setPagePart(nullptr);
        return;
    }
    if (frontPage() && currentPage() == QStringLiteral("compose"))  // an experiment was being written without a project
        tabChosen(m_tabs->currentIndex());
    else if (!goTo(m_lastPage.isEmpty() ? QSettings().value(QStringLiteral("page"), QStringLiteral("runs")).toString() : m_lastPage))
        goTo(QStringLiteral("runs"));
}

void MainWindow::showStoreProblem(const QString& message) {
    m_problem = message;
    if (m_problemPage) m_problemPage->deleteLater();
    m_problemPage = nullptr;
    if (!message.isEmpty()) {
        m_problemPage = new StoreProblemPage(m_workspace, message);
        m_stack->addWidget(m_problemPage);
    }
    tabChosen(m_tabs->currentIndex());
}

/// What another machine was asked for is waited for in sight: nobody knows what became of a call that was cut off.
void MainWindow::closeEvent(QCloseEvent* event) {
    saveLayout();
    if (m_lostNote.isEmpty() || m_inspector->unkeptNote() != m_lostNote) m_inspector->keepNote();
    if (const QStringList jobs = m_tools->jobs().running(); !jobs.isEmpty() && std::exchange(m_warned, jobs) != jobs) {
        m_complaint->setMessage(tr("Closing ends what is under way: %1. Close again to end it.").arg(jobs.join(QStringLiteral("; "))));
        m_closing = false;
        return event->ignore();
    }
    const QStringList pending = m_workspace.actions().pending();
    event->setAccepted(pending.isEmpty());
    if (std::exchange(m_closing, !pending.isEmpty()) || pending.isEmpty()) return;
    m_failedBefore = failedActions();
    m_complaint->setMessage(tr("The window closes when this is done: %1").arg(pending.join(QStringLiteral("; "))));
}

QList<int> MainWindow::failedActions() const {
    QList<int> ids;
    for (const RunActions::Failed& work : m_workspace.actions().failedWork()) ids << work.id;
    return ids;
}

/// What fails meanwhile is said in the window, which stays for it. A note that could not be written does not keep it open a second time.
void MainWindow::closeWhenDone() {
    if (!m_closing || !m_workspace.actions().pending().isEmpty()) return;
    const QList<int> failed = failedActions();
    if (std::all_of(failed.begin(), failed.end(), [this](int id) { return m_failedBefore.contains(id); }))
        return static_cast<void>(close());
    m_closing = false;
    m_lostNote = m_inspector->unkeptNote();
    if (!m_lostNote.isEmpty())
        m_complaint->setMessage(
            tr("%1\nThe window stays open. Close it again to lose the note.").arg(m_workspace.actions().failedWork().last().why));
}

void MainWindow::saveLayout() const {
    keepChoice(m_workspace);
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/horizontal"), m_horizontal->saveState());
    settings.setValue(QStringLiteral("window/vertical"), m_vertical->saveState());
    for (const QAction* panel : m_panels) settings.setValue(QStringLiteral("window/") + panel->objectName(), panel->isChecked());
    settings.setValue(QStringLiteral("page"), currentPage());
    if (m_workspace.session())
        settings.setValue(QStringLiteral("project"), QString::fromStdString(m_workspace.session()->folder().string()));
    for (auto page = m_pages.cbegin(); page != m_pages.cend(); ++page)
        settings.setValue(StatePlace::own().key(page.key()), QJsonDocument(page.value()->state()).toJson(QJsonDocument::Compact));
}

void MainWindow::restoreLayout() {
    const QSettings settings;
    resize(firstSize());
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    m_horizontal->restoreState(settings.value(QStringLiteral("window/horizontal")).toByteArray());
    m_vertical->restoreState(settings.value(QStringLiteral("window/vertical")).toByteArray());
    for (QSplitter* splitter : {m_horizontal, m_vertical}) splitter->setHandleWidth(1);
    for (QAction* panel : std::as_const(m_panels))
        if (!settings.value(QStringLiteral("window/") + panel->objectName(), true).toBool()) panel->trigger();
}

namespace {

bool hasFiles(const QMimeData& data) {
    const QList<QUrl> urls = data.urls();
    return std::any_of(urls.begin(), urls.end(), [](const QUrl& url) { return url.isLocalFile(); });
}

}  // namespace

/// Files that are dragged are for the window wherever they are dropped: a text below them would take their addresses for text.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::DragEnter || watched == this || !watched->isWidgetType()) return QMainWindow::eventFilter(watched, event);
    if (static_cast<QWidget*>(watched)->window() != this || !hasFiles(*static_cast<QDragEnterEvent*>(event)->mimeData()))
        return QMainWindow::eventFilter(watched, event);
    event->ignore();
    return true;
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile())
            openPath(url.toLocalFile());
        else
            m_complaint->setMessage(tr("%1: only files and folders of this machine can be opened.").arg(url.toDisplayString()));
    }
}

void MainWindow::showShortcuts() {
    auto* dialog = new QDialog(this);
    dialog->setObjectName(QStringLiteral("shortcutsDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Keyboard shortcuts"));
    auto* list = new QTreeWidget;
    list->setHeaderHidden(true);
    list->setRootIsDecorated(false);
    list->setColumnCount(2);
    list->setAccessibleName(tr("Keyboard shortcuts"));
    for (const QAction* menu : menuBar()->actions())
        for (const QAction* action : menu->menu()->actions())
            if (!action->shortcut().isEmpty())
                new QTreeWidgetItem(list, {action->shortcut().toString(QKeySequence::NativeText), action->text()});
    list->resizeColumnToContents(0);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(list, 1);
    layout->addWidget(buttons);
    dialog->resize(QSize(420, 640).boundedTo(size() - QSize(40, 60)));  // its button stays on a small screen
    dialog->open();
}

}  // namespace faceter::desktop
