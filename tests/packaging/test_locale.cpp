#include <cstdio>

#include "support/test.h"

/// The tests named *.de_DE are worth something only where the locale really takes effect in a test program.
class TestLocale : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void numbers_follow_the_locale_that_the_test_asks_for() {
        char text[16];
        std::snprintf(text, sizeof text, "%.1f", 1.5);
        QCOMPARE(QString(text), QString(qEnvironmentVariable("LC_ALL") == "de_DE.UTF-8" ? "1,5" : "1.5"));
    }
};

FACETER_TEST(TestLocale)
#include "test_locale.moc"
