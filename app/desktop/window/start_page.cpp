#include "window/start_page.h"

#include <QBoxLayout>
#include <QDir>
#include <QFormLayout>
#include <QPushButton>
#include <QResizeEvent>

#include "experiment/finding.h"
#include "experiment/machine.h"
#include "project/project_session.h"
#include "theme/theme.h"
#include "widgets/as_written.h"
#include "widgets/labels.h"
#include "widgets/scroll.h"
#include "widgets/texts.h"
#include "window/navigator.h"

namespace faceter::desktop {
namespace {

constexpr int two_columns = 720;

struct Report {
    QList<QPair<QString, QString>> facts;
    QStringList problems;
    QStringList setUp;  ///< words of the command that fetches what is missing; none: nothing is
};

const QString set_up_command = QStringLiteral("faceter setup");

QString listText(const Json& list) {
    QStringList texts;
    for (const Json& item : list)
        if (item.is_string()) texts << qs(item.get<std::string>());
    return texts.isEmpty() ? QStringLiteral("none") : texts.join(QStringLiteral(", "));
}

Report examineMachine() {
    const Catalogue catalogue = Catalogue::load(plugin_folders());
    const Json facts = examine_installation(catalogue);
    Report report;
    for (const DoctorFinding& finding : find_in_installation(catalogue))
        if (const QString command = qs(finding.command); command.startsWith(set_up_command))
            report.setUp = command.split(QLatin1Char(' ')).mid(1);
    report.facts = {{StartPage::tr("processor"),
                     qs(facts["processor"].get<std::string>()) + StartPage::tr(", %1 cores").arg(facts["cores"].get<int>())},
                    {StartPage::tr("memory"),
                     StartPage::tr("%1, %2 free").arg(bytesText(facts["memory_bytes"]), bytesText(facts["memory_available_bytes"]))},
                    {StartPage::tr("GPUs"), listText(facts["gpus"])},
                    {StartPage::tr("vector instructions"), listText(facts["vector_instructions"])},
                    {StartPage::tr("plugins"), listText(facts["plugins"])},
                    {StartPage::tr("version"), qs(facts["version"].get<std::string>())}};
    for (const Json& problem : facts["problems"]) report.problems << qs(problem.get<std::string>());
    return report;
}

QWidget* card(QWidget* parent, QVBoxLayout*& layout) {
    auto* frame = new QFrame(parent);
    frame->setProperty("card", true);
    layout = new QVBoxLayout(frame);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(8);
    return frame;
}

/// A project of before: its path is cut in the middle where there is no room for it, and is told whole where the pointer is.
class RecentButton : public QPushButton {
  public:
    explicit RecentButton(const QString& folder) : m_text(QDir(folder).dirName() + QStringLiteral("   ") + folder) {
        setFlat(true);
        setProperty("link", true);
        setAccessibleName(m_text);
        setToolTip(folder.toHtmlEscaped());
        setText(asWritten(m_text));
        setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);  // a button's own has its whole text for the least
    }
    QSize minimumSizeHint() const override { return {0, QPushButton::minimumSizeHint().height()}; }
    QSize sizeHint() const override {
        return {fontMetrics().horizontalAdvance(m_text) + rounding + beside_text, QPushButton::sizeHint().height()};
    }

  protected:
    void resizeEvent(QResizeEvent* event) override {
        QPushButton::resizeEvent(event);
        setText(asWritten(fontMetrics().elidedText(m_text, Qt::ElideMiddle, width() - beside_text)));
    }

  private:
    static constexpr int beside_text = 12, rounding = 1;  // an advance is rounded down as well, and what is wider by less is cut
    QString m_text;
};

}  // namespace

