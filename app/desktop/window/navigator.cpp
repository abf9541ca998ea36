#include "window/navigator.h"

#include <QDir>
#include <QFileInfo>
#include <QHeaderView>
#include <QLineEdit>
#include <QScrollBar>
#include <QSettings>
#include <QSignalBlocker>
#include <QThreadPool>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>
#include <QVBoxLayout>
#include <QtConcurrent>
#include <algorithm>
#include <set>

#include "figure/elided_name.h"
#include "theme/theme.h"
#include "widgets/colour_dot.h"
#include "widgets/texts.h"
#include "widgets/wrapped_names.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

enum Role { kindRole = Qt::UserRole, keyRole };
enum Kind { sectionKind, projectKind, experimentKind, groupKind, runKind };
constexpr std::size_t most_groups = 300, most_runs = 300;  // at a time: a search is among all
constexpr int most_recent = 8;
constexpr int most_looks = 64;  // at a time

QTreeWidgetItem* addSection(QTreeWidget* tree, const QString& title) {
    auto* section = new QTreeWidgetItem(tree, {title.toUpper()});
    section->setData(0, kindRole, sectionKind);
    section->setFlags(Qt::ItemIsEnabled);
    QFont small = Theme::plotFont();
    section->setFont(0, small);
    section->setForeground(0, Theme::instance().colours().secondary);
    section->setExpanded(true);
    return section;
}

QTreeWidgetItem* addItem(QTreeWidgetItem* section, const QString& text, Kind kind, const QString& key, bool current) {
    auto* item = new QTreeWidgetItem(section, {text});
    item->setData(0, kindRole, kind);
    item->setData(0, keyRole, key);
    if (current) {
        item->setFont(0, Theme::headingFont());
        item->setForeground(0, Theme::instance().colours().accent);
        item->setBackground(0, Theme::instance().colours().selection);
    }
    return item;
}

bool speaksOf(const RunRow& run, const QString& wanted) {
    for (const std::string& name : {run.info.id, run.info.name})
        if (qs(name).contains(wanted, Qt::CaseInsensitive)) return true;
    return std::any_of(run.tags.begin(), run.tags.end(),
                       [&](const std::string& tag) { return qs(tag).contains(wanted, Qt::CaseInsensitive); });
}

/// The group's name, or a run of it.
bool speaksOf(const RunGroupRef& group, const QString& wanted) {
    return wanted.isEmpty() || group.label.contains(wanted, Qt::CaseInsensitive) ||
           std::any_of(group.runs.begin(), group.runs.end(), [&](const RunRow* run) { return speaksOf(*run, wanted); });
}

/// Runs of one seed, as a failed one and its successor, are no further seeds.
QString howMany(const RunGroupRef& group) {
    std::set<std::uint64_t> seeds;
    for (const RunRow* run : group.runs) seeds.insert(run->info.seed);
    if (group.runs.size() < 2) return {};
    return (seeds.size() == group.runs.size() ? Navigator::tr(" · %1 seeds") : Navigator::tr(" · %1 runs")).arg(group.runs.size());
}

/// Where a mount hangs, a look keeps its thread: others have one of their own. It is never ended, since that would wait for them.
QThreadPool* looks() {
    static QThreadPool* const pool = [] {
        auto* made = new QThreadPool;
        made->setMaxThreadCount(most_looks);
        return made;
    }();
    return pool;
}

}  // namespace

QStringList recentProjects() { return QSettings().value(QStringLiteral("projects/recent")).toStringList(); }

Answer<QStringList> existingFolders(const QStringList& folders) {
    return Answer(QtConcurrent::run(looks(), [folders] {
        QStringList there = folders;
        there.removeIf([](const QString& folder) { return !QFileInfo(folder).isDir(); });
        return there;
    }));
}

void rememberProject(const QString& folder) {
    QStringList folders = recentProjects();
    folders.removeAll(folder);
    folders.prepend(folder);
    QSettings().setValue(QStringLiteral("projects/recent"), folders.mid(0, most_recent));
}

