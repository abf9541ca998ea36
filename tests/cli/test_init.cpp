#include <fstream>

#include "cli/program.h"
#include "common/command.h"
#include "common/file.h"
#include "data/column_roles.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Questions with their answers about a few topics: every text is another one.
std::string faq(char separator, const std::string& header, int rows = 120) {
    const char* topics[] = {"cards", "loans", "transfers"};
    std::string text = header;
    for (int i = 0; i < rows; ++i)
        text += fmt::format("how do I handle case {0} of {1}?{2}for case {0} about {1} you call the office and ask for desk {3}{2}{1}\n", i,
                            topics[i % 3], separator, i * 7);
    return text;
}

}  // namespace

/// `faceter init`: an experiment that works, from files as people have them.
class TestInit : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    void put(const std::string& name, const std::string& content) const { std::ofstream(in(name), std::ios::binary) << content; }
    Outcome start(const std::string& source, std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments = {"init", in(source), "--output", in("made.yaml"), "--yes"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return faceter::testing::faceter(arguments);
    }
    std::string made() const { return read_file(in("made.yaml")); }
    static std::string model() { return (shared_folder() / "fixtures/bert").string(); }
    Outcome check() const {
        return faceter::testing::faceter({"check", in("made.yaml"), "--set", "model=" + model(), "--set", "max_length=32"});
    }
    void refuses(const std::string& source, const std::vector<const char*>& pieces, int code = 4) const {
        const Outcome outcome = start(source);
        QVERIFY2(outcome.code == code, (std::to_string(outcome.code) + ": " + outcome.err).c_str());
        for (const char* piece : pieces) HAS(outcome.err, piece);
        QVERIFY(!fs::exists(in("made.yaml")));
        QVERIFY(!fs::exists(in("made-data")));
    }

  private Q_SLOTS:
    void init() {
        fs::remove_all(in("made-data"));
        fs::remove(in("made.yaml"));
    }

    void scores_of_pairs_are_trained_on_where_that_is_asked_for() {
        std::string table = "sentence1,sentence2,score\n";
        for (int i = 0; i < 90; ++i) table += fmt::format("the cat {} sat there,a cat {} was there,{}\n", i, i + i % 3, 0.5 * (i % 11));
        put("judged.csv", table);
        refuses("judged.csv",
                {"score says how well", "To train on the scores themselves: --columns 'query=sentence1, document=sentence2, score=score'"});
        const Outcome outcome = start("judged.csv", {"--columns", "query=sentence1, document=sentence2, score=score"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(made(), "objective: {method: cosent}");
        HAS(made(), "task: sts}");
        QVERIFY(made().find("temperature:") == std::string::npos);  // which nothing would read
        const std::string held_out = read_file(in("made-data/scored/test.jsonl"));
        HAS(held_out, "\"score\":");
        QCOMPARE(std::count(held_out.begin(), held_out.end(), '\n'), std::ptrdiff_t{18});
        NEED_SHARED();
        const Outcome checked = check();
        QVERIFY2(checked.code == 0, checked.err.c_str());
    }
    void a_score_stands_beside_a_pair_alone_and_is_a_number() {
        put("judged.csv", "sentence1,sentence2,score,kind\na,b,1,x\nc,d,2,y\n");
        for (const char* roles :
             {"text=sentence1, label=kind, score=score", "query=sentence1, document=sentence2, score=score, negative=kind",
              "query=sentence1, document=sentence2, score=kind"}) {
            const Outcome outcome = start("judged.csv", {"--columns", roles});
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, "score");
        }
    }
    void an_experiment_names_the_schema_for_editors() {
        put("faq.csv", faq(',', "Question,Answer,Topic\n"));
        QCOMPARE(start("faq.csv").code, 0);
        const std::string begin = "# yaml-language-server: $schema=file://";
        QVERIFY2(made().starts_with(begin), made().c_str());
        QVERIFY(made().find("experiments/experiment.schema.json\n# Made by 'faceter init'") < 400);
    }
    void a_text_under_two_labels_is_told() {
        std::string table = "text,label\n";
        for (int i = 0; i < 80; ++i) table += fmt::format("request {} about the printer,{}\n", i, i % 2 ? "office" : "network");
        put("two.csv", table + "the printer is loud,office\nthe printer is loud,network\nthe printer is loud,office\n");
        const Outcome outcome = start("two.csv");
        HAS(outcome.err, "2 rows repeat a text and are left out.");
        HAS(outcome.err, "1 of these texts has two labels or more; it keeps its first.");
        fs::remove(in("made.yaml"));
        fs::remove_all(in("made-data"));
        put("two.csv", table + "the printer is loud,office\nthe printer is loud,office\n");
        const Outcome alike = start("two.csv");
        HAS(alike.err, "82 rows, 1 of them repeats another");
        HAS(alike.err, "1 row repeats a text and is left out.");
        QVERIFY2(alike.code == 0 && alike.err.find("two labels") == std::string::npos, alike.err.c_str());
    }
    void a_csv_of_questions_answers_and_topics_makes_both_tasks() {
        put("faq.csv", faq(',', "Question,Answer,Topic\n") + ",an answer without its question,cards\n");
        const Outcome outcome = start("faq.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "121 rows");
        HAS(outcome.err, "1 row lacks a value and is left out.");
        HAS(outcome.err, "en 100 %");
        HAS(made(), "retrieval:");
        HAS(made(), "classification:      # answer by its topic: 3 labels");
        HAS(made(), "MoTE: {method: mote");
        HAS(made(), "mask_false_negatives: same_label");
        HAS(made(), "96 rows to train on, 24 held out");
        for (const char* file : {"pairs/train.jsonl", "pairs/test.jsonl", "labels/train.jsonl", "labels/test.jsonl"})
            QVERIFY(fs::exists(folder_.path() / "made-data" / file));
        if (!fs::exists(model())) QSKIP("no ../shared: the experiment is not checked");
        const Outcome checked = check();
        QVERIFY2(checked.code == 0, checked.err.c_str());
        HAS(checked.out, "makes 4 runs");
        const Outcome run = faceter::testing::faceter(
            {"run", in("made.yaml"), "--smoke", "--project", in("project"), "--set", "model=" + model(), "--set", "threads=1"});
        QVERIFY2(run.code == 0, run.err.c_str());
        HAS(run.out, "MoTE-smoke-1");
        HAS(run.out, "so the scores mean nothing");
        QVERIFY2(widest_line(run.out) <= 100, run.out.c_str());
    }
    /// As spreadsheets write them: semicolons, a byte order mark, columns without a name or without a value, a comma inside.
    void tables_of_spreadsheets_are_read_data() {
        QTest::addColumn<QString>("header");
        QTest::addColumn<QString>("row");
        QTest::newRow("semicolons") << "Text;Label"
                                    << "my %2, number %1;%2";
        QTest::newRow("semicolons in quotes") << "\"Text\";\"Label\""
                                              << "\"my; %2, \"\"number\"\" %1\";\"%2\"";
        QTest::newRow("byte order mark") << QString(QChar(0xfeff)) + "Text,Label\r"
                                         << "\"my %2, number %1\",%2\r";
        QTest::newRow("tabs in a .csv") << "Text\tLabel"
                                        << "my %2, number %1\t%2";
        QTest::newRow("bars") << "Text|Label"
                              << "my %2 number %1|%2";
        QTest::newRow("blanks in quotes") << "\" Text \", Label "
                                          << "\"my %2, number %1\",%2";
        QTest::newRow("a separator in a name") << "\"Id, if any\";Text;Label"
                                               << "%1;my %2 number %1;%2";
        QTest::newRow("a line end in a name") << "\"Id\nif any\",Text,Label"
                                              << "%1,my %2 number %1,%2";
        QTest::newRow("columns without names") << ",Text,notes,,Label"
                                               << "%1,my %2 and its number %1,,,%2";
    }
    void tables_of_spreadsheets_are_read() {
        QFETCH(QString, header);
        QFETCH(QString, row);
        QString table = header + "\n";
        for (int i = 0; i < 80; ++i) table += row.arg(i).arg(i % 2 ? "printer" : "password") + "\n";
        put("sheet.csv", table.toStdString());
        const Outcome outcome = start("sheet.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "80 rows");
        HAS(made(), "text by its label: 2 labels");
    }
    void words_are_counted_where_no_blank_parts_them() {
        std::string table = "文本,标签\n";
        for (int i = 0; i < 90; ++i) table += fmt::format("我想知道第{}号账单的付款方式和退款时间,{}\n", i, i % 2 ? "账单" : "退款申请");
        put("chinese.csv", table);
        const Outcome outcome = start("chinese.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "columns: text=文本, label=标签");
        HAS(outcome.err, "Chinese 100 %");
    }
    void of_a_wide_table_some_columns_are_told() {
        std::string header, row;
        for (int i = 0; i < 200; ++i) header += fmt::format("c{},", i), row += fmt::format("{},", i);
        std::string table = header + "text,label\n";
        for (int i = 0; i < 80; ++i) table += row + fmt::format("this is text number {},{}\n", i, i % 2 ? "one" : "two");
        put("wide.csv", table);
        const Outcome outcome = start("wide.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "and 182 more columns");
        HAS(outcome.err, "columns: text=text, label=label");
    }
    void what_is_to_be_typed_next_can_be_typed() {
        put("faq.csv", faq(',', "question,answer,topic\n"));
        const Outcome outcome = faceter::testing::faceter({"init", in("faq.csv"), "--output", in("my file.yaml"), "--yes"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "next: faceter check '" + in("my file.yaml") + "'\n");  // from where it was made
        HAS(read_file(in("my file.yaml")), "# faceter check 'my file.yaml' ");
    }
    /// Their pairs do not all belong together, and training would take them so.
    void graded_pairs_are_refused_data() {
        QTest::addColumn<QString>("header");
        QTest::addColumn<QString>("grade");
        QTest::newRow("similarity") << "sentence1,sentence2,score"
                                    << "score";
        QTest::newRow("paraphrase or not") << "sentence1,sentence2,label"
                                           << "label";
        QTest::newRow("entailment") << "premise,hypothesis,label"
                                    << "label";
        QTest::newRow("rated answers") << "question,answer,rating"
                                       << "rating";
        QTest::newRow("judged answers") << "query,passage,relevance"
                                        << "relevance";
        QTest::newRow("texts of a kind and a number") << "text_a,text_b,stars"
                                                      << "stars";
        QTest::newRow("questions of a kind and a class") << "question1,question2,gold_label"
                                                         << "gold_label";
    }
    void graded_pairs_are_refused() {
        QFETCH(QString, header);
        QFETCH(QString, grade);
        std::string table = header.toStdString() + "\n";
        for (int i = 0; i < 90; ++i) table += fmt::format("is this the question {}?,this may be the answer {},{}\n", i, i * 3, i % 2);
        put("graded.csv", table);
        const std::vector<std::string> names = [&] {
            std::vector<std::string> list;
            for (const QString& name : header.split(u',')) list.push_back(name.toStdString());
            return list;
        }();
        const std::string said = fmt::format("query={}, document={}", names[0], names[1]);
        const char* verb = grade == "stars" ? " may say" : " says";
        refuses("graded.csv", {(grade + verb + " how well").toUtf8().constData(), "Keep the rows", ("--columns '" + said + "'").c_str()});
        const Outcome outcome = start("graded.csv", {"--columns", said});  // what it says to do can be done
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
    }
    void every_column_of_negatives_is_taken() {
        std::string table = "anchor,positive,negative_1,negative_2\n";
        for (int i = 0; i < 60; ++i) table += fmt::format("what is case {0}?,it is answer {0} of them,not {0} at all,nor {0} as well\n", i);
        put("triplets.csv", table);
        Outcome outcome = start("triplets.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "columns: query=anchor, document=positive, negative=negative_1, negative=negative_2");
        HAS(made(), "format: triplets");
        HAS(read_file(in("made-data/pairs/train.jsonl")), " at all\",\"nor ");
        init();
        outcome = start("triplets.csv", {"--columns", "query=anchor, document=positive, negative=negative_2"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QVERIFY(read_file(in("made-data/pairs/train.jsonl")).find(" at all") == std::string::npos);
    }
    /// A triplet without a negative would be refused when it is read.
    void pairs_of_which_some_lack_a_negative_stay_pairs() {
        std::string table = "query,positive,negative\n";
        for (int i = 0; i < 60; ++i)
            table += fmt::format("what is case {0}?,it is answer {0} of them,{1}\n", i, i % 4 ? fmt::format("not {} at all", i) : "");
        put("some.csv", table);
        const Outcome outcome = start("some.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(made(), "format: pairs, path: \"made-data/pairs/train.jsonl\"");
        HAS(read_file(in("made-data/pairs/train.jsonl")), " at all");
    }
    void lists_and_members_within_members_are_told() {
        std::string listed, nested, whole;
        for (int i = 0; i < 60; ++i) {
            const std::string pair = fmt::format("\"query\": \"what is case {0}?\", \"positive\": \"it is answer {0} of them\"", i);
            listed += fmt::format("{{{}, \"negatives\": [\"not that\", \"nor {}\"]}}\n", pair, i);
            nested += fmt::format("{{\"id\": {}, \"data\": {{{}}}}}\n", i, pair);
            whole += fmt::format("{{\"query\": \"what is case {0}?\", \"pos\": [\"that {0}\"], \"neg\": [\"this\"]}}\n", i);
        }
        put("listed.jsonl", listed);
        const Outcome outcome = start("listed.jsonl");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "negatives holds lists and is left out. Such records can be trained on as they are: {source: file, format: pairs");
        init();
        put("nested.jsonl", nested);
        refuses("nested.jsonl", {"data holds members of its own", "jq -c '. + .[\"data\"]'"});
        put("whole.jsonl", whole);
        refuses("whole.jsonl", {"pos holds lists", "are trained on as they are: {source: file, format: pairs, path: whole.jsonl}"});
    }
    /// Each day stands in several rows, and in front of the label.
    void days_are_no_labels() {
        std::string table = "day,text,team\n";
        for (int i = 0; i < 120; ++i)
            table += fmt::format("2026-01-{:02},my request number {} is about case {},{}\n", i % 20 + 1, i, i * 7,
                                 i % 3 ? "billing" : "shipping");
        put("requests.csv", table);
        const Outcome outcome = start("requests.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "columns: text=text, label=team (--columns says it otherwise)");
        HAS(made(), "text by its team: 2 labels");
    }
    void nothing_that_is_trained_on_is_held_out() {
        put("faq.tsv", faq('\t', "question\tanswer\ttopic\n") + faq('\t', "", 60));  // 60 rows twice
        const Outcome outcome = start("faq.tsv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "60 of them repeat another");
        HAS(outcome.err, "60 rows repeat a text");
        const std::string train = read_file(in("made-data/labels/train.jsonl")), test = read_file(in("made-data/labels/test.jsonl"));
        std::istringstream lines(test);
        int count = 0;
        for (std::string line; std::getline(lines, line); ++count) QVERIFY(train.find(line) == std::string::npos);
        QCOMPARE(count, 24);
    }
    void a_table_without_a_header_is_read_by_what_is_in_it() {
        put("plain.tsv", faq('\t', ""));
        const Outcome outcome = start("plain.tsv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "column_1");
        HAS(outcome.err, "120 rows");
        HAS(made(), "# from column_1 to its column_2");
    }
    /// As pandas and spreadsheets write tabs; a text that is a quotation is none of it.
    void quotes_between_tabs_are_refused_where_they_are_csvs() {
        std::string rows;
        for (int i = 0; i < 80; ++i)
            rows += fmt::format("\"my text {}\" they said\t{}\n\"and text {}\"\tone\n", i, i % 2 ? "one" : "two", i);
        put("said.tsv", "text\tlabel\n" + rows);
        QCOMPARE(start("said.tsv").code, 0);
        QVERIFY(read_file(in("made-data/labels/train.jsonl")).find("\"text\":\"\\\"my text ") != std::string::npos);
        init();
        put("doubled.tsv", "text\tlabel\n" + rows + "\"they \"\"said\"\" so\"\tone\n");
        refuses("doubled.tsv", {"doubled.tsv:162", "quotes", "name the file .csv"});
        put("lines.tsv", "text\tlabel\n" + rows + "\"they said\nso\"\tone\n");
        refuses("lines.tsv", {"lines.tsv:163", "quotes"});
        put("tabs.tsv", "text\tlabel\n" + rows + "\"they\tsaid\nso\"\tone\n");
        refuses("tabs.tsv", {"tabs.tsv:163", "quotes"});
        put("all.tsv", "\"text\"\t\"label\"\n\"a text of it\"\t\"one\"\n");
        refuses("all.tsv", {"all.tsv:1", "quotes"});
        std::string quoted = "text\tlabel\n";
        for (int i = 0; i < 80; ++i) quoted += fmt::format("\"they \"\"said\"\" so {}\"\t{}\n", i, i % 2 ? "one" : "two");
        put("doubled.csv", quoted);
        QCOMPARE(start("doubled.csv").code, 0);
        HAS(read_file(in("made-data/labels/train.jsonl")), "they \\\"said\\\" so");
    }
    void true_and_false_are_labels_and_lists_are_named() {
        std::string labelled, listed;
        for (int i = 0; i < 90; ++i) {
            labelled += fmt::format("{{\"text\": \"this is text {} of it\", \"spam\": {}}}\n", i, i % 2 ? "true" : "false");
            listed += fmt::format("{{\"query\": \"what is text {0}?\", \"positives\": [\"that\", \"it {0}\"]}}\n", i);
        }
        put("spam.jsonl", labelled);
        const Outcome outcome = start("spam.jsonl");
        HAS(outcome.err, "columns: text=text, label=spam");
        HAS(read_file(in("made-data/labels/train.jsonl")), "\"label\":\"1\"");
        init();
        put("listed.jsonl", listed);
        refuses("listed.jsonl", {"positives holds lists, and a text or a label a row is wanted"});
    }
    /// A header whatever stands above it; none where what would be a name is a label of the rows below.
    void the_first_line_is_told_from_a_row_by_the_others() {
        std::string rows;
        for (int i = 0; i < 80; ++i) rows += fmt::format("my request {} of them,{}\n", i, i % 2 ? "printer" : "password");
        put("blank.csv", "\n\r\ntext,team\n" + rows);
        Outcome outcome = start("blank.csv");
        HAS(outcome.err, "80 rows");
        HAS(outcome.err, "columns: text=text, label=team");
        init();
        put("bare.csv", "no paper,printer\n" + rows);
        outcome = start("bare.csv");
        HAS(outcome.err, "81 rows");
        HAS(outcome.err, "columns: text=column_1, label=column_2");
        init();
        put("named.csv", "text,printer\n" + rows);  // a header of which one name is a label
        outcome = start("named.csv");
        HAS(outcome.err, "80 rows");
        HAS(outcome.err, "columns: text=text, label=printer");
        init();
        put("joined.csv", "text,team\n" + rows + "text,team\n");
        outcome = start("joined.csv");
        HAS(outcome.err, "columns: text=text, label=team");
        init();
        put("twice.tsv", "text\tnotes\tlabel\tnotes\na text of it\tx\tone\ty\n");
        refuses("twice.tsv", {"twice.tsv:1", "two columns are called 'notes'"});
    }
    void json_lines_of_texts_and_labels_make_a_classification() {
        std::string text;
        for (int i = 0; i < 90; ++i)
            text += fmt::format("{{\"id\": {}, \"text\": \"this is text {} of it\", \"label\": {}}}\n", i, i, i % 2);
        put("labelled.jsonl", text);
        const Outcome outcome = start("labelled.jsonl", {"--seeds", "3"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(made(), "# text by its label: 2 labels");
        HAS(made(), "seeds: [1, 2, 3]");
        HAS(made(), "objective: {method: infonce, mask_false_negatives: same_label}");
        QVERIFY(made().find("retrieval:") == std::string::npos);
        if (!fs::exists(model())) QSKIP("no ../shared: the experiment is not checked");
        const Outcome checked = check();
        QVERIFY2(checked.code == 0, checked.err.c_str());
    }
    void columns_can_be_named() {
        put("odd.csv", faq(',', "a,b,c\n"));
        QVERIFY(start("odd.csv", {"--columns", "query = b, document = a"}).code == 0);
        HAS(made(), "# from b to its a");
        HAS(made(), "objective: {method: infonce} ");
        init();
        const Outcome unknown = start("odd.csv", {"--columns", "text=nothing, label=c"});
        QCOMPARE(unknown.code, 2);
        HAS(unknown.err, "no column 'nothing'; there are a, b, c");
        QCOMPARE(start("odd.csv", {"--columns", "text=a"}).code, 2);
        QCOMPARE(start("odd.csv", {"--columns", "colour=a"}).code, 2);
        const Outcome same = start("odd.csv", {"--columns", "query=a, document=a"});
        QCOMPARE(same.code, 2);
        HAS(same.err, "one column cannot be two of query, document and negative");
    }
    void columns_are_named_as_they_stand_in_the_file() {
        put("odd.csv", faq(',', "Frage,ANTWORT,Thema\n"));
        const Outcome outcome = start("odd.csv", {"--columns", "query=Frage, document=ANTWORT, text=antwort, label=Thema"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "columns: query=frage, document=antwort, text=antwort, label=thema");
        init();
        const Outcome twice = start("odd.csv", {"--columns", "text=Frage, text=Antwort, label=Thema"});
        QCOMPARE(twice.code, 2);
        HAS(twice.err, "text= stands there twice");
    }
    /// Which --columns would take for two roles: the guess is not read again.
    void a_column_whose_name_has_a_comma_is_taken() {
        std::string table = "\"Text, in full\",Label\n";
        for (int i = 0; i < 80; ++i) table += fmt::format("my request {} of them,{}\n", i, i % 2 ? "printer" : "password");
        put("comma.csv", table);
        const Outcome outcome = start("comma.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(made(), "text, in full by its label: 2 labels");
    }
    void a_beir_or_mteb_folder_is_used_where_it_lies() {
        const fs::path set = shared_folder() / "data/banking77";
        if (!fs::exists(set)) QSKIP("no ../shared/data/banking77");
        const Outcome outcome = faceter::testing::faceter({"init", set.string(), "--output", in("made.yaml"), "--yes"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(made(), "  classification:");
        HAS(made(), "mask_false_negatives: same_label");
        QVERIFY(!fs::exists(in("made-data")));
        const Outcome checked = check();
        QVERIFY2(checked.code == 0, checked.err.c_str());
    }
    void the_folder_that_one_stands_in_gives_its_name() {
        make_directories(in("mine"));
        std::string rows;
        for (int i = 0; i < 40; ++i) rows += fmt::format("{{\"text\": \"number {}\", \"label\": \"{}\"}}\n", i, i % 2 ? "odd" : "even");
        for (const char* part : {"mine/train.jsonl", "mine/test.jsonl"}) put(part, rows);
        put("mine/dataset.json", "{\"task\": \"classification\"}");
        const CommandResult result =
            run_command({"sh", "-c", "cd '" + in("mine") + "' && '" FACETER_BINARY_DIR "/bin/faceter' init . --yes"});
        QVERIFY2(result.code == 0, result.complaint.c_str());
        QVERIFY(fs::exists(in("mine/mine.yaml")));
    }
    void other_languages_are_seen() {
        QCOMPARE(language_of("der Hund und die Katze sind nicht mit im Haus"), std::string("de"));
        QCOMPARE(language_of("как мне закрыть счёт"), std::string("Cyrillic"));
        QCOMPARE(language_of("XR-27 42 kg"), std::string());
        std::string text = "frage,antwort\n";
        for (int i = 0; i < 60; ++i)
            text += fmt::format("wie ist das mit dem Fall {} und der Bank?,das ist die Antwort {} und nicht mehr\n", i, i);
        put("deutsch.csv", text);
        const Outcome outcome = start("deutsch.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "de 100 %");
        HAS(outcome.err, "multilingual");
    }
    /// MiniLM's vocabulary is English: it takes long words in pieces and other scripts by letters.
    void texts_of_other_languages_are_not_cut() {
        const char* const texts[] = {
            "верните деньги за заказ который я оплатил картой на прошлой неделе номер",
            "Datenschutzbeauftragter Benutzeroberfläche Lieferverzögerung Versicherungsnummer Kontoverbindung Nummer"};
        for (const char* text : texts) {  // 61 and 36 tokens
            init();
            std::string table = "text,label\n";
            for (int i = 0; i < 60; ++i) table += fmt::format("{} {},{}\n", text, i, i % 2 ? "one" : "two");
            put("others.csv", table);
            const Outcome outcome = start("others.csv");
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
            const std::string experiment = made();
            const int length = std::stoi(experiment.substr(experiment.find("max_length: ") + 12));
            QVERIFY2(length >= (text == texts[0] ? 64 : 48), std::to_string(length).c_str());
        }
    }
    void hostile_and_useless_files_give_one_clear_error() {
        put("empty.csv", "");
        refuses("empty.csv", {"no rows"});
        put("array.json", "[\n {\"text\": \"a text\", \"label\": \"one\"}\n]\n");
        refuses("array.json", {"array.json:1", "jq -c"});
        put("sheet.xlsx", "PK\x03\x04 packed");
        refuses("sheet.xlsx", {"spreadsheet", "CSV UTF-8"});
        put("table.txt", faq(',', "question,answer,topic\n"));
        refuses("table.txt", {"table.txt:1", "ends in .csv or .tsv"});
        put("twice.csv", faq(',', "text,Text,label\n"));
        refuses("twice.csv", {"twice.csv:1", "two columns are called 'Text'"});
        put("mac.csv", "text,label\rone text,one\ranother text,two\r");
        refuses("mac.csv", {"carriage return", "tr '\\r'"});
        put("header.csv", "question,answer\n");
        refuses("header.csv", {"no rows"});
        put("few.csv", faq(',', "question,answer,topic\n", 10));
        refuses("few.csv", {"10 rows are left of 10", "at least 40"});
        put("shared.csv", [] {
            std::string text = "question,answer\n,an answer alone\n";
            for (int i = 0; i < 90; ++i) text += fmt::format("how is it with case {}?,it is answered like {} others\n", i, i % 9);
            return text;
        }());
        refuses("shared.csv", {"9 rows are left of 91 (1 lack a value, 81 repeat a text of answer)", "at least 40"});
        put("numbers.csv", "a,b\n1,2\n3,4\n5,6\n");
        refuses("numbers.csv", {"nothing says which texts belong together", "--columns"});
        put("semicolon.csv", "what is it?;that, or that\n");
        refuses("semicolon.csv", {"nothing says"});
        put("rows.csv", "what is it?;that\n");
        refuses("rows.csv", {"separated by ';'", "write such a line"});
        put("utf16.csv", std::string("\xff\xfeq\0,\0a\0\n\0", 10));
        refuses("utf16.csv", {"utf16.csv:1", "UTF-16", "iconv"});
        put("latin1.csv", "question,answer\ncaf\xe9 is what,an answer\n");
        refuses("latin1.csv", {"latin1.csv:2", "not UTF-8", "iconv -f WINDOWS-1252"});
        put("torn.jsonl", "{\"query\": \"a\", \"document\":\n");
        refuses("torn.jsonl", {"torn.jsonl:1"});
        put("sheet.xlsx", std::string("PK\x03\x04", 4) + std::string(300, '\x01'));
        refuses("sheet.xlsx", {"sheet.xlsx:1"});
        put("wide.csv", "question,answer\nwhat is it,that,and more\n");
        refuses("wide.csv", {"wide.csv:2", "more cells than columns"});
        put("one_label.csv", [] {
            std::string text = "text,label\n";
            for (int i = 0; i < 80; ++i) text += fmt::format("this is text number {},same\n", i);
            return text;
        }());
        refuses("one_label.csv", {"nothing says which texts belong together", "label has one value alone"});
        refuses("missing.csv", {"no such file"});
        make_directories(in("bare"));
        refuses("bare", {"bare"});
    }
    void a_file_that_is_there_is_not_written_over() {
        put("faq.csv", faq(',', "question,answer,topic\n"));
        put("made.yaml", "mine");
        const Outcome outcome = start("faq.csv");
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "it is there already");
        QCOMPARE(made(), std::string("mine"));
    }
    /// Their letters are others, and so many.
    void names_in_other_scripts_keep_their_data_apart() {
        put("faq.csv", faq(',', "question,answer,topic\n"));
        put("others.csv", faq(',', "question,answer,topic\n", 90));
        for (const auto& [source, stem] : {std::pair{"faq.csv", "данные"}, std::pair{"others.csv", "тексты"}}) {
            const Outcome outcome = faceter::testing::faceter({"init", in(source), "--output", in(std::string(stem) + ".yaml"), "--yes"});
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
            HAS(read_file(in(std::string(stem) + ".yaml")), fmt::format("name: \"{}\"", stem));
        }
        QVERIFY(read_file(in("данные-data/pairs/train.jsonl")) != read_file(in("тексты-data/pairs/train.jsonl")));
    }
    void data_of_another_experiment_are_not_written_over() {
        put("faq.csv", faq(',', "question,answer,topic\n"));
        QCOMPARE(start("faq.csv").code, 0);
        const std::string before = read_file(in("made-data/pairs/train.jsonl"));
        fs::rename(in("made.yaml"), in("kept.yaml"));
        const Outcome outcome = start("faq.csv", {"--columns", "query=answer, document=question"});
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "made-data");
        HAS(outcome.err, "it is there already");
        QCOMPARE(read_file(in("made-data/pairs/train.jsonl")), before);
        QVERIFY(!fs::exists(in("made.yaml")));
    }
    /// Killed, or on a full disk: what it wrote of the data is what it would write again.
    void a_start_that_did_not_come_to_its_end_can_be_made_again() {
        put("faq.csv", faq(',', "question,answer,topic\n"));
        QCOMPARE(start("faq.csv").code, 0);
        const std::string wanted = read_file(in("made-data/pairs/train.jsonl"));
        fs::remove(in("made.yaml"));
        fs::remove(in("made-data/pairs/train.jsonl"));
        const Outcome outcome = start("faq.csv");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QCOMPARE(read_file(in("made-data/pairs/train.jsonl")), wanted);
        QVERIFY(fs::exists(in("made.yaml")));
    }
    void a_count_beside_texts_of_a_kind_is_no_grade() {
        for (const char* name : {"year", "num_words", "page"}) {
            std::string table = fmt::format("text1,text2,{}\n", name);
            for (int i = 0; i < 90; ++i) table += fmt::format("is this the question {}?,this may be the answer {},{}\n", i, i * 3, i % 2);
            put("counted.csv", table);
            init();
            const Outcome outcome = start("counted.csv");
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
        }
    }
    void a_model_folder_is_found_from_where_the_experiment_lies() {
        put("faq.csv", faq(',', "question,answer,topic\n"));
        make_directories(in("models/mine"));
        const fs::path here = fs::current_path();
        fs::current_path(folder_.path());
        const Outcome outcome =
            faceter::testing::faceter({"init", "faq.csv", "--model", "models/mine", "--output", in("elsewhere/made.yaml"), "--yes"});
        fs::current_path(here);
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(read_file(in("elsewhere/made.yaml")), "model: \"" + (folder_.path() / "models/mine").string() + "\"");
    }
    void names_of_columns_and_texts_do_not_reach_into_the_file() {
        put("evil.jsonl", [] {
            std::string text;
            for (int i = 0; i < 60; ++i)
                text += Json{{"query", fmt::format("a question {} with words", i)},
                             {"document", fmt::format("an answer {} with: {{yaml: \"in it\"}}\nsecond line", i)}}
                            .dump() +
                        "\n";
            return text;
        }());
        const Outcome outcome = start("evil.jsonl");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        if (!fs::exists(model())) QSKIP("no ../shared: the experiment is not checked");
        QCOMPARE(check().code, 0);
    }
};

FACETER_TEST(TestInit)
#include "test_init.moc"
