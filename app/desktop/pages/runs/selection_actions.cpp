#include "pages/runs/selection_actions.h"

#include <QInputDialog>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSet>
#include <algorithm>

#include "actions/run_actions.h"
#include "pages/runs/runs_data.h"
#include "theme/icons.h"
#include "widgets/as_written.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

bool isFree(const RunRow& run) { return run.state.phase != RunPhase::running && run.state.phase != RunPhase::silent; }

/// A question that does not stop the program: the answer comes by signal.
QInputDialog* ask(QWidget* parent, const QString& name, const QString& title, const QString& label, const QString& value) {
    auto* dialog = new QInputDialog(parent);
    dialog->setObjectName(name);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->setLabelText(label);
    dialog->setTextValue(value);
    return dialog;
}

}  // namespace

SelectionActions::SelectionActions(Workspace& workspace, QWidget* table, std::function<QStringList()> selected)
    : QObject(table), m_workspace(workspace), m_table(table), m_selected(std::move(selected)) {
    addAll();
    addMarks();
    connect(&workspace.actions(), &RunActions::undoChanged, this, &SelectionActions::refresh);
    refresh();
}

QAction* SelectionActions::add(const QString& name, const QString& text, const QString& iconName, QKeySequence key,
                               std::function<void(const QStringList&)> act) {
    auto* action = new QAction(iconName.isEmpty() ? QIcon() : icon(iconName), text, this);
    action->setObjectName(QStringLiteral("runs.") + name);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, [this, act = std::move(act)] { act(m_selected()); });
    m_table->addAction(action);
    m_actions[name] = action;
    m_order << name;
    return action;
}

void SelectionActions::addAll() {
    RunActions& actions = m_workspace.actions();
    add(QStringLiteral("curves"), tr("Show on Curves"), QStringLiteral("run"), {},
        [this](const QStringList& runs) { goTo(QStringLiteral("curves"), runs); });
    add(QStringLiteral("compare"), tr("Compare"), QStringLiteral("compare"), QKeySequence(Qt::CTRL | Qt::Key_Return),
        [this](const QStringList& runs) { goTo(QStringLiteral("compare"), runs); });
    add(QStringLiteral("baseline"), tr("Baseline of Compare"), QStringLiteral("compare"), QKeySequence(Qt::Key_B),
        [this](const QStringList& runs) {
            if (const auto rows = rowsOf(runs); !rows.empty()) m_workspace.setBaseline(groupKey(rows.front()->info));
        });
    add(QStringLiteral("data"), tr("Data sets"), {}, {}, [this](const QStringList& runs) {
        if (runs.isEmpty()) return;
        m_workspace.setCurrentRun(runs.front());
        m_workspace.requestPage(QStringLiteral("data"));
    });
    m_order << QString();
    add(QStringLiteral("stop"), tr("Stop with a checkpoint"), QStringLiteral("stop"), {},
        [&actions](const QStringList& runs) { actions.stop(actions.those(runs, isStoppable)); });
    add(QStringLiteral("resume"), tr("Resume"), QStringLiteral("resume"), {},
        [&actions](const QStringList& runs) { actions.resume(actions.those(runs, isResumable)); });
    add(QStringLiteral("rerun"), tr("Rerun"), QStringLiteral("rerun"), {}, [&actions](const QStringList& runs) { actions.rerun(runs); });
    m_order << QString();
}

void SelectionActions::addMarks() {
    RunActions& actions = m_workspace.actions();
    add(QStringLiteral("pin"), tr("Pin"), QStringLiteral("pin"), QKeySequence(Qt::Key_P), [this, &actions](const QStringList& runs) {
        const auto rows = rowsOf(runs);
        actions.setPinned(runs, !std::all_of(rows.begin(), rows.end(), [](const RunRow* run) { return run->pinned; }));
    });
    add(QStringLiteral("tag"), tr("Tag…"), QStringLiteral("tag"), QKeySequence(Qt::Key_T),
        [this](const QStringList& runs) { askTag(runs); });
    add(QStringLiteral("note"), tr("Note…"), QStringLiteral("note"), QKeySequence(Qt::Key_N),
        [this](const QStringList& runs) { askNote(runs); });
    add(QStringLiteral("archive"), tr("Archive"), QStringLiteral("archive"), QKeySequence(Qt::Key_A),
        [this, &actions](const QStringList& runs) {
            const auto rows = rowsOf(runs);
            actions.setArchived(runs, !std::all_of(rows.begin(), rows.end(), [](const RunRow* run) { return run->archived; }));
        });
    m_order << QString();
    add(QStringLiteral("delete"), tr("Delete"), QStringLiteral("trash"), QKeySequence(Qt::Key_Delete),
        [&actions](const QStringList& runs) { actions.trash(actions.those(runs, isFree)); });
    add(QStringLiteral("undo"), tr("Undo delete"), {}, QKeySequence(Qt::CTRL | Qt::Key_Z),
        [&actions](const QStringList&) { actions.undo(); });
}

