#include "eval/numpy_random.h"

#include <numeric>

#include "support/test.h"

using namespace faceter;

namespace {

std::vector<int> counted(int count) {
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    return values;
}

template <typename T>
std::vector<T> part(const std::vector<T>& values, std::size_t first, std::size_t count) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(first);
    return {from, from + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

/// The numbers are those of numpy 2.4; the calls stand beside them.
class TestNumpyRandom : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// r = RandomState(42); i = arange(12); r.shuffle(i), twice
    void shuffles_one_after_the_other_equal_numpy() {
        NumpyRandom random(42);
        auto values = counted(12);
        random.shuffle(values);
        QCOMPARE(values, (std::vector<int>{10, 9, 0, 8, 5, 2, 1, 11, 4, 7, 3, 6}));
        random.shuffle(values);
        QCOMPARE(values, (std::vector<int>{3, 7, 10, 4, 1, 8, 9, 5, 2, 0, 6, 11}));
    }
    /// r = RandomState(42); i = arange(100000); r.shuffle(i), ten times; i[:6], i[-3:]
    void the_tenth_shuffle_of_a_long_list_equals_numpy() {
        NumpyRandom random(42);
        auto values = counted(100000);
        for (int i = 0; i < 10; ++i) random.shuffle(values);
        QCOMPARE(part(values, 0, 6), (std::vector<int>{10117, 51849, 90238, 63042, 71577, 59415}));
        QCOMPARE(part(values, 99997, 3), (std::vector<int>{21530, 45516, 49826}));
    }
    /// r = RandomState(11); r.randint(0, 20000, 6); r.random_sample(3); r.choice(10, replace=False, size=4);
    /// r.choice(8000, 5, p=np.full(8000, 1 / 8000)); r.uniform(size=2); r.randint(0, 7, 4)
    void every_kind_of_draw_takes_as_many_words_as_numpy() {
        NumpyRandom random(11);
        for (const std::uint64_t expected : {10137, 3775, 7259, 4023, 17677, 16967}) QCOMPARE(random.below(20000), expected);
        for (const double expected : {0x1.f113cd1ce4278p-2, 0x1.a2cd3e5769640p-7, 0x1.f3118ae9c04f6p-2})
            QVERIFY(random.uniform() == expected);
        QCOMPARE(random.choose_different(10, 4), (std::vector<std::size_t>{9, 6, 3, 5}));
        QCOMPARE(random.choose(8000, 5), (std::vector<std::size_t>{1320, 5058, 163, 933, 2530}));
        for (const double expected : {0.15791230667493694, 0.7589795881605054}) QVERIFY(random.uniform() == expected);
        for (const std::uint64_t expected : {0, 3, 6, 1}) QCOMPARE(random.below(7), expected);
    }
    /// r = RandomState(2**32 - 1); r.randint(0, 2**32, 2)
    void the_largest_seed_and_range_equal_numpy() {
        NumpyRandom random(4294967295u);
        QCOMPARE(random.below(std::uint64_t{1} << 32), std::uint64_t{419326371});
        QCOMPARE(random.below(std::uint64_t{1} << 32), std::uint64_t{479346978});
    }
    /// r = RandomState(3); r.randint(0, 1, 5); r.randint(0, 1000)
    void a_draw_among_one_takes_no_word() {
        NumpyRandom random(3);
        for (int i = 0; i < 5; ++i) QCOMPARE(random.below(1), std::uint64_t{0});
        QCOMPARE(random.below(1000), std::uint64_t{874});
    }
};

FACETER_TEST(TestNumpyRandom)
#include "test_numpy_random.moc"
