#include "experiment/batch_negatives.h"
#include "experiment/chosen_runs.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using From = BatchNegatives::From;

const char* const two_tasks = R"(name: two
tasks:
  retrieval:
    train:
      - {source: file, path: a.tsv, hard_negatives: 2}
      - {source: file, path: b.tsv, hard_negatives: 3}
  clustering:
    train: [{source: debian, view: same_source}]
  idle: {type: sts}
variants:
  EM: {method: dense}
training: {batch_size: 16}
evaluation: {datasets: [{source: folder, path: scifact}]}
)";

std::vector<BatchNegatives> of(const std::string& more, std::size_t run = 1) {
    return batch_negatives(parse_sample(two_tasks + more).runs().at(run).settings);
}

/// Of the task retrieval.
BatchNegatives of_retrieval(const std::string& more) {
    for (const BatchNegatives& batch : of(more))
        if (batch.tasks.front() == "retrieval") return batch;
    return {};
}

std::vector<std::string> names(const std::vector<const ResolvedRun*>& runs) {
    std::vector<std::string> all;
    for (const ResolvedRun* run : runs) all.push_back(name_of(*run));
    return all;
}

}  // namespace

/// What `faceter check` and Compose say of batches without reading data, and which runs are meant by their names.
class TestBatchNegatives : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void each_task_has_its_own_batches_where_they_differ() {
        const auto all = of("");
        QCOMPARE(all.size(), std::size_t(2));  // a task without training data has none
        const auto& clustering = all[all[0].tasks.front() == "clustering" ? 0 : 1];
        const auto& retrieval = all[all[0].tasks.front() == "clustering" ? 1 : 0];
        QCOMPARE(retrieval.tasks, std::vector<std::string>{"retrieval"});
        QCOMPARE(retrieval.from, From::data_set);
        QCOMPARE(retrieval.in_batch, std::optional<std::int64_t>(15));
        QCOMPARE(retrieval.hard_each, std::optional<std::int64_t>(3));
        QCOMPARE(retrieval.hard, std::optional<std::int64_t>(48));  // every query's count for all
        QCOMPARE(clustering.from, From::task);
        QCOMPARE(clustering.hard, std::optional<std::int64_t>(0));
    }
    void the_objective_says_which_hard_negatives_count() {
        QCOMPARE(of_retrieval("objective: {method: infonce, hard_negatives: own}\n").hard, std::optional<std::int64_t>(3));
        QCOMPARE(of_retrieval("objective: {method: infonce, hard_negatives: none}\n").hard, std::optional<std::int64_t>(0));
        for (const BatchNegatives& batch : of("objective: {method: masked_language}\n"))
            QCOMPARE(batch.in_batch, std::optional<std::int64_t>(0));
    }
    void a_batch_over_all_tasks_is_one_with_the_most_of_any() {
        const auto all = of("curriculum: {method: static}\n");
        QCOMPARE(all.size(), std::size_t(1));
        QCOMPARE(all[0].tasks.size(), std::size_t(2));
        QCOMPARE(all[0].from, From::all_tasks);
        QCOMPARE(all[0].hard, std::optional<std::int64_t>(48));
    }
    void what_only_the_data_know_is_not_made_up() {
        Json settings = parse_sample(two_tasks).runs().at(1).settings;
        settings["tasks"]["retrieval"]["train"][0].erase("hard_negatives");
        for (const BatchNegatives& batch : batch_negatives(settings))
            if (batch.tasks.front() == "retrieval") QVERIFY(!batch.hard && !batch.hard_each && batch.in_batch == 15);
        settings["objective"]["method"] = "of_a_plugin";
        for (const BatchNegatives& batch : batch_negatives(settings)) QVERIFY(!batch.in_batch && !batch.hard);
    }
    void chunks_and_processes_leave_the_negatives_as_they_are() {
        const auto plain = of(""), cached = of("objective: {method: infonce, gradient_cache_chunk: 4}\n");
        QCOMPARE(cached.front().chunk, 4);
        QCOMPARE(cached.front().in_batch, plain.front().in_batch);
        QCOMPARE(cached.front().hard, plain.front().hard);
        QCOMPARE(negatives_json(cached, 3)[0]["pairs_per_process"].get<int>(), 6);
        QCOMPARE(negatives_json(cached, 3)[0]["in_batch"].get<int>(), 15);
    }
    void stages_have_their_own() {
        const auto all =
            of("stages:\n"
               "  - {name: first, training: {batch_size: 64}}\n"
               "  - {name: then, tasks: [retrieval], mine: {teacher: minilm, negatives: 7}}\n");
        QCOMPARE(all.size(), std::size_t(3));
        QCOMPARE(all[0].stage, std::string("first"));
        QCOMPARE(all[0].in_batch, std::optional<std::int64_t>(63));
        QCOMPARE(all[2].stage, std::string("then"));
        QCOMPARE(all[2].hard, std::optional<std::int64_t>(7 * 16));
    }
    void what_a_stage_has_mined_stays_with_those_behind_it() {
        const auto all =
            of("stages:\n"
               "  - {name: first, tasks: [retrieval], mine: {teacher: minilm, negatives: 7}}\n"
               "  - {name: other, tasks: [clustering]}\n"
               "  - {name: then, tasks: [retrieval], mine: {teacher: minilm, filter_given: true}}\n"
               "  - {name: last, tasks: [retrieval], mine: {teacher: minilm, negatives: 4}}\n");
        QCOMPARE(all.size(), std::size_t(4));
        QCOMPARE(all[1].hard_each, std::optional<std::int64_t>(0));
        QCOMPARE(all[2].hard_each, std::optional<std::int64_t>(7));
        QCOMPARE(all[3].hard_each, std::optional<std::int64_t>(4));
    }
    void the_start_model_has_none() { QVERIFY(of("", 0).empty()); }
    void runs_are_chosen_by_name_and_by_its_beginning() {
        const Experiment experiment = parse_sample();
        QCOMPARE(names(chosen_runs(experiment, {})).size(), experiment.runs().size());
        QCOMPARE(names(chosen_runs(experiment, {"Mix/seed=2", "EM"})), (std::vector<std::string>{"EM/seed=1", "EM/seed=2", "Mix/seed=2"}));
        EXPECT_ERROR(chosen_runs(experiment, {"Mi"}), "makes no run 'Mi'", "EM/seed=1");
        const Experiment swept = parse_sample(std::string(sample_experiment()) + "sweep: {training.learning_rate: [1e-5, 2e-5]}\n");
        const std::string last = name_of(swept.runs().back());
        QVERIFY2(last.starts_with("Mix/") && last.ends_with("/seed=2") && last.find("learning_rate") != last.npos, last.c_str());
        QCOMPARE(names(chosen_runs(swept, {last})), std::vector<std::string>{last});
    }
};

FACETER_TEST(TestBatchNegatives)
#include "test_batch_negatives.moc"