StartPage::StartPage(QWidget* parent)
    : QWidget(parent),
      m_columns(new QBoxLayout(QBoxLayout::LeftToRight)),
      m_recent(new QVBoxLayout),
      m_facts(new QFormLayout),
      m_problems(new QVBoxLayout) {
    setObjectName(QStringLiteral("startPage"));
    auto* body = new QWidget;
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(scrolled(body));
    auto* outer = new QVBoxLayout(body);
    outer->setContentsMargins(24, 24, 24, 24);
    outer->setSpacing(16);
    outer->addWidget(titleLabel(tr("Faceter")));
    QLabel* what = secondaryLabel(tr("Compose, run and compare experiments with task-specialised text embeddings."));
    what->setWordWrap(true);
    outer->addWidget(what);

    m_columns->setSpacing(16);
    outer->addLayout(m_columns);
    QVBoxLayout* begin = nullptr;
    m_columns->addWidget(card(body, begin), 1);
    begin->addWidget(headingLabel(tr("Begin")));
    auto* text = secondaryLabel(
        tr("The quick start trains a plain, an instruction-conditioned and a mixture-of-task-experts encoder on this machine's own "
           "package descriptions, in about ten minutes on two cores, and compares them."));
    text->setWordWrap(true);
    begin->addWidget(text);
    auto* quick = new QPushButton(tr("Quick start"));
    quick->setObjectName(QStringLiteral("quickStartButton"));
    quick->setProperty("primary", true);
    quick->setDefault(true);
    auto* data = new QPushButton(tr("New experiment from data…"));
    data->setObjectName(QStringLiteral("newFromDataButton"));
    data->setToolTip(tr("A table of your own texts, or a BEIR or MTEB folder: writes an experiment for it"));
    auto* open = new QPushButton(tr("Open a project folder…"));
    open->setObjectName(QStringLiteral("openProjectButton"));
    begin->addWidget(quick, 0, Qt::AlignLeft);
    begin->addWidget(data, 0, Qt::AlignLeft);
    begin->addWidget(open, 0, Qt::AlignLeft);
    auto* drop = secondaryLabel(tr("Or drop a table of texts, a project, a run folder or an experiment file anywhere in this window."));
    drop->setWordWrap(true);
    begin->addWidget(drop);
    begin->addSpacing(8);
    begin->addWidget(headingLabel(tr("Opened before")));
    m_recent->setSpacing(4);
    begin->addLayout(m_recent);
    begin->addStretch(1);

    QVBoxLayout* machine = nullptr;
    m_columns->addWidget(card(body, machine), 1);
    machine->addWidget(headingLabel(tr("What this machine can do")));
    m_facts->setHorizontalSpacing(16);
    m_facts->setVerticalSpacing(6);
    machine->addLayout(m_facts);
    machine->addLayout(m_problems);
    machine->addStretch(1);
    outer->addStretch(1);

    connect(quick, &QPushButton::clicked, this, &StartPage::quickStartChosen);
    connect(data, &QPushButton::clicked, this, &StartPage::dataChosen);
    connect(open, &QPushButton::clicked, this, &StartPage::openChosen);
    refresh();
    examine();
}

/// Side by side, or below each other where the window is narrow.
void StartPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_columns->setDirection(width() < two_columns ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

/// As they are remembered, until somebody who may wait has looked which of them are there.
void StartPage::refresh() {
    showRecent(recentProjects());
    existingFolders(recentProjects()).then(this, [this](const QStringList& folders) { showRecent(folders); });
}

void StartPage::showRecent(const QStringList& folders) {
    while (QLayoutItem* item = m_recent->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const QString& folder : folders) {
        auto* button = new RecentButton(folder);
        connect(button, &QPushButton::clicked, this, [this, folder] { Q_EMIT projectChosen(folder); });
        m_recent->addWidget(button, 0, Qt::AlignLeft);
    }
    if (folders.isEmpty()) m_recent->addWidget(secondaryLabel(tr("no project yet")));
}

void StartPage::examine() {
    ProjectSession::background(examineMachine)
        .then(this, [this](const Report& report) { showReport(report.facts, report.problems, report.setUp); })
        .onFailed([this](const std::exception& error) { showReport({}, {QString::fromUtf8(error.what())}, {}); });
}

void StartPage::showReport(const QList<QPair<QString, QString>>& facts, const QStringList& problems, const QStringList& setUp) {
    while (m_facts->rowCount() > 0) m_facts->removeRow(0);
    while (QLayoutItem* item = m_problems->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const auto& [name, value] : facts) {
        auto* label = plainLabel(value);
        label->setWordWrap(true);
        m_facts->addRow(secondaryLabel(name), label);
    }
    for (const QString& problem : problems) {
        auto* bar = new ErrorBar(this);  // shown without a parent, it would be a window of its own that takes the keyboard
        m_problems->addWidget(bar);
        bar->setMessage(problem);
    }
    if (!setUp.isEmpty()) {
        auto* button = new QPushButton(tr("Set up"));
        button->setObjectName(QStringLiteral("setUpButton"));
        button->setToolTip(tr("Fetches what is missing into your cache, as '%1' does; Activity shows how far it is")
                               .arg(QStringLiteral("faceter ") + setUp.join(QLatin1Char(' '))));
        connect(button, &QPushButton::clicked, this, [this, button, setUp] {
            button->setEnabled(false);
            Q_EMIT setUpChosen(setUp);
        });
        m_problems->addWidget(button, 0, Qt::AlignLeft);
    }
    if (problems.isEmpty()) m_problems->addWidget(secondaryLabel(tr("Nothing is missing.")));
}

}  // namespace faceter::desktop
