#include "common/random.h"

#include <set>

#include "common/hash.h"
#include "support/test.h"

using namespace faceter;

class TestRandom : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Known answers of the authors' Random123 library (kat_vectors, philox4x32 10).
    void philox_gives_the_published_words() {
        const auto zeros = philox4x32({0, 0, 0, 0}, {0, 0});
        QCOMPARE(zeros[0], 0x6627e8d5u);
        QCOMPARE(zeros[3], 0x9b00dbd8u);
        const auto ones = philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u});
        QCOMPARE(ones[0], 0x408f276du);
        QCOMPARE(ones[1], 0x41c83b0eu);
    }
    void streams_of_different_purposes_do_not_disturb_each_other() {
        RandomStream a(7, "batches"), b(7, "batches"), other(7, "dropout");
        QVERIFY(a.next() != other.next());
        QCOMPARE(b.next(), RandomStream(7, "batches").next());
    }
    void a_stream_can_be_taken_up_at_any_position() {
        RandomStream a(3, "x"), b(3, "x");
        for (int i = 0; i < 100; ++i) a.next();
        b.seek(a.position());
        QCOMPARE(a.next(), b.next());
    }
    void a_sample_has_no_duplicates_and_stays_below_the_bound() {
        RandomStream a(1, "s");
        const auto sample = a.sample(1000, 200);
        QCOMPARE(std::set<std::size_t>(sample.begin(), sample.end()).size(), std::size_t{200});
        for (const std::size_t i : sample) QVERIFY(i < 1000);
    }
    void hashes_have_their_published_values() {
        QCOMPARE(hash64(""), 0xEF46DB3751D8E999ull);
        QCOMPARE(hash64("abc"), 0x44BC2CF5AD770999ull);
        QCOMPARE(crc32c("123456789"), 0xE3069283u);
        QCOMPARE(sha256_hex("abc"), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    }
};

FACETER_TEST(TestRandom)
#include "test_random.moc"
