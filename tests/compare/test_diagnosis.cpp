#include <cmath>
#include <functional>

#include "common/strings.h"
#include "compare/diagnose_data.h"
#include "compare/diagnose_record.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What a diagnosis says of made journals, results and data (its models: tests/worker/test_diagnose.cpp).
class TestDiagnosis : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

    /// A run of 40 steps whose two tasks have batches in turn.
    RunDirectory trained(double first_loss, double last_loss, double temperature, double second_gradient = 1) const {
        const RunDirectory run = sample_run(project_.path(), 1);
        JournalWriter journal(run, run.begin_attempt(), {});
        for (int step = 1; step <= 80; ++step) {
            const double loss = first_loss + (last_loss - first_loss) * step / 80;
            const bool second = step % 2 == 0;
            journal.step({{"step", step},
                          {"total_steps", 80},
                          {"loss", loss},
                          {second ? "loss/clustering" : "loss/retrieval", loss},
                          {"lr", 1e-5},
                          {"grad_norm", second ? second_gradient : 1.0},
                          {"temperature", temperature},
                          {"pairs", 64}});
        }
        journal.flush();
        return run;
    }
    /// Two stages, of masked language and of 4 batches a step, as a run that has trained `started` (name, part) recorded them.
    RunDirectory staged(const std::vector<std::pair<std::string, int>>& started, bool with_part) const {
        const Experiment experiment = parse_sample();
        ResolvedRun resolved = experiment.runs().at(1);
        Json words{{"name", "masked language"}, {"tasks", Json::array()}}, pairs{{"name", "contrastive"}, {"tasks", Json::array()}};
        for (const char* part : {"training", "curriculum", "objective"}) words[part] = pairs[part] = resolved.settings.at(part);
        words["objective"] = {{"method", "masked_language"}};
        pairs["training"]["accumulate"] = 4;
        resolved.settings["stages"] = {words, pairs};
        const RunDirectory run = RunDirectory::create(project_.path(), experiment, resolved, false);
        JournalWriter journal(run, run.begin_attempt(), {});
        for (std::size_t index = 0; index < started.size(); ++index) {
            Json event{{"stage", started[index].first}, {"index", index}, {"total_steps", 30}};
            if (with_part) event["part"] = started[index].second;
            journal.event("stage_started", event);
            for (int step = 1; step <= 30; ++step)
                journal.step({{"step", step},
                              {"stage", index},
                              {"total_steps", 30},
                              {"loss", 3.0 / step},
                              {"loss/retrieval", 3.0 / step},
                              {"lr", 1e-5},
                              {"grad_norm", 1.0},
                              {"temperature", 0.05},
                              {"pairs", 64}});
        }
        journal.flush();
        return run;
    }
    /// A run of 30 steps of one task, whose loss falls, with the objective.
    RunDirectory learned_by(const Json& objective, double temperature) const {
        const Experiment experiment = parse_sample();
        ResolvedRun resolved = experiment.runs().at(1);
        resolved.settings["objective"] = objective;
        const RunDirectory run = RunDirectory::create(project_.path(), experiment, resolved, false);
        JournalWriter journal(run, run.begin_attempt(), {});
        for (int step = 1; step <= 30; ++step)
            journal.step({{"step", step},
                          {"total_steps", 30},
                          {"loss", 3.0 / step},
                          {"loss/retrieval", 3.0 / step},
                          {"lr", 1e-5},
                          {"grad_norm", 1.0},
                          {"temperature", temperature},
                          {"pairs", 64}});
        journal.flush();
        return run;
    }
    /// A run of 80 steps of 64 pairs of one task, by the loss of each, whose mask left out so many negatives of a query.
    RunDirectory with_losses(const std::function<double(int)>& loss, double masked = 0, int given = 0) const {
        const RunDirectory run = sample_run(project_.path(), 1);
        JournalWriter journal(run, run.begin_attempt(), {});
        journal.event("data",
                      {{"use", "training"}, {"task", "retrieval"}, {"card", {{"counts", {{"examples", 10}, {"hard_negatives", given}}}}}});
        for (int step = 1; step <= 80; ++step)
            journal.step({{"step", step},
                          {"total_steps", 80},
                          {"loss/retrieval", loss(step)},
                          {"lr", 0.1},
                          {"grad_norm", 1.0},
                          {"temperature", 0.05},
                          {"masked_negatives", masked * 64},
                          {"pairs", 64}});
        journal.flush();
        return run;
    }
    static Finding loss_of(const RunDirectory& run) { return diagnose_training(run).at(0); }
    static std::vector<std::string> alarms(const std::vector<Finding>& findings) {
        std::vector<std::string> names;
        for (const Finding& one : findings)
            if (one.state == FindingState::alarm) names.push_back(one.check + ": " + one.subject);
        return names;
    }
    static bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
    static TrainingSet pairs(int documents, int labels = 0) {
        TrainingSet set;
        set.name = "pairs";
        set.task = "retrieval";
        for (int i = 0; i < 60; ++i) {
            const auto query = set.texts.intern(fmt::format("query {}", i)),
                       document = set.texts.intern(fmt::format("document {}", i % documents));
            set.examples.push_back({query, document, 0, 0, labels ? i % labels : -1});
        }
        return set;
    }
    static Json settings(const std::string& mask, int batch = 32) {
        return {{"training", {{"batch_size", batch}}}, {"objective", {{"method", "infonce"}, {"mask_false_negatives", mask}}}};
    }

  private Q_SLOTS:
    void a_loss_that_falls_is_fine_and_one_that_does_not_is_none() {
        QVERIFY(alarms(diagnose_training(trained(3, 1, 0.05))).empty());
        QCOMPARE(alarms(diagnose_training(trained(3, 3.01, 0.05))),
                 (std::vector<std::string>{"loss_curve: clustering", "loss_curve: retrieval"}));
    }
    /// A rate that made all texts alike was called fine: the loss fell, to that of guessing.
    void a_loss_that_ends_at_guessing_is_an_alarm() {
        const auto to = [](double last) { return [last](int step) { return last + 0.2 * std::exp(-step / 10.0); }; };
        const Finding guessed = loss_of(with_losses(to(std::log(64.0))));
        QCOMPARE(guessed.state, FindingState::alarm);
        QVERIFY2(has(guessed.says, "Guessing has 4.159"), guessed.says.c_str());
        QVERIFY2(has(guessed.advice, "tenfold lower, then tenfold higher"), guessed.advice.c_str());
        // Of 63 negatives 12 are masked: 52 texts to guess among.
        QCOMPARE(loss_of(with_losses(to(std::log(52.0)))).state, FindingState::fine);
        QCOMPARE(loss_of(with_losses(to(std::log(52.0)), 12)).state, FindingState::alarm);
        // Ten for ten examples, which count for all queries: 128 texts to guess among.
        QCOMPARE(loss_of(with_losses(to(std::log(64.0)), 0, 10)).state, FindingState::fine);
        QCOMPARE(loss_of(with_losses(to(std::log(128.0)), 0, 10)).state, FindingState::alarm);
    }
    void a_fall_within_the_noise_of_batches_is_not_called_fine() {
        const auto shaky = [](double fall) { return [fall](int step) { return 3 - fall * step + (step % 2 ? 0.2 : -0.2); }; };
        const Finding hidden = loss_of(with_losses(shaky(0.0001)));
        QCOMPARE(hidden.state, FindingState::unknown);
        QVERIFY2(has(hidden.says, "whether it fell cannot be told"), hidden.says.c_str());
        QCOMPARE(loss_of(with_losses(shaky(0.01))).state, FindingState::fine);
    }
    void a_loss_that_rises_in_a_planned_order_says_nothing() {
        const RunDirectory run = trained(1, 3, 0.05);
        QCOMPARE(alarms(diagnose_training(run)).size(), std::size_t{2});
        make_directories(run.folder() / "curriculum");
        QCOMPARE(alarms(diagnose_training(run)).size(), std::size_t{2});
        write_file_atomic(run.folder() / "curriculum/train.plan", "plan");
        const auto findings = diagnose_training(run);
        QVERIFY(alarms(findings).empty());
        QCOMPARE(findings[0].state, FindingState::unknown);
        QVERIFY(has(findings[0].says, "planned"));
    }
    void many_findings_of_one_kind_are_told_in_one_line() {
        Diagnosis diagnosis{"run", {}};
        for (int i = 0; i < 30; ++i)
            diagnosis.findings.push_back({"pairs",
                                          fmt::format("retrieval, set {}", i),
                                          FindingState::fine,
                                          0.6 + 0.01 * i,
                                          0.55,
                                          fmt::format("said of {}", i),
                                          {},
                                          {},
                                          {}});
        diagnosis.findings.push_back({"pairs", "retrieval, bad", FindingState::alarm, 0.5, 0.55, "said of bad", "why", "do", {}});
        diagnosis.findings.push_back({"leak", "held", FindingState::fine, 0, 0.01, "said of held", {}, {}, {}});
        const std::string text = diagnosis.to_text();
        QVERIFY(has(text, "ALARM pairs, retrieval, bad"));
        QVERIFY(has(text, "said of 0\n        and 29 more of this kind"));
        QVERIFY(has(text, "fine    leak, held: said of held\n"));
        QVERIFY(!has(text, "said of 7"));
        QCOMPARE(diagnosis.to_json().at("findings").size(), std::size_t{32});
    }
    void alarms_of_one_kind_share_their_advice() {
        Diagnosis diagnosis{"run", {}};
        for (const char* set : {"retrieval", "clustering"})
            diagnosis.findings.push_back(
                {"texts_cut", set, FindingState::alarm, 0.5, 0.2, fmt::format("said of {}", set), "why", "do", {}});
        diagnosis.findings.push_back({"texts_cut", "other", FindingState::alarm, 0.5, 0.2, "said of other", "why", "do else", {}});
        const std::string text = diagnosis.to_text();
        QVERIFY2(has(text, "3 alarms"), text.c_str());
        QVERIFY2(has(text,
                     "ALARM texts cut, 2 times\n  retrieval: said of retrieval\n  clustering: said of clustering\n"
                     "  Why it matters: why\n  What to do: do\n\nALARM texts cut, other\n  said of other\n"),
                 text.c_str());
    }
    void a_run_that_failed_says_why_before_all_else() {
        const RunDirectory failed = sample_run(project_.path(), 1), done = sample_run(project_.path(), 2);
        write_attempt(failed, 1, 3, "failed");
        write_attempt(done, 1, 3, "finished");
        QVERIFY(diagnose_end(done).empty());
        const auto findings = diagnose_end(failed);
        QCOMPARE(alarms(findings), std::vector<std::string>{"end: "});
        QVERIFY2(has(findings[0].says, "failed at step 3 of 100: the reason"), findings[0].says.c_str());
    }
    void examples_that_repeat_others_are_counted_with_their_negatives() {
        TrainingSet set = pairs(60);
        QCOMPARE(diagnose_repeats({&set, 1})[0].value, 0.0);
        for (int i = 0; i < 20; ++i) set.examples.push_back(set.examples[static_cast<std::size_t>(i)]);
        QCOMPARE(alarms(diagnose_repeats({&set, 1})), std::vector<std::string>{"repeats: retrieval, pairs"});
        QCOMPARE(diagnose_repeats({&set, 1})[0].details.at("different").get<int>(), 60);
        for (std::uint32_t i = 0; i < 20; ++i) {  // each with a negative of its own
            set.negatives.push_back(set.examples[i + 20].positive);
            set.examples[60 + i].first_negative = i;
            set.examples[60 + i].num_negatives = 1;
        }
        QCOMPARE(diagnose_repeats({&set, 1})[0].value, 0.0);
    }
    void a_temperature_at_which_no_loss_can_fall_is_named() {
        QCOMPARE(alarms(diagnose_training(trained(4, 3, 10))),
                 (std::vector<std::string>{"temperature: clustering", "temperature: retrieval"}));
        for (const Finding& one : diagnose_training(trained(4, 3, 10)))
            if (one.check == "temperature")
                QVERIFY(std::abs(one.details.at("lowest_loss").get<double>() - std::log(1 + 63 * std::exp(-0.2))) < 1e-9);
    }
    void a_temperature_of_other_losses_is_named_too() {
        const std::vector<std::string> named{"temperature: retrieval"};
        const Json gist{{"method", "gist"}, {"teacher", "minilm"}, {"contrast_queries", true}, {"contrast_documents", false}};
        QCOMPARE(alarms(diagnose_training(learned_by(gist, 10))), named);
        QVERIFY(alarms(diagnose_training(learned_by(gist, 0.05))).empty());
        for (const Finding& one : diagnose_training(learned_by(gist, 10)))
            if (one.check == "temperature")
                QVERIFY(std::abs(one.details.at("lowest_loss").get<double>() - std::log(1 + 126 * std::exp(-0.2))) < 1e-9);
        // CoSENT has a scale of its own, and a term for each two pairs of the batch.
        QCOMPARE(alarms(diagnose_training(learned_by({{"method", "cosent"}, {"scale", 0.1}}, 0.05))), named);
        const auto findings = diagnose_training(learned_by({{"method", "cosent"}, {"scale", 20.0}}, 10));
        QVERIFY(alarms(findings).empty());
        QVERIFY2(has(findings[1].says, "At scale 20, which is temperature 0.05, no embedding"), findings[1].says.c_str());
        QVERIFY(std::abs(findings[1].details.at("loss_of_guessing").get<double>() - std::log(1 + 64.0 * 63 / 2)) < 1e-9);
    }
    void a_temperature_at_which_one_text_counts_is_named() {
        QCOMPARE(alarms(diagnose_training(trained(400, 300, 1e-4))),
                 (std::vector<std::string>{"temperature: clustering", "temperature: retrieval"}));
        QVERIFY(alarms(diagnose_training(trained(4, 3, 0.005))).empty());
    }
    void a_task_whose_gradient_drowns_the_other_is_named() {
        QCOMPARE(alarms(diagnose_training(trained(3, 1, 0.05, 40))), std::vector<std::string>{"gradient_ratio: "});
    }
    void each_stage_is_judged_by_its_own_loss() {
        const RunDirectory run = staged({{"masked language", 0}, {"contrastive: of a variant's own", 1}}, true);
        const auto findings = diagnose_training(run);
        std::vector<std::string> temperatures;
        for (const Finding& one : findings)
            if (one.check == "temperature") temperatures.push_back(one.subject);
        QCOMPARE(temperatures, std::vector<std::string>{"stage 2, retrieval"});  // masked language has none
        for (const Finding& one : findings)
            if (one.check == "temperature") QCOMPARE(one.details.at("pairs").get<double>(), 16.0);  // 64 of a step in 4 batches
        // A journal of an older version does not say which part of the experiment a stage is.
        const auto older = diagnose_training(staged({{"masked language", 0}, {"contrastive: of a variant's own", 1}}, false));
        QCOMPARE(older.size(), findings.size());
        for (std::size_t i = 0; i < older.size(); ++i) QCOMPARE(older[i].to_json().dump(), findings[i].to_json().dump());
    }
    void negatives_are_counted_in_the_stages_that_have_them() {
        const TrainingSet set = pairs(6);
        Json stages = settings("none");
        stages["stages"] = {
            {{"name", "words"}, {"tasks", Json::array()}, {"objective", {{"method", "masked_language"}}}},
            {{"name", "small"}, {"tasks", {"retrieval"}}, {"objective", {{"method", "infonce"}}}, {"training", {{"batch_size", 3}}}},
            {{"name", "others"}, {"tasks", {"clustering"}}, {"objective", {{"method", "infonce"}}}}};
        std::vector<std::string> subjects;
        for (const Finding& one : diagnose_negatives({&set, 1}, stages)) subjects.push_back(one.check + ": " + one.subject);
        QCOMPARE(subjects, (std::vector<std::string>{"false_negatives: small, retrieval, pairs", "negatives: small, retrieval, pairs"}));
    }
    void negatives_are_those_of_the_batches_that_there_were() {
        const TrainingSet set = pairs(60);
        const auto negatives = [&](const Json& of, const BatchPairs& recorded) {
            return diagnose_negatives({&set, 1}, of, recorded).at(1).value;
        };
        BatchPairs cut, mixed, of_another_stage;
        cut[{0, "retrieval"}] = 2;  // training.batch_tokens, say
        mixed[{0, ""}] = 3;
        of_another_stage[{1, "retrieval"}] = 2;
        QCOMPARE(negatives(settings("none"), {}), 31.0);
        QCOMPARE(negatives(settings("none"), cut), 1.0);
        QCOMPARE(negatives(settings("none"), mixed), 2.0);
        QCOMPARE(negatives(settings("none"), of_another_stage), 31.0);
        Json larger = settings("none", 128);  // than the set
        larger["curriculum"]["method"] = "task_aware";
        larger["tasks"]["retrieval"]["batching"] = "homogeneous";
        QCOMPARE(negatives(larger, {}), 59.0);
        larger["tasks"]["retrieval"]["batching"] = "heterogeneous";
        QCOMPARE(negatives(larger, {}), 127.0);
        larger["training"]["batch_size"] = 6144;
        for (const Finding& one : diagnose_negatives({&set, 1}, larger)) QVERIFY2(has(one.says, "of a batch of 6144 "), one.says.c_str());
        const auto recorded = recorded_pairs(staged({{"masked language", 0}, {"contrastive: of a variant's own", 1}}, true));
        QCOMPARE(recorded.size(), std::size_t{2});
        QCOMPARE(recorded.at({1, "retrieval"}), 16.0);  // 64 of a step in 4 batches
    }
    void given_negatives_count_for_the_queries_that_meet_them() {
        TrainingSet set = pairs(60);
        for (std::uint32_t i = 0; i < 60; ++i) {
            set.negatives.push_back(set.examples[(i + 7) % 60].positive);
            set.examples[i].first_negative = i;
            set.examples[i].num_negatives = 1;
        }
        Json of = settings("none");
        QCOMPARE(diagnose_negatives({&set, 1}, of)[1].value, 31.0 + 32);  // those of the whole batch
        of["objective"]["hard_negatives"] = "own";
        QCOMPARE(diagnose_negatives({&set, 1}, of)[1].value, 31.0 + 1);
        of["objective"]["hard_negatives"] = "none";
        QCOMPARE(diagnose_negatives({&set, 1}, of)[1].value, 31.0);
    }
    void data_that_changed_since_the_run_are_named() {
        const RunDirectory run = sample_run(project_.path(), 1);
        JournalWriter journal(run, run.begin_attempt(), {});
        journal.event("data", {{"use", "training"}, {"task", "retrieval"}, {"name", "pairs"}, {"card", {{"fingerprint", "aa"}}}});
        journal.event("data", {{"use", "evaluation"}, {"task", "sts"}, {"name", "held"}, {"card", {{"fingerprint", "cc"}}}});
        journal.flush();
        TrainingSet set = pairs(60);
        EvaluationSet held;
        held.name = "held";
        held.task_type = "sts";
        set.card = {{"fingerprint", "aa"}};
        held.card = {{"fingerprint", "cc"}};
        QVERIFY(diagnose_changes(run, {&set, 1}, {&held, 1}).empty());
        set.card = held.card = {{"fingerprint", "bb"}};
        const auto findings = diagnose_changes(run, {&set, 1}, {&held, 1});
        QCOMPARE(findings.size(), std::size_t{2});
        QCOMPARE(findings[0].subject, std::string("retrieval, pairs"));
        QCOMPARE(findings[0].state, FindingState::unknown);
        QCOMPARE(findings[1].subject, std::string("test set held"));
        set.name = held.name = "of another name";
        QVERIFY(diagnose_changes(run, {&set, 1}, {&held, 1}).empty());
    }
    void a_run_without_steps_says_so() {
        const auto findings = diagnose_training(sample_run(project_.path(), 2));
        QCOMPARE(findings.size(), std::size_t{1});
        QCOMPARE(findings[0].state, FindingState::unknown);
    }
    void false_negatives_of_a_batch_are_counted_by_what_the_mask_leaves_out() {
        const TrainingSet distinct = pairs(60), repeated = pairs(6), labelled = pairs(60, 5);
        QVERIFY(alarms(diagnose_negatives({&distinct, 1}, settings("same_text"))).empty());
        QVERIFY(alarms(diagnose_negatives({&repeated, 1}, settings("same_text"))).empty());
        QCOMPARE(alarms(diagnose_negatives({&repeated, 1}, settings("none"))),
                 std::vector<std::string>{"false_negatives: retrieval, pairs"});
        QCOMPARE(alarms(diagnose_negatives({&labelled, 1}, settings("same_text"))),
                 std::vector<std::string>{"false_negatives: retrieval, pairs"});
        QVERIFY(alarms(diagnose_negatives({&labelled, 1}, settings("same_label"))).empty());
        // 31 others, each with probability (60 / 6 - 1) / 59 the same document
        QVERIFY(std::abs(diagnose_negatives({&repeated, 1}, settings("none"))[0].value - 31.0 * 9 / 59) < 1e-9);
    }
    void a_query_with_too_few_negatives_is_named() {
        const TrainingSet distinct = pairs(60);
        QCOMPARE(alarms(diagnose_negatives({&distinct, 1}, settings("same_text", 4))),
                 std::vector<std::string>{"negatives: retrieval, pairs"});
    }
    void test_queries_in_the_training_data_are_a_leak_and_shared_documents_are_none() {
        const TrainingSet training = pairs(60);
        RetrievalData data;
        for (int i = 0; i < 10; ++i) {
            data.documents.add(fmt::format("document {}", i));
            data.queries.add(i < 3 ? fmt::format("Query {}!", i) : fmt::format("asked {}", i));
        }
        EvaluationSet set{"held", "retrieval", data, {}, {}, {}, {}};
        const auto findings = diagnose_leaks({&training, 1}, {&set, 1});
        QCOMPARE(alarms(findings), std::vector<std::string>{"leak: held"});
        QCOMPARE(findings[0].details.at("shared").get<int>(), 3);
    }
    void test_queries_with_a_word_more_or_less_are_near_a_leak() {
        TrainingSet training = pairs(60);
        RetrievalData data;
        for (int i = 0; i < 20; ++i) data.queries.add(fmt::format("who has written the book number {}", i));
        EvaluationSet set{"held", "retrieval", data, {}, {}, {}, {}};
        const auto near = [&] { return diagnose_leaks({&training, 1}, {&set, 1}).at(1); };
        training.texts.add("who has written the other book");
        training.texts.add("Who has written the book, number thirty!");  // another word: another question
        QCOMPARE(near().value, 0.0);
        training.texts.add("who has now written the book number 3");
        training.texts.add("who written the book number 4");
        QCOMPARE(near().value, 0.1);
        QVERIFY(alarms({near()}).empty());                          // texts of one kind are so
        training.texts.add("Who has written the book: number 5?");  // a copy
        training.texts.add("who has written the book number 6 then");
        const Finding found = near();
        QCOMPARE(found.details.at("near_copies").get<int>(), 3);
        QCOMPARE(alarms({found}), std::vector<std::string>{"near_leak: held"});
        QVERIFY2(has(found.says, "\"who has written the book number 3\""), found.says.c_str());
    }
    void a_leaked_text_is_cut_between_its_characters() {
        std::string text(79, 'a');
        for (int i = 0; i < 20; ++i) text += "é";
        TrainingSet training = pairs(60);
        training.texts.add(text);
        RetrievalData data;
        data.queries.add(text);
        const EvaluationSet set{"held", "retrieval", data, {}, {}, {}, {}};
        const std::string says = diagnose_leaks({&training, 1}, {&set, 1})[0].says;
        QVERIFY2(is_valid_utf8(says) && has(says, "aaa…\""), says.c_str());
    }
    void the_gain_over_the_start_model_has_an_interval_and_what_lost_most() {
        const fs::path folder = project_.path() / "gain";
        const RunDirectory start = sample_run(folder, 0), better = sample_run(folder, 1), worse = sample_run(folder, 2);
        QVERIFY(start.info().is_baseline());
        write_results(start, 0);
        write_results(better, 20);
        write_results(worse, -20);
        QVERIFY(alarms(diagnose_gain(better, {})).empty());
        const auto findings = diagnose_gain(worse, {});
        QCOMPARE(alarms(findings).size(), std::size_t{3});
        QCOMPARE(findings[0].details.at("lost_most").size(), std::size_t{3});
        QVERIFY(findings[0].details.at("interval").at(1).get<double>() < 0);
    }
    void a_score_that_is_not_a_number_is_no_gain_and_no_error() {
        const fs::path folder = project_.path() / "flat";
        for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
            const RunDirectory run = sample_run(folder, index);
            write_results(run, static_cast<double>(index));
            run.write_result("flat", {{"name", "flat"}, {"task_type", "sts"}, {"metric", "m"}, {"score", nullptr}, {"n", 3}});
            QVERIFY(index == 0 || diagnose_gain(run, {}).size() == 3);
        }
    }
    void data_that_changed_since_the_start_model_was_scored_tell_no_gain() {
        const fs::path folder = project_.path() / "changed";
        for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
            const RunDirectory run = sample_run(folder, index);
            run.write_result("set", {{"name", "set"},
                                     {"task_type", "sts"},
                                     {"metric", "m"},
                                     {"score", 50},
                                     {"n", 3},
                                     {"settings", {{"data_fingerprint", index == 0 ? "aa" : "bb"}}}});
            if (index == 0) continue;
            const auto findings = diagnose_gain(run, {});
            QCOMPARE(findings.size(), std::size_t{1});
            QVERIFY(std::isnan(findings[0].value));
            QVERIFY(findings[0].says.find("other data of this name") != std::string::npos);
        }
    }
    void each_run_of_a_sweep_is_held_against_the_start_model_that_it_began_from() {
        const fs::path folder = project_.path() / "sweep";
        const Experiment experiment = parse_sample(sample_experiment() + std::string("sweep: {max_length: [32, 64]}\n"));
        for (const ResolvedRun& one : experiment.runs()) {
            const double of_length = one.settings.at("max_length").get<double>() / 4;
            write_results(RunDirectory::create(folder, experiment, one, false), of_length + (one.method == "start" ? 0 : 1));
        }
        int trained = 0;
        Project(folder, false).each_run([&](const RunDirectory& run) {
            if (run.info().is_baseline()) return;
            const auto findings = diagnose_gain(run, {});
            QCOMPARE(findings.size(), std::size_t{3});
            QVERIFY2(std::abs(findings[0].value - 1) < 1e-9, findings[0].says.c_str());
            ++trained;
        });
        QCOMPARE(trained, 8);
    }
    void without_scores_of_the_start_model_there_is_no_gain() {
        const fs::path folder = project_.path() / "alone";
        const RunDirectory run = sample_run(folder, 1);
        write_results(run, 1);
        QCOMPARE(diagnose_gain(run, {})[0].state, FindingState::unknown);
    }
};

FACETER_TEST(TestDiagnosis)
#include "test_diagnosis.moc"
