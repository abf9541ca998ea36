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
    void limits_of_sets_that_are_scored_are_refused_in_training_data() {
        for (const char* setting : {"max_documents: 10", "max_queries: 10", "examples_per_label: 4", "exclude_same_id: true", "count: 10"})
            EXPECT_ERROR(check(std::string(", ") + setting, ""), "/base/quick.yaml: tasks.t.train[0].", "has no effect");
        check("", ", max_documents: 10, max_queries: 10, examples_per_label: 4, exclude_same_id: true");
        EXPECT_ERROR(check("", ", count: 10"), "evaluation.datasets[0].count has no effect");
    }
    void those_of_another_source_are_refused() {
        EXPECT_ERROR(check(", source: file, format: pairs, split: test", ""), "tasks.t.train[0].split has no effect", "has no parts");
        EXPECT_ERROR(check("", ", source: file, format: pairs, split: test"), "evaluation.datasets[0].split has no effect");
        for (const char* setting : {"view: use", "sections: [science]", "other_documents: true", "min_examples: 5"})
            EXPECT_ERROR(check("", "", std::string("path: v, ") + setting), "tasks.t.validation[0].", "has no effect");
        check(", split: dev, max_examples: 5", ", split: dev", "source: debian, view: use, sections: [science]");
        check(", source: medi, min_examples: 5", "");
    }
    void labels_are_refused_where_no_pairs_are() {
        for (const char* entry :
             {"source: natural_instructions", "source: debian, view: use", "source: file, format: labelled", "source: file, format: texts"})
            EXPECT_ERROR(check(fmt::format(", {}, labels: [a]", entry), ""), "tasks.t.train[0].labels has no effect");
        EXPECT_ERROR(check("", ", labels: [a]"), "evaluation.datasets[0].labels has no effect");
        for (const char* entry : {"source: medi", "source: file, format: pairs", "source: folder"})
            check(fmt::format(", {}, labels: [a]", entry), "");
        check("", ", source: file, format: pairs, labels: [a]");
    }
    void limits_and_parts_of_other_sets_are_refused_in_data_that_are_scored() {
        const std::string pairs = ", source: file, format: pairs", search = ", source: debian, view: synopsis_description",
                          classes = ", source: debian, view: section";
        EXPECT_ERROR(check("", pairs + ", subsets: [de]"), "evaluation.datasets[0].subsets has no effect");
        EXPECT_ERROR(check("", "", "path: v, source: debian, view: use, subsets: [de]"), "validation[0].subsets has no effect");
        for (const std::string& entry : {pairs, search})
            EXPECT_ERROR(check("", entry + ", max_examples: 5"), "datasets[0].max_examples has no effect", "max_queries");
        EXPECT_ERROR(check("", classes + ", max_queries: 5"), "datasets[0].max_queries has no effect");
        EXPECT_ERROR(check("", ", task: reranking, max_documents: 5"), "datasets[0].max_documents has no effect");
        check(pairs + ", max_examples: 5", search + ", max_queries: 5, max_documents: 9");
        check("", classes + ", max_examples: 5");
    }
    void what_is_read_where_it_stands_is_taken() {
        check(", instructions: {query: a, document: b}, subsets: [], role: null",
              ", subsets: [de], as: t, role: query, query_instruction: a", "path: v, subsets: [de]");
    }
};

FACETER_TEST(TestEntryUses)
#include "test_entry_uses.moc"
