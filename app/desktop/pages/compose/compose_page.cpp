#include "pages/compose/compose_page.h"

#include <QDir>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QListView>
#include <QPushButton>
#include <QSettings>
#include <QShortcut>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "pages/compose/disk_notice.h"
#include "pages/compose/estimate_panel.h"
#include "pages/compose/form_panel.h"
#include "pages/compose/launch_bar.h"
#include "pages/compose/preview_panel.h"
#include "pages/compose/problem_list.h"
#include "pages/compose/run_list.h"
#include "pages/compose/run_list_model.h"
#include "pages/compose/template_text.h"
#include "pages/compose/yaml_editor.h"
#include "pages/state_place.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "workspace/data_source.h"

namespace faceter::desktop {
namespace {

constexpr int draft_ms = 2000, narrowest_name = 120, filled_panel = 260;

const PageRegistration registration{
    {QStringLiteral("compose"), QStringLiteral("Compose"), 1, false, [](Workspace& workspace) { return new ComposePage(workspace); }}};

/// Examples and an estimate need more than the lines of a short list: up to half of what there is, unless somebody chose the heights.
void giveRoom(QSplitter& splitter) {
    const QList<int> sizes = splitter.sizes();
    const int all = sizes.value(0) + sizes.value(1), wanted = std::min(filled_panel, all / 2);
    if (!splitter.property("chosen").toBool() && sizes.value(1) < wanted) splitter.setSizes({all - wanted, wanted});
}

}  // namespace

ComposePage::ComposePage(Workspace& workspace, QWidget* parent)
    : Page(workspace, parent),
      m_document(this),
      m_name(new ElidedLabel({}, Qt::ElideMiddle)),
      m_error(new ErrorBar),
      m_disk(new DiskNotice(m_document)),
      m_form(new FormPanel(m_document)),
      m_editor(new YamlEditor(m_document)),
      m_centre(new QSplitter(Qt::Horizontal)),
      m_vertical(new QSplitter(Qt::Vertical)),
      m_tabs(new QTabWidget),
      m_problems(new QListView),
      m_problemModel(new ProblemModel(this)),
      m_runModel(new RunListModel(this)),
      m_runs(new RunList(*m_runModel)),
      m_preview(new PreviewPanel(m_document)),
      m_estimate(new EstimatePanel(m_document, *m_runModel)),
      m_launch(new LaunchBar(m_document, *m_runModel)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 12, 16, 12);
    layout->setSpacing(8);
    layout->addWidget(buildHeader());
    layout->addWidget(m_error);
    layout->addWidget(m_disk);
    for (QSplitter* splitter : {m_vertical, m_centre}) {
        splitter->setHandleWidth(9);
        splitter->setStyleSheet(QStringLiteral("QSplitter::handle { background: transparent; }"));
    }
    m_vertical->addWidget(buildCentre());
    m_vertical->addWidget(buildPanels());
    m_vertical->setStretchFactor(0, 3);
    m_vertical->setStretchFactor(1, 1);
    m_vertical->setSizes({360, 150});
    m_vertical->setChildrenCollapsible(false);
    layout->addWidget(m_vertical, 1);
    layout->addWidget(m_launch);
    buildShortcuts();
    m_draft.setSingleShot(true);
    m_draft.setInterval(draft_ms);
    connect(&m_draft, &QTimer::timeout, this, &ComposePage::keepDraft);
    connect(&m_document.text(), &QTextDocument::contentsChanged, &m_draft, qOverload<>(&QTimer::start));
    connect(&m_document.text(), &QTextDocument::modificationChanged, &m_draft, qOverload<>(&QTimer::start));  // saved: there is none
    connect(&m_document.text(), &QTextDocument::modificationChanged, this, &ComposePage::showFile);
    connect(&m_document, &ExperimentDocument::fileChanged, this, &ComposePage::showFile);
    connect(&m_document, &ExperimentDocument::checked, this, &ComposePage::takeReport);
    connect(m_runModel, &RunListModel::ticksChanged, this, &ComposePage::showTicks);
    connect(m_launch, &LaunchBar::launchAsked, this, &ComposePage::launch);
    connect(m_launch, &LaunchBar::failed, m_error, &ErrorBar::setMessage);
    connect(&workspace.actions(), &RunActions::pendingChanged, this, [this] {
        const RunActions& actions = this->workspace().actions();
        m_launch->setLaunching(actions.isLaunching() ? actions.pending().value(0) : QString());
    });
    connect(&workspace, &Workspace::composeRequested, this, &ComposePage::open);
    connect(&workspace, &Workspace::projectChanged, this, &ComposePage::lookAround);
    connect(&workspace, &Workspace::storeProblem, this, &ComposePage::showFolderProblem);
    m_document.reset(QString::fromUtf8(template_text), {});
    lookAround();
}

/// The views go before the document that they show.
ComposePage::~ComposePage() {
    delete m_disk;
    delete m_vertical;
    delete m_launch;
}

void ComposePage::shown() {
    lookAround();
    m_editor->setFocus(Qt::OtherFocusReason);  // the first that Tab leads to is a button that puts another text in its place
}

