#include <QRegularExpression>
#include <QSignalSpy>

#include "desktop/compose/fake_worker.h"
#include "support/test.h"
#include "worker/worker_client.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

class TestWorkerClient : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path worker_;

    /// The answer, or what went wrong, as text.
    QString outcome(QFuture<WorkerAnswer> future) {
        QString text;
        future.then(this, [&](const WorkerAnswer& answer) { text = QString::fromStdString(answer->dump()); })
            .onCanceled(this, [&] { text = QStringLiteral("cancelled"); })
            .onFailed(this, [&](const std::exception& error) { text = QString::fromUtf8(error.what()); });
        static_cast<void>(QTest::qWaitFor([&] { return !text.isEmpty(); }, 20000));
        return text;
    }

  private Q_SLOTS:
    void init() {
        worker_ = write_fake_worker(folder_.path());
        fs::remove(worker_.string() + ".log");
        qputenv("FACETER_WORKER", worker_.c_str());
    }
    void cleanup() { qunsetenv("FACETER_WORKER"); }

    void a_request_is_answered_and_progress_comes_before() {
        WorkerClient client;
        QVERIFY(!client.isRunning());
        QStringList said;
        const QString answer = outcome(client.request(QStringLiteral("preview"), Json::object(), [&](const WorkerProgress& progress) {
            said << progress.what + QString::number(progress.done);
        }));
        QVERIFY2(answer.contains(QStringLiteral("synopses")), qPrintable(answer));
        QCOMPARE(said, QStringList{QStringLiteral("read1")});
        QVERIFY(client.isRunning());
        QCOMPARE(client.numWaiting(), 0);
        QVERIFY(outcome(client.request(QStringLiteral("anything"), Json::object())).contains(QStringLiteral("echo")));
    }

    void an_error_of_the_worker_is_its_message() {
        WorkerClient client;
        QCOMPARE(outcome(client.request(QStringLiteral("refuse"), Json::object())), QStringLiteral("refused for a reason"));
    }

    void a_worker_that_dies_fails_what_was_asked_and_the_next_request_starts_another() {
        WorkerClient client;
        const QFuture<WorkerAnswer> waiting = client.request(QStringLiteral("sleep"), Json::object());
        const QString message = outcome(client.request(QStringLiteral("crash"), Json::object()));
        QVERIFY2(message.contains(QStringLiteral("signal 9")) && message.contains(QStringLiteral("the last words")), qPrintable(message));
        QTRY_VERIFY(waiting.isFinished());
        QVERIFY(outcome(client.request(QStringLiteral("anything"), Json::object())).contains(QStringLiteral("echo")));
    }

    void a_worker_that_does_not_go_is_ended_without_a_warning() {
        const fs::path stubborn = folder_.path() / "stubborn";
        write_file_atomic(stubborn, "#!/bin/sh\ntrap '' TERM\ntouch '" + stubborn.string() + ".log'\nwhile :; do sleep 0.1; done\n");
        fs::permissions(stubborn, fs::perms::owner_all);
        qputenv("FACETER_WORKER", stubborn.c_str());
        QTest::failOnWarning(QRegularExpression(QStringLiteral("QProcess")));
        WorkerClient client;
        const QFuture<WorkerAnswer> waiting = client.request(QStringLiteral("anything"), Json::object());
        QTRY_VERIFY(fs::exists(stubborn.string() + ".log"));
    }

    void a_request_that_is_withdrawn_is_cancelled_in_the_worker() {
        WorkerClient client;
        QFuture<WorkerAnswer> future = client.request(QStringLiteral("sleep"), Json::object());
        QTRY_VERIFY(fs::exists(worker_.string() + ".log"));
        QString text;
        future.then(this, [&](const WorkerAnswer&) { text = QStringLiteral("answered"); })
            .onCanceled(this, [&] { text = QStringLiteral("cancelled"); })
            .onFailed(this, [&](const std::exception&) { text = QStringLiteral("failed"); });
        future.cancel();
        QTRY_COMPARE(text, QStringLiteral("cancelled"));
        QTRY_VERIFY(read_file(worker_.string() + ".log").find("\"method\":\"cancel\"") != std::string::npos);
        QCOMPARE(client.numWaiting(), 0);
    }

    void a_program_that_cannot_be_started_is_named() {
        fs::permissions(worker_, fs::perms::owner_read);
        WorkerClient client;
        const QString message = outcome(client.request(QStringLiteral("anything"), Json::object()));
        QVERIFY2(message.contains(QStringLiteral("fake-worker")), qPrintable(message));
    }
};

FACETER_TEST(TestWorkerClient)
#include "test_worker_client.moc"
