#include "experiment/example_needs.h"

#include "common/file.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Catalogue catalogue() {
    Catalogue made = sample_catalogue();
    const auto add = [&](const char* name, LearnsFrom what) {
        made.add(ExtensionKind::objective, {name, "", {name, "", {}}, false, "", what}, "demo");
    };
    add("by_order", LearnsFrom::order);
    add("by_scores", LearnsFrom::scores);
    add("by_negatives", LearnsFrom::negatives);
    add("by_itself", LearnsFrom::anything);
    add("by_score", LearnsFrom::scored_pairs);
    add("by_verdict", LearnsFrom::verdicts);
    return made;
}

}  // namespace

/// Objectives, and data that lack what they learn from.
class TestExampleNeeds : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    std::string file(const std::string& name, const std::string& content) const {
        make_directories((folder_.path() / name).parent_path());
        write_file_atomic(folder_.path() / name, content);
        return (folder_.path() / name).string();
    }
    static std::vector<std::string> check(const std::string& entry, const std::string& objective, const std::string& more = "") {
        const Catalogue known = catalogue();
        return check_examples(Experiment::parse("name: x\ntasks:\n  t:\n    type: retrieval\n    train:\n      - " + entry +
                                                    "\nvariants: {EM: {method: dense}}\nobjective: {method: " + objective + "}\n" + more,
                                                "/base/x.yaml", known),
                              known);
    }
    static std::string entry(const std::string& path, const std::string& more = "") {
        return "{name: set, source: file, path: " + path + (more.empty() ? "" : ", " + more) + "}";
    }

  private Q_SLOTS:
    void data_without_what_an_objective_learns_from_are_refused_with_what_to_do() {
        const std::string pairs = file("p.jsonl", R"({"query": "q", "document": "d"})"
                                                  "\n"
                                                  R"({"query": "q2", "document": "d2"})"
                                                  "\n");
        EXPECT_ERROR(check(entry(pairs), "by_order"), "/base/x.yaml: tasks.t.train[0] (set): objective by_order", "neither scores nor",
                     "infonce");
        EXPECT_ERROR(check(entry(pairs), "by_scores"), "learns from scores", "faceter data score", "infonce");
        EXPECT_ERROR(check(entry(pairs), "by_negatives"), "hard negatives", "faceter data mine", "infonce");
        check(entry(pairs), "by_itself");
        check(entry(pairs), "infonce");
    }
    void scores_of_pairs_by_themselves_need_no_hard_negatives() {
        const std::string pairs = file("p.jsonl", R"({"query": "q", "document": "d"})"),
                          scored = file("s.jsonl", R"({"query": "q", "document": "d", "score": 1})"),
                          apart = file("n.jsonl", R"({"query": "q", "document": "d", "negatives": ["n"]})");
        EXPECT_ERROR(check(entry(pairs), "by_score"), "learns from scores", "give each pair a 'score'");
        EXPECT_ERROR(check(entry(apart), "by_score"), "learns from scores");
        EXPECT_ERROR(check(entry(pairs), "by_verdict"), "which pairs belong together", "a 'score' of 1 or 0");
        check(entry(scored), "by_score", "training: {batch_size: 1}\n");
        check(entry(scored), "by_verdict", "training: {batch_size: 1}\n");
        check(entry(apart), "by_verdict");
        const std::string mine = "stages: [{name: a, mine: {teacher: minilm}}]\n";
        EXPECT_ERROR(check(entry(scored), "by_score", mine), "a stage mines for these data have none");
        check(entry(pairs), "by_verdict", mine);
        QCOMPARE(check(entry(scored), "infonce").size(), std::size_t{1});
        EXPECT_ERROR(check(entry(scored), "by_negatives"), "by_order, by_score");
    }
    void labelled_texts_have_no_scores_and_only_negatives_that_are_drawn() {
        const std::string texts = file("l.jsonl", "{\"text\": \"a\", \"label\": 1}\n");
        EXPECT_ERROR(check(entry(texts), "by_order"), "neither scores nor negatives");
        EXPECT_ERROR(check(entry(texts, "hard_negatives: 2"), "by_scores"), "learns from scores");
        check(entry(texts, "hard_negatives: 2"), "by_order");
        check(entry(texts, "hard_negatives: 2"), "by_negatives");
    }
    void a_file_of_another_format_is_refused_before_anything_is_trained() {
        const std::string pairs = file("p.jsonl", R"({"query": "q", "document": "d"})");
        const std::string texts = file("l.jsonl", "{\"text\": \"a\", \"label\": 1}\n");
        EXPECT_ERROR(check(entry(pairs, "format: labelled"), "infonce"), "/base/x.yaml: tasks.t.train[0] (set)",
                     "format labelled needs a text and a label in each record, and the first has 'query', 'document'");
        EXPECT_ERROR(check(entry(texts, "format: pairs"), "infonce"), "needs a query and a document", "name the format");
        const std::string scored = "evaluation: {datasets: [" + entry(texts, "format: pairs, task: retrieval") + "]}\n";
        EXPECT_ERROR(check(entry(pairs), "infonce", scored), "evaluation.datasets[0] (set)", "needs a query and a document");
        EXPECT_ERROR(check(entry(file("h.csv", "question,answer\nq,d\n"), "format: labelled"), "infonce"),
                     "h.csv:1:", "none of them is text");
        check(entry(pairs, "format: labelled, on_error: skip"), "infonce");
        EXPECT_ERROR(check(entry(pairs, "format: triplets"), "infonce"), "format triplets needs a query, a document and a negative");
        EXPECT_ERROR(check(entry(file("h.csv", "question,answer\nq,d\n"), "format: labelled, on_error: skip"), "infonce"), "h.csv:1");
        EXPECT_ERROR(check(entry(file("list.jsonl", "[1]\n"), "format: pairs"), "infonce"), "list.jsonl:1");
        check(entry(texts, "format: labelled"), "infonce");
    }
    void one_example_that_has_it_is_enough_here() {
        const std::string some = file("s.jsonl", R"({"query": "q", "document": "d"})"
                                                 "\n"
                                                 R"({"query": "q2", "document": "d2", "negatives": ["n"]})"
                                                 "\n");
        check(entry(some), "by_order");
        check(entry(some), "by_negatives");
        EXPECT_ERROR(check(entry(some, "hard_negatives: 0"), "by_negatives"), "hard negatives");
    }
    void a_score_counts_where_it_is_read() {
        check(entry(file("one.jsonl", R"({"query": "q", "document": "d", "score": 0.5})")), "by_order");
        check(entry(file("t.csv", "query,document,score\nq,d,0.5\n"), "format: pairs"), "by_order");
        const std::string beside = file("beside.jsonl", R"({"query": "q", "document": "d", "negatives": ["n"], "score": 1})");
        EXPECT_ERROR(check(entry(beside), "by_scores"), "learns from scores");
        const std::string several = file("several.jsonl", R"({"query": "q", "document": ["d", "e"], "score": 1})");
        EXPECT_ERROR(check(entry(several), "by_order"), "neither scores nor negatives");
        check(entry(file("both.jsonl", R"({"query": "q", "document": "d", "negatives": ["n"], "scores": [2, 1]})")), "by_scores");
    }
    void only_records_of_the_wanted_labels_count() {
        const std::string mixed = file("mixed.jsonl", R"({"query": "q", "document": "d", "label": "no", "score": 1})"
                                                      "\n"
                                                      R"({"query": "q", "document": "d", "label": "yes"})"
                                                      "\n");
        EXPECT_ERROR(check(entry(mixed, "labels: [\"yes\"]"), "by_order"), "neither scores nor negatives");
        check(entry(mixed, "labels: [\"no\"]"), "by_order");
        const std::string texts = file("texts.jsonl", "{\"text\": \"a\", \"label\": \"no\"}\n");
        EXPECT_ERROR(check(entry(texts, "labels: [\"no\"]"), "by_itself"), "tasks.t.train[0] (set): labels has no effect", "kind labelled");
    }
    void other_sources_are_known_by_their_kind() {
        file("sts/train.jsonl", R"({"sentence1": "a", "sentence2": "b", "score": 5})");
        file("pairs/train.jsonl", R"({"query": "q", "document": "d"})");
        const std::string sts = "{path: " + (folder_.path() / "sts").string() + "}",
                          pairs = "{path: " + (folder_.path() / "pairs").string() + "}";
        check(sts, "by_order");
        EXPECT_ERROR(check(sts, "by_negatives"), "by_order");  // what scored pairs are for
        EXPECT_ERROR(check(pairs, "by_order"), "neither scores nor negatives");
        const std::string medi = file("medi.json", R"([{"query": ["i", "q"], "pos": ["i", "d"], "neg": ["i", "n"], "task_name": "t"}])");
        check("{source: medi, path: " + medi + "}", "by_negatives");
        EXPECT_ERROR(check("{source: medi, path: " + medi + "}", "by_scores"), "learns from scores");
        EXPECT_ERROR(check("{source: debian, view: synopsis_description}", "by_order"), "neither scores nor negatives");
        check("{source: debian, view: synopsis_description, hard_negatives: 1}", "by_order");
    }
    void what_is_mined_counts_and_what_cannot_be_told_is_left_to_reading() {
        const std::string pairs = file("p.jsonl", R"({"query": "q", "document": "d"})");
        check(entry(pairs), "by_negatives", "stages: [{name: a, mine: {teacher: minilm}}]\n");
        EXPECT_ERROR(check(entry(pairs), "by_negatives", "stages: [{name: a, mine: {teacher: minilm, filter_given: true}}]\n"),
                     "hard negatives");
        const std::string mine = "{name: b, mine: {teacher: minilm}}";
        EXPECT_ERROR(check(entry(pairs), "by_negatives", "stages: [{name: a}, " + mine + "]\n"), "hard negatives");  // too late
        check(entry(pairs), "infonce", "stages: [" + mine + ", {name: c, objective: {method: by_negatives}}]\n");
        const std::string taught = file("taught.jsonl", R"({"query": "q", "document": "d", "negatives": ["n"], "scores": [2, 1]})");
        EXPECT_ERROR(check(entry(taught), "by_scores", "stages: [" + mine + "]\n"), "a stage mines for these data have none",
                     "faceter data score", "by_negatives");
        check(entry(taught), "by_scores", "stages: [{name: a}, {name: b, objective: {method: infonce}, mine: {teacher: minilm}}]\n");
        check(entry("/nowhere.jsonl"), "by_order");
        check(entry(file("broken.jsonl", "{\"query\"")), "by_order");
    }
    void a_stage_that_mines_asks_what_the_losses_behind_it_learn_from() {
        const Catalogue known = catalogue();
        const auto needs = [&](const std::string& stages, std::size_t part) {
            const Experiment experiment = Experiment::parse(
                "name: x\ntasks:\n  t: {type: retrieval, train: [{path: /nowhere}]}\n  u: {type: sts, train: [{path: /nowhere}]}\n"
                "variants: {EM: {method: dense}}\nstages: [" +
                    stages + "]\n",
                "/base/x.yaml", known);
            return needs_negatives(experiment.runs().back().settings, part, "t", known);
        };
        QVERIFY(needs("{name: a, objective: {method: by_negatives}}", 0));
        QVERIFY(needs("{name: a}, {name: b, objective: {method: by_scores}}", 0));
        QVERIFY(!needs("{name: a, objective: {method: by_negatives}}, {name: b}", 1));
        QVERIFY(!needs("{name: a}, {name: b, tasks: [u], objective: {method: by_negatives}}", 0));
        QVERIFY(!needs("{name: a, objective: {method: by_order}}", 0));
        QVERIFY(!needs("{name: a}, {name: b, mine: {negatives: 1}, objective: {method: by_negatives}}", 0));
        QVERIFY(needs("{name: a}, {name: b, mine: {negatives: 1, filter_given: true}, objective: {method: by_negatives}}", 0));
    }
    void a_table_without_a_format_is_refused_before_it_is_read() {
        const std::string table = file("bare.csv", "a,b\n");
        EXPECT_ERROR(check(entry(table), "by_order"), "/base/x.yaml: tasks.t.train[0] (set): ", "needs format: pairs, triplets, labelled");
        EXPECT_ERROR(check(entry("/nowhere.tsv.gz", "format: null"), "infonce"), "needs format: pairs");
        check(entry(table, "format: pairs"), "infonce");
        check(entry(table, "format: texts"), "infonce");
    }
    void noise_is_not_injected_into_data_with_scores() {
        const std::string scored = file("one.jsonl", R"({"query": "q", "document": "d", "score": 0.5})");
        const std::string plain = file("p.jsonl", R"({"query": "q", "document": "d"})");
        EXPECT_ERROR(check(entry(scored, "noise_rate: 0.1"), "by_order"), "/base/x.yaml: tasks.t.train[0].noise_rate is set",
                     "records of set have scores", "leave noise_rate out, or the scores");
        check(entry(scored, "noise_rate: 0"), "by_order");
        check(entry(plain, "noise_rate: 0.1"), "infonce");
    }
    void pairs_with_scores_are_warned_of_where_these_are_not_read() {
        const std::string scored = file("one.jsonl", R"({"query": "q", "document": "d", "score": 0.5})");
        const auto remarks = check(entry(scored), "infonce");
        QCOMPARE(remarks.size(), std::size_t{1});
        const std::string& remark = remarks[0];
        QVERIFY2(remark.starts_with("/base/x.yaml: tasks.t.train[0] (set): objective infonce does not read the scores"), remark.c_str());
        QVERIFY2(remark.ends_with("learns from scores: by_order, by_score"), remark.c_str());
        const std::string taught = file("taught.jsonl", R"({"query": "q", "document": "d", "negatives": ["n"], "scores": [2, 1]})");
        const std::string plain = file("p.jsonl", R"({"query": "q", "document": "d"})");
        for (const std::string& other : {taught, plain}) QCOMPARE(check(entry(other), "infonce").size(), std::size_t{0});
        for (const char* objective : {"by_order", "by_itself"}) QCOMPARE(check(entry(scored), objective).size(), std::size_t{0});
    }
    void pairs_of_several_labels_are_warned_of_where_none_are_chosen() {
        const auto labelled = [&](const std::string& name, const std::vector<std::string>& labels, const std::string& more = "") {
            std::string lines;
            for (const std::string& label : labels) lines += R"({"query": "q", "document": "d", "label": )" + label + more + "}\n";
            return file(name, lines);
        };
        const std::string snli = labelled("snli.jsonl", {"0", "1", "2"}), words = labelled("w.jsonl", {"\"same\"", "\"other\""}),
                          grades = labelled("g.jsonl", {"0.1", "0.5", "0.9", "0.2", "0.7", "1.0", "0.3"});
        for (const auto& [path, said] : {std::pair(snli, "(0, 1, 2)"), std::pair(words, "(other, same)"), std::pair(grades, "0.9, ...)")}) {
            const auto remarks = check(entry(path), "infonce");
            QCOMPARE(remarks.size(), std::size_t{1});
            QVERIFY2(remarks[0].starts_with("/base/x.yaml: tasks.t.train[0] (set): its pairs carry labels ("), remarks[0].c_str());
            QVERIFY2(remarks[0].find(said) != std::string::npos, remarks[0].c_str());
        }
        QCOMPARE(check(entry(snli, "labels: [\"0\"]"), "infonce").size(), std::size_t{0});
        QCOMPARE(check(entry(labelled("one.jsonl", {"1", "1"})), "infonce").size(), std::size_t{0});
        QCOMPARE(check(entry(labelled("s.jsonl", {"1", "0"}, ", \"score\": 0.5")), "by_order").size(), std::size_t{0});
        EXPECT_ERROR(check(entry(grades), "by_order"), "neither scores nor negatives", "their 'label' is not read as one");
    }
    void batches_of_one_pair_without_negatives_are_refused_where_they_teach_nothing() {
        const std::string pairs = file("p.jsonl", R"({"query": "q", "document": "d"})");
        const std::string triplets = file("n.jsonl", R"({"query": "q", "document": "d", "negatives": ["n"]})");
        const std::string one = "training: {batch_size: 1}\n";
        EXPECT_ERROR(check(entry(pairs), "infonce", one), "tasks.t.train[0] (set): objective infonce", "training.batch_size is 1",
                     "the loss would be 0");
        EXPECT_ERROR(check(entry(triplets), "infonce, hard_negatives: none", one), "training.batch_size is 1");
        EXPECT_ERROR(check(entry(pairs), "infonce", "stages: [{name: a}, {name: b, training: {batch_size: 1}}]\n"), "batch_size is 1");
        check(entry(triplets), "infonce", one);
        check(entry(pairs) + "\n      - " + entry(triplets, "max_examples: 1"), "infonce", one);  // the other data have them
        check(entry(pairs), "infonce", "training: {batch_size: 2}\n");
        check(entry(pairs), "infonce", one + "stages: [{name: a, mine: {teacher: minilm}}]\n");
        check(entry(pairs), "by_itself", one);
        check(entry("/nowhere.jsonl"), "infonce", one);
        const std::string scored = file("scored.jsonl", R"({"query": "q", "document": "d", "score": 0.5})");
        EXPECT_ERROR(check(entry(scored), "by_order", one), "objective by_order holds each pair against the other pairs",
                     "batch_size is 1");
        check(entry(triplets), "by_order", one);
        check(entry(scored), "by_order", "training: {batch_size: 2}\n");
    }
    void a_stage_of_another_objective_is_asked_for_itself() {
        const std::string pairs = file("p.jsonl", R"({"query": "q", "document": "d"})");
        EXPECT_ERROR(check(entry(pairs), "infonce", "stages: [{name: a}, {name: b, objective: {method: by_order}}]\n"),
                     "objective by_order");
    }
};

FACETER_TEST(TestExampleNeeds)
#include "test_example_needs.moc"
