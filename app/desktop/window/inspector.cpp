#include "window/inspector.h"

#include <QCompleter>
#include <QFormLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "actions/run_actions.h"
#include "theme/theme.h"
#include "widgets/as_written.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/run_label.h"
#include "widgets/scroll.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr int widest_tag = 140, most_told = 500;

QString valueText(const Json& value) { return value.is_string() ? qs(value.get<std::string>()) : qs(value.dump()); }

void fillTree(QTreeWidgetItem* parent, const Json& value) {
    const auto add = [&](const QString& key, const Json& child) {
        const bool nested = child.is_structured() && !child.empty();
        auto* item = new QTreeWidgetItem(parent, {key, nested ? QString() : valueText(child)});
        item->setToolTip(1, item->text(1).toHtmlEscaped());
        if (nested) fillTree(item, child);
    };
    if (value.is_object())
        for (const auto& [key, child] : value.items()) add(qs(key), child);
    else if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i) add(QString::number(i + 1), value[i]);
}

/// Shows an item where it or anything under it holds the text.
bool filterItem(QTreeWidgetItem* item, const QString& wanted, bool parentMatches) {
    const bool matches =
        parentMatches || item->text(0).contains(wanted, Qt::CaseInsensitive) || item->text(1).contains(wanted, Qt::CaseInsensitive);
    bool any = matches;
    for (int i = 0; i < item->childCount(); ++i) any = filterItem(item->child(i), wanted, matches) || any;
    item->setHidden(!any);
    if (!wanted.isEmpty()) item->setExpanded(true);
    return any;
}

void clearLayout(QLayout* layout) {
    while (QLayoutItem* item = layout->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
}

/// What progressText() tells: of a run that is done how long it took, of one that ended otherwise why.
QString progressName(const RunState& state) {
    if (state.phase == RunPhase::done) return Inspector::tr("took");
    return is_over(state.phase) && !state.cause.empty() ? Inspector::tr("cause") : Inspector::tr("where it is");
}

}  // namespace