void ComposePage::showFolderProblem() {
    ProjectSession* session = workspace().session();
    m_launch->setProblem(session ? session->folderProblem() : QString());
}

void ComposePage::lookAround() {
    ProjectSession* session = workspace().session();
    const QString folder = session ? QString::fromStdString(session->folder().string()) : QString();
    m_launch->setProject(session ? QDir(folder).dirName() : QString());
    showFolderProblem();
    if (session) m_document.setBaseFolder(session->folder());
    m_disk->look();
    m_launch->lookForProfiles();
}

QWidget* ComposePage::buildHeader() {
    auto* header = new QWidget;
    auto* layout = new FlowLayout(header, 6);
    layout->addWidget(titleLabel(tr("Compose")));
    m_name->setObjectName(QStringLiteral("experimentFile"));
    m_name->setProperty("role", QStringLiteral("secondary"));
    m_name->setMinimumWidth(narrowest_name);
    layout->addStretched(m_name);
    const auto add = [&](const QString& text, const QString& name, const QString& hint, auto action) {
        auto* button = new QPushButton(text);
        button->setObjectName(name);
        button->setProperty("role", QStringLiteral("quiet"));
        button->setToolTip(hint);
        connect(button, &QPushButton::clicked, this, action);
        layout->addWidget(button);
        return button;
    };
    QPushButton* undo = add(QStringLiteral("↶"), QStringLiteral("undo"), tr("Undo (Ctrl+Z)"), [this] { m_document.text().undo(); });
    QPushButton* redo = add(QStringLiteral("↷"), QStringLiteral("redo"), tr("Redo (Ctrl+Shift+Z)"), [this] { m_document.text().redo(); });
    undo->setAccessibleName(tr("Undo"));
    redo->setAccessibleName(tr("Redo"));
    undo->setEnabled(false);
    redo->setEnabled(false);
    connect(&m_document.text(), &QTextDocument::undoAvailable, undo, &QPushButton::setEnabled);
    connect(&m_document.text(), &QTextDocument::redoAvailable, redo, &QPushButton::setEnabled);
    QPushButton* data = add(tr("Data sets"), QStringLiteral("lookAtData"),
                            tr("Cards, examples, lengths, duplicates and overlap of its data"), [this] { lookAtData(); });
    data->setEnabled(false);
    connect(&m_document, &ExperimentDocument::checked, data, [this, data] { data->setEnabled(m_document.report().experiment != nullptr); });
    add(tr("New"), QStringLiteral("newExperiment"), tr("Ctrl+N"), [this] { open({}); });
    add(tr("Open…"), QStringLiteral("openExperiment"), tr("Ctrl+O"), [this] { chooseAndOpen(); });
    add(tr("Save"), QStringLiteral("saveExperiment"), tr("Ctrl+S"), [this] { save(); });
    add(tr("Save as…"), QStringLiteral("saveExperimentAs"), tr("Ctrl+Shift+S"), [this] { saveAs(); });
    return header;
}

void ComposePage::lookAtData() {
    const auto experiment = m_document.report().experiment;
    if (!experiment || experiment->runs().empty()) return;
    // the last one: the first is the start model, without instructions
    DataSources::of(workspace()).show({tr("Compose: %1").arg(m_name->fullText()), experiment->runs().back().settings, nullptr});
}

QWidget* ComposePage::buildCentre() {
    m_centre->addWidget(m_form);
    m_centre->addWidget(m_editor);
    m_centre->setStretchFactor(0, 1);
    m_centre->setStretchFactor(1, 1);
    m_centre->setSizes({390, 410});
    m_centre->setChildrenCollapsible(false);
    m_form->setMinimumWidth(236);  // both beside each other in a window of 640 px
    m_editor->setMinimumWidth(140);
    return m_centre;
}

QWidget* ComposePage::buildPanels() {
    m_tabs->setObjectName(QStringLiteral("composePanels"));
    m_tabs->setDocumentMode(true);
    m_problems->setObjectName(QStringLiteral("problems"));
    m_problems->setAccessibleName(tr("Problems"));
    m_problems->setModel(m_problemModel);
    m_problems->setUniformItemSizes(true);
    m_problems->setTextElideMode(Qt::ElideRight);
    connect(m_problems, &QListView::clicked, this, [this](const QModelIndex& index) { jumpTo(index.row()); });
    connect(m_problems, &QListView::activated, this, [this](const QModelIndex& index) { jumpTo(index.row()); });
    m_tabs->addTab(m_runs, tr("Runs"));
    m_tabs->addTab(m_problems, tr("Problems"));
    m_tabs->addTab(m_preview, tr("Examples"));
    m_tabs->addTab(m_estimate, tr("Estimate"));
    m_tabs->setMinimumHeight(110);
    connect(m_vertical, &QSplitter::splitterMoved, this, [this] { m_vertical->setProperty("chosen", true); });
    connect(m_tabs, &QTabWidget::currentChanged, this, &ComposePage::giveRoomToPanel);
    m_tabs->tabBar()->installEventFilter(this);
    return m_tabs;
}

