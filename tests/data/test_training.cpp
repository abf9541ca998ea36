#include <set>

#include "data/example_kinds.h"
#include "data/folder_files.h"
#include "data/leaves.h"
#include "data/overlap.h"
#include "data/settings.h"
#include "data/sources.h"
#include "data/text_table.h"
#include "data/training_builder.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;
using faceter::testing::request;

class TestTraining : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    TrainingSet load(const char* name, std::string_view content, Json settings = Json::object()) {
        put(folder_.path() / name, content);
        settings["source"] = "file";
        settings["path"] = name;
        return load_training_set(request(settings, folder_.path()), "retrieval");
    }
    static std::vector<std::string> negatives(const TrainingSet& set, std::size_t example) {
        std::vector<std::string> texts;
        const Example& one = set.examples[example];
        for (std::uint32_t i = 0; i < one.num_negatives; ++i) texts.emplace_back(set.texts[set.negatives[one.first_negative + i]]);
        return texts;
    }
    static std::string labelled() {
        std::string lines;
        for (int i = 0; i < 60; ++i) lines += fmt::format("{{\"text\": \"text {} of label {}\", \"label\": \"l{}\"}}\n", i, i % 3, i % 3);
        return lines + "{\"text\": \"alone\", \"label\": \"single\"}\n";
    }

  private Q_SLOTS:
    void equal_texts_get_one_id_however_many_there_are() {
        TextTable table;
        QCOMPARE(table.add("first"), 0u);
        QCOMPARE(table.add("first"), 1u);
        for (int round = 0; round < 2; ++round)
            for (int i = 0; i < 5000; ++i) QCOMPARE(table.intern("text " + std::to_string(i)), static_cast<std::uint32_t>(i + 2));
        QCOMPARE(table.intern("first"), 0u);
        QCOMPARE(table.add("later"), 5002u);
        QCOMPARE(table.intern("later"), 5002u);
        QCOMPARE(table.intern(""), 5003u);
        QCOMPARE(table.intern(""), 5003u);
        QCOMPARE(std::string(table[17]), std::string("text 15"));
    }
    /// Once they were passed over without a word.
    void an_instruction_that_all_records_of_a_file_have_is_the_data_sets() {
        const std::string pairs = R"({"instruction": "Find:", "document_instruction": "Text: ", "query": "q1", "document": "d1"}
{"query_instruction": "Find:", "document_instruction": "Text: ", "query": "q2", "document": "d2"}
)";
        const auto own = own_instructions(load("own.jsonl", pairs));
        QVERIFY(own.has_value());
        QCOMPARE(own->query, std::string("Find: "));
        QCOMPARE(own->document, std::string("Text: "));
        QCOMPARE(own->negative, std::string("Text: "));
        QVERIFY(!own_instructions(load("none.jsonl", R"({"instruction": "", "query": "q", "document": "d"})")));
        const auto of_labels = own_instructions(load("labels.jsonl", R"({"text": "a", "label": 1, "instruction": "Class:"}
{"text": "b", "label": 1, "instruction": "Class:"}
)",
                                                     {{"format", "labelled"}}));
        QCOMPARE(of_labels->document, std::string("Class: "));
        const auto several = load("two.jsonl", pairs + R"({"instruction": "Other:", "query": "q3", "document": "d3"})");
        QVERIFY(!own_instructions(several));
        QVERIFY(several.card.at("warnings").dump().find("several instructions ('Find: ' and 'Other: ')") != std::string::npos);
        EXPECT_ERROR(load("list.jsonl", R"({"instruction": ["Find:"], "query": "q", "document": "d"})"), "list.jsonl:1",
                     "'instruction' is not a text");
        put(folder_.path() / "scored.jsonl", pairs);
        const Json scored{{"source", "file"}, {"path", "scored.jsonl"}, {"task", "retrieval"}};
        const auto warnings = [&](const Json& entry) {
            return load_evaluation_set(request(entry, folder_.path())).card.at("warnings").dump();
        };
        QVERIFY(warnings(scored).find("bring an instruction ('Find: ')") != std::string::npos);
        Json by_entry = scored;
        by_entry["query_instruction"] = "Mine: ";
        QCOMPARE(warnings(by_entry), std::string("[]"));
    }
    void a_file_that_is_scored_says_how_much_is_in_it() {
        const auto counts_of = [&](const char* name, std::string_view content, const char* task) {
            put(folder_.path() / name, content);
            const Json entry{{"source", "file"}, {"path", name}, {"task", task}};
            return load_evaluation_set(request(entry, folder_.path())).card.at("counts");
        };
        const Json pairs = counts_of("two.jsonl",
                                     R"({"query": "q1", "document": "d1"}
{"query": "q1", "document": "d2"}
{"query": "q2", "document": "d2"}
{"query": "q3", "document": "d4"}
)",
                                     "retrieval");
        QCOMPARE(pairs.at("queries").get<int>(), 3);
        QCOMPARE(pairs.at("documents").get<int>(), 3);
        QCOMPARE(counts_of("l.jsonl", labelled(), "clustering"), (Json{{"sentences", 61}, {"labels", 4}}));
    }
    void pairs_are_read_under_all_of_their_names() {
        const auto set = load("names.jsonl", R"({"query": "q1", "document": "d1"}
{"anchor": "q2", "positive": "d2", "negative": "n2"}
{"sentence1": "q3", "sentence2": "d3"}
{"question": "q4", "pos": ["d4", "d5"], "neg": ["n4", "n5"]}
{"query": "q1", "document": "d1", "negatives": []}
)");
        QCOMPARE(set.examples.size(), std::size_t{6});
        QCOMPARE(negatives(set, 1), (std::vector<std::string>{"n2"}));
        QCOMPARE(negatives(set, 4), (std::vector<std::string>{"n4", "n5"}));
        QCOMPARE(std::string(set.texts[set.examples[4].positive]), std::string("d5"));
        QCOMPARE(set.examples[5].anchor, set.examples[0].anchor);
        QCOMPARE(set.card.at("counts").at("repeated_pairs").get<int>(), 1);
        EXPECT_ERROR(load("wrong.jsonl", "{\"query\": \"q\", \"document\": \"d\"}\n{\"query\": \"q\", \"dokument\": \"d\"}\n"),
                     "wrong.jsonl:2:", "no positive", "'dokument'");
        EXPECT_ERROR(load("type.jsonl", "{\"query\": [\"q\"], \"document\": \"d\"}\n", {{"format", "pairs"}}),
                     "type.jsonl:1:", "'query' is not a text");
    }
    /// A score beside a negative once was a negative itself, and hard_negative was none.
    void what_names_negatives_is_what_init_knows_and_nothing_else() {
        const auto beside =
            load("beside.csv", "query,positive,negative,negative_score,negative_id\nq,d,n,0.83,d17\n", {{"format", "pairs"}});
        QCOMPARE(negatives(beside, 0), (std::vector<std::string>{"n"}));
        const auto all = load("all.csv", "query,positive,hard_negative,negative1,neg_2\nq,d,a,b,c\n", {{"format", "pairs"}});
        QCOMPARE(negatives(all, 0), (std::vector<std::string>{"a", "b", "c"}));
        const auto records = load("ids.jsonl", R"({"query": "q", "positive": "d", "negative_id": "d17", "negative_source": "bm25"}
{"query": "q", "positive": "d", "hard_negatives": ["a", "b"], "negative_source": "bm25"}
{"query": "q", "positive": "d", "negative_10": "j", "negative_1": "a", "negative_2": "b", "negative_3": null}
)");
        QCOMPARE(negatives(records, 0), (std::vector<std::string>{}));
        QCOMPARE(negatives(records, 1), (std::vector<std::string>{"a", "b"}));
        QCOMPARE(negatives(records, 2), (std::vector<std::string>{"a", "b", "j"}));
    }
    void labels_choose_pairs_and_are_refused_elsewhere() {
        const char* pairs = R"({"query": "q", "document": "d", "label": "yes"}
{"query": "r", "document": "e", "label": "no"}
)";
        QCOMPARE(load("answers.jsonl", pairs, {{"labels", {"yes"}}}).examples.size(), std::size_t{1});
        put(folder_.path() / "l.jsonl", labelled());
        const std::string file = (folder_.path() / "l.jsonl").string();
        const std::string reason = reason_not_of_format({{"source", "file"}, {"path", file}, {"labels", {"l1"}}});
        QVERIFY2(reason.find("labels has no effect") != reason.npos && reason.find("of the kind labelled") != reason.npos, reason.c_str());
        put(folder_.path() / "classes/train.jsonl", labelled());
        const auto folder = [&](const char* path) { return request({{"path", path}, {"labels", {"yes"}}}, folder_.path()); };
        EXPECT_ERROR(require_folder_files(folder("classes"), DataUse::training), "classes: labels has no effect",
                     "of the kind classification");
        QVERIFY(!load_training_set(folder("classes"), "retrieval").examples.empty());  // runs of older versions go on
        put(folder_.path() / "answers/train.jsonl", pairs);
        require_folder_files(folder("answers"), DataUse::training);
        QCOMPARE(load_training_set(folder("answers"), "retrieval").examples.size(), std::size_t{1});
    }
    void a_name_of_a_label_that_is_no_text_is_not_shown() {
        const auto set = load("numbers.jsonl", R"({"text": "a", "label": 1, "label_text": 3}
{"text": "b", "label": 1, "label_text": 3}
{"text": "c", "label": 2, "label_text": "two"}
{"text": "d", "label": 2, "label_text": "two"}
)",
                              {{"format", "labelled"}});
        QCOMPARE(set.label_names, (std::vector<std::string>{"1", "two"}));
    }
    void the_last_ending_of_a_file_of_texts_says_what_is_in_it() {
        put(folder_.path() / "notes.txt.jsonl", "{\"text\": \"one\"}\n");
        put(folder_.path() / "notes.jsonl.txt", "{\"text\": \"one\"}\n");
        const auto texts = [&](const char* name) { return load_texts(request({{"source", "file"}, {"path", name}}, folder_.path())); };
        QCOMPARE(texts("notes.txt.jsonl"), (std::vector<std::string>{"one"}));
        QCOMPARE(texts("notes.jsonl.txt"), (std::vector<std::string>{"{\"text\": \"one\"}"}));
    }
    void tables_of_triplets_are_read_with_and_without_a_header() {
        const auto plain = load("t.tsv", "q1\td1\tn1\nq2\td2\tn2\n", {{"format", "triplets"}});
        const auto header = load("t.csv", "negative,anchor,positive\nn1,q1,d1\nn2,q2,d2\n", {{"format", "triplets"}});
        QCOMPARE(plain.examples.size(), std::size_t{2});
        QCOMPARE(negatives(plain, 1), (std::vector<std::string>{"n2"}));
        QCOMPARE(negatives(header, 1), (std::vector<std::string>{"n2"}));
        QCOMPARE(plain.fingerprint, header.fingerprint);
        EXPECT_ERROR(load("p.tsv", "q1\td1\n", {{"format", "triplets"}}), "p.tsv:1:", "no negative");
        EXPECT_ERROR(load("f.tsv", "q1\td1\n"), "needs format");
    }
    void texts_keep_their_classes_when_examples_are_left_out() {
        TrainingBuilder builder("b", "classification");
        builder.name_labels({"zero", "one"});
        for (int i = 0; i < 6; ++i) {
            const std::string anchor = fmt::format("anchor {}", i), positive = fmt::format("positive {}", i),
                              negative = fmt::format("negative {}", i);
            const std::string_view negatives[] = {negative, "of both"};
            builder.add(anchor, positive, negatives, i % 2);
            builder.label(anchor, i % 2);
            builder.label(negative, 1 - i % 2);
            builder.label("of both", i % 2);
        }
        DataReport report(RecordErrors::Policy::fail);
        const TrainingSet set = builder.finish({3, 0, 0}, report, {});
        QCOMPARE(set.examples.size(), std::size_t{3});
        for (const Example& example : set.examples) {
            QCOMPARE(set.label_of(example.anchor), example.label);
            QVERIFY(set.label_of(example.positive) < 0);
            QCOMPARE(set.label_of(set.negatives[example.first_negative]), 1 - example.label);
            QVERIFY(set.label_of(set.negatives[example.first_negative + 1]) < 0);  // of two classes
        }
    }
    void hard_negatives_are_cut_to_the_number_asked_for() {
        const char* line = "{\"query\": \"q\", \"document\": \"d\", \"negatives\": [\"a\", \"b\", \"c\"]}\n";
        QCOMPARE(negatives(load("n.jsonl", line), 0).size(), std::size_t{3});
        QCOMPARE(negatives(load("n.jsonl", line, {{"hard_negatives", 2}}), 0), (std::vector<std::string>{"a", "b"}));
        QCOMPARE(negatives(load("n.jsonl", line, {{"hard_negatives", 0}}), 0).size(), std::size_t{0});
    }
    void a_positive_has_the_anchors_label_and_negatives_have_another() {
        const auto set = load("labels.jsonl", labelled(), {{"hard_negatives", 3}});
        QCOMPARE(set.examples.size(), std::size_t{60});
        QCOMPARE(set.label_names.size(), std::size_t{4});
        const auto label_of = [](std::string_view text) { return std::string(text.substr(text.find("label"))); };
        for (std::size_t i = 0; i < set.examples.size(); ++i) {
            const Example& example = set.examples[i];
            QVERIFY(example.anchor != example.positive);
            QCOMPARE(label_of(set.texts[example.anchor]), label_of(set.texts[example.positive]));
            QCOMPARE(negatives(set, i).size(), std::size_t{3});
            for (const std::string& negative : negatives(set, i))
                QVERIFY(negative.find(label_of(set.texts[example.anchor])) == std::string::npos);
        }
        QCOMPARE(set.card.at("counts").at("labels_with_one_text").get<int>(), 1);
        QVERIFY(set.card.at("warnings").dump().find("single") != std::string::npos);
    }
    /// Their cells are all texts: 1.0 was another label than 1, and `labels` took neither for the other.
    void whole_numbers_as_labels_of_a_table_are_those_of_json_lines() {
        const std::string three = "query,document,label\na,b,1.0\nc,d,0.0\ne,f,-0.0\n";
        const auto with_label = [&](const char* label) {
            return load("whole.csv", three, {{"format", "pairs"}, {"labels", Json::array({label})}}).examples.size();
        };
        QCOMPARE(with_label("1"), std::size_t{1});
        QCOMPARE(with_label("0"), std::size_t{2});
        const auto all = load("carried.csv", "query,document,label\na,b,1.0\nc,d,0.0\n", {{"format", "pairs"}});
        QVERIFY(all.card.at("warnings").dump().find("its pairs carry labels (0, 1)") != std::string::npos);
        const auto classes = load("classes.csv", "text,label\na,1.0\nb,1\nc,0\nd,0.0\n", {{"format", "labelled"}});
        QCOMPARE(classes.label_names, (std::vector<std::string>{"0", "1"}));
    }
    void the_same_seed_gives_the_same_set_and_another_seed_other_positives() {
        put(folder_.path() / "seed.jsonl", labelled());
        auto entry = request({{"source", "file"}, {"path", "seed.jsonl"}, {"max_examples", 20}}, folder_.path());
        const auto once = load_training_set(entry, "classification"), again = load_training_set(entry, "classification");
        QCOMPARE(once.fingerprint, again.fingerprint);
        QCOMPARE(once.examples.size(), std::size_t{20});
        entry.seed = 2;
        const auto other = load_training_set(entry, "classification");
        QVERIFY(other.fingerprint != once.fingerprint);
        for (std::size_t i = 0; i < 20; ++i)
            QCOMPARE(std::string(other.texts[other.examples[i].anchor]), std::string(once.texts[once.examples[i].anchor]));
    }
    void a_limit_chooses_by_hash_and_a_smoke_run_by_a_smaller_one() {
        std::string lines;
        for (int i = 0; i < 300; ++i) lines += fmt::format("{{\"query\": \"q{}\", \"document\": \"d{}\"}}\n", i, i);
        const auto hundred = load("limit.jsonl", lines, {{"max_examples", 100}}),
                   fifty = load("limit.jsonl", lines, {{"max_examples", 50}});
        std::set<std::string> anchors;
        for (const Example& example : hundred.examples) anchors.emplace(hundred.texts[example.anchor]);
        QCOMPARE(anchors.size(), std::size_t{100});
        for (const Example& example : fifty.examples) QVERIFY(anchors.contains(std::string(fifty.texts[example.anchor])));
        QCOMPARE(hundred.texts.size(), std::size_t{200});
        auto smoke = request({{"source", "file"}, {"path", "limit.jsonl"}, {"max_examples", 100}}, folder_.path());
        smoke.sample_limit = 7;
        QCOMPARE(load_training_set(smoke, "retrieval").examples.size(), std::size_t{7});
    }
    void texts_for_an_analysis_are_distinct_and_the_same_each_time() {
        std::string lines;
        for (int i = 0; i < 100; ++i) lines += fmt::format("text {}\r\n", i % 50);
        put(folder_.path() / "plain.txt", lines);
        const auto entry = request({{"source", "file"}, {"path", "plain.txt"}, {"count", 20}}, folder_.path());
        const auto texts = load_texts(entry);
        QCOMPARE(texts.size(), std::size_t{20});
        QCOMPARE(std::set<std::string>(texts.begin(), texts.end()).size(), std::size_t{20});
        QVERIFY(load_texts(entry) == texts);
    }
    void a_set_without_examples_or_that_cannot_be_trained_on_says_so() {
        EXPECT_ERROR(load("empty.jsonl", "", {{"format", "pairs"}}), "no example is left");
        EXPECT_ERROR(load("unclear.jsonl", "{\"a\": 1}\n"), "set format");
        EXPECT_ERROR(load("bytes.jsonl", "\n{\"query\": \"\xff\", \"document\": \"b\"}\n"), "bytes.jsonl:2: not valid UTF-8");
        EXPECT_ERROR(load("torn.jsonl", "{\"query\": \"a\""), "torn.jsonl:1: not valid JSON");
        EXPECT_ERROR(load("none.jsonl", ""), "none.jsonl: holds no record");
        put(folder_.path() / "sts/test.jsonl", R"({"sentence1": "a", "sentence2": "b", "score": 3.2})");
        EXPECT_ERROR(load_training_set(request({{"path", "sts"}}, folder_.path()), "sts"), "train.jsonl: no such file");
        put(folder_.path() / "sum/test.jsonl",
            R"({"text": "t", "human_summaries": ["h"], "machine_summaries": ["m"], "relevance": [1.0]})");
        EXPECT_ERROR(load_training_set(request({{"path", "sum"}}, folder_.path()), "sum"), "cannot be trained on");
        EXPECT_ERROR(load("on.jsonl", "{}", {{"on_error", "ignore"}}), "fail or skip");
        EXPECT_ERROR(load("on.jsonl", "{}", {{"max_examples", "many"}}), "'max_examples' has the wrong type");
    }
    void texts_in_training_and_test_data_are_counted_for_each_pair_of_sets() {
        std::vector<TrainingSet> training;
        training.push_back(
            load("train_a.jsonl", "{\"query\": \"The cat, sat.\", \"document\": \"x1\"}\n{\"query\": \"alone\", \"document\": \"x2\"}\n"));
        training.push_back(load("train_b.jsonl", "{\"query\": \"nothing\", \"document\": \"shared\"}\n"));
        put(folder_.path() / "test/train.jsonl", "{\"text\": \"nothing\", \"label\": 1}\n{\"text\": \"of its own\", \"label\": 0}\n");
        put(folder_.path() / "test/test.jsonl",
            "{\"text\": \"the cat sat .\", \"label\": 1}\n{\"text\": \"The  CAT sat\", \"label\": 0}\n{\"text\": \"other\", \"label\": "
            "0}\n");
        std::vector<EvaluationSet> evaluation;
        evaluation.push_back(load_evaluation_folder(folder_.path() / "test"));
        const auto found = count_overlap(training, evaluation);
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found[0].training, std::string("train_a.jsonl"));
        QCOMPARE(found[0].shared_texts, std::size_t{1});
        QCOMPARE(found[0].evaluation_texts, std::size_t{2});
        QVERIFY(describe_overlap(found[0]).find("1 of 2 test texts of 'test'") == 0);
    }
    void every_key_of_an_entry_is_declared_with_a_sentence() {
        const Schema schema = data_entry_schema();
        for (const char* key : {"name", "source", "path", "view", "split", "task", "max_examples", "max_documents", "format", "on_error",
                                "exclude_same_id", "hard_negatives"})
            QVERIFY2(schema.find(key), key);
        for (const Field& field : schema.fields) QVERIFY2(field.description.ends_with('.'), field.key.c_str());
        QCOMPARE(schema.find("source")->choices,
                 (std::vector<std::string>{"debian", "debian_leaves", "file", "folder", "medi", "natural_instructions"}));
    }
};

FACETER_TEST(TestTraining)
#include "test_training.moc"