Inspector::Inspector(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      m_workspace(workspace),
      m_query(new StoreQuery<RunAnswer>(
          workspace, this, [this] { return question(); },
          [this](const RunAnswer& answer) {
              if (m_shownRun.toStdString() == answer.run) showDetails(answer.details);
          })),
      m_run(new QWidget),
      m_hint(secondaryLabel(tr("Select a run to see its settings, cost and notes here."))),
      m_title(headingLabel(QString())),
      m_error(new ErrorBar),
      m_facts(new QFormLayout),
      m_tags(makeTagRow()),
      m_newTag(new QLineEdit),
      m_note(new QPlainTextEdit),
      m_search(new QLineEdit),
      m_settings(new QTreeWidget) {
    setObjectName(QStringLiteral("inspector"));
    setAttribute(Qt::WA_StyledBackground);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea;
    setUpScroll(*scroll);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    outer->addWidget(scroll);
    auto* body = new QWidget;
    m_layout = new QVBoxLayout(body);
    m_layout->setContentsMargins(12, 12, 12, 12);
    m_layout->setSpacing(8);
    scroll->setWidget(body);

    auto* run = new QVBoxLayout(m_run);
    run->setContentsMargins(0, 0, 0, 0);
    run->setSpacing(8);
    m_title->setWordWrap(true);
    m_title->setMinimumWidth(1);  // a name without a space is cut instead of making all wider than the panel
    m_facts->setHorizontalSpacing(12);
    m_facts->setVerticalSpacing(6);
    m_facts->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_error->setObjectName(QStringLiteral("inspectorError"));
    run->addWidget(m_title);
    run->addWidget(m_error);
    run->addLayout(m_facts);
    run->addWidget(makeButtons());
    run->addWidget(secondaryLabel(tr("Tags")));
    run->addWidget(m_tags);
    m_newTag->setPlaceholderText(tr("add a tag, Enter"));
    m_newTag->setAccessibleName(tr("New tag"));
    m_newTag->setObjectName(QStringLiteral("inspectorNewTag"));
    run->addWidget(m_newTag);
    run->addWidget(secondaryLabel(tr("Note")));
    m_note->setPlaceholderText(tr("what you want to remember of this run"));
    m_note->setAccessibleName(tr("Note of the run"));
    m_note->setObjectName(QStringLiteral("inspectorNote"));
    m_note->setFixedHeight(64);
    m_note->setTabChangesFocus(true);
    run->addWidget(m_note);
    run->addWidget(secondaryLabel(tr("Settings")));
    m_search->setPlaceholderText(tr("find a setting"));
    m_search->setAccessibleName(tr("Find a setting"));
    m_search->setClearButtonEnabled(true);
    run->addWidget(m_search);
    m_settings->setHeaderHidden(true);
    m_settings->setColumnCount(2);
    m_settings->setIndentation(12);
    m_settings->setFrameShape(QFrame::NoFrame);
    m_settings->setMinimumHeight(260);
    m_settings->setAccessibleName(tr("Settings of the run"));
    m_settings->setObjectName(QStringLiteral("inspectorSettings"));
    run->addWidget(m_settings, 1);
    m_hint->setWordWrap(true);
    m_layout->addWidget(m_hint);
    m_layout->addWidget(m_run, 1);
    m_layout->addStretch(0);

    connect(m_newTag, &QLineEdit::returnPressed, this, &Inspector::addTagClicked);
    connect(m_search, &QLineEdit::textChanged, this, &Inspector::filterSettings);
    connect(m_note, &QPlainTextEdit::textChanged, this, [this] { m_note->setProperty("edited", true); });
    auto* keep = new QPushButton(tr("Keep note"));
    keep->setObjectName(QStringLiteral("inspectorKeepNote"));
    run->insertWidget(run->indexOf(m_note) + 1, keep, 0, Qt::AlignRight);
    connect(keep, &QPushButton::clicked, this, &Inspector::keepNote);
    connect(&m_workspace, &Workspace::currentRunChanged, this, &Inspector::showCurrent);
    connect(&m_workspace, &Workspace::projectChanged, this, &Inspector::showCurrent);
    connect(&m_workspace, &Workspace::projectClosing, this, &Inspector::keepNote);
    connect(&m_workspace, &Workspace::complained, this, [this] {  // it may be the note that could not be written
        if (std::exchange(m_keptNote, std::nullopt)) m_note->setProperty("edited", true);
    });
    connect(m_query, &StoreQueryBase::failed, m_error, &ErrorBar::setMessage);
    showCurrent();
}

void Inspector::setPagePart(QWidget* part) {
    if (part == m_pagePart) return;
    if (m_pagePart) {
        m_layout->removeWidget(m_pagePart);
        m_pagePart->hide();
        m_pagePart->setParent(nullptr);
    }
    m_pagePart = part;
    if (!part) return;
    m_layout->insertWidget(0, part);
    part->show();
}

void Inspector::addRunPart(QWidget* part) {
    auto* layout = static_cast<QVBoxLayout*>(m_run->layout());
    layout->insertWidget(layout->indexOf(m_tags) - 1, part);  // before the tags' heading
}

QWidget* Inspector::makeTagRow() {
    auto* row = new QWidget;
    new FlowLayout(row, 4);
    return row;
}

QWidget* Inspector::makeButtons() {
    auto* row = new QWidget;
    auto* layout = new FlowLayout(row);
    const auto add = [&](const QString& text, const QString& name, auto action) {
        auto* button = new QPushButton(text);
        button->setObjectName(name);
        connect(button, &QPushButton::clicked, this, [this, action] {
            if (!m_shownRun.isEmpty()) action(QStringList{m_shownRun});
        });
        layout->addWidget(button);
        return button;
    };
    m_stop = add(tr("Stop"), QStringLiteral("inspectorStop"), [this](const QStringList& run) { m_workspace.actions().stop(run); });
    m_resume = add(tr("Resume"), QStringLiteral("inspectorResume"), [this](const QStringList& run) { m_workspace.actions().resume(run); });
    add(tr("Rerun"), QStringLiteral("inspectorRerun"), [this](const QStringList& run) { m_workspace.actions().rerun(run); });
    m_takeOver = new QPushButton(tr("Take over…"));
    m_takeOver->setObjectName(QStringLiteral("inspectorTakeOver"));
    m_takeOver->setToolTip(tr("For a run that is silent although its process is gone: it can be resumed or deleted then"));
    m_takeOver->hide();
    connect(m_takeOver, &QPushButton::clicked, this, &Inspector::askTakeOver);
    layout->addWidget(m_takeOver);
    return row;
}

/// What there is to know is in the run's folder, so it is read beside the interface.
void Inspector::askTakeOver() {
    if (!m_workspace.session()) return;
    const std::filesystem::path folder = m_workspace.session()->folder() / "runs" / m_shownRun.toStdString();
    ProjectSession::background([folder] { return take_over_question(RunDirectory(folder)); })
        .then(this,
              [this, run = m_shownRun](const std::string& question) {
                  if (question.empty()) return;  // it has spoken meanwhile
                  auto* box = new QMessageBox(QMessageBox::Question, tr("Take over"), qs(question), QMessageBox::Cancel, this);
                  box->setObjectName(QStringLiteral("takeOverDialog"));
                  box->setAttribute(Qt::WA_DeleteOnClose);
                  box->setTextFormat(Qt::PlainText);
                  const QPushButton* yes = box->addButton(tr("Take over"), QMessageBox::AcceptRole);
                  connect(yes, &QPushButton::clicked, this, [this, run] { m_workspace.actions().takeOver(run); });
                  box->open();
              })
        .onFailed([this](const std::exception& error) { m_error->setMessage(QString::fromUtf8(error.what())); });
}

void Inspector::addFact(const QString& name, const QString& value) {
    auto* label = new ElidedLabel(value, Qt::ElideMiddle);
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_facts->addRow(secondaryLabel(name), label);
}

void Inspector::showCurrent() {
    const RunsSnapshotPtr hold = m_workspace.runs();
    const RunRow* run = m_workspace.current();
    const QString id = run ? qs(run->info.id) : QString();
    if (id != m_shownRun) showOther(id);
    m_run->setVisible(run != nullptr);
    m_hint->setVisible(run == nullptr);
    if (!run) return;
    showState();
    const QString key =
        id + QString::number(run->num_scores) + QString::number(run->state.attempt) + QString::number(is_over(run->state.phase));
    if (std::exchange(m_shownDetailsKey, key) != key) m_query->ask();
}

/// What was typed about the run before is kept for it.
void Inspector::showOther(const QString& run) {
    if (m_workspace.session()) keepNote();
    m_keptNote.reset();
    m_shownRun = run;
    m_shownDetailsKey.clear();
    m_details.clear();
    m_settings->clear();
    m_error->setMessage({});
    m_newTag->clear();
    m_note->clear();
    m_note->setProperty("edited", false);
}

void Inspector::showState() {
    const RunRow& run = *m_workspace.current();
    m_title->setText(seedLabel(qs(run.info.shown_name()), run.info.seed));
    m_stop->setEnabled(isStoppable(run));
    m_resume->setEnabled(isResumable(run));
    m_takeOver->setVisible(run.state.phase == RunPhase::silent);
    showFacts(run);
    showTags(run);
    if (m_keptNote == qs(run.note)) m_keptNote.reset();
    if (!m_keptNote && !m_note->property("edited").toBool() && m_note->toPlainText() != qs(run.note)) {
        m_note->setPlainText(qs(run.note));
        m_note->setProperty("edited", false);
    }
}

/// Rows that stay are left alone: somebody may be selecting their text.
void Inspector::showFacts(const RunRow& run) {
    Facts facts{{tr("run"), qs(run.info.name)},
                {tr("id"), qs(run.info.id)},
                {tr("state"), qs(run_phase_name(run.state.phase))},
                {progressName(run.state), progressText(run.state)},
                {tr("made"), momentText(run.info.created)},
                {tr("attempts"), run.state.attempts > 1 ? QString::number(run.state.attempts) : QString()},
                {tr("sweep point"), qs(run.info.point)}};
    facts += m_details;
    facts.removeIf([](const QPair<QString, QString>& fact) { return fact.second.isEmpty(); });
    const bool sameRows =
        facts.size() == m_shownFacts.size() && std::equal(facts.begin(), facts.end(), m_shownFacts.begin(),
                                                          [](const auto& now, const auto& before) { return now.first == before.first; });
    if (!sameRows) {
        while (m_facts->rowCount() > 0) m_facts->removeRow(0);
        for (const auto& [name, value] : facts) addFact(name, value);
    }
    for (int row = 0; sameRows && row < facts.size(); ++row)
        if (facts[row].second != m_shownFacts[row].second)
            static_cast<ElidedLabel*>(m_facts->itemAt(row, QFormLayout::FieldRole)->widget())->setFullText(facts[row].second);
    m_shownFacts = facts;
}

/// Made anew only where they differ: one of them may have the focus.
void Inspector::showTags(const RunRow& run) {
    QStringList tags;
    for (const std::string& tag : run.tags) tags << qs(tag);
    m_tags->setVisible(!tags.isEmpty());
    if (std::exchange(m_shownTags, tags) == tags) return;
    clearLayout(m_tags->layout());
    const QFontMetrics metrics(Theme::plotFont());
    for (const QString& tag : tags) {
        auto* button = new QPushButton(asWritten(metrics.elidedText(tag, Qt::ElideMiddle, widest_tag)) + QStringLiteral(" ×"));
        button->setProperty("tag", true);
        button->setAccessibleName(tag);
        button->setToolTip(QStringLiteral("<qt>%1<br>%2</qt>").arg(tr("Take this tag away"), tag.left(most_told).toHtmlEscaped()));
        connect(button, &QPushButton::clicked, this, [this, tag] { m_workspace.actions().removeTag({m_shownRun}, tag); });
        m_tags->layout()->addWidget(button);
    }
}

std::function<Inspector::RunAnswer(Store&)> Inspector::question() const {
    return [run = m_shownRun.toStdString(), folder = m_workspace.session()->folder()](Store& store) {
        return RunAnswer{run, readRunDetails(store, folder, run)};
    };
}

void Inspector::showDetails(const RunDetails& details) {
    m_details.clear();
    const auto fact = [&](const QString& name, const QString& value) { m_details.append({name, value}); };
    fact(tr("scores"), qs(details.best));
    if (details.cost.total_parameters) fact(tr("parameters"), countText(*details.cost.total_parameters));
    if (details.cost.active_parameters) fact(tr("active"), countText(*details.cost.active_parameters));
    if (details.cost.encode_latency_ms) fact(tr("encode"), QStringLiteral("%1 ms a text").arg(*details.cost.encode_latency_ms, 0, 'f', 1));
    if (details.cost.peak_memory_bytes) fact(tr("peak memory"), bytesText(*details.cost.peak_memory_bytes));
    if (details.settings.contains("model") && details.settings["model"].is_string())
        fact(tr("checkpoint"), qs(details.settings["model"].get<std::string>()));
    if (details.machine.is_object())
        for (const char* key : {"host", "processor", "torch"})
            if (details.machine.contains(key)) fact(QString::fromLatin1(key), valueText(details.machine[key]));
    for (const std::string& warning : details.warnings) fact(tr("warning"), qs(warning));
    m_settings->clear();
    fillTree(m_settings->invisibleRootItem(), details.settings);
    m_settings->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    filterSettings(m_search->text());
    if (m_workspace.current()) showState();
}

void Inspector::filterSettings(const QString& wanted) {
    for (int i = 0; i < m_settings->topLevelItemCount(); ++i) filterItem(m_settings->topLevelItem(i), wanted, false);
}

void Inspector::addTagClicked() {
    const QString tag = m_newTag->text().trimmed();
    if (tag.isEmpty() || m_shownRun.isEmpty()) return;
    m_workspace.actions().addTag({m_shownRun}, tag);
    m_newTag->clear();
}

void Inspector::keepNote() {
    if (m_shownRun.isEmpty() || !m_note->property("edited").toBool()) return;
    m_note->setProperty("edited", false);
    m_keptNote = m_note->toPlainText();
    m_workspace.actions().setNote({m_shownRun}, *m_keptNote);
}

QString Inspector::unkeptNote() const {
    const bool edited = !m_shownRun.isEmpty() && m_note->property("edited").toBool();
    return edited ? m_shownRun + QLatin1Char('\n') + m_note->toPlainText() : QString();
}

}  // namespace faceter::desktop
