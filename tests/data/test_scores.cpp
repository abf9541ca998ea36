#include <cmath>

#include "data/leaves.h"
#include "data/sources.h"
#include "data/training_builder.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;
using faceter::testing::request;

/// Scores in training data, and what becomes of them.
class TestScores : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    TrainingSet load(const char* name, std::string_view content, Json settings = Json::object()) {
        put(folder_.path() / name, content);
        if (!settings.contains("source")) settings["source"] = "file";
        settings["path"] = name;
        return load_training_set(request(settings, folder_.path()), "retrieval");
    }
    static std::vector<float> scores(const TrainingSet& set, std::size_t example) { return scores_of(set, set.examples[example]); }
    using Scores = std::vector<float>;

  private Q_SLOTS:
    void scores_stand_beside_positives_and_negatives() {
        const auto set = load("s.jsonl", R"({"query": "q", "document": "d", "negatives": ["a", "b"], "scores": [0.9, 0.2, -1]}
{"query": "q2", "pos": ["d", "e"], "neg": ["a"], "scores": [3, 2, 1]}
{"sentence1": "x", "sentence2": "y", "score": 4.5}
{"query": "q3", "document": "d3", "scores": 2}
)");
        QCOMPARE(scores(set, 0), (Scores{0.9F, 0.2F, -1}));
        QCOMPARE(scores(set, 1), (Scores{3, 1}));
        QCOMPARE(scores(set, 2), (Scores{2, 1}));
        QCOMPARE(scores(set, 3), (Scores{4.5F}));
        QCOMPARE(scores(set, 4), (Scores{2}));
        QCOMPARE(set.card.at("counts").at("scored_examples").get<int>(), 5);
    }
    void tables_have_a_column_for_each_score() {
        const auto set = load("s.tsv", "query\tdocument\tnegative_1\tnegative_2\tscore\tscore_1\tscore_2\nq\td\ta\tb\t0.5\t0.25\t-2\n",
                              {{"format", "triplets"}});
        QCOMPARE(scores(set, 0), (Scores{0.5F, 0.25F, -2}));
    }
    void each_negative_has_the_score_of_its_number() {
        const auto set =
            load("n.csv", "query,document,negative_1,negative_10,negative_2,score,score_1,score_10,score_2\nq,d,a,j,b,9,1,10,2\n",
                 {{"format", "pairs"}});
        QCOMPARE(scores(set, 0), (Scores{9, 1, 2, 10}));
        const auto gap =
            load("gap.csv", "query,document,negative_1,negative_2,score,score_1,score_2\nq,d,,b,9,,2\n", {{"format", "pairs"}});
        QCOMPARE(scores(gap, 0), (Scores{9, 2}));
    }
    void records_of_instruction_corpora_have_them_too() {
        const auto set = load("m.jsonl", R"({"task": "t", "query": "q", "document": "d", "negatives": ["a", "b"], "scores": [3, 2, 1]}
{"task_name": "t", "query": ["i", "q2"], "pos": ["i", "d2"], "neg": ["i", "n2"], "scores": [5, 4]}
)",
                              {{"source", "medi"}});
        QCOMPARE(scores(set, 0), (Scores{3, 2, 1}));
        QCOMPARE(scores(set, 1), (Scores{5, 4}));
    }
    void a_folder_of_similar_sentences_trains_with_its_scores() {
        put(folder_.path() / "sts/train.jsonl", R"({"sentence1": "a", "sentence2": "b", "score": 5}
{"sentence1": "c", "sentence2": "d", "score": 0.5}
)");
        const TrainingSet set = load_training_set(request({{"source", "folder"}, {"path", "sts"}}, folder_.path()), "sts");
        QCOMPARE(set.examples.size(), std::size_t{2});
        QCOMPARE(scores(set, 1), (Scores{0.5F}));
    }
    void wrong_scores_are_refused_with_file_and_line() {
        EXPECT_ERROR(load("few.jsonl", "{\"query\": \"q\", \"document\": \"d\", \"negatives\": [\"a\"], \"scores\": [1]}\n"),
                     "few.jsonl:1:", "positives' first", "1 for 1 positives and 1 negatives");
        EXPECT_ERROR(load("text.jsonl", "{\"query\": \"q\", \"document\": \"d\", \"scores\": [\"high\"]}\n"), "text.jsonl:1:", "'scores'");
        EXPECT_ERROR(load("huge.jsonl", "{\"query\": \"q\", \"document\": \"d\", \"scores\": [1e300]}\n"), "huge.jsonl:1:", "not finite");
        EXPECT_ERROR(load("word.tsv", "query\tdocument\tscore\nq\td\tmuch\n", {{"format", "pairs"}}),
                     "word.tsv:2:", "'score' is not a number");
    }
    void a_score_beside_negatives_is_somebody_elses() {
        const auto set = load("other.jsonl", "{\"query\": \"q\", \"document\": \"d\", \"negatives\": [\"a\"], \"score\": 1}\n");
        QVERIFY(scores(set, 0).empty());
        QVERIFY(set.negative_scores.empty());
    }
    void what_is_left_out_takes_its_scores_along() {
        std::string lines;
        for (int i = 0; i < 40; ++i)
            lines += fmt::format("{{\"query\": \"q{}\", \"document\": \"d{}\", \"negatives\": [\"n{}\"], \"scores\": [{}, {}]}}\n", i, i, i,
                                 i, -i);
        const auto set = load("limit.jsonl", lines, {{"max_examples", 10}});
        QCOMPARE(set.examples.size(), std::size_t{10});
        for (std::size_t i = 0; i < 10; ++i) {
            const float number = std::stof(std::string(set.texts[set.examples[i].anchor]).substr(1));
            QCOMPARE(scores(set, i), (Scores{number, -number}));
        }
    }
    void other_negatives_keep_the_scores_of_those_that_stay() {
        auto set = load("r.jsonl", R"({"query": "q", "document": "d", "negatives": ["a", "b"], "scores": [3, 2, 1]}
{"query": "q2", "document": "d2", "negatives": ["a"], "scores": [5, 4]}
)");
        const std::uint32_t a = set.negatives[0], b = set.negatives[1];
        replace_negatives(set, {{b}, {a, b}});
        QCOMPARE(scores(set, 0), (Scores{3, 1}));
        QVERIFY(scores(set, 1).empty());  // b was none of its own
        QCOMPARE(set.negative_score(set.examples[1].first_negative), 4.0F);
        QVERIFY(std::isnan(set.negative_score(set.examples[1].first_negative + 1)));
    }
    void scores_are_part_of_the_fingerprint_and_data_without_them_keep_theirs() {
        const char* plain = "{\"query\": \"q\", \"document\": \"d\"}\n";
        const auto none = load("p.jsonl", plain), one = load("p.jsonl", "{\"query\": \"q\", \"document\": \"d\", \"score\": 1}\n"),
                   two = load("p.jsonl", "{\"query\": \"q\", \"document\": \"d\", \"score\": 2}\n");
        QVERIFY(none.fingerprint != one.fingerprint && one.fingerprint != two.fingerprint);
        QCOMPARE(none.fingerprint, load("p.jsonl", plain).fingerprint);
    }
};

FACETER_TEST(TestScores)
#include "test_scores.moc"
