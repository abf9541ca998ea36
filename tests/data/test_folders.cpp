#include <set>

#include "data/folder_files.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;
using faceter::testing::request;

class TestFolders : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    fs::path beir(const char* name, std::string_view qrels, std::string_view corpus = {}, std::string_view queries = {}) {
        const fs::path folder = folder_.path() / name;
        put(folder / "corpus.jsonl", corpus.empty() ? R"({"_id": "d1", "title": "T", "text": "one"}
{"_id": "d2", "title": "", "text": "two"}
{"_id": "d3", "text": "three"}
{"_id": 4, "title": "four", "text": ""}
)"
                                                    : corpus);
        put(folder / "queries.jsonl",
            queries.empty()
                ? "{\"_id\": \"q1\", \"text\": \"first\"}\n{\"_id\": \"q2\", \"text\": \"\"}\n{\"_id\": \"q3\", \"text\": \"third\"}\n"
                : queries);
        put(folder / "qrels/test.tsv", qrels);
        return folder;
    }
    static constexpr const char* two_labels = "{\"text\": \"t\", \"label\": 1}\n{\"text\": \"u\", \"label\": 2}\n";
    static std::string warnings(const EvaluationSet& set) { return set.card.at("warnings").dump(); }

  private Q_SLOTS:
    void qrels_are_read_with_and_without_a_header() {
        for (const char* header : {"", "query-id\tcorpus-id\tscore\n", "query-id\tcorpus-id\tscore\r\n"}) {
            const auto set = load_evaluation_folder(beir("header", std::string(header) + "q3\td2\t2\nq3\t4\t0\nq1\td1\t1.0\n"));
            const auto& data = std::get<RetrievalData>(set.data);
            QCOMPARE(set.task_type, std::string("retrieval"));
            QCOMPARE(data.query_ids, (std::vector<std::string>{"q1", "q3"}));
            QCOMPARE(data.qrels[1], (std::vector<std::pair<std::uint32_t, int>>{{1, 2}, {3, 0}}));
            QCOMPARE(std::string(data.documents[0]), std::string("T one"));
            QCOMPARE(std::string(data.documents[2]), std::string("three"));
            QCOMPARE(std::string(data.documents[3]), std::string("four"));
        }
    }
    void judgements_of_unknown_documents_and_queries_are_counted_and_warned_of() {
        const auto set = load_evaluation_folder(beir("unknown", "q1\td1\t1\nq1\tnope\t1\nq9\td1\t1\n"));
        QCOMPARE(set.card.at("counts").at("judgements_of_unknown_documents").get<int>(), 1);
        QCOMPARE(set.card.at("counts").at("judgements_of_unknown_queries").get<int>(), 1);
        QVERIFY(warnings(set).find("1 judgements name a document") != std::string::npos);
        QVERIFY(warnings(set).find("1 judgements name a query") != std::string::npos);
        for (const char* nothing : {"q9\td9\t1\n", "q1\td9\t1\n"})
            EXPECT_ERROR(load_evaluation_folder(beir("nobody", nothing)), "no judgement of split 'test'");
    }
    /// As in trec_eval, a query is scored even where all of its documents are missing.
    void judgements_of_unknown_documents_stay_among_those_of_their_query() {
        const auto set = load_evaluation_folder(beir("absent", "q1\td2\t1\nq1\tnope\t2\nq3\tnope\t1\nq3\tnope\t3\nq2\td1\t1\n"));
        const auto& data = std::get<RetrievalData>(set.data);
        using Judged = std::vector<std::pair<std::uint32_t, int>>;
        QCOMPARE(data.query_ids, (std::vector<std::string>{"q1", "q2", "q3"}));
        QCOMPARE(data.qrels, (std::vector<Judged>{{{1, 1}}, {{0, 1}}, {}}));
        QCOMPARE(all_judgements(data, 0), (Judged{{1, 1}, {4, 2}}));
        QCOMPARE(all_judgements(data, 1), (Judged{{0, 1}}));
        QCOMPARE(all_judgements(data, 2), (Judged{{4, 3}}));
        const auto without = load_evaluation_folder(beir("present", "q1\td2\t1\nq3\td1\t1\nq2\td1\t1\n"));
        QVERIFY(std::get<RetrievalData>(without.data).absent_grades.empty());
        QVERIFY(set.fingerprint != without.fingerprint);
    }
    void generated_queries_of_beir_are_a_split_of_their_own() {
        const fs::path folder = beir("generated", "q1\td1\t1\n");
        put(folder / "qgen-queries.jsonl", "{\"_id\": \"g1\", \"text\": \"made up\"}\n{\"_id\": \"g2\", \"text\": \"as well\"}\n");
        put(folder / "qgen-qrels/train.tsv", "query-id\tcorpus-id\tscore\ng1\td2\t1\ng2\td3\t1\n");
        DataRequest generated = request({{"source", "folder"}, {"path", folder.string()}, {"split", "qgen"}});
        const TrainingSet set = load_training_set(generated, "retrieval");
        QCOMPARE(set.examples.size(), std::size_t{2});
        QCOMPARE(std::string(set.texts[set.examples[0].anchor]), std::string("made up"));
        QCOMPARE(std::string(set.texts[set.examples[0].positive]), std::string("two"));
        fs::remove(folder / "qgen-qrels/train.tsv");
        EXPECT_ERROR(load_training_set(generated, "retrieval"), "qgen-qrels/train.tsv");
    }
    void queries_without_a_relevant_document_are_warned_of() {
        const auto set = load_evaluation_folder(beir("irrelevant", "q1\td1\t1\nq2\td1\t0\nq2\td2\t-1\nq3\tnope\t1\nq3\td1\t0\n"));
        QCOMPARE(set.card.at("counts").at("queries_without_a_relevant_document").get<int>(), 1);
        QVERIFY2(warnings(set).find("1 of 3 queries have no relevant document") != std::string::npos, warnings(set).c_str());
        QVERIFY(warnings(load_evaluation_folder(beir("relevant", "q1\td1\t1\n"))).find("relevant") == std::string::npos);
    }
    void an_empty_query_is_kept_and_warned_of() {
        const auto set = load_evaluation_folder(beir("empty_query", "q2\td1\t1\n"));
        QCOMPARE(std::get<RetrievalData>(set.data).queries.size(), std::size_t{1});
        QVERIFY(warnings(set).find("1 queries are empty") != std::string::npos);
    }
    /// One such text kept a whole call of evaluate from scoring anything, where MTEB's protocols embed it as any other.
    void an_empty_text_is_scored_as_it_is_and_trained_on_by_none() {
        const auto folder_of = [&](const std::string& task, const std::string& line) {
            const fs::path folder = folder_.path() / "blank" / task;
            put(folder / "dataset.json", "{\"task\": \"" + task + "\"}");
            put(folder / "train.jsonl", two_labels);
            put(folder / "test.jsonl", line + "\n");
            return folder;
        };
        for (const auto& [task, line] : {std::pair("bitext_mining", R"({"sentence1": "a", "sentence2": ""})"),
                                         std::pair("sts",
                                                   "{\"sentence1\": \" \", \"sentence2\": \"b\", \"score\": 1}\n"
                                                   "{\"sentence1\": \"c\", \"sentence2\": \"d\", \"score\": 2}"),
                                         std::pair("classification", R"({"text": "", "label": 0})"),
                                         std::pair("reranking", R"({"query": "", "positive": ["b"], "negative": ["c"]})")}) {
            const fs::path folder = folder_of(task, line);
            const auto set = load_evaluation_folder(folder);
            QVERIFY2(warnings(set).find("1 texts are empty; they are scored as they are") != std::string::npos, warnings(set).c_str());
        }
        const auto rest = [&](const char* task) {
            return load_evaluation_set(request({{"path", (folder_.path() / "blank" / task).string()}, {"on_error", "skip"}}));
        };
        EXPECT_ERROR(rest("sts"), "all 1 pairs have the score");
        EXPECT_ERROR(rest("bitext_mining"), "no pair");
        EXPECT_ERROR(load_training_set(request({{"path", "blank/sts"}, {"split", "test"}}, folder_.path()), "sts"),
                     "test.jsonl:1:", "'sentence1' is empty");
    }
    /// One ended a whole call of evaluate, where the same text in JSON did not.
    void an_empty_cell_of_a_table_is_an_empty_text() {
        const fs::path folder = folder_.path() / "blank/table";
        put(folder / "dataset.json", "{\"task\": \"sts\"}");
        put(folder / "test.csv", "sentence1,sentence2,score\na,,1\nc,d,2\n");
        const auto set = load_evaluation_folder(folder);
        QCOMPARE(std::get<PairData>(set.data).scores.size(), std::size_t{2});
        QVERIFY2(warnings(set).find("1 texts are empty; they are scored as they are") != std::string::npos, warnings(set).c_str());
        EXPECT_ERROR(load_training_set(request({{"path", folder.string()}, {"split", "test"}}), "sts"),
                     "test.csv:2:", "'sentence2' is empty");
        put(folder / "test.csv", "sentence1,sentence2,score\na\nc,d,2\n");
        EXPECT_ERROR(load_evaluation_folder(folder), "test.csv:2:", "'sentence2' is missing");
    }
    /// mteb 2's reranking: the whole corpus was searched.
    void candidates_of_a_retrieval_set_are_ranked_in_place_of_its_corpus() {
        const auto folder = beir("candidates", "q1\td1\t1\nq1\td2\t0\nq3\td3\t2\nq3\td1\t1\n");
        put(folder / "top_ranked.jsonl",
            "{\"query-id\": \"q1\", \"corpus-ids\": [\"d3\", \"d1\", \"d3\"]}\n{\"query-id\": \"q3\", \"corpus-ids\": [\"d2\", \"d3\", "
            "\"d9\"]}\n");
        const auto set = load_evaluation_folder(folder);
        QCOMPARE(set.task_type, std::string("reranking"));
        const auto& data = std::get<RerankingData>(set.data);
        QCOMPARE(data.queries.size(), std::size_t{2});
        QCOMPARE(data.queries[0].negative.size(), std::size_t{1});
        QCOMPARE(std::string(data.texts[data.queries[0].negative[0]]), std::string("three"));
        QCOMPARE(std::string(data.texts[data.queries[1].positive.at(0)]), std::string("three"));
        QVERIFY(warnings(set).find("1 relevant documents are not among the candidates") != std::string::npos);
        QVERIFY(warnings(set).find("1 candidates (top_ranked) are documents that the data set lacks") != std::string::npos);
        QCOMPARE(load_evaluation_set(request({{"path", folder.string()}, {"task", "retrieval"}})).task_type, std::string("retrieval"));
        QCOMPARE(load_training_set(request({{"path", folder.string()}, {"split", "test"}}), "retrieval").examples.size(), std::size_t{3});
        put(folder / "top_ranked.jsonl", "{\"query-id\": \"q1\", \"corpus-ids\": \"d1\"}\n");
        EXPECT_ERROR(load_evaluation_folder(folder), "top_ranked.jsonl:1:", "a list corpus-ids");
    }
    void ids_of_documents_and_queries_may_be_called_id() {
        const auto set = load_evaluation_folder(
            beir("id", "q1\ta\t1\n", "{\"id\": \"a\", \"text\": \"x\"}\n", "{\"id\": \"q1\", \"text\": \"first\"}\n"));
        QCOMPARE(std::get<RetrievalData>(set.data).document_ids, (std::vector<std::string>{"a"}));
    }
    /// A limit that the kind of set does not have would leave it whole without a word.
    void limits_of_another_kind_of_set_are_refused_before_a_run() {
        const auto check = [](const fs::path& folder, const char* limit) {
            require_folder_files(request({{"path", folder.string()}, {limit, 5}}), DataUse::evaluation);
        };
        const auto search = beir("limited", "q1\td1\t1\n");
        EXPECT_ERROR(check(search, "max_examples"), "max_examples has no effect", "kind 'retrieval'");
        check(search, "max_queries");
        const fs::path pairs = folder_.path() / "limited_pairs";
        put(pairs / "test.jsonl", R"({"sentence1": "a", "sentence2": "b", "score": 1})");
        EXPECT_ERROR(check(pairs, "max_queries"), "max_queries has no effect", "kind 'sts'", "max_examples");
        EXPECT_ERROR(check(pairs, "max_documents"), "max_documents has no effect");
        check(pairs, "max_examples");
    }
    void examples_a_label_are_mteb_s_for_the_sets_that_have_its_names() {
        const auto number = [&](const char* name) {
            const fs::path folder = folder_.path() / "named" / name;
            put(folder / "train.jsonl", two_labels);
            put(folder / "test.jsonl", two_labels);
            return std::get<ClassificationData>(load_evaluation_folder(folder).data).examples_per_label;
        };
        for (const auto& [name, wanted] :
             {std::pair("emotion", 16), std::pair("EmotionClassification.v2", 16), std::pair("emotional_support", 8),
              std::pair("toxic_conversations_50k", 16), std::pair("TNews-classification", 32), std::pair("yelp_review_full", 128),
              std::pair("csfdcz_movie_review_sentiment", 20), std::pair("Banking77Classification", 8)})
            QCOMPARE(number(name), wanted);
        const fs::path multilingual = folder_.path() / "named/AmazonCounterfactualClassification";
        for (const char* part : {"train.jsonl", "test.jsonl"}) put(multilingual / "en" / part, two_labels);
        QCOMPARE(std::get<ClassificationData>(load_evaluation_folder(multilingual).data).examples_per_label, 32);
    }
    void the_last_of_two_judgements_counts() {
        const auto set = load_evaluation_folder(beir("twice", "q1\td1\t1\nq1\td1\t3\n"));
        QCOMPARE(std::get<RetrievalData>(set.data).qrels[0][0].second, 3);
        QCOMPARE(set.card.at("counts").at("repeated_judgements").get<int>(), 1);
    }
    void broken_beir_folders_name_the_file_and_line() {
        EXPECT_ERROR(load_evaluation_folder(beir("grade", "q1\td1\tx\n")), "test.tsv:1:", "member 'score' is not a number");
        EXPECT_ERROR(load_evaluation_folder(beir("share", "q1\td1\t1\nq1\td2\t0.9\n")), "test.tsv:2:", "not a whole number (0.9");
        EXPECT_ERROR(load_evaluation_folder(beir("two", "q1\td1\n")), "test.tsv:1:", "score");
        EXPECT_ERROR(load_evaluation_folder(beir("blanks", "q1 d1 1\n")), "test.tsv:1:", "separated by tabs");
        EXPECT_ERROR(
            load_evaluation_folder(beir("ids", "q1\ta\t1\n", "{\"_id\": \"a\", \"text\": \"x\"}\n{\"_id\": \"a\", \"text\": \"y\"}\n")),
            "corpus.jsonl:2:", "twice");
        EXPECT_ERROR(load_evaluation_folder(beir("no_text", "q1\ta\t1\n", "{\"_id\": \"a\"}\n")),
                     "corpus.jsonl:1:", "neither title nor text");
        EXPECT_ERROR(load_evaluation_folder(beir("id_type", "q1\ta\t1\n", "{\"_id\": [1], \"text\": \"x\"}\n")), "corpus.jsonl:1:", "_id");
        EXPECT_ERROR(load_evaluation_folder(beir("split", "q1\td1\t1\n"), "dev"), "qrels/dev.tsv", "no such file");
    }
    void the_part_to_choose_by_has_several_names() {
        for (const char* name : {"val", "valid", "validation"}) {
            const auto folder = beir(name, "q1\td1\t1\n");
            put(folder / "qrels" / (std::string(name) + ".tsv"), "q3\td2\t1\n");
            QCOMPARE(std::get<RetrievalData>(load_evaluation_folder(folder, "dev").data).qrels.back(),
                     (std::vector<std::pair<std::uint32_t, int>>{{1, 1}}));
        }
    }
    void on_error_skip_leaves_bad_documents_out_and_says_so() {
        const auto folder = beir("skip", "q1\td1\t1\nq1\td2\t1\n",
                                 "{\"_id\": \"d1\", \"text\": \"x\"}\n{\"_id\": \"d2\", \"te\n{\"_id\": \"d3\", \"text\": \"z\"}\n");
        EXPECT_ERROR(load_evaluation_folder(folder), "corpus.jsonl:2: not valid JSON");
        const auto set = load_evaluation_set(request({{"source", "folder"}, {"path", folder.string()}, {"on_error", "skip"}}));
        QCOMPARE(std::get<RetrievalData>(set.data).documents.size(), std::size_t{2});
        QCOMPARE(set.card.at("skipped").at("records").get<int>(), 1);
        QVERIFY(warnings(set).find("corpus.jsonl:2") != std::string::npos);
    }
    void packed_folders_give_the_same_set() {
        const auto plain = beir("plain", "q1\td1\t1\nq3\td2\t1\n");
        const auto packed = folder_.path() / "packed";
        put(packed / "corpus.jsonl.gz", faceter::testing::gzip(read_file(plain / "corpus.jsonl")));
        put(packed / "queries.jsonl.zst", faceter::testing::zstd(read_file(plain / "queries.jsonl")));
        put(packed / "qrels/test.tsv.gz", faceter::testing::gzip(read_file(plain / "qrels/test.tsv")));
        QCOMPARE(load_evaluation_folder(packed).fingerprint, load_evaluation_folder(plain).fingerprint);
    }
    void endings_in_capitals_give_the_same_set() {
        const auto plain = beir("small", "q1\td1\t1\nq3\td2\t1\n");
        const auto capital = folder_.path() / "capital";
        put(capital / "corpus.JSONL.GZ", faceter::testing::gzip(read_file(plain / "corpus.jsonl")));
        put(capital / "queries.Jsonl", read_file(plain / "queries.jsonl"));
        put(capital / "qrels/test.TSV", read_file(plain / "qrels/test.tsv"));
        QCOMPARE(load_evaluation_folder(capital).fingerprint, load_evaluation_folder(plain).fingerprint);
        put(capital / "qrels/test.tsv", "q1\td2\t1\n");  // goes before the one in capitals
        QVERIFY(load_evaluation_folder(capital).fingerprint != load_evaluation_folder(plain).fingerprint);
        const auto texts = folder_.path() / "texts";
        put(texts / "texts.TXT", "one\ntwo\n");
        put(texts / "dataset.json", R"({"task": "texts"})");
        QCOMPARE(load_texts(request({{"source", "folder"}, {"path", texts.string()}})), (std::vector<std::string>{"one", "two"}));
    }
    void a_folder_without_a_card_is_recognised_by_its_records() {
        const auto kind = [&](const char* name, const char* line, const char* file = "test.jsonl") {
            const fs::path folder = folder_.path() / "kinds" / name;
            put(folder / "train.jsonl", two_labels);
            put(folder / file, std::string(line) + "\n");
            return load_evaluation_folder(folder).task_type;
        };
        QCOMPARE(kind("a", R"({"text": "a", "label": 0})"), std::string("classification"));
        QCOMPARE(kind("b", R"({"sentences": ["a", "b"], "labels": [0, 1]})"), std::string("clustering"));
        QCOMPARE(kind("c", R"({"sentence1": "a", "sentence2": "b", "label": 1})"), std::string("pair_classification"));
        QCOMPARE(
            kind(
                "d",
                "{\"sentence1\": \"a\", \"sentence2\": \"b\", \"score\": 3.2}\n{\"sentence1\": \"a\", \"sentence2\": \"c\", \"score\": 0}"),
            std::string("sts"));
        QCOMPARE(kind("e", R"({"query": "a", "positive": ["b"], "negative": ["c"]})"), std::string("reranking"));
        QCOMPARE(kind("f", R"({"text": "a", "human_summaries": ["b"], "machine_summaries": ["c", "d"], "relevance": [1, 2.5]})"),
                 std::string("summarisation"));
        put(folder_.path() / "kinds/g/train.jsonl", "{\"text\": \"t\", \"label\": [1, 2]}\n");
        put(folder_.path() / "kinds/g/test.jsonl", "{\"text\": \"t\", \"label\": [2]}\n");
        QCOMPARE(load_evaluation_folder(folder_.path() / "kinds/g").task_type, std::string("multilabel_classification"));
        QCOMPARE(kind("h", R"({"sentence1": "a", "sentence2": "b"})"), std::string("bitext_mining"));
        QCOMPARE(kind("i", R"({"sent1": ["a", "b"], "sent2": ["c", "d"], "labels": [0, 1]})"), std::string("pair_classification"));
        QCOMPARE(kind("j", R"({"sentence1": "a", "sentence2": "b", "labels": 1})"), std::string("pair_classification"));  // mteb 2
        put(folder_.path() / "kinds/none/readme", "x");
        EXPECT_ERROR(load_evaluation_folder(folder_.path() / "kinds/none"), "none of the known layouts", "corpus.jsonl", "human_summaries");
        for (const char* twin : {"a", "b"}) put(folder_.path() / "twins" / twin / "train.jsonl", two_labels);
        EXPECT_ERROR(load_training_set(request({{"path", "twins"}}, folder_.path()), "classification"), "a folder of data sets", "twins/a");
        EXPECT_ERROR(load_evaluation_folder(folder_.path() / "nowhere"), "nowhere", "no such folder");
        put(folder_.path() / "kinds/odd/dataset.json", R"({"task": "retrievel"})");
        EXPECT_ERROR(load_evaluation_folder(folder_.path() / "kinds/odd"), "dataset.json", "did you mean 'retrieval'");
    }
    void wrong_members_of_each_layout_are_errors_with_a_line() {
        const auto load = [&](const char* task, const char* line) {
            const fs::path folder = folder_.path() / "wrong";
            fs::remove_all(folder);
            put(folder / "dataset.json", std::string("{\"task\": \"") + task + "\"}");
            put(folder / "train.jsonl", two_labels);
            put(folder / "test.jsonl", std::string("\n") + line + "\n");
            return load_evaluation_folder(folder);
        };
        EXPECT_ERROR(load("classification", R"({"text": "a", "label": [1]})"), "test.jsonl:2:", "'label'");
        EXPECT_ERROR(load("classification", R"({"text": "a"})"), "test.jsonl:2:", "'label' is missing");
        EXPECT_ERROR(load("clustering", R"({"sentences": ["a", "b"], "labels": [0]})"), "test.jsonl:2:", "differ in length");
        EXPECT_ERROR(load("clustering", R"({"sentences": ["a", 2], "labels": [0, 1]})"), "test.jsonl:2:", "not a list of texts");
        EXPECT_ERROR(load("clustering", R"({"sentences": ["a", "b"], "labels": [0, null]})"), "test.jsonl:2:", "labels");
        EXPECT_ERROR(load("pair_classification", R"({"sentence1": "a", "sentence2": "b", "label": 0.5})"),
                     "test.jsonl:2:", "neither 0 nor 1");
        EXPECT_ERROR(load("sts", R"({"sentence1": "a", "sentence2": "b", "score": "high"})"), "test.jsonl:2:", "'score' is not a number");
        EXPECT_ERROR(load("reranking", R"({"query": "a", "positive": 1, "negative": []})"), "test.jsonl:2:", "positive");
        EXPECT_ERROR(load("summarisation", R"({"text": "a", "human_summaries": ["b"], "machine_summaries": ["c"], "relevance": [1, 2]})"),
                     "test.jsonl:2:", "differ in length");
        EXPECT_ERROR(load("reranking", R"({"query": "a", "positive": ["b"], "negative": []})"), "no query with candidates");
    }
    void a_smaller_sample_is_part_of_a_larger_one_and_keeps_relevant_documents() {
        std::string corpus, queries, qrels;
        for (int i = 0; i < 500; ++i) corpus += fmt::format("{{\"_id\": \"d{}\", \"text\": \"document {}\"}}\n", i, i);
        for (int i = 0; i < 50; ++i) {
            queries += fmt::format("{{\"_id\": \"q{}\", \"text\": \"query {}\"}}\n", i, i);
            qrels += fmt::format("q{}\td{}\t1\n", i, 7 * i);
        }
        const auto folder = beir("sample", qrels, corpus, queries);
        const auto load = [&](Json limits) {
            limits["path"] = folder.string();
            const auto set = load_evaluation_set(request(limits));
            return std::get<RetrievalData>(set.data);
        };
        const auto small = load({{"max_documents", 100}}), large = load({{"max_documents", 200}}), few = load({{"max_queries", 5}}),
                   tiny = load({{"max_documents", 20}});
        QCOMPARE(small.documents.size(), std::size_t{100});
        QCOMPARE(small.queries.size(), std::size_t{50});
        const std::set<std::string> larger(large.document_ids.begin(), large.document_ids.end());
        for (const auto& id : small.document_ids) QVERIFY(larger.contains(id));
        for (std::size_t i = 0; i < small.query_ids.size(); ++i)
            QCOMPARE(small.document_ids[small.qrels[i].at(0).first], fmt::format("d{}", 7 * std::stoi(small.query_ids[i].substr(1))));
        QCOMPARE(few.queries.size(), std::size_t{5});
        QCOMPARE(few.documents.size(), std::size_t{500});
        QCOMPARE(tiny.documents.size(), std::size_t{20});
        QCOMPARE(tiny.queries.size(), std::size_t{20});
    }
    void a_request_for_another_task_than_the_data_have_is_refused() {
        const auto folder = beir("task", "q1\td1\t1\n");
        put(folder / "dataset.json", R"({"task": "retrieval"})");
        EXPECT_ERROR(load_evaluation_set(request({{"path", folder.string()}, {"task", "sts"}})), "kind 'retrieval'", "task: sts");
        EXPECT_ERROR(load_evaluation_set(request({{"source", "floder"}, {"path", folder.string()}})), "did you mean 'folder'");
        EXPECT_ERROR(load_evaluation_set(request({{"source", "folder"}})), "needs a path");
    }
};

FACETER_TEST(TestFolders)
#include "test_folders.moc"
