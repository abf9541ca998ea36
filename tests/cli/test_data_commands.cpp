#include "cli/program.h"
#include "common/file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// Commands that look at an experiment's data.
class TestDataCommands : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }

  private Q_SLOTS:
    /// Those of the first run alone were looked at.
    void data_of_all_runs_of_a_sweep_are_looked_at_each_once() {
        write_file_atomic(in("a.jsonl"), "{\"query\": \"a\", \"document\": \"only in a\"}\n");
        write_file_atomic(in("b.jsonl"), "{\"query\": \"b\", \"document\": \"tested\"}\n");
        write_file_atomic(in("test.jsonl"), "{\"query\": \"t\", \"document\": \"tested\"}\n");
        write_file_atomic(in("sweep.yaml"),
                          "name: x\nmodel: minilm\ntasks:\n  retrieval:\n    train: [{source: file, path: a.jsonl}]\n"
                          "variants:\n  EM: {method: dense}\nseeds: [1, 2]\n"
                          "sweep: {\"tasks.retrieval.train[0].path\": [a.jsonl, b.jsonl]}\n"
                          "evaluation: {baseline: false, datasets: [{source: file, path: test.jsonl, task: retrieval}]}\n");
        const Json shown = json_of(faceter::testing::faceter({"data", "show", in("sweep.yaml"), "--json"}));
        QCOMPARE(shown.at("training").size(), std::size_t{2});
        QCOMPARE(shown.at("training")[1].at("name").get<std::string>(), std::string("b.jsonl"));
        QCOMPARE(shown.at("evaluation").size(), std::size_t{1});
        const Json overlap = json_of(faceter::testing::faceter({"data", "overlap", in("sweep.yaml"), "--json"}));
        QCOMPARE(overlap.at("overlaps").size(), std::size_t{1});
    }
};

FACETER_TEST(TestDataCommands)
#include "test_data_commands.moc"