std::vector<const RunRow*> SelectionActions::rowsOf(const QStringList& runs) const {
    std::vector<const RunRow*> rows;
    const RunsSnapshotPtr snapshot = m_workspace.runs();
    for (const QString& run : runs)
        if (const int place = snapshot->find(run.toStdString()); place >= 0)
            rows.push_back(&snapshot->runs[static_cast<std::size_t>(place)]);
    return rows;
}

void SelectionActions::refresh() {
    const QStringList runs = m_selected();
    const auto rows = rowsOf(runs);
    for (QAction* action : std::as_const(m_actions)) action->setEnabled(!rows.empty());
    const RunActions& actions = m_workspace.actions();
    m_actions[QStringLiteral("stop")]->setEnabled(!actions.those(runs, isStoppable).isEmpty());
    m_actions[QStringLiteral("resume")]->setEnabled(!actions.those(runs, isResumable).isEmpty());
    m_actions[QStringLiteral("delete")]->setEnabled(!actions.those(runs, isFree).isEmpty());
    m_actions[QStringLiteral("undo")]->setEnabled(m_workspace.actions().canUndo());
    const bool pinned = !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const RunRow* run) { return run->pinned; });
    const bool archived = !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const RunRow* run) { return run->archived; });
    m_actions[QStringLiteral("pin")]->setText(pinned ? tr("Unpin") : tr("Pin"));
    m_actions[QStringLiteral("archive")]->setText(archived ? tr("Back from the archive") : tr("Archive"));
}

void SelectionActions::fill(QMenu& menu) {
    for (const QString& name : m_order) {
        if (name.isEmpty())
            menu.addSeparator();
        else
            menu.addAction(m_actions[name]);
        if (name == QStringLiteral("tag")) fillTags(menu);
    }
}

void SelectionActions::fillTags(QMenu& menu) {
    const QStringList runs = m_selected();
    QSet<QString> tags;
    for (const RunRow* run : rowsOf(runs))
        for (const std::string& tag : run->tags) tags.insert(qs(tag));
    if (tags.isEmpty()) return;
    QMenu* remove = menu.addMenu(tr("Remove tag"));
    QStringList sorted(tags.begin(), tags.end());
    sorted.sort();
    for (const QString& tag : sorted)
        remove->addAction(asWritten(tag), this, [this, runs, tag] { m_workspace.actions().removeTag(runs, tag); });
}

void SelectionActions::goTo(const QString& page, const QStringList& runs) {
    QStringList groups;
    for (const RunRow* run : rowsOf(runs))
        if (const QString group = groupKey(run->info); !groups.contains(group)) groups << group;
    if (groups.isEmpty()) return;
    m_workspace.showOnly(groups);
    m_workspace.requestPage(page);
}

void SelectionActions::askTag(const QStringList& runs) {
    QSet<QString> known;
    const RunsSnapshotPtr snapshot = m_workspace.runs();
    for (const RunRow& run : snapshot->runs)
        for (const std::string& tag : run.tags) known.insert(qs(tag));
    QInputDialog* dialog =
        ask(m_table, QStringLiteral("tagDialog"), tr("Tag"), tr("Tag for %1:").arg(m_workspace.actions().called(runs)), {});
    if (!known.isEmpty()) {
        QStringList choices(known.begin(), known.end());
        choices.sort();
        dialog->setComboBoxItems(choices);
        dialog->setComboBoxEditable(true);
        dialog->setTextValue({});
    }
    connect(dialog, &QInputDialog::textValueSelected, this, [this, runs](const QString& text) {
        if (const QString tag = text.trimmed(); !tag.isEmpty()) m_workspace.actions().addTag(runs, tag);
    });
    dialog->open();
}

/// What is noted of one run is edited; several, each with a note of its own, get a text behind it.
void SelectionActions::askNote(const QStringList& runs) {
    const auto rows = rowsOf(runs);
    if (rows.empty()) return;
    const bool alike = std::all_of(rows.begin(), rows.end(), [&](const RunRow* run) { return run->note == rows.front()->note; });
    const QString label = (alike ? tr("Note for %1:") : tr("Add to the notes of %1:")).arg(m_workspace.actions().called(runs));
    const QString before = alike ? qs(rows.front()->note) : QString();
    QInputDialog* dialog = ask(m_table, QStringLiteral("noteDialog"), tr("Note"), label, before);
    dialog->setOption(QInputDialog::UsePlainTextEditForTextInput);
    dialog->setTextValue(before);
    if (auto* text = dialog->findChild<QPlainTextEdit*>()) text->setTabChangesFocus(true);
    connect(dialog, &QInputDialog::textValueSelected, this, [this, runs, alike](const QString& text) {
        if (alike) return m_workspace.actions().setNote(runs, text);
        if (!text.isEmpty()) m_workspace.actions().addToNotes(runs, text);
    });
    dialog->open();
}

}  // namespace faceter::desktop
