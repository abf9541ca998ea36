#include <QJsonDocument>
#include <QMessageBox>
#include <QPushButton>
#include <QSemaphore>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QTextCursor>
#include <QThreadPool>

#include "desktop/compose/fake_worker.h"
#include "pages/compose/compose_page.h"
#include "pages/compose/launch_bar.h"
#include "pages/compose/yaml_editor.h"
#include "pages/state_place.h"
#include "support/test.h"
#include "widgets/labels.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 20000;

/// A disk that answers nobody before it is let go: all that is done beside the interface waits, in the order in which it was asked.
class SlowDisk {
  public:
    SlowDisk() : m_threads(QThreadPool::globalInstance()->maxThreadCount()) {
        QThreadPool::globalInstance()->setMaxThreadCount(1);
        ProjectSession::background([gate = m_gate] {
            gate->acquire();
            return true;
        });
    }
    ~SlowDisk() {
        answer();
        QThreadPool::globalInstance()->setMaxThreadCount(m_threads);
    }
    void answer() { m_gate->release(); }

  private:
    int m_threads;
    std::shared_ptr<QSemaphore> m_gate = std::make_shared<QSemaphore>();
};

struct Fixture {
    TemporaryDirectory folder;
    Workspace workspace;
    ComposePage page{workspace};

    Fixture() {
        page.resize(1000, 700);
        page.show();
        page.activateWindow();
        static_cast<void>(QTest::qWaitForWindowActive(&page));
        static_cast<void>(QTest::qWaitFor([&] { return page.isReady(); }, patience_ms));
    }
    QString file(const char* name, const char* text) {
        write_file_atomic(folder.path() / name, text);
        return QString::fromStdString((folder.path() / name).string());
    }
    void type(const char* text) {
        auto* editor = page.findChild<YamlEditor*>(QStringLiteral("yamlEditor"));
        editor->moveCursor(QTextCursor::End);
        QTest::keyClicks(editor, QLatin1String(text));
        QTest::keyClick(editor, Qt::Key_Escape);
    }
    void save() { QTest::mouseClick(page.findChild<QPushButton*>(QStringLiteral("saveExperiment")), Qt::LeftButton); }
    void launch() { Q_EMIT page.findChild<LaunchBar*>()->launchAsked(); }
    QString error() { return page.findChild<ErrorBar*>(QString(), Qt::FindDirectChildrenOnly)->message(); }
    void answer(QMessageBox::StandardButton with) {
        auto* box = page.findChild<QMessageBox*>(QStringLiteral("unsavedDialog"));
        QVERIFY(box);
        QTest::mouseClick(box->button(with), Qt::LeftButton);
    }
};

}  // namespace

