#include "eval/search.h"

#include <algorithm>
#include <cmath>

#include "common/random.h"
#include "support/test.h"

using namespace faceter;

namespace {

struct Matrix {
    std::vector<float> values;
    std::int64_t rows, dim;
    FeatureMatrix view() const { return {values.data(), rows, dim}; }
    const float* row(std::size_t r) const { return values.data() + static_cast<std::int64_t>(r) * dim; }
};

/// Small whole numbers: products are exact, so that ties are ties.
Matrix whole_numbers(std::int64_t rows, std::int64_t dim, int levels, const char* purpose) {
    RandomStream random(11, purpose);
    Matrix m{{}, rows, dim};
    for (std::int64_t i = 0; i < rows * dim; ++i)
        m.values.push_back(static_cast<float>(random.below(static_cast<std::uint64_t>(levels))) - 2);
    return m;
}

float score_of(float x, float y, Similarity similarity) {
    if (similarity == Similarity::euclidean) return -(x - y) * (x - y);
    return similarity == Similarity::manhattan ? -std::abs(x - y) : x * y;
}

std::vector<SearchHit> by_sorting_everything(const Matrix& documents, const float* query, std::size_t k,
                                             Similarity similarity = Similarity::dot) {
    std::vector<SearchHit> hits;
    for (std::uint32_t d = 0; d < documents.rows; ++d) {
        float score = 0;
        for (std::int64_t i = 0; i < documents.dim; ++i) score += score_of(query[i], documents.row(d)[i], similarity);
        hits.push_back({d, score});
    }
    std::stable_sort(hits.begin(), hits.end(), [](const SearchHit& a, const SearchHit& b) { return a.score > b.score; });
    hits.resize(std::min(k, hits.size()));
    return hits;
}

bool same(const std::vector<SearchHit>& a, const std::vector<SearchHit>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const SearchHit& x, const SearchHit& y) { return x.document == y.document && x.score == y.score; });
}

}  // namespace

