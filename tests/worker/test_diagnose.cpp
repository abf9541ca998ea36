#include <algorithm>
#include <optional>

#include "common/hash.h"
#include "common/strings.h"
#include "record/journal.h"
#include "worker/diagnosed_runs.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter diagnose` on runs whose fault is known, really trained on the tiny reference model.
class TestDiagnose : public QObject {
    Q_OBJECT
    DiagnosedRuns runs_;
    Json diagnosis_of(const Made& made) const { return runs_.diagnosis_of(made); }
    static std::set<std::string> alarms_of(const Json& diagnosis) { return DiagnosedRuns::alarms_of(diagnosis); }
    static QByteArray said(const Json& diagnosis) { return DiagnosedRuns::said(diagnosis); }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        runs_.write_test_set();
    }
    void a_healthy_run_has_no_alarm_data() {
        QTest::addColumn<QString>("variant");
        QTest::addColumn<int>("seed");
        for (int seed = 1; seed <= 3; ++seed) QTest::addRow("instruction %d", seed) << "{method: instruction}" << seed;
        QTest::addRow("experts") << "{method: mote}" << 1;
        QTest::addRow("gates") << "{method: router_retriever, multi_task: false}" << 1;
    }
    void a_healthy_run_has_no_alarm() {
        NEED_SHARED();
        QFETCH(QString, variant);
        QFETCH(int, seed);
        Made made{.name = fmt::format("healthy-{}-{}", QTest::currentDataTag()[0], seed), .variant = variant.toStdString(), .seed = seed};
        if (made.variant.find("router") != std::string::npos) made.learning_rate = "2.0e-3";
        const Json diagnosis = diagnosis_of(made);
        QVERIFY2(alarms_of(diagnosis).empty(), said(diagnosis));
        std::set<std::string> checks;
        for (const Json& finding : diagnosis.at("findings"))
            if (finding.at("state") == "fine") checks.insert(finding.at("check"));
        for (const char* check :
             {"collapse", "false_negatives", "gain", "leak", "loss_curve", "movement", "negatives", "pairs", "temperature", "texts_cut"})
            QVERIFY2(checks.contains(check), (std::string(check) + " is not among what is fine: " + diagnosis.dump(1)).c_str());
    }
    void an_adapter_that_did_not_train_is_named() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "frozen",
                                             .variant = "{method: router_retriever, multi_task: false}",
                                             .learning_rate = "2.0e-3",
                                             .stages = "stages:\n  - {name: one, tasks: [first]}\n"
                                                       "  - {name: two, tasks: [second], training: {learning_rate: 1.0e-14}}\n"});
        const auto alarms = alarms_of(diagnosis);
        QVERIFY2(alarms.contains("movement: adapter second"), said(diagnosis));
        QVERIFY2(!alarms.contains("movement: adapter first"), said(diagnosis));
    }
    void an_adapter_of_a_task_without_training_data_is_no_fault() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "idle",
                                             .variant = "{method: task_lora}",
                                             .learning_rate = "2.0e-3",
                                             .more_tasks = "  third: {type: clustering, instructions: {text: \"group: \"}}\n"});
        QVERIFY2(!alarms_of(diagnosis).contains("movement: adapter third"), said(diagnosis));
        const Json& all = diagnosis.at("findings");
        QVERIFY2(std::any_of(all.begin(), all.end(), [](const Json& one) { return one.at("subject") == "adapter third"; }),
                 said(diagnosis));
    }
    void a_rate_a_hundred_times_too_large_collapses_the_embeddings() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "rate", .learning_rate = "2.0e-2"});
        QVERIFY2(alarms_of(diagnosis).contains("collapse: first"), said(diagnosis));
    }
    void texts_cut_at_eight_tokens_are_counted_by_task_and_side() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "cut", .max_length = 8});
        for (const char* subject : {"first, query side", "first, document side", "second, query side", "second, document side"})
            QVERIFY2(alarms_of(diagnosis).contains(std::string("texts_cut: ") + subject), said(diagnosis));
    }
    void texts_that_one_stage_cuts_are_counted() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "stage",
                                             .stages = "stages:\n  - {name: one, tasks: [first], training: {document_length: 8}}\n"
                                                       "  - {name: two, tasks: [second]}\n"});
        QVERIFY2(alarms_of(diagnosis).contains("texts_cut: first, document side"), said(diagnosis));
        for (const char* subject : {"first, query side", "second, query side", "second, document side"})
            QVERIFY2(!alarms_of(diagnosis).contains(std::string("texts_cut: ") + subject), said(diagnosis));
    }
    void texts_that_a_loss_reads_in_segments_are_not_cut() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "segments", .max_length = 8, .objective = "objective: {method: masked_language}\n"});
        std::set<std::string> measured;
        for (const Json& finding : diagnosis.at("findings"))
            if (finding.at("check") == "texts_cut") measured.insert(finding.at("subject"));
        QCOMPARE(measured, std::set<std::string>{"test set held"});
    }
    void shuffled_pairs_are_seen() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "shuffled", .shuffled = true});
        QVERIFY2(alarms_of(diagnosis).contains("pairs: first, shuffled-first"), said(diagnosis));
    }
    void shuffled_scores_are_seen_where_a_loss_learns_from_them() {
        NEED_SHARED();
        const std::string cosent = "objective: {method: cosent}\n";
        const Json right = diagnosis_of({.name = "scored", .scores = "right", .objective = cosent});
        QVERIFY2(alarms_of(right).empty(), said(right));  // nor of pairs: a quarter of them share a word alone, and their scores say so
        const Json shuffled = diagnosis_of({.name = "dealt", .scores = "shuffled", .objective = cosent});
        QVERIFY2(alarms_of(shuffled).contains("pair_scores: first, dealt-first"), said(shuffled));
        const Json unread = diagnosis_of({.name = "unread", .steps = 2, .scores = "shuffled"});
        for (const Json& finding : unread.at("findings")) QVERIFY2(finding.at("check") != "pair_scores", said(unread));
    }
    void test_queries_in_the_training_data_are_counted() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "leaked", .leaked = true});
        QCOMPARE(alarms_of(diagnosis), std::set<std::string>{"leak: held"});
        for (const Json& finding : diagnosis.at("findings"))
            if (finding.at("check") == "leak") QCOMPARE(finding.at("details").at("shared").get<int>(), 16);
    }
    void a_temperature_of_ten_cannot_teach() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "warm", .temperature = 10});
        QVERIFY2(alarms_of(diagnosis).contains("temperature: first"), said(diagnosis));
    }
    /// As where the start model was replaced since: what the journal notes of it is not what lies there.
    void a_start_model_that_is_another_now_is_said() {
        NEED_SHARED();
        const auto said_of_start = [](const Json& diagnosis) {
            const Json& all = diagnosis.at("findings");
            return std::count_if(all.begin(), all.end(), [](const Json& one) {
                return one.at("check") == "model" && one.at("subject") == "start model" &&
                       one.at("says").get<std::string>().find("is not the one that the run began from") != std::string::npos;
            });
        };
        QCOMPARE(said_of_start(diagnosis_of({.name = "replaced", .steps = 4})), 0);
        std::optional<RunDirectory> run;
        for (const std::string& id : Project(runs_.folder(), false).run_ids())
            if (id.starts_with("replaced-") && id.find("start") == std::string::npos) run.emplace(runs_.folder() / "runs" / id);
        QVERIFY(run.has_value());
        std::string text;
        for (const JournalEvent& event : read_journal(run->attempt_journal(1)).events) {
            Json line = event.fields;
            line.erase("crc");
            if (event.type == "start_model") line["fingerprint"] = "of-another";
            std::string body = line.dump();
            body.pop_back();
            text += fmt::format("{},\"crc\":\"{:08x}\"}}\n", body, crc32c(body));
        }
        write_file_atomic(run->attempt_journal(1), text);
        const Json diagnosis = Json::parse(DiagnosedRuns::output_of({"diagnose", run->folder().string(), "--json", "--threads", "1"}));
        QVERIFY2(said_of_start(diagnosis) == 1, said(diagnosis));
    }
    void without_its_start_model_the_rest_is_said_all_the_same() {
        NEED_SHARED();
        diagnosis_of({.name = "lone", .steps = 4});
        fs::path run;
        for (const std::string& id : Project(runs_.folder(), false).run_ids())
            if (id.starts_with("lone-v")) run = runs_.folder() / "runs" / id;
        QVERIFY(!run.empty());
        const fs::path model = shared_folder() / "fixtures/bert";
        const std::string gone = (runs_.folder() / "gone").string();
        std::string record = read_file(run / "run.json");
        for (const std::string& written : {model.string(), model.lexically_normal().string(), fs::canonical(model).string()})
            for (std::size_t at = 0; (at = record.find(written, at)) != std::string::npos; at += gone.size())
                record.replace(at, written.size(), gone);
        write_file_atomic(run / "run.json", record);
        const Json diagnosis = Json::parse(DiagnosedRuns::output_of({"diagnose", run.string(), "--json", "--threads", "1"}));
        std::set<std::string> checks;
        std::string why;
        for (const Json& finding : diagnosis.at("findings")) {
            checks.insert(finding.at("check"));
            if (finding.at("check") == "model" && finding.at("subject") == "start model") why = finding.at("says");
        }
        QVERIFY2(why.find(gone + "' was not found") != std::string::npos, said(diagnosis));
        for (const char* check : {"gain", "leak", "loss_curve", "negatives"}) QVERIFY2(checks.contains(check), check);
    }
    void what_a_person_reads_fits_the_terminal() {
        NEED_SHARED();
        const Json diagnosis = diagnosis_of({.name = "wide", .temperature = 10});
        std::string run;
        for (const std::string& id : Project(runs_.folder(), false).run_ids())
            if (id.starts_with("wide-v")) run = (runs_.folder() / "runs" / id).string();
        QVERIFY2(!run.empty(), said(diagnosis));
        qputenv("COLUMNS", "100");
        const std::string text = DiagnosedRuns::output_of({"diagnose", run});
        qunsetenv("COLUMNS");
        QVERIFY(text.find("ALARM ") != std::string::npos);
        std::string words = text;
        for (std::size_t at = 0; (at = words.find_first_of("\n ", at)) != std::string::npos;) {
            const std::size_t end = std::min(words.find_first_not_of("\n ", at), words.size());
            words.replace(at, end - at, " ");
            ++at;
        }
        for (const std::string_view line : split(text, '\n')) QVERIFY2(line.size() <= 100, std::string(line).c_str());
        for (const Json& finding : diagnosis.at("findings")) {
            if (finding.at("state") != "alarm") continue;
            const std::string advice = finding.at("advice");
            QVERIFY2(words.find(advice) != std::string::npos, (advice + " is not in " + words).c_str());
        }
    }
    void who_stops_it_need_not_wait_for_its_end() {
        NEED_SHARED();
        std::string trained;
        for (const std::string& id : Project(runs_.folder(), false).run_ids())
            if (id.find("start") == std::string::npos) trained = (runs_.folder() / "runs" / id).string();
        const char* const script =
            "\"$0\" diagnose \"$1\" 2>\"$2\" & pid=$!; until grep -q record \"$2\"; do sleep 0.01; done; kill -TERM $pid; wait $pid";
        const ChildResult stopped = run_child(
            {"/bin/sh", "-c", script, FACETER_BINARY_DIR "/bin/faceter-worker", trained, (runs_.folder() / "stopped.log").string()},
            std::chrono::seconds(100), 1 << 20);
        QCOMPARE(stopped.exit_code, 6);
        QVERIFY(stopped.output.empty());
    }
    void a_run_without_training_is_refused() {
        NEED_SHARED();
        for (const std::string& id : Project(runs_.folder(), false).run_ids())
            if (id.find("start") != std::string::npos) {
                EXPECT_ERROR(DiagnosedRuns::output_of({"diagnose", (runs_.folder() / "runs" / id).string()}), "without training");
                return;
            }
        QFAIL("no baseline was made");
    }
};

FACETER_TEST(TestDiagnose)
#include "test_diagnose.moc"
