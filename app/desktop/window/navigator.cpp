#include "window/navigator.h"

#include <QDir>
#include <QFileInfo>
#include <QHeaderView>
#include <QLineEdit>
#include <QScrollBar>
#include <QSettings>
#include <QSignalBlocker>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>
#include <QVBoxLayout>

#include "theme/theme.h"
#include "widgets/colour_dot.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

enum Role { kindRole = Qt::UserRole, keyRole };
enum Kind { sectionKind, projectKind, experimentKind, groupKind };
constexpr int most_groups = 300;
constexpr int most_recent = 8;

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

}  // namespace

QStringList recentProjects() { return QSettings().value(QStringLiteral("projects/recent")).toStringList(); }

Answer<QStringList> existingFolders(const QStringList& folders) {
    return ProjectSession::background([folders] {
        QStringList there = folders;
        there.removeIf([](const QString& folder) { return !QFileInfo(folder).isDir(); });
        return there;
    });
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
    m_tree->setUniformRowHeights(true);
    m_tree->setTextElideMode(Qt::ElideMiddle);
    layout->addWidget(m_search);
    layout->addWidget(m_tree, 1);
    connect(m_search, &QLineEdit::textChanged, this, &Navigator::applySearch);
    connect(m_tree, &QTreeWidget::itemActivated, this, &Navigator::activated);
    connect(m_tree, &QTreeWidget::itemClicked, this, &Navigator::activated);
    connect(m_tree, &QTreeWidget::itemChanged, this, &Navigator::ticked);
    for (auto signal : {&Workspace::projectChanged, &Workspace::experimentChanged, &Workspace::shownChanged})
        connect(&m_workspace, signal, this, &Navigator::rebuild);
    connect(&m_workspace, &Workspace::projectChanged, this, &Navigator::lookForProjects);
    connect(&Theme::instance(), &Theme::changed, this, &Navigator::rebuild);
    m_recent = recentProjects();
    rebuild();
    lookForProjects();
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
    const QStringList names = m_workspace.experiments();
    if (names.size() > 1) addItem(section, tr("all"), experimentKind, QString(), m_workspace.experiment().isEmpty());
    for (const QString& name : names) addItem(section, name, experimentKind, name, name == m_workspace.experiment());
}

void Navigator::fillRuns() {
    QTreeWidgetItem* section = addSection(m_tree, tr("Runs"));
    const RunsSnapshotPtr hold = m_workspace.runs();
    const std::vector<RunGroupRef> groups = m_workspace.groups();
    for (std::size_t i = 0; i < groups.size() && i < most_groups; ++i) {
        const RunGroupRef& group = groups[i];
        const QString seeds = group.runs.size() > 1 ? tr(" · %1 seeds").arg(group.runs.size()) : QString();
        QTreeWidgetItem* item = addItem(section, group.label + seeds, groupKind, group.key, false);
        item->setIcon(0, dotIcon(group.colour));
        item->setCheckState(0, m_workspace.isShown(group.key) ? Qt::Checked : Qt::Unchecked);
        item->setToolTip(0, tr("Ticked runs are shown on Curves, Compare, Facets and Results"));
    }
    if (groups.size() > most_groups)
        addItem(section, tr("%1 more on the page Runs").arg(groups.size() - most_groups), sectionKind, {}, false);
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

void Navigator::applySearch() {
    const QString wanted = m_search->text().trimmed();
    for (int i = 0; i < m_tree->topLevelItemCount(); ++i) {
        QTreeWidgetItem* section = m_tree->topLevelItem(i);
        for (int j = 0; j < section->childCount(); ++j)
            section->child(j)->setHidden(!wanted.isEmpty() && !section->child(j)->text(0).contains(wanted, Qt::CaseInsensitive));
    }
}

}  // namespace faceter::desktop
