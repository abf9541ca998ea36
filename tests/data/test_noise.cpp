#include "data/noise.h"

#include <algorithm>
#include <map>
#include <set>

#include "data/leaves.h"
#include "data/parquet_file.h"
#include "files.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::gzip;
using faceter::testing::put;
using faceter::testing::request;

namespace {

/// "query 7" belongs to "document 7", as people see it.
std::string pairs(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += fmt::format("{{\"query\": \"query {}\", \"document\": \"document {}\"}}\n", i, i);
    return lines;
}

std::string last_word(std::string_view text) { return std::string(text.substr(text.rfind(' ') + 1)); }

/// Whether the example's two texts belong together, read from the texts themselves.
bool is_right(const TrainingSet& set, const Example& example) {
    return last_word(set.texts[example.anchor]) == last_word(set.texts[example.positive]);
}

std::set<std::string> wrong_queries(const TrainingSet& set) {
    std::set<std::string> wrong;
    for (const Example& example : set.examples)
        if (!is_right(set, example)) wrong.emplace(set.texts[example.anchor]);
    return wrong;
}

std::multiset<std::string> positives(const TrainingSet& set) {
    std::multiset<std::string> all;
    for (const Example& example : set.examples) all.emplace(set.texts[example.positive]);
    return all;
}

std::size_t noted(const TrainingSet& set) { return set.card.contains("noise") ? set.card.at("noise").at("pairs").get<std::size_t>() : 0; }

}  // namespace