/// Not while the pointer is on the tabs, which would move away below it.
void ComposePage::giveRoomToPanel() {
    const QWidget* shown = m_tabs->currentWidget();
    if ((shown == m_preview || shown == m_estimate) && !m_tabs->tabBar()->underMouse()) giveRoom(*m_vertical);
}

bool ComposePage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_tabs->tabBar() && event->type() == QEvent::Leave)
        QMetaObject::invokeMethod(this, &ComposePage::giveRoomToPanel, Qt::QueuedConnection);
    return Page::eventFilter(watched, event);
}

void ComposePage::buildShortcuts() {
    const auto add = [this](const QKeySequence& keys, auto action) {
        auto* shortcut = new QShortcut(keys, this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, action);
    };
    add(QKeySequence::Save, [this] { save(); });
    add(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S), [this] { saveAs(); });
}

bool ComposePage::isReady() const {
    return m_loading == 0 && m_document.isChecked() && m_form->isBuilt() && !m_preview->isBusy() && !m_estimate->isBusy();
}

void ComposePage::takeReport() {
    const CheckReport& report = m_document.report();
    m_problemModel->setProblems(report.problems);
    const int problems = static_cast<int>(report.problems.size());
    m_tabs->setTabText(1, problems ? tr("Problems (%1)").arg(problems) : tr("Problems"));
    if (report.experiment) m_runModel->setExperiment(report.experiment);
    m_runs->fit();
    // What is wrong comes to the front once; a panel that the user chose is left alone.
    if (problems > 0 && m_tabs->currentIndex() == 0) m_tabs->setCurrentIndex(1);
    if (problems == 0 && m_tabs->currentIndex() == 1) m_tabs->setCurrentIndex(0);
    const int asked = std::exchange(m_launchRevision, 0);
    if (asked == m_document.revision()) return launchChecked();
    if (asked != 0) workspace().complain(tr("Not started: the experiment has changed since. Launch again."));
}

void ComposePage::showTicks() {
    const int runs = m_runModel->rowCount(), ticked = static_cast<int>(m_runModel->ticked().size());
    m_tabs->setTabText(0, runs == 0 ? tr("Runs") : ticked < runs ? tr("Runs (%1 of %2)").arg(ticked).arg(runs) : tr("Runs (%1)").arg(runs));
}

void ComposePage::showFile() {
    const QString name = m_document.file().isEmpty() ? tr("new experiment") : QDir::toNativeSeparators(m_document.file());
    m_name->setFullText(name + (m_document.text().isModified() ? tr(" · edited") : QString()));
}

void ComposePage::jumpTo(int row) {
    if (row < 0 || row >= m_problemModel->rowCount()) return;
    const Problem problem = m_problemModel->problem(row);
    if (!problem.path.empty()) m_form->reveal(problem.path, false);
    if (problem.line > 0) m_editor->goTo(problem.line, problem.column);
}

QJsonObject ComposePage::state() const {
    QJsonObject state{{QStringLiteral("file"), m_document.file()},
                      {QStringLiteral("open"), QJsonArray::fromStringList(m_form->openGroups())},
                      {QStringLiteral("centre"), QString::fromLatin1(m_centre->saveState().toBase64())},
                      {QStringLiteral("vertical"), QString::fromLatin1(m_vertical->saveState().toBase64())},
                      {QStringLiteral("heightsChosen"), m_vertical->property("chosen").toBool()}};
    if (const QString profile = m_launch->place().profile; !profile.isEmpty()) state[QStringLiteral("profile")] = profile;
    if (!m_document.text().isModified()) return state;
    state[QStringLiteral("draft")] = m_document.plainText();
    state[QStringLiteral("based_on")] = m_disk->known();
    return state;
}

void ComposePage::restore(const QJsonObject& state) {
    if (state.isEmpty()) return;
    m_centre->restoreState(QByteArray::fromBase64(state[QStringLiteral("centre")].toString().toLatin1()));
    m_vertical->restoreState(QByteArray::fromBase64(state[QStringLiteral("vertical")].toString().toLatin1()));
    m_vertical->setProperty("chosen", state[QStringLiteral("heightsChosen")].toBool());
    QStringList open;
    for (const QJsonValue& name : state[QStringLiteral("open")].toArray()) open << name.toString();
    if (!open.isEmpty()) m_form->setOpenGroups(open);
    m_launch->setProfile(state[QStringLiteral("profile")].toString());
    const QString file = state[QStringLiteral("file")].toString();
    if (state.contains(QStringLiteral("draft"))) {
        m_document.reset(state[QStringLiteral("draft")].toString(), file, true);
        m_disk->setKnown(state[QStringLiteral("based_on")].toString());
    } else if (!file.isEmpty()) {
        load(file);  // where it is gone, that is said
    }
}

/// A draft survives a crash as well, not only closing the window.
void ComposePage::keepDraft() {
    QSettings().setValue(StatePlace::own().key(QStringLiteral("compose")), QJsonDocument(state()).toJson(QJsonDocument::Compact));
}

}  // namespace faceter::desktop
