#include "data/file_ending.h"
#include "data/record_reader.h"
#include "data/text_chunks.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;

namespace {

/// The texts of one member, with what was skipped.
struct Read {
    std::vector<std::string> texts;
    RecordErrors errors{RecordErrors::Policy::skip};
};

Read read(const fs::path& file, std::string_view key = "text", RecordErrors::Policy policy = RecordErrors::Policy::skip,
          const TableColumns& columns = {{"text", "label"}, {{"text"}}}) {
    Read result;
    result.errors = RecordErrors(policy);
    read_records(file, result.errors, columns, [&](const Record& record) { result.texts.emplace_back(record.text(key)); });
    return result;
}

}  // namespace

class TestRecords : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path at(const char* name) { return folder_.path() / name; }
    void expect_bad(const char* line, const char* reason) {
        const fs::path file = put(at("bad.jsonl"), std::string("{\"text\": \"good\"}\n") + line + "\n{\"text\": \"better\"}\n");
        EXPECT_ERROR(read(file, "text", RecordErrors::Policy::fail), "bad.jsonl:2: ", reason, "on_error: skip");
        const Read skipped = read(file);
        QCOMPARE(skipped.texts, (std::vector<std::string>{"good", "better"}));
        QCOMPARE(skipped.errors.num_skipped(), std::size_t{1});
        QVERIFY(skipped.errors.card().at("first").get<std::string>().find("bad.jsonl:2: ") != std::string::npos);
    }

  private Q_SLOTS:
    void a_row_with_too_many_cells_is_bad_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<char>("separator");
        QTest::newRow("csv") << "wide.csv.gz" << ',';
        QTest::newRow("tsv") << "wide.tsv.gz" << '\t';
    }
    void a_row_with_too_many_cells_is_bad() {
        QFETCH(QString, name);
        QFETCH(char, separator);
        const std::string wide(1 << 20, separator);  // a kilobyte when packed
        const fs::path file = put(at(name.toUtf8()), faceter::testing::gzip("a" + wide + "\nfine" + separator + "b\n"));
        EXPECT_ERROR(read(file, "text", RecordErrors::Policy::fail), "wide", ":1: ", "more than 256 cells");
        const Read skipped = read(file);
        QCOMPARE(skipped.texts, (std::vector<std::string>{"fine"}));
        QCOMPARE(skipped.errors.num_skipped(), std::size_t{1});
    }
    void bad_lines_fail_with_file_line_and_reason_or_are_counted_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* name, QByteArray line, const char* reason) { QTest::newRow(name) << line << reason; };
        row("torn", "{\"text\": \"half of a li", "not valid JSON");
        row("torn after a value", "{\"text\": \"a\", \"label\": 1", "not valid JSON");
        row("two objects", R"({"text": "a"} {"text": "b"})", "not valid JSON");
        row("tail", R"({"text": "a"} tail)", "not valid JSON");
        row("no object", R"(["text"])", "not a JSON object");
        row("a scalar", "17", "not a JSON object");
        row("no JSON at all", "hello", "not");
        row("bare word", R"({"text": "a", "other": tru})", "not valid JSON");
        row("missing member", R"({"body": "a"})", "member 'text' is missing");
        row("null", R"({"text": null})", "member 'text' is missing");
        row("wrong type", R"({"text": 3})", "member 'text' is not a text");
        row("list", R"({"text": ["a"]})", "member 'text' is not a text");
        row("empty", R"({"text": " \t "})", "member 'text' is empty");
        row("repeated member", R"({"text": "a", "text": "b"})", "twice");
        row("invalid UTF-8", QByteArray("{\"text\": \"\xc3\x28\"}"), "UTF-8");
        row("bad escape", R"({"text": "\x"})", "not valid JSON");
        row("lone surrogate", R"({"text": "\ud800"})", "not valid JSON");
        row("huge number", R"({"text": "a", "n": 1e999})", "not");
        row("control character", QByteArray("{\"text\": \"a\x01\"}"), "not valid JSON");
    }
    void bad_lines_fail_with_file_line_and_reason_or_are_counted() {
        QFETCH(QByteArray, line);
        QFETCH(QString, reason);
        expect_bad(line.constData(), reason.toUtf8().constData());
    }
    void a_record_may_not_have_thousands_of_members() {
        std::string line = "{";
        for (int i = 0; i < 5000; ++i) line += "\"m" + std::to_string(i) + "\": 1, ";
        expect_bad((line + "\"text\": \"a\"}").c_str(), "more than 256 members");
        std::string zeros = "{\"text\": \"a\", \"z\": [";
        for (int i = 0; i < 1'100'000; ++i) zeros += "0,";
        expect_bad((zeros + "0]}").c_str(), "lists of more than 1048576 values");
    }
    void members_that_nobody_asked_for_may_be_anything() {
        const auto result = read(put(
            at("extra.jsonl"), R"({"meta": {"a": [1, {"b": null}]}, "list": [1, "x", [2], {"c": 3}], "text": "kept \u00e4 \ud83d\ude00"})"
                               "\n"));
        QCOMPARE(result.texts, (std::vector<std::string>{"kept \xc3\xa4 \xf0\x9f\x98\x80"}));
        const std::string deep = "{\"n\": " + std::string(200000, '[') + std::string(200000, ']') + ", \"text\": \"a\"}";
        QCOMPARE(read(put(at("deep.jsonl"), deep)).texts, (std::vector<std::string>{"a"}));
    }
    void a_torn_last_line_is_named_by_its_number() {
        put(at("end.jsonl"), "{\"text\": \"a\"}\n\n{\"text\": \"b\"}\n{\"text\": \"c");
        EXPECT_ERROR(read(at("end.jsonl"), "text", RecordErrors::Policy::fail), "end.jsonl:4:");
        QCOMPARE(read(at("end.jsonl")).texts.size(), std::size_t{2});
    }
    void csv_quoting_follows_rfc_4180() {
        const auto result = read(put(at("q.csv"), "text,label\r\n\"a, \"\"b\"\"\nc\",x\r\n plain ,y\r\n\"\",z\r\n\"last\""));
        QCOMPARE(result.texts, (std::vector<std::string>{"a, \"b\"\nc", " plain ", "last"}));
        QCOMPARE(result.errors.num_skipped(), std::size_t{1});  // the empty one
    }
    void csv_columns_are_found_by_their_header_in_any_order_and_case() {
        QCOMPARE(read(put(at("h.csv"), "Label,Text\nx,a\ny,b\n")).texts, (std::vector<std::string>{"a", "b"}));
        QCOMPARE(read(put(at("n.csv"), "a,x\nb,y\n")).texts, (std::vector<std::string>{"a", "b"}));
    }
    void a_header_that_lacks_a_column_is_no_row() {
        const TableColumns columns{{"text", "label"}, {{"text"}, {"label", "label_text"}}};
        const auto read_with = [&](const fs::path& file) { return read(file, "text", RecordErrors::Policy::skip, columns); };
        EXPECT_ERROR(read_with(put(at("half.csv"), "text,category\na,x\n")), "half.csv:1:", "none of them is label, label_text");
        EXPECT_ERROR(read_with(put(at("half.tsv"), "id\tText\n1\ta\n")), "half.tsv:1:", "rename one");
        EXPECT_ERROR(read_with(put(at("pairs.csv"), "Question,answer\na,x\n")), "pairs.csv:1:", "none of them is text");
        QCOMPARE(read_with(put(at("none.csv"), "a,x\nb,y\n")).texts, (std::vector<std::string>{"a", "b"}));
    }
    void columns_of_one_name_are_refused() {
        EXPECT_ERROR(read(put(at("twice.csv"), "\n text ,label,Text\na,x,b\n")), "twice.csv:2:", "two columns are called 'Text'");
        EXPECT_ERROR(read(put(at("twice.tsv"), "label\ttext\tlabel\nx\ta\ty\n")), "twice.tsv:1:", "'label'");
        QCOMPARE(read(put(at("unnamed.csv"), "text,,\na,b,c\n")).texts, (std::vector<std::string>{"a"}));
        QCOMPARE(read(put(at("row.csv"), "a,a\nb,b\n")).texts, (std::vector<std::string>{"a", "b"}));  // no header
    }
    void broken_csv_is_named_by_the_line_where_its_record_begins() {
        EXPECT_ERROR(read(put(at("open.csv"), "text,label\na,b\n\"never closed,x\nmore\n")), "open.csv:3:", "never closed");
        EXPECT_ERROR(read(put(at("behind.csv"), "text,label\n\"a\"b,x\n"), "text", RecordErrors::Policy::fail),
                     "behind.csv:2:", "behind a closing quote");
        EXPECT_ERROR(read(put(at("wide.csv"), "text,label\na,b,c\n"), "text", RecordErrors::Policy::fail),
                     "wide.csv:2:", "3 cells, 2 columns");
    }
    void tsv_knows_no_quotes() {
        QCOMPARE(read(put(at("t.tsv"), "\"a\tx\nb \"c\" d\ty\n")).texts, (std::vector<std::string>{"\"a", "b \"c\" d"}));
        EXPECT_ERROR(read(put(at("u.tsv"), "a\tx\n\xff\ty\n"), "text", RecordErrors::Policy::fail), "u.tsv:2:", "UTF-8");
    }
    void a_header_of_a_tsv_in_quotes_is_no_row() {
        const char* table = "\"label\"\t\"text\"\n\"x\"\t\"a \"\"b\"\"\"\n";
        EXPECT_ERROR(read(put(at("quoted.tsv"), table)), "quoted.tsv:1:", "in quotes", "name the file .csv");
        QCOMPARE(read(put(at("quoted.csv"), table)).texts, (std::vector<std::string>{"a \"b\""}));
    }
    void an_ending_in_capitals_says_the_same() {
        QCOMPARE(read(put(at("T.CSV"), "label,text\nx,a\n")).texts, (std::vector<std::string>{"a"}));
        QCOMPARE(read(put(at("T.Tsv"), "\"a\tx\n")).texts, (std::vector<std::string>{"\"a"}));
        QCOMPARE(read(put(at("T.CSV.ZST"), faceter::testing::zstd("text,label\na,x\n"))).texts, (std::vector<std::string>{"a"}));
        for (const auto& [name, packed] : {std::pair("T.JSONL", false), std::pair("T.jsonl.GZ", true)}) {
            const std::string lines = "{\"text\": \"a\"}\n\n{\"text\": \"b\"}\n";
            TextChunks chunks(put(at(name), packed ? faceter::testing::gzip(lines) : lines).string());
            QVERIFY(chunks.next());
            QCOMPARE(chunks.texts(), (std::vector<std::string_view>{"a", "b"}));
        }
        EXPECT_ERROR(TextChunks(put(at("T.TSV"), "a\tx\n").string()), "T.TSV", "is a table");
        QCOMPARE(data_ending("folder.d/Train.JSONL.Gz"), std::string(".jsonl"));
        QCOMPARE(data_ending("folder.d/train"), std::string());
    }
    void a_text_file_that_is_not_utf_8_is_refused_with_what_to_do() {
        const auto read_through = [&](const char* name, const std::string& content) {
            TextChunks chunks(put(at(name), content).string());
            while (chunks.next()) continue;
        };
        read_through("utf8.txt", "\xef\xbb\xbf\x61\n\nStra\xc3\x9f\x65\n");
        EXPECT_ERROR(read_through("latin.txt", "a\nStra\xdf\x65\n"), "latin.txt:2:", "not UTF-8", "iconv -f WINDOWS-1252 -t UTF-8");
        EXPECT_ERROR(read_through("wide.txt", std::string("\xff\xfe\x61\0\n\0", 6)), "wide.txt:1:", "iconv -f UTF-16");
    }
    /// Each line was a text, braces and all.
    void a_command_s_input_of_json_by_any_of_its_endings_is_read_as_records() {
        for (const char* name : {"t.jsonl", "t.ndjson", "t.json", "T.NDJSON.GZ"}) {
            const std::string lines = "{\"text\": \"a\"}\n{\"text\": \"b\"}\n";
            TextChunks chunks(put(at(name), std::string_view(name).ends_with("GZ") ? faceter::testing::gzip(lines) : lines).string());
            QVERIFY(chunks.next());
            QCOMPARE(chunks.texts(), (std::vector<std::string_view>{"a", "b"}));
        }
        TextChunks array(put(at("array.json"), "[{\"text\": \"a\"}]\n").string());
        EXPECT_ERROR(array.next(), "array.json:1:", "not a JSON object but an array", "jq -c");
    }
    void reasons_are_counted_each() {
        const auto result = read(put(at("many.jsonl"), "{\"text\": 1}\nx\n{\"text\": 2}\n{}\n{\"text\": \"a\"}\n"));
        const Json card = result.errors.card();
        QCOMPARE(card.at("records").get<int>(), 4);
        QCOMPARE(card.at("by_reason").at("member 'text' is not a text").get<int>(), 2);
        QCOMPARE(card.at("by_reason").at("member 'text' is missing").get<int>(), 1);
    }
};

FACETER_TEST(TestRecords)
#include "test_records.moc"
