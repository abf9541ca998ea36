#include "experiment/entry_uses.h"

#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// Settings of data entries that nothing reads where the entry stands.
class TestEntryUses : public QObject {
    Q_OBJECT

    static void check(const std::string& train, const std::string& scored, const std::string& validation = "path: v") {
        check_entry_uses(parse_sample("name: x\ntasks:\n  t:\n    type: retrieval\n    train: [{path: a" + train +
                                      "}]\n    validation: [{" + validation +
                                      "}]\nvariants: {EM: {method: dense}}\nevaluation:\n  datasets:\n    - {path: b" + scored + "}\n"));
    }

  private Q_SLOTS:
    void those_of_evaluation_are_refused_in_training_data() {
        EXPECT_ERROR(check(", subsets: [de]", ""), "/base/quick.yaml: tasks.t.train[0].subsets has no effect");
        EXPECT_ERROR(check(", as: t", ""), "tasks.t.train[0].as has no effect");
        EXPECT_ERROR(check(", role: query", ""), "tasks.t.train[0].role has no effect");
        EXPECT_ERROR(check(", query_instruction: 'find '", ""), "tasks.t.train[0].query_instruction has no effect: say instructions");
        EXPECT_ERROR(check(", document_instruction: ''", ""), "tasks.t.train[0].document_instruction has no effect");
    }
    void those_of_training_are_refused_in_data_that_are_scored() {
        EXPECT_ERROR(check("", ", instructions: {query: a}"), "/base/quick.yaml: evaluation.datasets[0].instructions has no effect",
                     "query_instruction");
        EXPECT_ERROR(check("", "", "path: v, instructions: {query: a}"), "/base/quick.yaml: tasks.t.validation[0].instructions");
        EXPECT_ERROR(check("", "", "path: v, as: t"), "tasks.t.validation[0].as has no effect");
    }
    void what_is_read_where_it_stands_is_taken() {
        check(", instructions: {query: a, document: b}, subsets: [], role: null",
              ", subsets: [de], as: t, role: query, query_instruction: a", "path: v, subsets: [de]");
    }
};

FACETER_TEST(TestEntryUses)
#include "test_entry_uses.moc"
