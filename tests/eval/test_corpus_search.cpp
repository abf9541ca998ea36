#include "eval/corpus_search.h"

#include <ATen/ATen.h>

#include "support/test.h"

using namespace faceter;

namespace {

CorpusRows rows_of(const at::Tensor& rows, Similarity similarity = Similarity::dot) { return {rows.contiguous(), similarity}; }

}  // namespace

class TestCorpusSearch : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void the_nearest_come_first_and_equal_ones_by_their_place() {
        const std::vector<float> similarities{0.1F, 0.9F, 0.5F, 0.9F, -1.0F};
        QCOMPARE(nearest(similarities, 3), (std::vector<std::uint32_t>{1, 3, 2}));
        QCOMPARE(nearest(similarities, 99).size(), std::size_t{5});
        QCOMPARE(rank_of(similarities, 1), std::size_t{1});
        QCOMPARE(rank_of(similarities, 3), std::size_t{2});
        QCOMPARE(rank_of(similarities, 4), std::size_t{5});
    }

    void neighbours_are_all_kept_in_the_same_space_and_by_chance_in_another() {
        at::manual_seed(1);
        const at::Tensor a = at::randn({300, 8}), b = at::randn({300, 8});
        for (const float kept : kept_neighbours(rows_of(a), rows_of(a * 2), 10)) QCOMPARE(kept, 1.0F);
        const std::vector<float> other = kept_neighbours(rows_of(a), rows_of(b), 10);
        double sum = 0;
        for (const float kept : other) sum += kept;
        QVERIFY2(sum / 300 < 0.1, std::to_string(sum / 300).c_str());  // 10 of 299 by chance
    }

    void shares_are_those_that_a_search_by_hand_finds() {
        at::manual_seed(2);
        const at::Tensor a = at::randn({40, 4}), b = a + 0.3 * at::randn({40, 4});
        const auto sets = [](const at::Tensor& rows) {
            at::Tensor scores = at::matmul(rows, rows.t());
            scores.fill_diagonal_(-1e9);
            return std::get<1>(scores.topk(5, 1));
        };
        const at::Tensor mine = sets(a), theirs = sets(b);
        const std::vector<float> kept = kept_neighbours(rows_of(a), rows_of(b), 5);
        for (std::int64_t i = 0; i < 40; ++i)
            QCOMPARE(kept[static_cast<std::size_t>(i)], at::isin(mine[i], theirs[i]).sum().item<float>() / 5);
    }

    void whoever_asks_can_stop_it() {
        const at::Tensor a = at::randn({50, 4});
        QVERIFY_EXCEPTION_THROWN(kept_neighbours(rows_of(a), rows_of(a), 5, [](std::size_t) { throw std::runtime_error("enough"); }),
                                 std::runtime_error);
    }
};

FACETER_TEST(TestCorpusSearch)
#include "test_corpus_search.moc"