/// Opening and saving on a disk that takes its time.
class TestComposeFiles : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void initTestCase() { qputenv("FACETER_WORKER", write_fake_worker(folder_.path()).c_str()); }
    void init() { QSettings().clear(); }

    void what_is_opened_while_another_is_written_does_not_become_its_file() {
        Fixture f;
        const QString mine = f.file("mine.yaml", "name: mine\n");
        f.page.document().reset(QStringLiteral("name: mine\n"), mine);
        f.type("# more");
        SlowDisk disk;
        f.save();
        f.page.open({});
        f.answer(QMessageBox::Discard);
        QVERIFY(f.page.document().file().isEmpty());
        disk.answer();
        QTRY_COMPARE_WITH_TIMEOUT(read_file(mine.toStdString()), std::string("name: mine\n# more"), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(f.page.isReady(), patience_ms);
        QVERIFY2(f.page.document().file().isEmpty(), qPrintable(f.page.document().file()));
    }

    void a_file_that_is_gone_at_the_next_start_is_said_to_be() {
        Fixture f;
        const QString gone = QString::fromStdString((f.folder.path() / "gone.yaml").string());
        f.page.restore({{QStringLiteral("file"), gone}});
        const auto* error = f.page.findChild<ErrorBar*>(QString(), Qt::FindDirectChildrenOnly);
        QTRY_VERIFY_WITH_TIMEOUT(error->message().contains(gone), patience_ms);
    }

    void a_launch_that_waits_for_the_check_is_not_lost_by_saving() {
        Fixture f;
        f.page.document().reset(QStringLiteral("name: mine\n"), f.file("mine.yaml", "name: mine\n"));
        QTRY_VERIFY_WITH_TIMEOUT(f.page.isReady(), patience_ms);
        const QSignalSpy complained(&f.workspace, &Workspace::complained);
        SlowDisk disk;  // which writes before it checks
        f.type("# more");
        f.launch();
        f.save();
        disk.answer();
        QTRY_VERIFY2_WITH_TIMEOUT(f.error().contains(QStringLiteral("was not started: it has problems")), qPrintable(f.error()),
                                  patience_ms);
        QVERIFY(!f.page.document().text().isModified());
        QCOMPARE(complained.count(), 0);
    }

    void a_launch_of_a_text_that_changes_before_it_is_checked_is_said_to_be_off() {
        Fixture f;
        f.page.document().reset(QStringLiteral("name: mine\n"), f.file("mine.yaml", "name: mine\n"));
        QTRY_VERIFY_WITH_TIMEOUT(f.page.isReady(), patience_ms);
        const QSignalSpy complained(&f.workspace, &Workspace::complained);
        f.type("# more");
        f.launch();
        f.type(" words");
        QTRY_COMPARE_WITH_TIMEOUT(complained.count(), 1, patience_ms);
        const QString said = complained.first().first().toString();
        QVERIFY2(said.startsWith(QStringLiteral("Not started")), qPrintable(said));
        QCOMPARE(f.error(), QString());
    }

    void what_was_saved_last_is_what_stays() {
        Fixture f;
        const QString mine = f.file("mine.yaml", "name: mine\n");
        f.page.document().reset(QStringLiteral("name: mine\n"), mine);
        {
            SlowDisk disk;
            f.type("# one");
            f.save();
            f.type(" two");
            f.save();
            disk.answer();
        }
        QTRY_VERIFY_WITH_TIMEOUT(!f.page.document().text().isModified(), patience_ms);
        QCOMPARE(read_file(mine.toStdString()), std::string("name: mine\n# one two"));
    }

    void a_window_that_is_closed_while_texts_are_written_closes_when_they_are() {
        Fixture f;
        const QString mine = f.file("mine.yaml", "name: mine\n"), other = f.file("other.yaml", "name: other\n");
        f.page.document().reset(QStringLiteral("name: mine\n"), mine);
        {
            SlowDisk disk;
            f.save();
            f.page.document().reset(QStringLiteral("name: changed\n"), other);
            f.save();
            QVERIFY(!f.page.close());
            QVERIFY(f.page.isVisible());
            disk.answer();
        }
        QTRY_VERIFY_WITH_TIMEOUT(!f.page.isVisible(), patience_ms);
        QCOMPARE(read_file(other.toStdString()), std::string("name: changed\n"));
        QVERIFY(!f.page.document().text().isModified());
    }

    void a_window_that_is_closed_stays_where_its_text_could_not_be_written() {
        Fixture f;
        QString said;
        QObject::connect(&f.workspace, &Workspace::complained, &f.page, [&](const QString& message) { said = message; });
        f.page.document().reset(QStringLiteral("name: mine\n"), f.file("mine.yaml", "name: mine\n") + QStringLiteral("/within.yaml"), true);
        {
            SlowDisk disk;
            f.save();
            QVERIFY(!f.page.close());
            disk.answer();
        }
        QTRY_VERIFY2_WITH_TIMEOUT(said.contains(QStringLiteral("mine.yaml")), qPrintable(said), patience_ms);
        QCoreApplication::processEvents();
        QVERIFY(f.page.isVisible());
        QVERIFY(f.page.document().text().isModified());
        QVERIFY(f.page.close());
    }

    void what_is_typed_while_it_is_written_before_another_is_opened_is_asked_about() {
        Fixture f;
        const QString mine = f.file("mine.yaml", "name: mine\n"), other = f.file("other.yaml", "name: other\n");
        f.page.document().reset(QStringLiteral("name: mine\n"), mine);
        f.type("# one");
        {
            SlowDisk disk;
            f.page.open(other);
            f.answer(QMessageBox::Save);
            f.type(" two");
            disk.answer();
        }
        const auto asked = [&] {
            const auto boxes = f.page.findChildren<QMessageBox*>(QStringLiteral("unsavedDialog"));
            return boxes.size() == 1 && boxes.first()->isVisible();  // the first one is gone
        };
        QTRY_VERIFY_WITH_TIMEOUT(asked(), patience_ms);
        QCOMPARE(read_file(mine.toStdString()), std::string("name: mine\n# one"));
        QCOMPARE(f.page.document().plainText(), QStringLiteral("name: mine\n# one two"));
        f.answer(QMessageBox::Discard);
        QTRY_COMPARE_WITH_TIMEOUT(f.page.document().plainText(), QStringLiteral("name: other\n"), patience_ms);
    }

    void what_is_typed_while_a_file_is_read_is_asked_about() {
        Fixture f;
        const QString other = f.file("other.yaml", "name: other\n");
        f.page.document().reset(QStringLiteral("name: mine\n"), {});
        {
            SlowDisk disk;
            f.page.open(other);
            f.type("# typed");
            disk.answer();
        }
        QTRY_VERIFY_WITH_TIMEOUT(f.page.findChild<QMessageBox*>(QStringLiteral("unsavedDialog")), patience_ms);
        QCOMPARE(f.page.document().plainText(), QStringLiteral("name: mine\n# typed"));
        f.answer(QMessageBox::Discard);
        QTRY_COMPARE_WITH_TIMEOUT(f.page.document().plainText(), QStringLiteral("name: other\n"), patience_ms);
    }

    void every_character_of_a_file_is_saved_as_it_was() {
        Fixture f;
        const std::string held = "name: mine  # no-break\xc2\xa0space, line\xe2\x80\xa8separator\n";
        const QString mine = f.file("mine.yaml", held.c_str());
        f.page.open(mine);
        QTRY_COMPARE_WITH_TIMEOUT(f.page.document().file(), mine, patience_ms);
        QCOMPARE(f.page.document().bytes(), held);
        f.type("# more");
        f.save();
        QTRY_VERIFY_WITH_TIMEOUT(!f.page.document().text().isModified(), patience_ms);
        QCOMPARE(read_file(mine.toStdString()), held + "# more");
    }

    void a_file_that_is_no_utf_8_is_refused_and_not_reloaded() {
        Fixture f;
        const QString latin = f.file("latin.yaml", "name: caf\xe9\n"), mine = f.file("mine.yaml", "name: mine\n");
        f.page.open(mine);
        QTRY_COMPARE_WITH_TIMEOUT(f.page.document().file(), mine, patience_ms);
        f.page.open(latin);
        QTRY_VERIFY2_WITH_TIMEOUT(f.error().contains(QStringLiteral("latin.yaml: is not UTF-8 text")), qPrintable(f.error()), patience_ms);
        QCOMPARE(f.page.document().plainText(), QStringLiteral("name: mine\n"));
        f.file("mine.yaml", "name: caf\xe9\n");
        QTRY_VERIFY_WITH_TIMEOUT(f.page.findChild<QWidget*>(QStringLiteral("diskNotice"))->isVisible(), patience_ms);
        QVERIFY(!f.page.findChild<QPushButton*>(QStringLiteral("reloadFromDisk"))->isVisible());
    }

    void what_has_been_saved_is_no_draft_after_a_crash() {
        Fixture f;
        f.page.document().reset(QStringLiteral("name: mine\n"), f.file("mine.yaml", "name: mine\n"));
        const auto kept = [] {
            return QJsonDocument::fromJson(QSettings().value(StatePlace::own().key(QStringLiteral("compose"))).toByteArray()).object();
        };
        f.type("# more");
        QTRY_VERIFY_WITH_TIMEOUT(kept().contains(QStringLiteral("draft")), patience_ms);
        f.save();
        QTRY_VERIFY_WITH_TIMEOUT(!f.page.document().text().isModified(), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(!kept().contains(QStringLiteral("draft")), patience_ms);
        QVERIFY(kept().contains(QStringLiteral("file")));
    }

    void of_two_files_that_are_opened_the_last_one_is_shown() {
        Fixture f;
        const QString first = f.file("first.yaml", "name: first\n"), second = f.file("second.yaml", "name: second\n");
        f.page.document().reset(QStringLiteral("name: mine\n"), {});
        {
            SlowDisk disk;
            f.page.open(first);
            f.page.open(second);
            disk.answer();
        }
        QTRY_VERIFY_WITH_TIMEOUT(f.page.isReady(), patience_ms);
        QCOMPARE(f.page.document().file(), second);
        f.page.open(first);
        f.page.open({});
        QTRY_VERIFY_WITH_TIMEOUT(f.page.isReady(), patience_ms);
        QVERIFY(f.page.document().file().isEmpty());
    }
};

FACETER_TEST(TestComposeFiles)
#include "test_compose_files.moc"