Navigator::Navigator(Workspace& workspace, QWidget* parent)
    : QWidget(parent), m_workspace(workspace), m_search(new QLineEdit), m_tree(new QTreeWidget) {
    setObjectName(QStringLiteral("navigator"));
    setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 0);
    layout->setSpacing(4);
    m_search->setPlaceholderText(tr("Find project, experiment, run"));
    m_search->setAccessibleName(tr("Find in the navigator"));
    m_search->setClearButtonEnabled(true);
    m_search->setObjectName(QStringLiteral("navigatorSearch"));
    m_tree->setObjectName(QStringLiteral("navigatorTree"));
    m_tree->setAccessibleName(tr("Projects, experiments and runs"));
    m_tree->setProperty("role", QStringLiteral("navigator"));
    m_tree->setHeaderHidden(true);
    m_tree->setIndentation(10);
    m_tree->setRootIsDecorated(false);
    m_tree->setFrameShape(QFrame::NoFrame);
    new WrappedNames(*m_tree);
    layout->addWidget(m_search);
    layout->addWidget(m_tree, 1);
    connect(m_search, &QLineEdit::textChanged, this, &Navigator::rebuild);
    connect(m_tree, &QTreeWidget::itemExpanded, this, [this](QTreeWidgetItem* item) { open(item, true); });
    connect(m_tree, &QTreeWidget::itemCollapsed, this, [this](QTreeWidgetItem* item) { open(item, false); });
    connect(m_tree, &QTreeWidget::itemActivated, this, &Navigator::activated);
    connect(m_tree, &QTreeWidget::itemClicked, this, &Navigator::activated);
    connect(m_tree, &QTreeWidget::itemChanged, this, &Navigator::ticked);
    for (auto signal : {&Workspace::projectChanged, &Workspace::experimentChanged, &Workspace::shownChanged})
        connect(&m_workspace, signal, this, &Navigator::rebuild);
    connect(&m_workspace, &Workspace::runsChanged, this, [this] {
        if (m_workspace.experiments() != m_experiments) rebuild();
    });
    connect(&m_workspace, &Workspace::projectChanged, this, &Navigator::lookForProjects);
    connect(&Theme::instance(), &Theme::changed, this, &Navigator::rebuild);
    m_recent = recentProjects();
    rebuild();
    lookForProjects();
}

/// Which groups show their runs outlives the tree's rebuilding.
void Navigator::open(QTreeWidgetItem* item, bool isOpen) {
    if (m_filling || item->data(0, kindRole).toInt() != groupKind) return;
    const QString key = item->data(0, keyRole).toString();
    if (!isOpen) return void(m_opened.remove(key));
    m_opened.insert(key);
    if (item->childCount() > 0) return;
    const RunsSnapshotPtr hold = m_workspace.runs();
    const QSignalBlocker blocker(m_tree);  // nobody has ticked anything
    for (const RunGroupRef& group : m_workspace.groups())
        if (group.key == key) addRuns(item, group, {});
}

void Navigator::lookForProjects() {
    existingFolders(recentProjects()).then(this, [this](const QStringList& folders) {
        if (std::exchange(m_recent, folders) != folders) rebuild();
    });
}

/// Who goes through the tree by keyboard stays where they are.
void Navigator::rebuild() {
    const QSignalBlocker blocker(m_tree);
    const QTreeWidgetItem* current = m_tree->currentItem();
    const int kind = current ? current->data(0, kindRole).toInt() : sectionKind;
    const QString key = current ? current->data(0, keyRole).toString() : QString();
    const int scrolled = m_tree->verticalScrollBar()->value();
    m_filling = true;
    m_tree->clear();
    fillProjects();
    if (m_workspace.session()) {
        fillExperiments();
        fillRuns();
    }
    m_filling = false;
    applySearch();
    restore(kind, key);
    m_tree->verticalScrollBar()->setValue(scrolled);
}

void Navigator::restore(int kind, const QString& key) {
    for (QTreeWidgetItemIterator it(m_tree); *it; ++it) {
        if (kind == sectionKind || (*it)->data(0, kindRole).toInt() != kind || (*it)->data(0, keyRole).toString() != key) continue;
        m_tree->setCurrentItem(*it);
        return;
    }
}

void Navigator::fillProjects() {
    QTreeWidgetItem* section = addSection(m_tree, tr("Projects"));
    const QString open = m_workspace.session() ? QString::fromStdString(m_workspace.session()->folder().string()) : QString();
    QStringList folders = m_recent;
    if (!open.isEmpty() && !folders.contains(open)) folders.prepend(open);
    for (const QString& folder : folders) {
        QTreeWidgetItem* item = addItem(section, QDir(folder).dirName(), projectKind, folder, folder == open);
        item->setToolTip(0, folder.toHtmlEscaped());
    }
}

void Navigator::fillExperiments() {
    QTreeWidgetItem* section = addSection(m_tree, tr("Experiments"));
    m_experiments = m_workspace.experiments();
    if (m_experiments.size() > 1) addItem(section, tr("all"), experimentKind, QString(), m_workspace.experiment().isEmpty());
    for (const QString& name : std::as_const(m_experiments)) addItem(section, name, experimentKind, name, name == m_workspace.experiment());
}

