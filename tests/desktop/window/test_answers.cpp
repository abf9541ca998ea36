#include <QThreadPool>
#include <QtConcurrent/QtConcurrentRun>

#include "project/answer.h"
#include "support/test.h"

using namespace faceter::desktop;

class TestAnswers : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void an_answer_comes_in_the_thread_of_who_asked() {
        QObject who;
        int answer = 0;
        QThread* thread = nullptr;
        Answer(QtConcurrent::run([] { return 7; })).then(&who, [&](int value) {
            answer = value;
            thread = QThread::currentThread();
        });
        QTRY_COMPARE(answer, 7);
        QCOMPARE(thread, QThread::currentThread());
    }

    void what_the_work_or_the_taking_throws_is_reported() {
        QObject who;
        QStringList reported;
        const auto report = [&](const std::exception& error) { reported << QString::fromUtf8(error.what()); };
        Answer(QtConcurrent::run([]() -> int { throw std::runtime_error("no such file"); })).then(&who, [](int) {}).onFailed(report);
        QTRY_COMPARE(reported, QStringList{"no such file"});
        Answer(QtConcurrent::run([] {})).then(&who, [] { throw std::runtime_error("not JSON"); }).onFailed(report);
        QTRY_COMPARE(reported.size(), 2);
        QCOMPARE(reported.last(), QString("not JSON"));
    }

    void who_asked_may_be_gone_at_any_moment_of_the_answering() {
        QThreadPool pool;
        pool.setMaxThreadCount(1);
        for (unsigned i = 0; i < 20000; ++i) {
            auto who = std::make_unique<QObject>();
            Answer(QtConcurrent::run(&pool, [] { return 1; })).then(who.get(), [](int) {}).onFailed([](const std::exception&) {});
            for (unsigned wait = i * 7919 % 5000; wait; --wait) asm volatile("");
            who.reset();
            if (i % 100 == 0) QCoreApplication::processEvents();
        }
        QVERIFY(pool.waitForDone());
    }
};

FACETER_TEST(TestAnswers)
#include "test_answers.moc"