/// noise_rate of a data entry, counted from the texts.
class TestNoise : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    TrainingSet load(const char* file, Json settings, std::uint64_t seed = 1) const {
        settings["source"] = "file";
        settings["path"] = file;
        DataRequest wanted = request(std::move(settings), folder_.path());
        wanted.seed = seed;
        return load_training_set(wanted, "retrieval");
    }
    TrainingSet at_rate(double rate, std::uint64_t seed = 1) const { return load("pairs.jsonl", {{"noise_rate", rate}}, seed); }

  private Q_SLOTS:
    void initTestCase() { put(folder_.path() / "pairs.jsonl", pairs(200)); }

    void as_many_pairs_are_wrong_as_the_rate_says_data() {
        QTest::addColumn<double>("rate");
        for (const double rate : {0.001, 0.01, 0.05, 0.123, 0.25, 0.5, 0.9, 1.0}) QTest::addRow("%g", rate) << rate;
    }
    void as_many_pairs_are_wrong_as_the_rate_says() {
        QFETCH(double, rate);
        const TrainingSet clean = at_rate(0);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const TrainingSet set = at_rate(rate, seed);
            const auto wrong = static_cast<double>(wrong_queries(set).size());
            QVERIFY(wrong >= std::floor(200 * rate) && wrong <= std::ceil(200 * rate));
            QCOMPARE(noted(set), wrong_queries(set).size());
            QCOMPARE(set.examples.size(), clean.examples.size());
            if (wrong > 1) QVERIFY(positives(set) == positives(clean));  // one alone takes a copy
            const auto noisy = noisy_examples(set);
            QCOMPARE(noisy.size(), set.examples.size());
            for (std::size_t i = 0; i < noisy.size(); ++i) {
                QCOMPARE(noisy[i] != 0, !is_right(set, set.examples[i]));
                QCOMPARE(set.examples[i].anchor, clean.examples[i].anchor);
            }
        }
    }
    void the_seed_decides_which_and_a_smaller_rate_s_are_among_a_larger_one_s() {
        QCOMPARE(at_rate(0.2, 3).fingerprint, at_rate(0.2, 3).fingerprint);
        QVERIFY(wrong_queries(at_rate(0.2, 3)) == wrong_queries(at_rate(0.2, 3)));
        QVERIFY(wrong_queries(at_rate(0.2, 3)) != wrong_queries(at_rate(0.2, 4)));
        const auto few = wrong_queries(at_rate(0.1)), many = wrong_queries(at_rate(0.4));
        QVERIFY(std::includes(many.begin(), many.end(), few.begin(), few.end()));
    }
    void the_fingerprint_tells_rates_and_seeds_apart_and_no_noise_is_no_change() {
        std::set<std::string> fingerprints;
        for (const double rate : {0.0, 0.1, 0.2})
            for (const std::uint64_t seed : {1, 2}) fingerprints.insert(at_rate(rate, seed).fingerprint);
        QCOMPARE(fingerprints.size(), std::size_t{5});
        const TrainingSet without = load("pairs.jsonl", Json::object());
        QCOMPARE(without.fingerprint, at_rate(0).fingerprint);
        QVERIFY(!at_rate(0).card.contains("noise"));
        QVERIFY(noisy_examples(without).empty());
        QCOMPARE(at_rate(0.1).card.at("fingerprint").get<std::string>(), at_rate(0.1).fingerprint);
    }
    void the_same_pairs_get_the_same_noise_from_every_kind_of_file() {
        std::string csv = "query,document\n";
        for (int i = 0; i < 200; ++i) csv += fmt::format("query {},document {}\n", i, i);
        put(folder_.path() / "pairs.csv", csv);
        put(folder_.path() / "packed.jsonl.gz", gzip(pairs(200)));
        const auto wrong = wrong_queries(load("pairs.jsonl", {{"noise_rate", 0.3}, {"name", "x"}}));
        QCOMPARE(wrong.size(), std::size_t{60});
        QVERIFY(wrong_queries(load("pairs.csv", {{"noise_rate", 0.3}, {"name", "x"}, {"format", "pairs"}})) == wrong);
        QVERIFY(wrong_queries(load("packed.jsonl.gz", {{"noise_rate", 0.3}, {"name", "x"}})) == wrong);
    }
    /// Of a limit's pairs, not of those that it leaves out.
    void the_rate_is_that_of_the_pairs_that_are_kept() {
        const TrainingSet set = load("pairs.jsonl", {{"noise_rate", 0.5}, {"max_examples", 40}});
        QCOMPARE(set.examples.size(), std::size_t{40});
        QCOMPARE(wrong_queries(set).size(), std::size_t{20});
    }
    /// Each of 300 tasks of 16 pairs is to have 0.8 of a wrong pair.
    void many_small_tasks_have_the_rate_together() {
        std::string records;
        for (int task = 0; task < 300; ++task)
            for (int i = 0; i < 16; ++i)
                records += fmt::format(
                    "{{\"task\": \"t{}\", \"instruction\": \"Find\", \"query\": \"query {}\", \"document\": \"document {}\"}}\n", task, i,
                    i);
        put(folder_.path() / "medi.jsonl", records);
        const auto sets =
            load_training_sets(request({{"source", "medi"}, {"path", "medi.jsonl"}, {"noise_rate", 0.05}}, folder_.path()), "retrieval");
        QCOMPARE(sets.size(), std::size_t{300});
        std::size_t wrong = 0;
        std::map<std::size_t, int> by_count;
        for (const TrainingSet& set : sets) {
            QCOMPARE(noted(set), wrong_queries(set).size());
            QCOMPARE(set.card.at("fingerprint").get<std::string>(), set.fingerprint);
            QVERIFY(set.card.contains("instructions"));
            wrong += noted(set);
            ++by_count[noted(set)];
        }
        QVERIFY(by_count.size() == 2 && by_count.contains(0) && by_count.contains(1));
        QVERIFY2(wrong >= 210 && wrong <= 270, fmt::format("{} of 4800", wrong).c_str());
    }
    void labelled_texts_get_a_text_of_another_label() {
        std::string lines;
        for (int i = 0; i < 90; ++i) lines += fmt::format("{{\"text\": \"text {} of {}\", \"label\": \"{}\"}}\n", i, i % 3, i % 3);
        put(folder_.path() / "labels.jsonl", lines);
        const TrainingSet set = load("labels.jsonl", {{"noise_rate", 0.4}, {"hard_negatives", 2}});
        QCOMPARE(wrong_queries(set).size(), std::size_t{36});
        QCOMPARE(noted(set), std::size_t{36});
        for (const Example& example : set.examples) {
            const auto first = set.negatives.begin() + example.first_negative;
            QCOMPARE(std::count(first, first + example.num_negatives, example.positive), 0);
        }
    }
    /// Ten queries with five documents each: none of the five is noise for its query.
    void a_query_s_other_documents_are_not_noise() {
        std::string lines;
        for (int i = 0; i < 50; ++i)
            lines += fmt::format("{{\"query\": \"query {}\", \"document\": \"document {} of {}\"}}\n", i % 10, i, i % 10);
        put(folder_.path() / "several.jsonl", lines);
        const TrainingSet set = load("several.jsonl", {{"noise_rate", 1.0}});
        for (const Example& example : set.examples) QVERIFY(!is_right(set, example));
        QCOMPARE(noted(set), std::size_t{50});
    }
    void a_text_among_a_query_s_negatives_does_not_become_its_positive() {
        std::string lines;
        for (int i = 0; i < 40; ++i)
            lines += fmt::format(
                "{{\"query\": \"query {}\", \"document\": \"document {}\", \"negatives\": [\"document {}\", \"document {}\"]}}\n", i, i,
                (i + 1) % 40, (i + 7) % 40);
        put(folder_.path() / "hard.jsonl", lines);
        const TrainingSet set = load("hard.jsonl", {{"noise_rate", 1.0}});
        for (const Example& example : set.examples) {
            const auto first = set.negatives.begin() + example.first_negative;
            QCOMPARE(std::count(first, first + example.num_negatives, example.positive), 0);
            QVERIFY(!is_right(set, example));
        }
    }
    /// Two labels of very unequal size: the large one's examples cannot all exchange with the small one's.
    void where_too_few_can_exchange_a_wrong_text_is_copied() {
        std::string lines;
        for (int i = 0; i < 60; ++i) lines += fmt::format("{{\"text\": \"text {} of {}\", \"label\": \"{}\"}}\n", i, i < 54, i < 54);
        put(folder_.path() / "skewed.jsonl", lines);
        const TrainingSet set = load("skewed.jsonl", {{"noise_rate", 0.5}});
        QCOMPARE(wrong_queries(set).size(), std::size_t{30});
        QCOMPARE(noted(set), std::size_t{30});
        QVERIFY(!set.card.at("noise").contains("kept"));
    }
    void what_cannot_be_exchanged_is_counted_and_said() {
        std::string lines;
        for (int i = 0; i < 20; ++i) lines += fmt::format("{{\"text\": \"text {} of same\", \"label\": \"same\"}}\n", i);
        put(folder_.path() / "one_label.jsonl", lines);
        const TrainingSet set = load("one_label.jsonl", {{"noise_rate", 0.5}});
        QCOMPARE(noted(set), std::size_t{0});
        QCOMPARE(set.card.at("noise").at("kept").size(), std::size_t{10});
        const auto noisy = noisy_examples(set);
        QCOMPARE(std::count(noisy.begin(), noisy.end(), 1), 0);
        QVERIFY(set.card.at("warnings").dump().find("10 of them keep their positives") != std::string::npos);
    }
    void a_set_that_has_lost_examples_since_does_not_say_which_are_noisy() {
        TrainingSet set = at_rate(0.5);
        set.examples.pop_back();
        QVERIFY(noisy_examples(set).empty());
    }
    void parquet_gets_it_too() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const fs::path set = fs::path(FACETER_SOURCE_DIR) / "tests/data/parquet/classes";
        const Json plain = {{"source", "folder"}, {"path", set.string()}};
        Json with_noise = plain;
        with_noise["noise_rate"] = 0.5;
        const TrainingSet clean = load_training_set(request(plain), "classification"),
                          noisy = load_training_set(request(with_noise), "classification");
        std::size_t changed = 0;
        for (std::size_t i = 0; i < clean.examples.size(); ++i) changed += clean.examples[i].positive != noisy.examples[i].positive;
        QCOMPARE(changed, noted(noisy));
        QCOMPARE(changed, clean.examples.size() / 2);
    }
    void where_it_makes_no_sense_it_is_refused() {
        put(folder_.path() / "scored.jsonl", "{\"query\": \"a\", \"document\": \"b\", \"score\": 0.4}\n");
        put(folder_.path() / "texts.txt", "one\ntwo\n");
        EXPECT_ERROR(load("scored.jsonl", {{"noise_rate", 0.5}}), "scores", "leave noise_rate out");
        EXPECT_ERROR(load("texts.txt", {{"noise_rate", 0.5}, {"format", "texts"}}), "pairs with themselves");
        for (const double rate : {-0.1, 1.5}) EXPECT_ERROR(at_rate(rate), "noise_rate", "from 0 to 1");
        const DataRequest wanted = request({{"source", "file"}, {"path", "pairs.jsonl"}, {"noise_rate", 0.5}}, folder_.path());
        EXPECT_ERROR(load_evaluation_set(wanted), "noise_rate is for training data");
        EXPECT_ERROR(load_texts(wanted), "noise_rate is for training data");
    }
};

FACETER_TEST(TestNoise)
#include "test_noise.moc"