void Navigator::fillRuns() {
    QTreeWidgetItem* section = addSection(m_tree, tr("Runs"));
    const RunsSnapshotPtr hold = m_workspace.runs();
    const QString wanted = m_search->text().trimmed();
    std::vector<RunGroupRef> groups = m_workspace.groups();
    std::erase_if(groups, [&](const RunGroupRef& group) { return !speaksOf(group, wanted); });
    for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) addGroup(section, groups[i], wanted);
    if (groups.size() > most_groups)
        addItem(section, tr("%1 more: type above to find them").arg(groups.size() - most_groups), sectionKind, {}, false);
}

/// With its runs below it where there are several; open where the search means one of them alone.
void Navigator::addGroup(QTreeWidgetItem* section, const RunGroupRef& group, const QString& wanted) {
    QTreeWidgetItem* item = addItem(section, withShortKeys(group.label) + howMany(group), groupKind, group.key, false);
    item->setIcon(0, dotIcon(group.colour));
    item->setCheckState(0, m_workspace.isShown(group.key) ? Qt::Checked : Qt::Unchecked);
    item->setToolTip(0, tr("%1: ticked runs are shown on Curves, Compare, Facets and Results").arg(group.label.toHtmlEscaped()));
    if (group.runs.size() < 2) return;
    const bool ofName = wanted.isEmpty() || group.label.contains(wanted, Qt::CaseInsensitive);
    item->setChildIndicatorPolicy(QTreeWidgetItem::ShowIndicator);
    if (ofName && !m_opened.contains(group.key)) return;  // its runs are listed once somebody wants to see them
    addRuns(item, group, ofName ? QString() : wanted);
    item->setExpanded(true);
}

/// Those that the search means, or all.
void Navigator::addRuns(QTreeWidgetItem* item, const RunGroupRef& group, const QString& wanted) {
    std::vector<const RunRow*> runs(group.runs.begin(), group.runs.end());
    if (!wanted.isEmpty()) std::erase_if(runs, [&](const RunRow* run) { return !speaksOf(*run, wanted); });
    for (std::size_t i = 0; i < std::min(runs.size(), most_runs); ++i) {
        const RunInfo& run = runs[i]->info;
        const QString id = qs(run.id);
        QTreeWidgetItem* child = addItem(item, tr("seed %1 · %2").arg(run.seed).arg(momentText(run.created)), runKind, id, false);
        child->setToolTip(0, (qs(run.shown_name()) + QLatin1Char('\n') + id).toHtmlEscaped());
        if (id == m_workspace.currentRun()) child->setForeground(0, Theme::instance().colours().accent);
    }
    if (runs.size() > most_runs) addItem(item, tr("%1 more: type above to find them").arg(runs.size() - most_runs), sectionKind, {}, false);
}

void Navigator::activated(QTreeWidgetItem* item) {
    const QString key = item->data(0, keyRole).toString();
    switch (item->data(0, kindRole).toInt()) {
        case projectKind:
            Q_EMIT projectChosen(key);
            break;
        case experimentKind:
            m_workspace.setExperiment(key);
            break;
        case groupKind: {
            const RunsSnapshotPtr hold = m_workspace.runs();
            for (const RunGroupRef& group : m_workspace.groups())
                if (group.key == key) m_workspace.setCurrentRun(qs(group.runs.back()->info.id));
            break;
        }
        case runKind:
            m_workspace.setCurrentRun(key);
            break;
        default:
            break;
    }
}

void Navigator::ticked(QTreeWidgetItem* item) {
    if (m_filling || item->data(0, kindRole).toInt() != groupKind) return;
    const QString key = item->data(0, keyRole).toString();
    const bool shown = item->checkState(0) == Qt::Checked;
    QMetaObject::invokeMethod(
        this, [this, key, shown] { m_workspace.setShown(key, shown); }, Qt::QueuedConnection);  // the tree is rebuilt by it
}

/// Projects and experiments; of runs only those that were found are there.
void Navigator::applySearch() {
    const QString wanted = m_search->text().trimmed();
    for (QTreeWidgetItemIterator it(m_tree); *it; ++it)
        if (const int kind = (*it)->data(0, kindRole).toInt(); kind == projectKind || kind == experimentKind)
            (*it)->setHidden(!wanted.isEmpty() && !(*it)->text(0).contains(wanted, Qt::CaseInsensitive));
}

}  // namespace faceter::desktop