class TestSearch : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Many equal scores (5 levels), sizes that are no multiple of a block or a vector, k from 1 to more than there are documents.
    void the_best_are_those_of_a_full_sort_ties_included() {
        const Matrix queries = whole_numbers(37, 7, 5, "queries");
        for (const std::int64_t num_documents : {1, 5, 1023, 1025, 3333}) {
            const Matrix documents = whole_numbers(num_documents, 7, 5, "documents");
            for (const std::size_t k : {1, 10, 100, 1000, 5000}) {
                const auto found = exact_search(queries.view(), documents.view(), k);
                QCOMPARE(found.size(), std::size_t{37});
                for (std::size_t q = 0; q < 37; ++q) QVERIFY(same(found[q], by_sorting_everything(documents, queries.row(q), k)));
            }
        }
    }
    void the_nearest_are_those_of_a_full_sort_by_distance() {
        const Matrix queries = whole_numbers(37, 7, 5, "queries"), documents = whole_numbers(1025, 7, 5, "documents");
        for (const Similarity similarity : {Similarity::euclidean, Similarity::manhattan}) {
            const auto found = exact_search(queries.view(), documents.view(), 10, similarity);
            for (std::size_t q = 0; q < 37; ++q) QVERIFY(same(found[q], by_sorting_everything(documents, queries.row(q), 10, similarity)));
        }
    }
    void documents_that_are_passed_over_leave_their_places_to_those_behind_them() {
        const Matrix queries = whole_numbers(37, 7, 5, "queries"), documents = whole_numbers(1025, 7, 5, "documents");
        const auto passed_over = [](std::size_t query, std::size_t document) { return (query + document) % 3 == 0; };
        const auto found = exact_search(queries.view(), documents.view(), 10, Similarity::dot, passed_over);
        for (std::size_t q = 0; q < 37; ++q) {
            auto expected = by_sorting_everything(documents, queries.row(q), 1025);
            std::erase_if(expected, [&](const SearchHit& hit) { return passed_over(q, hit.document); });
            expected.resize(10);
            QVERIFY(same(found[q], expected));
        }
    }
    void a_corpus_in_pieces_gives_the_same_hits() {
        const Matrix queries = whole_numbers(600, 16, 9, "queries"), documents = whole_numbers(5000, 16, 9, "documents");
        const auto whole = exact_search(queries.view(), documents.view(), 10);
        ExactSearch search(queries.view(), 10);
        for (std::int64_t at = 0, size = 1; at < 5000; at += size, size = size * 3 + 1)
            search.add_documents({documents.row(static_cast<std::size_t>(at)), std::min(size, 5000 - at), 16});
        QCOMPARE(search.num_documents(), std::size_t{5000});
        const auto pieces = search.results();
        for (std::size_t q = 0; q < 600; ++q) QVERIFY(same(whole[q], pieces[q]));
    }
    void results_can_be_asked_for_while_documents_stream() {
        const Matrix queries = whole_numbers(2, 3, 5, "queries"), documents = whole_numbers(40, 3, 5, "documents");
        ExactSearch search(queries.view(), 10);
        QVERIFY(search.results()[0].empty());
        search.add_documents({documents.row(0), 4, 3});
        QCOMPARE(search.results()[1].size(), std::size_t{4});
        search.add_documents({documents.row(4), 36, 3});
        QVERIFY(same(search.results()[1], by_sorting_everything(documents, queries.row(1), 10)));
    }
    /// The numbers above 1 are all 1 in 16 bits: the best document is below the threshold by its rounded number, by nearly as much as
    /// rounding may take off.
    void a_best_document_that_rounding_hides_is_found() {
        const std::vector<float> query{1.00390625F};
        std::vector<float> documents(40, 1.00146484375F);
        documents.resize(240, 0.5F);
        documents.push_back(1.00390625F);
        documents.resize(480, 0.5F);
        const auto hits = exact_search({query.data(), 1, 1}, {documents.data(), 480, 1}, 1);
        QCOMPARE(hits[0][0].document, 240U);
    }
    /// A search for few documents leaves most out by rounded numbers (ScoreFilter), one for all of them never does: rows of all lengths,
    /// also of numbers that count as 0 in 16 bits, near ties, and a threshold that documents reach by a bit.
    void few_hits_are_the_first_of_all_bit_by_bit() {
        RandomStream random(5, "lengths");
        for (const std::int64_t dim : {1, 2, 7, 33, 384})
            for (const double size : {1.0, 1e-20, 1e-38, 1e17}) {
                Matrix queries{{}, 40, dim}, documents{{}, 3000, dim};
                for (Matrix* m : {&queries, &documents})
                    for (std::int64_t i = 0; i < m->rows * dim; ++i) m->values.push_back(static_cast<float>(random.normal() * size));
                for (std::size_t r = 1; r < 3000; ++r) {  // a third nearly repeats the row before, a third is long
                    float* row = documents.values.data() + static_cast<std::int64_t>(r) * dim;
                    if (r % 3 == 0) std::copy_n(row - dim, dim, row);
                    if (r % 3 == 0) row[0] = std::nextafter(row[0], 1e30F);
                    if (r % 3 == 1) std::for_each(row, row + dim, [](float& x) { x *= 3; });
                }
                const auto all = exact_search(queries.view(), documents.view(), 3000);
                for (const std::size_t k : {1, 3, 10, 100}) {
                    const auto few = exact_search(queries.view(), documents.view(), k);
                    for (std::size_t q = 0; q < 40; ++q)
                        QVERIFY(same(few[q], {all[q].begin(), all[q].begin() + static_cast<std::ptrdiff_t>(k)}));
                }
            }
    }
    void a_document_without_a_score_is_never_a_hit() {
        const std::vector<float> query{1.0f}, documents{0.5f, std::nanf(""), 0.7f};
        const auto hits = exact_search({query.data(), 1, 1}, {documents.data(), 3, 1}, 3);
        QCOMPARE(hits[0].size(), std::size_t{2});
        QCOMPARE(hits[0][0].document, 2u);
    }
    void sizes_that_do_not_fit_are_errors() {
        const std::vector<float> numbers(12, 1.0f);
        EXPECT_ERROR(ExactSearch({numbers.data(), 3, 4}, 0), "k is 0");
        ExactSearch search({numbers.data(), 3, 4}, 1);
        EXPECT_ERROR(search.add_documents({numbers.data(), 4, 3}), "documents of 3 numbers", "queries of 4");
        const std::vector<float> bad{1.0f, std::nanf("")};
        EXPECT_ERROR(ExactSearch({bad.data(), 2, 1}, 1), "queries: row 2", "not finite");
        QVERIFY(exact_search({numbers.data(), 0, 4}, {numbers.data(), 3, 4}, 5).empty());
    }
};

FACETER_TEST(TestSearch)
#include "test_search.moc"
