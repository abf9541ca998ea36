#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTest>

#include "jobs/live_line.h"
#include "pages/data/data_page.h"
#include "support/checkout.h"
#include "support/test.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "window/activity.h"
#include "worker/worker_client.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

/// What page Data asks of a worker that takes its time.
class TestDataAsks : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path worker_;
    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<DataPage> page_;

    template <typename Widget>
    Widget* find(const char* name) const {
        return page_->findChild<Widget*>(QString::fromLatin1(name));
    }
    void openTab(DataPage::Part part) const {
        auto* bar = find<QTabWidget>("dataTabs")->tabBar();
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(static_cast<int>(part)).center());
    }
    int rows(const char* name) const { return find<DataTable>(name)->model()->rowCount(); }
    bool isCancelledInWorker() const {
        return QTest::qWaitFor([&] { return fs::exists(worker_.string() + ".log"); }, 20000);
    }

  private Q_SLOTS:
    void init() {
        worker_ = folder_.path() / "waiting-worker";
        fs::copy_file(fs::path(FACETER_SOURCE_DIR) / "tests/desktop/data/waiting_worker.sh", worker_, fs::copy_options::overwrite_existing);
        fs::permissions(worker_, fs::perms::owner_all);
        fs::remove(worker_.string() + ".log");
        qputenv("FACETER_WORKER", worker_.c_str());
        delete &WorkerClient::shared();  // the one of the test before
        workspace_ = std::make_unique<Workspace>();
        page_ = std::make_unique<DataPage>(*workspace_);
        page_->resize(1000, 700);
        page_->show();
        Json settings = {{"evaluation", {{"datasets", Json::array()}}}};
        settings["tasks"]["retrieval"] = {{"type", "retrieval"}, {"train", Json::array({{{"name", "pairs"}, {"path", "/pairs.jsonl"}}})}};
        DataSources::of(*workspace_).show({QStringLiteral("Compose: mine"), settings, nullptr});
        QTRY_VERIFY(page_->isReady() && rows("dataCard") > 0);
    }
    void cleanup() {
        page_.reset();
        workspace_.reset();
        qunsetenv("FACETER_WORKER");
    }

    void pages_cannot_be_turned_while_a_search_runs() {
        openTab(DataPage::Part::examples);
        auto *on = find<QPushButton>("dataOn"), *back = find<QPushButton>("dataBack");
        QTRY_VERIFY(page_->isReady() && on->isEnabled() && !back->isEnabled());
        QTest::mouseClick(on, Qt::LeftButton);
        QTRY_VERIFY(page_->isReady() && back->isEnabled());
        QTest::keyClicks(find<QLineEdit>("dataSearch"), QStringLiteral("word"));
        QTest::keyClick(find<QLineEdit>("dataSearch"), Qt::Key_Return);
        QVERIFY(!page_->isReady());
        QVERIFY(!on->isEnabled() && !back->isEnabled());  // nobody knows yet what is found
        QTest::mouseClick(find<QPushButton>("dataCancel"), Qt::LeftButton);
        QVERIFY(page_->isReady() && on->isEnabled() && back->isEnabled());
        find<QLineEdit>("dataSearch")->clear();
        QTest::mouseClick(on, Qt::LeftButton);  // asks anew, for what was shown was not what the search field says now
        QTRY_VERIFY(page_->isReady());
    }

    void cancel_ends_the_request_and_it_can_be_asked_again() {
        openTab(DataPage::Part::duplicates);
        auto* cancel = find<QPushButton>("dataCancel");
        auto* progress = find<QProgressBar>("dataProgress");
        QVERIFY(cancel->isVisible() && progress->isVisible());
        QTRY_COMPARE(progress->value(), 30);
        QCOMPARE(progress->maximum(), 120);
        QTest::mouseClick(cancel, Qt::LeftButton);
        QVERIFY(page_->isReady() && !cancel->isVisible() && !progress->isVisible());
        QCOMPARE(find<ElidedLabel>("dataStatus")->fullText(), QStringLiteral("cancelled"));
        QVERIFY(isCancelledInWorker());
        QVERIFY(page_->findChild<ErrorBar*>()->message().isEmpty());
        openTab(DataPage::Part::card);
        openTab(DataPage::Part::duplicates);  // not taken for answered
        QVERIFY(!page_->isReady());
        QTRY_COMPARE(progress->value(), 30);
    }

    void activity_shows_what_takes_long_and_cancels_it_too() {
        Activity activity(*workspace_);
        activity.resize(900, 200);
        activity.show();
        auto* line = activity.findChild<LiveLine*>(QStringLiteral("liveLine"));
        line->setPatience(0);
        QVERIFY(line->isEmpty() && activity.isFolded());
        openTab(DataPage::Part::duplicates);
        QTRY_VERIFY(!line->isEmpty() && !activity.isFolded());
        QTRY_COMPARE(line->findChild<ElidedLabel*>(QStringLiteral("liveStatus"))->fullText(), QStringLiteral("search, 30 of 120"));
        QTest::mouseClick(line->findChild<QPushButton*>(QStringLiteral("liveCancel")), Qt::LeftButton);
        QVERIFY(line->isEmpty() && page_->isReady());
        QCOMPARE(find<ElidedLabel>("dataStatus")->fullText(), QStringLiteral("cancelled"));
        QVERIFY(isCancelledInWorker());
    }
};

FACETER_TEST(TestDataAsks)
#include "test_data_asks.moc"
