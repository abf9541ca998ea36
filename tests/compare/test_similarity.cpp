#include "compare/similarity.h"

#include "common/error.h"
#include "compare/similarity_figures.h"
#include "figure/table_export.h"
#include "stats/effect_size.h"
#include "stats/multiple_testing.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

SimilarityPair pair_of(std::string a, std::string b, double level, int texts = 40) {
    SimilarityPair pair{std::move(a), std::move(b), {}, 0};
    for (int i = 0; i < texts; ++i) pair.values.push_back(level + 0.003 * ((i * 7) % 11) + 0.001 * ((i * 5) % 3) * level);
    pair.mean = mean(pair.values);
    return pair;
}

SimilaritySet set_of(double level, const std::string& fingerprint = "same") {
    SimilaritySet set;
    set.pairs = {pair_of("classification", "clustering", level), pair_of("classification", "retrieval", level - 0.1),
                 pair_of("clustering", "retrieval", level)};
    set.fingerprint = fingerprint;
    return set;
}

}  // namespace

class TestSimilarity : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void similarities_are_tested_pair_by_pair_the_paired_test_first() {
        const TemporaryDirectory project;
        const RunDirectory a = sample_run(project.path(), 1), b = sample_run(project.path(), 3);
        write_similarity(a, 0.9);
        write_similarity(b, 0.5);
        const SimilarityComparison comparison = compare_similarity("Mix", read_similarity(b), "EM", read_similarity(a), Alternative::less);
        QCOMPARE(comparison.tests.size(), std::size_t{1});
        QVERIFY(comparison.tests[0].one_sided.p < 1e-6);
        QVERIFY(comparison.tests[0].one_sided.t < 0);
        QVERIFY(comparison.tests[0].paired.p < 1e-6);
        const Table table = similarity_table(comparison);
        table.validate();
        QVERIFY(table.columns[3].group.find("paired") != std::string::npos);
        QVERIFY(similarity_json(comparison)["pairs"][0]["welch"].contains("df"));
        QCOMPARE(similarity_json(comparison)["pairs"][0]["welch"]["effect_size_d"].get<double>(), comparison.tests[0].d);
    }
    void missing_and_broken_similarities_are_named() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        EXPECT_ERROR(read_similarity(run), run.info().name.c_str(), "inter_task_similarity");
        EXPECT_ERROR(similarity_from_json(parse_json(R"({"pairs": 3})", "s"), "s"), "pairs");
        EXPECT_ERROR(similarity_from_json(parse_json(R"({"pairs": [{"a": "x", "b": "y", "values": ["z"]}]})", "s"), "s"), "values");
        EXPECT_ERROR(similarity_from_json(parse_json(R"({"pairs": [{"a": "x", "b": "y", "values": []}]})", "s"), "s"), "no values");
        EXPECT_ERROR(similarity_from_json(parse_json(R"({"pairs": [], "samples": 3})", "s"), "s"), "samples");
        const SimilaritySet first{{{"x", "y", {1, 2}, 1.5}}}, second{{{"x", "z", {1, 2}, 1.5}}};
        EXPECT_ERROR(compare_similarity("a", first, "b", second, Alternative::less), "no pair of tasks in common");
    }
    void seeds_are_averaged_text_by_text_and_n_stays_the_number_of_texts() {
        const std::vector<SimilaritySet> seeds = {set_of(0.8), set_of(0.6)};
        const std::vector<std::string> names = {"s1", "s2"};
        std::vector<std::string> notes;
        const SimilaritySet average = average_over_seeds(seeds, names, notes);
        QVERIFY(notes.empty());
        QCOMPARE(average.pairs.size(), std::size_t{3});
        for (std::size_t p = 0; p < 3; ++p)
            for (std::size_t i = 0; i < 40; ++i)
                QCOMPARE(average.pairs[p].values[i], (seeds[0].pairs[p].values[i] + seeds[1].pairs[p].values[i]) / 2);
        QCOMPARE(compare_similarity("a", average, "b", set_of(0.9), Alternative::less).tests[0].paired.n, std::size_t{40});
    }
    void a_seed_with_other_texts_is_left_out_and_named() {
        const std::vector<SimilaritySet> seeds = {set_of(0.8), set_of(0.2, "other"), set_of(0.6)};
        const std::vector<std::string> names = {"s1", "s2", "s3"};
        std::vector<std::string> notes;
        QCOMPARE(average_over_seeds(seeds, names, notes).pairs[0].values[0],
                 (seeds[0].pairs[0].values[0] + seeds[2].pairs[0].values[0]) / 2);
        QCOMPARE(notes.size(), std::size_t{1});
        QVERIFY(notes[0].find("s2") != std::string::npos);
    }
    void runs_on_other_texts_have_no_paired_test() {
        const SimilarityComparison comparison = compare_similarity("a", set_of(0.5), "b", set_of(0.9, "other"), Alternative::less);
        QVERIFY(!comparison.tests[0].paired_is_possible);
        QVERIFY(std::isnan(similarity_outcome(comparison.tests[0], SimilarityTestKind::paired).p));
        QVERIFY(similarity_words(comparison, SimilarityTestKind::paired).find("other texts") != std::string::npos);
        QVERIFY(similarity_words(comparison, SimilarityTestKind::welch).find("stronger") == std::string::npos);
        const Table table = similarity_summary(std::vector{comparison}, SimilarityTestKind::paired);
        QVERIFY(table.rows[0].cells[4].kind == Cell::Kind::empty);
        QCOMPARE(table.rows[0].cells[3].stars, 0);
    }
    /// Two models without instructions: their bits of rounding were told apart with a star.
    void similarities_that_differ_by_rounding_alone_have_no_test() {
        SimilaritySet ones = set_of(1), others = set_of(1);
        for (std::size_t pair = 0; pair < 3; ++pair)
            for (std::size_t i = 0; i < 40; ++i) {
                ones.pairs[pair].values[i] = 1 - 1e-16 * static_cast<double>(i % 3);
                others.pairs[pair].values[i] = 1 + 1e-15 * static_cast<double>(i % 2);
            }
        const SimilarityComparison comparison = compare_similarity("A", ones, "B", others, Alternative::less);
        for (const auto kind : {SimilarityTestKind::paired, SimilarityTestKind::welch, SimilarityTestKind::welch_two_sided}) {
            const SimilarityOutcome outcome = similarity_outcome(comparison.tests[0], kind);
            QVERIFY(std::isnan(outcome.p) && std::isnan(outcome.p_holm) && std::isnan(outcome.effect));
        }
        QVERIFY(similarity_json(comparison)["pairs"][0]["paired_t"]["note"].get<std::string>().find("rounding") != std::string::npos);
        const std::string table = export_table(similarity_table(comparison), TableFormat::md);
        QVERIFY2(
            table.find("classification / clustering: the similarities, or their differences, vary by rounding alone") != std::string::npos,
            table.c_str());
        const SimilarityComparison apart = compare_similarity("A", set_of(0.5), "B", others, Alternative::less);
        QVERIFY(apart.tests[0].paired.p < 1e-6 && apart.tests[0].one_sided.p < 1e-6);
    }
    void the_summary_says_what_the_chosen_test_says() {
        const SimilaritySet high = set_of(0.80), low = set_of(0.799);  // a difference that only pairing shows
        const SimilarityComparison comparison = compare_similarity("Mix", low, "IC", high, Alternative::less);
        const Table paired = similarity_summary(std::vector{comparison}, SimilarityTestKind::paired);
        const Table welched = similarity_summary(std::vector{comparison}, SimilarityTestKind::welch);
        paired.validate();
        QCOMPARE(paired.rows.size(), std::size_t{3});
        QCOMPARE(paired.columns[1].name, std::string("IC mean"));
        QCOMPARE(paired.columns[2].name, std::string("Mix mean"));
        QCOMPARE(paired.rows[0].cells[3].value, comparison.tests[0].mean_first - comparison.tests[0].mean_second);
        QCOMPARE(paired.rows[0].cells[3].stars, 3);
        QCOMPARE(welched.rows[0].cells[3].stars, 0);
        QCOMPARE(welched.rows[0].cells[4].value, comparison.tests[0].one_sided.t);
        QCOMPARE(welched.rows[0].cells[8].value, cohens_d(low.pairs[0].values, high.pairs[0].values));
        std::vector<double> p;
        for (const SimilarityTest& test : comparison.tests) p.push_back(test.two_sided.p);
        const Table two = similarity_summary(std::vector{comparison}, SimilarityTestKind::welch_two_sided);
        for (std::size_t i = 0; i < 3; ++i) QCOMPARE(two.rows[i].cells[7].value, holm(p)[i]);
    }
    void words_name_hypothesis_n_family_and_the_stronger_test() {
        const SimilarityComparison comparison = compare_similarity("MoTE", set_of(0.5), "IC", set_of(0.9), Alternative::less);
        const std::string welched = similarity_words(comparison, SimilarityTestKind::welch);
        for (const char* part : {"mean(MoTE) < mean(IC)", "n = 40 and 40", "Holm over 3 pairs", "paired test is stronger", "as published"})
            QVERIFY2(welched.find(part) != std::string::npos, welched.c_str());
        QVERIFY(similarity_words(comparison, SimilarityTestKind::welch_two_sided).find("≠") != std::string::npos);
        QVERIFY(similarity_words(comparison, SimilarityTestKind::paired).find("n = 40 texts") != std::string::npos);
    }
    void several_groups_are_rows_under_each_pair() {
        SimilaritySet partial = set_of(0.4);
        partial.pairs.erase(partial.pairs.begin());
        const std::vector comparisons = {compare_similarity("A", partial, "IC", set_of(0.9), Alternative::less),
                                         compare_similarity("B", set_of(0.6), "IC", set_of(0.9), Alternative::less)};
        const Table table = similarity_summary(comparisons, SimilarityTestKind::paired);
        table.validate();
        QCOMPARE(table.rows.size(), std::size_t{5});
        QCOMPARE(table.columns[1].name, std::string("run"));
        int of_a = 0;
        for (const Row& row : table.rows) of_a += row.cells[1].text == "A";
        QCOMPARE(of_a, 2);
    }
    void an_export_is_the_table_or_all_of_them() {
        const std::vector one = {compare_similarity("A", set_of(0.4), "IC", set_of(0.9), Alternative::less)};
        const std::vector two = {one[0], compare_similarity("B", set_of(0.6), "IC", set_of(0.9), Alternative::less)};
        QCOMPARE(export_similarity(one, TableFormat::csv), export_table(similarity_table(one[0]), TableFormat::csv));
        QCOMPARE(export_similarity(two, TableFormat::md),
                 export_table(similarity_table(two[0]), TableFormat::md) + "\n" + export_table(similarity_table(two[1]), TableFormat::md));
        QCOMPARE(parse_json(export_similarity(one, TableFormat::json), "one"), similarity_json(one[0]));
        QCOMPARE(parse_json(export_similarity(two, TableFormat::json), "two").size(), std::size_t{2});
    }
    void densities_share_their_range_and_end_at_one() {
        const std::vector<SimilarityGroup> groups = {{"IC", 1, set_of(0.97)}, {"MoTE", 2, set_of(0.5)}};
        const std::vector<Figure> figures = similarity_densities(groups);
        QCOMPARE(figures.size(), std::size_t{3});
        for (const Figure& figure : figures) {
            figure.validate();
            QCOMPARE(figure.x.min.value(), figures[0].x.min.value());
            QCOMPARE(figure.x.max.value(), figures[0].x.max.value());
            QCOMPARE(figure.series.size(), std::size_t{2});
            QCOMPARE(figure.series[1].colour.value(), 2);
            QVERIFY(figure.series[0].x.back() <= 1);
        }
        QCOMPARE(figures[0].series[1].mean.value(), groups[1].set.pairs[0].mean);
    }
    void values_without_spread_are_a_line_and_a_note() {
        SimilaritySet constant{{{"x", "y", std::vector<double>(30, 1.0), 1}}};
        const std::vector<SimilarityGroup> groups = {{"EM", 0, constant}};
        const Figure figure = similarity_densities(groups)[0];
        figure.validate();
        QCOMPARE(figure.series[0].x, (std::vector<double>{1, 1}));
        QCOMPARE(figure.notes.size(), std::size_t{1});
    }
    void the_matrix_is_symmetric_with_means() {
        const Figure figure = similarity_matrix({"IC", 1, set_of(0.9)});
        figure.validate();
        QCOMPARE(figure.heat_map.rows.size(), std::size_t{3});
        const auto at = [&](std::size_t i, std::size_t j) { return figure.heat_map.values[i * 3 + j]; };
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) QCOMPARE(at(i, j), at(j, i));
        QCOMPARE(at(1, 1), 1.0);
        QCOMPARE(at(0, 1), set_of(0.9).pairs[0].mean);
    }
    void a_task_is_called_by_its_last_part_where_that_is_clear() {
        const std::vector<std::string> tasks = {"retrieval.query", "retrieval.document", "clustering", "qa.document", "odd."};
        QCOMPARE(short_task_name("retrieval.query", tasks), std::string("query"));
        QCOMPARE(short_task_name("retrieval.document", tasks), std::string("retrieval.document"));
        QCOMPARE(short_task_name("clustering", tasks), std::string("clustering"));
        QCOMPARE(short_task_name("odd.", tasks), std::string("odd."));
    }
    void texts_are_named_by_their_setting() {
        QCOMPARE(texts_label(parse_json(R"({"source": "debian", "view": "descriptions", "count": 128})", ""), 128),
                 std::string("debian descriptions, 128"));
        QCOMPARE(texts_label(parse_json(R"({"source": "file", "path": "/data/some/wiki.txt", "name": null})", ""), 5),
                 std::string("file wiki.txt, 5"));
        QCOMPARE(texts_label(Json(), 7), std::string("texts, 7"));
        QCOMPARE(texts_label(Json("hostile"), 7), std::string("texts, 7"));
    }
};

FACETER_TEST(TestSimilarity)
#include "test_similarity.moc"
