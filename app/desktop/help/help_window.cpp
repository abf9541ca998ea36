#include "help/help_window.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QShortcut>
#include <QSplitter>
#include <QTextBlock>
#include <QVBoxLayout>

#include "experiment/machine.h"
#include "help/help_page.h"
#include "theme/theme.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int file_role = Qt::UserRole, heading_role = Qt::UserRole + 1;
const QString pages_chapter = QStringLiteral("workbench.md");

QListWidgetItem* itemOf(const QString& text, const QString& file, const QString& heading) {
    auto* item = new QListWidgetItem(text);
    item->setData(file_role, file);
    item->setData(heading_role, heading);
    return item;
}

}  // namespace

HelpWindow::HelpWindow(QWidget* parent)
    : QWidget(parent, Qt::Window), m_error(new ErrorBar), m_search(new QLineEdit), m_list(new QListWidget), m_page(new HelpPage) {
    setObjectName(QStringLiteral("helpWindow"));
    setWindowTitle(tr("Manual — Faceter"));
    setAttribute(Qt::WA_StyledBackground);
    resize(960, 680);
    m_search->setObjectName(QStringLiteral("helpSearch"));
    m_search->setPlaceholderText(tr("search the manual"));
    m_search->setAccessibleName(tr("Search the manual"));
    m_search->setClearButtonEnabled(true);
    m_list->setObjectName(QStringLiteral("helpList"));
    m_list->setAccessibleName(tr("Chapters and what was found"));
    m_list->setWordWrap(true);
    m_list->setSpacing(3);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_page->setObjectName(QStringLiteral("helpPage"));
    m_page->setAccessibleName(tr("Page of the manual"));
    m_page->setOpenLinks(false);
    m_page->setFrameShape(QFrame::NoFrame);
    m_page->document()->setDocumentMargin(24);
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(8, 8, 8, 8);
    column->addWidget(m_search);
    column->addWidget(m_list, 1);
    auto* splitter = new QSplitter;
    splitter->addWidget(left);
    splitter->addWidget(m_page);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({280, 680});
    splitter->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_error);
    layout->addWidget(splitter, 1);
    connect(m_search, &QLineEdit::textChanged, this, &HelpWindow::listHits);
    connect(m_search, &QLineEdit::returnPressed, this, &HelpWindow::openFirst);
    connect(m_list, &QListWidget::currentRowChanged, this, &HelpWindow::openItem);
    for (const auto chosen : {&QListWidget::itemClicked, &QListWidget::itemActivated})
        connect(m_list, chosen, this, [this](const QListWidgetItem* item) { openItem(m_list->row(item)); });
    connect(m_page, &QTextBrowser::anchorClicked, this, &HelpWindow::follow);
    connect(&Theme::instance(), &Theme::changed, this, &HelpWindow::markFound);
    connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, this, &HelpWindow::search);
}

void HelpWindow::readManual() {
    if (m_manual) return;
    try {
        const fs::path folder = shared_resource("resources/manual");
        m_manual = Manual::read(folder);
        m_folder = QString::fromStdString(folder.string());
        m_page->setFolder(m_folder);
        m_error->setMessage({});
        listChapters();
    } catch (const std::exception& error) {
        m_error->setMessage(QString::fromUtf8(error.what()));
    }
}

void HelpWindow::comeToFront() {
    readManual();
    show();
    raise();
    activateWindow();
}

void HelpWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return static_cast<void>(close());
    QWidget::keyPressEvent(event);
}

void HelpWindow::showContents() {
    comeToFront();
    if (!m_manual) return;
    m_search->clear();
    openFirst();
    m_list->setFocus();
}

void HelpWindow::showAbout(const QString& page) {
    comeToFront();
    if (!m_manual) return;
    m_search->clear();
    open(pages_chapter, page);
    m_page->setFocus();
}

void HelpWindow::search() {
    comeToFront();
    m_search->setFocus();
    m_search->selectAll();
}

void HelpWindow::listChapters() {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const ManualChapter& chapter : m_manual->chapters()) m_list->addItem(itemOf(chapter.title, chapter.file, {}));
}

void HelpWindow::listHits() {
    if (!m_manual) return;
    if (m_search->text().trimmed().isEmpty()) {
        listChapters();
    } else {
        const QSignalBlocker quiet(m_list);
        m_list->clear();
        for (const ManualHit& hit : m_manual->search(m_search->text())) {
            const QString place = hit.heading == hit.chapter ? hit.chapter : hit.chapter + QStringLiteral(" › ") + hit.heading;
            m_list->addItem(itemOf(place + QLatin1Char('\n') + hit.excerpt, hit.file, hit.heading));
        }
        if (m_list->count() == 0) m_list->addItem(itemOf(tr("Nothing in the manual holds all these words."), {}, {}));
    }
    markFound();
}

void HelpWindow::openItem(int row) {
    const QListWidgetItem* item = m_list->item(row);
    if (item && !item->data(file_role).toString().isEmpty()) open(item->data(file_role).toString(), item->data(heading_role).toString());
}

/// It may be chosen already, with another page open: a link leads away from it.
void HelpWindow::openFirst() {
    m_list->setCurrentRow(0);
    openItem(0);
}

/// Markdown brings no room between paragraphs and round headings.
void HelpWindow::spread() {
    constexpr int above_heading = 16, below = 8;
    QTextCursor cursor(m_page->document());
    for (QTextBlock block = m_page->document()->begin(); block.isValid(); block = block.next()) {
        QTextBlockFormat format = block.blockFormat();
        if (format.headingLevel() > 0) format.setTopMargin(above_heading);
        if (!format.hasProperty(QTextFormat::BlockCodeFence)) format.setBottomMargin(below);
        cursor.setPosition(block.position());
        cursor.setBlockFormat(format);
    }
}

void HelpWindow::open(const QString& file, const QString& heading) {
    const ManualChapter* chapter = m_manual->chapter(file);
    if (!chapter) return m_error->setMessage(tr("%1: the manual has no such chapter.").arg(file));
    m_error->setMessage({});
    if (std::exchange(m_file, file) != file) {
        m_page->showMarkdown(chapter->markdown);
        spread();
    }
    markFound();
    m_page->verticalScrollBar()->setValue(0);
    for (QTextBlock block = m_page->document()->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0 || block.text() != heading) continue;
        m_page->setTextCursor(QTextCursor(block));
        const QRectF place = m_page->document()->documentLayout()->blockBoundingRect(block);
        m_page->verticalScrollBar()->setValue(static_cast<int>(place.top()));
        break;
    }
}

/// Pages of the manual only: what lies beside them is named, and nothing is fetched.
void HelpWindow::follow(const QUrl& link) {
    if (link.isRelative() && m_manual->chapter(link.path())) return open(link.path());
    m_error->setMessage(tr("%1 is not a page of the manual; it lies in %2").arg(link.toString(), m_folder));
}

/// What was searched for, wherever it stands on the page.
void HelpWindow::markFound() {
    QList<QTextEdit::ExtraSelection> marks;
    for (const QString& word : m_search->text().simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts))
        for (QTextCursor found = m_page->document()->find(word, 0); !found.isNull(); found = m_page->document()->find(word, found)) {
            QTextEdit::ExtraSelection mark;
            mark.cursor = found;
            mark.format.setBackground(Theme::instance().colours().selection);
            marks.append(mark);
        }
    m_page->setExtraSelections(marks);
}

}  // namespace faceter::desktop
