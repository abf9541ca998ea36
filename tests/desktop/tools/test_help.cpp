#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QScrollBar>
#include <QSettings>
#include <QTextBlock>
#include <QTextBrowser>

#include "desktop/support/sample_project.h"
#include "help/help_window.h"
#include "pages/page.h"
#include "support/checkout.h"
#include "support/test.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

const fs::path manual_folder = fs::path(FACETER_SOURCE_DIR) / "resources/manual";

/// Text of the first line that can be seen.
QString topLine(QTextBrowser* page) { return page->cursorForPosition(QPoint(40, 40)).block().text(); }

}  // namespace

class TestHelp : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void every_chapter_that_the_contents_list_is_there_with_a_title() {
        const Manual manual = Manual::read(manual_folder);
        std::size_t files = 0;
        for (const auto& entry : fs::directory_iterator(manual_folder)) files += entry.path().extension() == ".md";
        QCOMPARE(manual.chapters().size(), files);
        for (const ManualChapter& chapter : manual.chapters()) QVERIFY2(chapter.title != chapter.file, qPrintable(chapter.file));
    }

    void every_page_of_the_workbench_has_a_section_in_the_manual() {
        const Manual manual = Manual::read(manual_folder);
        const ManualChapter* chapter = manual.chapter("workbench.md");
        QVERIFY(chapter);
        for (const PageEntry& entry : pageEntries()) {
            const bool described = std::any_of(chapter->sections.begin(), chapter->sections.end(),
                                               [&](const ManualSection& section) { return section.heading == entry.title; });
            QVERIFY2(described, qPrintable(entry.title));
        }
    }

    void a_search_finds_sections_that_hold_all_words_and_headings_come_first() {
        const Manual manual = Manual::read(manual_folder);
        const auto hits = manual.search("three CHANCE");
        QVERIFY(!hits.empty());
        QCOMPARE(hits.front().file, QString("comparing.md"));
        QCOMPARE(hits.front().heading, QString("Three kinds of chance"));
        QVERIFY(manual.search("notawordatall chance").empty());
        QVERIFY(manual.search("  ").empty());
        for (const ManualHit& hit : manual.search("holm"))
            QVERIFY2(hit.excerpt.contains("holm", Qt::CaseInsensitive), qPrintable(hit.excerpt));
    }

    void a_line_of_shell_that_begins_with_a_hash_is_no_heading() {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "README.md", "# Title\n- [One](one.md)\n");
        write_file_atomic(folder.path() / "one.md", "# One\n```sh\n# a remark\n```\n## Two\ntext\n");
        const Manual manual = Manual::read(folder.path());
        QCOMPARE(manual.chapter("one.md")->sections.size(), std::size_t(2));
        QVERIFY(!manual.chapter("two.md"));
    }

    void f1_opens_the_contents_and_a_search_by_keyboard_opens_what_it_finds() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QTest::keyClick(&window, Qt::Key_F1);
        auto* help = window.findChild<QWidget*>("helpWindow");
        QVERIFY(help && help->isVisible());
        auto* page = help->findChild<QTextBrowser*>("helpPage");
        QCOMPARE(page->document()->begin().text(), QString("The manual"));
        auto* search = help->findChild<QLineEdit*>("helpSearch");
        QTest::keyClicks(search, "pilots gate\r");
        const auto* list = help->findChild<QListWidget*>("helpList");
        QVERIFY(list->count() > 0);
        QCOMPARE(list->currentRow(), 0);
        QVERIFY(page->toPlainText().contains("pilot"));
        QVERIFY(!page->extraSelections().isEmpty());
        static_cast<void>(QTest::qWaitForWindowActive(help));
        QTest::keyClick(search, Qt::Key_Escape);
        QVERIFY(!help->isVisible());
    }

    void f1_and_the_chosen_chapter_lead_back_from_a_link() {
        HelpWindow help;
        help.showContents();
        auto* page = help.findChild<QTextBrowser*>("helpPage");
        auto* list = help.findChild<QListWidget*>("helpList");
        const QString contents = page->document()->begin().text();
        Q_EMIT page->anchorClicked(QUrl("comparing.md"));
        QVERIFY(page->document()->begin().text() != contents);
        help.showContents();
        QCOMPARE(page->document()->begin().text(), contents);
        Q_EMIT page->anchorClicked(QUrl("comparing.md"));
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
        QCOMPARE(page->document()->begin().text(), contents);
    }

    void words_that_the_manual_lacks_are_said_to_be_missing() {
        HelpWindow help;
        help.showContents();
        QTest::keyClicks(help.findChild<QLineEdit*>("helpSearch"), "notawordatall");
        const auto* list = help.findChild<QListWidget*>("helpList");
        QCOMPARE(list->count(), 1);
        QVERIFY(list->item(0)->text().startsWith("Nothing in the manual"));
    }

    void a_link_leads_to_its_chapter_and_nothing_is_fetched() {
        HelpWindow help;
        help.showContents();
        auto* page = help.findChild<QTextBrowser*>("helpPage");
        Q_EMIT page->anchorClicked(QUrl("comparing.md"));
        QVERIFY(page->document()->begin().text().startsWith("Comparing"));
        Q_EMIT page->anchorClicked(QUrl("https://example.org/x"));
        QVERIFY(page->document()->begin().text().startsWith("Comparing"));
        QVERIFY(help.findChild<QWidget*>("errorBar")->isVisible());
    }

    void every_picture_is_shown_and_none_is_wider_than_the_page() {
        HelpWindow help;
        help.showContents();
        auto* page = help.findChild<QTextBrowser*>("helpPage");
        int pictures = 0;
        const auto look = [&](const QString& chapter) {
            for (QTextBlock block = page->document()->begin(); block.isValid(); block = block.next())
                for (auto part = block.begin(); !part.atEnd(); ++part) {
                    const QTextImageFormat format = part.fragment().charFormat().toImageFormat();
                    if (!format.isValid()) continue;
                    const auto shown = page->document()->resource(QTextDocument::ImageResource, QUrl(format.name())).value<QPixmap>();
                    QVERIFY2(!shown.isNull(), qPrintable(chapter + ": " + format.name()));
                    QVERIFY2(shown.deviceIndependentSize().width() <= page->viewport()->width(), qPrintable(format.name()));
                    ++pictures;
                }
        };
        const Manual manual = Manual::read(manual_folder);
        for (const ManualChapter& chapter : manual.chapters()) {
            if (!chapter.markdown.contains("](pictures/")) continue;
            help.resize(1200, 700);
            Q_EMIT page->anchorClicked(QUrl(chapter.file));
            look(chapter.file);
            help.resize(560, 700);
            look(chapter.file);
        }
        QVERIFY(pictures >= 20);
    }

    void a_picture_from_elsewhere_is_not_shown() {
        HelpWindow help;
        help.showContents();
        auto* page = help.findChild<QTextBrowser*>("helpPage");
        for (const char* name : {"../../README.md", "/etc/hostname", "https://example.org/x.png", "pictures/../../screenshots/runs.png"}) {
            const QVariant shown = page->document()->resource(QTextDocument::ImageResource, QUrl(name));
            QVERIFY2(shown.value<QPixmap>().isNull() && shown.toByteArray().isEmpty(), name);
        }
    }

    void shift_f1_opens_the_section_of_the_page_in_front() {
        const TemporaryDirectory folder;
        make_directories(folder.path() / "runs");
        make_sample_project(folder.path(), 2);
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        window.openPath(QString::fromStdString(folder.path().string()));
        QVERIFY(window.goTo("router"));
        QTest::keyClick(&window, Qt::Key_F1, Qt::ShiftModifier);
        auto* page = window.findChild<QTextBrowser*>("helpPage");
        QVERIFY(page && page->isVisible());
        QCOMPARE(page->textCursor().block().text(), QString("Router"));
        QVERIFY(page->verticalScrollBar()->value() > 0);
        QVERIFY(!topLine(page).isEmpty());
    }
};

FACETER_TEST(TestHelp)
#include "test_help.moc"
