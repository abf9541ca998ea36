#include <fstream>

#include "cli/program.h"
#include "common/file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter init` on what spreadsheets write.
class TestInitTables : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    Outcome start(const std::string& name, const std::string& table, const std::string& columns = "") const {
        std::ofstream(folder_.path() / name, std::ios::binary) << table;
        std::vector<std::string> arguments = {"init", (folder_.path() / name).string(), "--output", (folder_.path() / "made.yaml").string(),
                                              "--yes"};
        if (!columns.empty()) arguments.insert(arguments.end(), {"--columns", columns});
        return faceter::testing::faceter(arguments);
    }

  private Q_SLOTS:
    void an_experiment_is_called_as_its_table_is() {
        std::string table = "text,label\n";
        for (int i = 0; i < 60; ++i) table += fmt::format("my printer number {},{}\n", i, i % 2 ? "office" : "network");
        const fs::path here = fs::current_path();
        fs::current_path(folder_.path());
        for (const char* name : {"v1.2.csv", "Tickets.CSV"}) std::ofstream(name, std::ios::binary) << table;
        const Outcome versioned = faceter::testing::faceter({"init", "v1.2.csv", "--yes"});
        const Outcome capitals = faceter::testing::faceter({"init", "Tickets.CSV", "--yes"});
        fs::current_path(here);
        QCOMPARE(versioned.out, (folder_.path() / "v1.2.yaml").string() + "\n");
        QCOMPARE(capitals.out, (folder_.path() / "Tickets.yaml").string() + "\n");
        HAS(read_file(folder_.path() / "v1.2.yaml"), "name: \"v1.2\"");
        QVERIFY(fs::exists(folder_.path() / "v1.2-data/labels/train.jsonl"));
    }
    void scores_with_a_decimal_comma_are_told_how_to_be_written() {
        std::string table = "sentence1;sentence2;score\n";
        for (int i = 0; i < 90; ++i) table += fmt::format("the cat {} sat there;a cat {} was there;{},5\n", i, i + i % 3, i % 5);
        const Outcome plain = start("commas.csv", table);
        QCOMPARE(plain.code, 4);
        HAS(plain.err, "To train on the scores themselves: '0,5' is no number here; write it as 0.5");
        const Outcome named = start("commas.csv", table, "query=sentence1, document=sentence2, score=score");
        QCOMPARE(named.code, 2);
        HAS(named.err, "column 'score' is to hold numbers, two different ones at least: '0,5' is no number here");
    }
    void what_is_no_finite_number_is_no_score() {
        std::string table = "sentence1\tsentence2\tscore\n";
        for (int i = 0; i < 90; ++i) table += fmt::format("the cat {} sat there\ta cat {} was there\t{}\n", i, i + i % 3, i % 5);
        for (const char* word : {"nan", "inf", "-inf"}) {
            const Outcome named =
                start("words.tsv", table + "a dog\ta cat\t" + word + "\n", "query=sentence1, document=sentence2, score=score");
            QCOMPARE(named.code, 2);
            HAS(named.err, fmt::format("column 'score' is to hold numbers, two different ones at least: '{}' is none", word));
        }
    }
    void thousands_are_taken_for_no_decimals() {
        std::string table = "sentence1;sentence2;score\n";
        for (int i = 0; i < 90; ++i) table += fmt::format("the cat {} sat there;a cat {} was there;{},000\n", i, i + i % 3, 1 + i % 5);
        const Outcome named = start("thousands.csv", table, "query=sentence1, document=sentence2, score=score");
        QCOMPARE(named.code, 2);
        QVERIFY(named.err.find("write it as") == std::string::npos);
    }
    void a_line_for_spreadsheets_is_no_header() {
        std::string table = "sep=;\nText;Label\n";
        for (int i = 0; i < 80; ++i) table += fmt::format("my printer number {};{}\n", i, i % 2 ? "office" : "network");
        const Outcome outcome = start("sheet.csv", table);
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "sheet.csv:1: 'sep=;' is for spreadsheets alone; take this line out: sed 1d FILE > NEW");
        QVERIFY(!fs::exists(folder_.path() / "made.yaml"));
    }
};

FACETER_TEST(TestInitTables)
#include "test_init_tables.moc"
