#include "data/files_read.h"

#include "data/leaves.h"
#include "data/line_reader.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::gzip;
using faceter::testing::put;
using faceter::testing::request;

/// What a card says of the files that a set was read from.
class TestFilesRead : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    static std::string pairs(int count) {
        std::string lines;
        for (int i = 0; i < count; ++i) lines += fmt::format("{{\"query\": \"query {}\", \"document\": \"document {}\"}}\n", i, i);
        return lines;
    }
    TrainingSet load(const std::string& name, Json more = Json::object()) {
        more["source"] = "file";
        more["path"] = name;
        return load_training_set(request(more, folder_.path()), "retrieval");
    }

  private Q_SLOTS:
    void a_file_s_hash_is_the_one_that_sha256sum_prints() {
        const std::string plain = pairs(50), packed = gzip(plain);
        put(folder_.path() / "a.jsonl", plain);
        put(folder_.path() / "a.jsonl.gz", packed);
        const Json card = load("a.jsonl").card;
        QCOMPARE(card.at("files").at("count").get<int>(), 1);
        QCOMPARE(card.at("files").at("bytes").get<std::size_t>(), plain.size());
        QCOMPARE(card.at("files").at("sha256").get<std::string>(), sha256_hex(plain));
        QCOMPARE(card.at("files").at("list").at(0).at("name").get<std::string>(), std::string("a.jsonl"));
        const Json other = load("a.jsonl.gz").card;
        QCOMPARE(other.at("files").at("sha256").get<std::string>(), sha256_hex(packed));  // of the file as it lies there
        QCOMPARE(other.at("fingerprint"), card.at("fingerprint"));                        // the records are the same
    }

    void a_changed_byte_shows_though_a_limit_leaves_its_record_out() {
        put(folder_.path() / "b.jsonl", pairs(50));
        const TrainingSet before = load("b.jsonl", {{"max_examples", 5}});
        std::string kept;
        for (const Example& example : before.examples) kept += std::string(before.texts[example.anchor]) + "\n";
        int unseen = 0;
        while (kept.find(fmt::format("query {}\n", unseen)) != std::string::npos) ++unseen;
        std::string changed = pairs(50);
        const std::string document = fmt::format("\"document {}\"", unseen);
        changed.replace(changed.find(document), document.size(), "\"another document\"");
        put(folder_.path() / "b.jsonl", changed);
        const TrainingSet after = load("b.jsonl", {{"max_examples", 5}});
        QVERIFY(after.card.at("files").at("sha256") != before.card.at("files").at("sha256"));
    }

    void the_same_folder_elsewhere_has_the_same_hash() {
        Json hashes[2];
        for (int place = 0; place < 2; ++place) {
            const fs::path data = folder_.path() / (place ? "there/deep/set" : "here/set");
            put(data / "corpus.jsonl", "{\"_id\": \"d1\", \"text\": \"one\"}\n{\"_id\": \"d2\", \"text\": \"two\"}\n");
            put(data / "queries.jsonl", "{\"_id\": \"q1\", \"text\": \"which\"}\n");
            put(data / "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td2\t1\n");
            const EvaluationSet set = load_evaluation_folder(data);
            QCOMPARE(set.card.at("fingerprint").get<std::string>(), set.fingerprint);
            hashes[place] = set.card.at("files");
        }
        QCOMPARE(hashes[0], hashes[1]);
        QCOMPARE(hashes[0].at("count").get<int>(), 3);
        std::vector<std::string> names;
        for (const Json& file : hashes[0].at("list")) names.push_back(file.at("name").get<std::string>());
        QCOMPARE(names, (std::vector<std::string>{"corpus.jsonl", "qrels/test.tsv", "queries.jsonl"}));
    }

    void seeds_draw_other_examples_of_the_same_files() {
        std::string lines;
        for (int i = 0; i < 60; ++i) lines += fmt::format("{{\"text\": \"text {}\", \"label\": \"l{}\"}}\n", i, i % 3);
        put(folder_.path() / "labelled.jsonl", lines);
        DataRequest first = request({{"source", "file"}, {"path", "labelled.jsonl"}}, folder_.path()), second = first;
        second.seed = 2;
        const TrainingSet a = load_training_set(first, "classification"), b = load_training_set(second, "classification");
        QCOMPARE(a.card.at("files"), b.card.at("files"));
        QVERIFY(a.card.at("fingerprint") != b.card.at("fingerprint"));
    }

    void an_array_with_blank_lines_behind_it_was_read_whole() {
        const std::string content = "[{\"task_name\": \"t\", \"query\": [\"i\", \"q\"], \"pos\": [\"i\", \"p\"]}]\n\n";
        put(folder_.path() / "medi.json", content);
        const auto sets = load_training_sets(request({{"source", "medi"}, {"path", "medi.json"}}, folder_.path()), "retrieval");
        QCOMPARE(sets.front().card.at("files").at("sha256").get<std::string>(), sha256_hex(content));
    }

    void of_many_leaves_the_first_names_the_files() {
        for (const char* name : {"one", "two"})
            put(folder_.path() / "tasks" / (std::string(name) + ".json"),
                Json{{"Definition", {"Answer."}}, {"Instances", {{{"input", std::string(name) + " in"}, {"output", {"out"}}}}}}.dump());
        const auto sets = load_training_sets(request({{"source", "natural_instructions"}, {"path", "tasks"}}, folder_.path()), "retrieval");
        QCOMPARE(sets.size(), std::size_t{2});
        QCOMPARE(sets[0].card.at("files").at("count").get<int>(), 2);
        QVERIFY(!sets[1].card.contains("files"));
        for (const TrainingSet& set : sets) QCOMPARE(set.card.at("fingerprint").get<std::string>(), set.fingerprint);
    }

    void a_look_at_the_beginning_of_a_large_file_is_no_reading() {
        const fs::path file = put(folder_.path() / "large.jsonl", pairs(20'000));
        const FilesRead files;
        { LineReader(file).next(); }
        QVERIFY(files.card(folder_.path()).is_null());
        {
            const FilesRead inner;
            LineReader whole(file);
            while (whole.next()) {
            }
            QCOMPARE(inner.card(file).at("list").at(0).at("name").get<std::string>(), std::string("large.jsonl"));
        }
        QVERIFY(files.card(folder_.path()).is_null());  // what an inner one has noted
    }

    void a_long_list_is_cut_but_all_of_it_is_hashed() {
        const auto noted = [&](const std::string& last) {
            const FilesRead files;
            for (int i = 0; i < 40; ++i)
                note_file_read(put(folder_.path() / fmt::format("many/{:02}.txt", i), i == 39 ? last : std::to_string(i)));
            return files.card(folder_.path() / "many");
        };
        const Json before = noted("a"), after = noted("b");
        QCOMPARE(before.at("count").get<int>(), 40);
        QCOMPARE(before.at("list").size(), FilesRead::most_listed);
        QCOMPARE(before.at("list"), after.at("list"));
        QVERIFY(before.at("sha256") != after.at("sha256"));
    }
};

FACETER_TEST(TestFilesRead)
#include "test_files_read.moc"
