#include "experiment/data_instructions.h"

#include "common/file.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// Data that bring instructions of their own, under a task that has none.
class TestDataInstructions : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    /// An experiment of one task with one data set.
    Experiment experiment(const std::string& entry, const std::string& instructions = "") const {
        return parse_sample("name: x\ntasks:\n  t:\n    type: retrieval\n" +
                            (instructions.empty() ? "" : "    instructions: " + instructions + "\n") + "    train:\n      - " + entry +
                            "\nvariants: {EM: {method: dense}}\n");
    }
    std::string file(const std::string& name, const std::string& records) const {
        write_file_atomic(folder_.path() / name, records);
        return (folder_.path() / name).string();
    }

  private Q_SLOTS:
    void they_are_refused_before_a_run_is_launched() {
        const std::string own = R"({"instruction": "Find: ", "query": "q", "document": "d"})", plain = R"({"query": "q", "document": "d"})";
        const std::string instructed = file("own.jsonl", own + "\n"), bare = file("bare.jsonl", plain + "\n");
        const std::string list = file("list.json", R"([{"query": ["i", "q"], "pos": ["i", "d"], "task_name": "t"}])");
        const std::string table = file("own.csv", "query,document,instruction\nq,d,Find:\nr,e,Find:\n");
        const std::string several =
            file("several.jsonl", own + "\n" + R"({"instruction": "Show: ", "query": "q", "document": "d"})" + "\n");
        const std::string some = file("some.jsonl", own + "\n" + plain + "\n"), plain_table = file("bare.csv", "query,document\nq,d\n");
        for (const std::string& entry :
             {"{source: medi, path: " + instructed + "}", "{source: file, path: " + instructed + "}", "{source: file, path: " + table + "}",
              "{source: medi, path: " + list + "}", "{source: file, path: " + bare + ", instructions: {query: \"Find: \"}}",
              std::string("{source: debian_leaves, view: section}")}) {
            EXPECT_ERROR(check_data_instructions(experiment(entry)), "tasks.t.train[0]", "give it 'instructions'");
            check_data_instructions(experiment(entry, "{query: \"query: \"}"));
        }
        for (const std::string& entry :
             {"{source: file, path: " + bare + "}", "{source: file, path: " + several + "}", "{source: file, path: " + some + "}",
              "{source: file, path: " + plain_table + "}", "{source: medi, path: " + bare + "}",
              "{source: file, path: " + file("broken.jsonl", "{\"query\"") + "}", std::string("{source: file, path: /nowhere.jsonl}"),
              std::string("{source: debian, view: section}")})
            check_data_instructions(experiment(entry));
    }
};

FACETER_TEST(TestDataInstructions)
#include "test_data_instructions.moc"
