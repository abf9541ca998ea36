#include "common/recent.h"

#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestRecent : public QObject {
    Q_OBJECT
    /// How often things were made; each weighs what its key says.
    struct Made {
        int count = 0;
        Recent<std::string> recent{4, 100, [](const std::string& value) { return std::stoull(value); }};
        void get(const std::string& key) {
            recent.get(key, [&] {
                ++count;
                return key;
            });
        }
    };

  private Q_SLOTS:
    void what_is_asked_again_is_not_made_again() {
        Made made;
        for (const char* key : {"1", "2", "1", "2"}) made.get(key);
        QCOMPARE(made.count, 2);
        QCOMPARE(made.recent.bytes(), std::uint64_t{3});
    }
    void the_one_asked_for_least_recently_goes_first() {
        Made made;
        for (const char* key : {"1", "2", "3", "4", "1", "5"}) made.get(key);  // 2 goes
        QCOMPARE(made.recent.size(), std::size_t{4});
        made.get("1");
        QCOMPARE(made.count, 5);
        made.get("2");
        QCOMPARE(made.count, 6);
    }
    void all_together_weigh_no_more_than_is_allowed() {
        Made made;
        for (const char* key : {"40", "50", "30"}) made.get(key);
        QCOMPARE(made.recent.bytes(), std::uint64_t{80});
        made.get("1000");  // the newest stays: somebody is about to read it
        QCOMPARE(made.recent.size(), std::size_t{1});
        made.get("7");
        QCOMPARE(made.recent.bytes(), std::uint64_t{7});
    }
    void what_cannot_be_made_is_not_kept() {
        Made made;
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, made.recent.get("9", []() -> std::string { throw std::runtime_error("no"); }));
        QCOMPARE(made.recent.size(), std::size_t{0});
    }
    void what_somebody_holds_lives_on() {
        Made made;
        const auto held = made.recent.get("60", [] { return std::string("60"); });
        made.get("70");
        QCOMPARE(*held, std::string("60"));
    }
};

FACETER_TEST(TestRecent)
#include "test_recent.moc"
