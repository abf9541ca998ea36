#include <fstream>

#include "cli/program.h"
#include "common/file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// The names of columns that `faceter init` finds above a table, and those that it is told.
class TestInitNames : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    void put(const std::string& name, const std::string& content) const { std::ofstream(in(name), std::ios::binary) << content; }
    Outcome start(const std::string& source, std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments = {"init", in(source), "--output", in("made.yaml"), "--yes"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return faceter::testing::faceter(arguments);
    }

  private Q_SLOTS:
    void init() {
        fs::remove_all(in("made-data"));
        fs::remove(in("made.yaml"));
    }

    /// As spreadsheets have them.
    void names_of_columns_may_be_abbreviations_and_questions() {
        const auto table = [](const char* header, const char* row) {
            std::string text = header;
            for (int i = 0; i < 80; ++i) text += fmt::format(fmt::runtime(row), i, i % 2 ? "printer" : "password");
            return text;
        };
        put("commas.csv", table("No.,request,tel. home,urgent?,team\n", "#{0},my request {0} of them,,yes,{1}\n"));
        put("semicolons.csv",
            table("Ticket-Nr.;\"Text, \"\"genau\"\"\";Bearb. von;eilig?;Team\n", "#{0};my request {0} of them;me;ja;{1}\n"));
        for (const char* name : {"commas.csv", "semicolons.csv"}) {
            const Outcome outcome = start(name);
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
            HAS(outcome.err, "80 rows");
            HAS(outcome.err, "label=team");
            init();
        }
        put("rows.csv", table("", "It broke {0} times.,{1}\n"));
        HAS(start("rows.csv").err, "text=column_1, label=column_2");
    }
    void the_name_of_a_column_may_hold_commas() {
        std::string rows = "\"Request (text, full)\",\"a, b\",a\n";
        for (int i = 0; i < 80; ++i) rows += fmt::format("my request {} of them,{},note\n", i, i % 2 ? "printer" : "password");
        put("commas.csv", rows);
        const Outcome outcome = start("commas.csv", {"--columns", "text=Request (text, full), label=a, b"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "columns: text=request (text, full), label=a, b");
        init();
        HAS(start("commas.csv", {"--columns", "text=a, note"}).err, "roles of columns are query=");
    }
    /// "text=ärger" was refused for a column "Ärger".
    void names_of_columns_are_typed_in_any_case() {
        std::string table = "Ärger,GRÖSSE\n", records;
        for (int i = 0; i < 80; ++i) {
            const std::string text = fmt::format("my request {} of them", i), label = i % 2 ? "printer" : "password";
            table += text + "," + label + "\n";
            records += fmt::format("{{\"Ärger\": \"{}\", \"GRÖSSE\": \"{}\"}}\n", text, label);
        }
        put("case.csv", table);
        put("case.jsonl", records);
        for (const char* file : {"case.csv", "case.jsonl"})
            for (const char* columns : {"text=ärger, label=größe", "text=Ärger, label=GRÖSSE"}) {
                init();
                const Outcome outcome = start(file, {"--columns", columns});
                QVERIFY2(outcome.code == 0, outcome.err.c_str());
                HAS(outcome.err, "columns: text=Ärger, label=");
            }
    }
    void columns_of_a_folder_are_refused() {
        make_directories(in("folder"));
        const Outcome outcome = start("folder", {"--columns", "text=a, label=b"});
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "--columns is for a table");
    }
};

FACETER_TEST(TestInitNames)
#include "test_init_names.moc"
