#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiment/flat_settings.h"
#include "store/store.h"
#include "store/store_stamps.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A run whose settings and variant are chosen.
RunDirectory run_with(const fs::path& project, const std::string& variant, std::uint64_t seed, double learning_rate) {
    ResolvedRun run = parse_sample().runs().at(1);
    run.variant = variant;
    run.seed = seed;
    run.settings["seed"] = seed;
    run.settings["variant"]["name"] = variant;
    run.settings["training"]["learning_rate"] = learning_rate;
    return RunDirectory::create(project, parse_sample(), run, false);
}

std::vector<std::string> ids_of(const std::vector<RunRow>& rows) {
    std::vector<std::string> ids;
    for (const RunRow& row : rows) ids.push_back(row.info.id);
    std::sort(ids.begin(), ids.end());
    return ids;
}

/// Makes everything in a run's folder look old enough to be believed.
void settle(const RunDirectory& run) {
    const auto past = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const auto& entry : fs::recursive_directory_iterator(run.folder())) fs::last_write_time(entry.path(), past);
}

}  // namespace

class TestStoreLists : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_backup_beside_a_result_does_not_take_its_place() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        const auto result = [](double score) { return Json{{"name", "sts benchmark"}, {"task", "sts"}, {"score", score}}; };
        run.write_result("sts benchmark", result(80));
        for (const char* name : {"sts_benchmark.bak.json", "_earlier.json", "zz.json"})
            write_file_atomic(run.results() / name, result(20).dump());
        Store store(project.path());
        const std::vector<std::string> said = store.ingest_all();
        QCOMPARE(said.size(), std::size_t{3});
        for (const std::string& one : said)
            QVERIFY2(one.find("another file of the result 'sts benchmark'") != std::string::npos, one.c_str());
        const auto results = store.results(run.info().id, false);
        QCOMPARE(results.size(), std::size_t{1});
        QCOMPARE(results[0].score, 80.0);
    }
    void the_scores_of_all_runs_come_at_once() {
        const TemporaryDirectory project;
        const RunDirectory a = sample_run(project.path(), 0), b = sample_run(project.path(), 1), c = sample_run(project.path(), 2);
        write_results(a, 1, 4);
        write_results(b, 5, 2);
        Store store(project.path());
        store.ingest_all();
        const RunScores scores = store.run_scores();
        QCOMPARE(scores.runs.size(), std::size_t{3});
        QCOMPARE(scores.sets.size(), std::size_t{4});
        QCOMPARE(scores.task_types, (std::vector<std::string>{"classification", "clustering", "retrieval", "sts"}));
        for (std::size_t run = 0; run < scores.runs.size(); ++run) {
            const std::vector<ResultRow> results = store.results(scores.runs[run]);
            double found = 0;
            for (std::size_t set = 0; set < scores.sets.size(); ++set) {
                if (std::isnan(scores.at(run, set))) continue;
                const auto result =
                    std::find_if(results.begin(), results.end(), [&](const ResultRow& one) { return one.name == scores.sets[set].name; });
                QVERIFY(result != results.end());
                QCOMPARE(scores.at(run, set), result->score);
                QCOMPARE(scores.type_mean(run, result->task_type), result->score);  // one set a type here
                ++found;
            }
            QCOMPARE(found, static_cast<double>(results.size()));
        }
        QVERIFY(std::isnan(scores.type_mean(0, "reranking")));
    }
    void key_settings_are_those_that_differ_within_an_experiment() {
        const TemporaryDirectory project;
        const std::string low = run_with(project.path(), "EM", 1, 1e-5).info().id, high = run_with(project.path(), "EM", 2, 3e-5).info().id;
        run_with(project.path(), "IC", 1, 1e-5);
        Store store(project.path());
        store.ingest_all();
        const KeySettings settings = store.key_settings();
        QCOMPARE(settings.keys, std::vector<std::string>{"training.learning_rate"});
        QCOMPARE(settings.values.at(low).at("training.learning_rate"), std::string("1e-05"));
        QCOMPARE(settings.values.at(high).at("training.learning_rate"), std::string("3e-05"));
        QCOMPARE(store.setting("training.learning_rate").at(high), std::string("3e-05"));
        QCOMPARE(store.setting("max_length").size() + store.setting("model").size() > 0, true);  // one that is the same everywhere
        QVERIFY(store.setting("nothing").empty());
        const std::vector<std::string> keys = store.setting_keys();
        QVERIFY(std::find(keys.begin(), keys.end(), "training.learning_rate") != keys.end());
    }
    void runs_of_several_experiments_are_told_apart_by_what_each_never_varies() {
        const TemporaryDirectory project;
        const std::string low = run_with(project.path(), "EM", 1, 1e-5).info().id;
        const Experiment other = parse_sample("name: other\n" + std::string(sample_experiment()).substr(12));
        ResolvedRun resolved = other.runs().at(1);
        resolved.settings["training"]["learning_rate"] = 3e-5;
        const std::string high = RunDirectory::create(project.path(), other, resolved, false).info().id;
        Store store(project.path());
        store.ingest_all();
        QVERIFY(!store.key_settings().values.at(high).contains("training.learning_rate"));
        const KeySettings settings = store.key_settings({low, high});
        QCOMPARE(settings.values.at(low).at("training.learning_rate"), std::string("1e-05"));
        QCOMPARE(settings.values.at(high).at("training.learning_rate"), std::string("3e-05"));
        QVERIFY(store.key_settings({high}).values.at(high).empty());
    }
    void what_is_empty_in_some_runs_and_missing_in_the_others_tells_none_apart() {
        const TemporaryDirectory project;
        const auto run = [&](std::uint64_t seed, const Json& variant) {
            ResolvedRun resolved = parse_sample().runs().at(1);
            resolved.seed = seed;
            resolved.settings["seed"] = seed;
            resolved.settings["variant"].update(variant);
            return RunDirectory::create(project.path(), parse_sample(), resolved, false).info().id;
        };
        const std::string plain = run(1, Json::object());
        const std::string empty = run(2, {{"experts", Json::object()}, {"layers", Json::array()}, {"limit", nullptr}});
        const std::string limited = run(3, {{"experts", Json::object()}, {"limit", 4}});
        Store store(project.path());
        store.ingest_all();
        const KeySettings settings = store.key_settings();
        QCOMPARE(settings.keys, std::vector<std::string>{"variant.limit"});
        QVERIFY(settings.values.at(plain).empty());
        QCOMPARE(settings.values.at(empty), (std::map<std::string, std::string>{{"variant.limit", "null"}}));
        QCOMPARE(settings.values.at(limited), (std::map<std::string, std::string>{{"variant.limit", "4"}}));
    }
    void settings_are_flattened_with_dots_numbers_and_limits() {
        const auto flat =
            flat_settings({{"b", {{"x", 1e-5}, {"list", {1, 2}}}}, {"a", "text"}, {"c", {{{"n", true}}, nullptr}}, {"e", Json::object()}});
        QCOMPARE(flat, (std::vector<std::pair<std::string, std::string>>{
                           {"a", "text"}, {"b.list", "[1,2]"}, {"b.x", "1e-05"}, {"c.0.n", "true"}, {"c.1", "null"}, {"e", "{}"}}));
        Json many = Json::object();
        for (int i = 0; i < 5000; ++i) many["k" + std::to_string(i)] = std::string(1000, 'x');
        QVERIFY(flat_settings(many).size() <= 2000);
        QVERIFY(flat_settings(many).front().second.size() < 400);
    }
    void many_data_entries_leave_room_for_all_other_settings() {
        Json entry = Json::object();
        for (int i = 0; i < 20; ++i) entry["key" + std::to_string(i)] = i;
        const Json settings = {{"tasks", {{"retrieval", {{"train", Json::array_t(300, entry)}, {"weight", 2}}}}},
                               {"variant", {{"method", "dense"}}},
                               {"training", {{"steps", 10}}}};
        const auto flat = flat_settings(settings);
        QCOMPARE(flat.size(), std::size_t{2000});
        for (const char* key : {"tasks.retrieval.weight", "variant.method", "training.steps", "tasks.retrieval.train.0.key0"})
            QVERIFY2(std::any_of(flat.begin(), flat.end(), [&](const auto& one) { return one.first == key; }), key);
        QVERIFY(std::is_sorted(flat.begin(), flat.end()));
    }
    void a_reader_asks_what_changed_since_a_revision() {
        const TemporaryDirectory project;
        const RunDirectory a = sample_run(project.path(), 0), b = sample_run(project.path(), 1);
        Store writer(project.path()), reader(project.path());
        writer.ingest_all();
        RunChanges changes = reader.changes_since(0);
        QCOMPARE(changes.changed.size(), std::size_t{2});
        const std::uint64_t counter = reader.change_counter();
        writer.ingest_all();
        QVERIFY(reader.changes_since(changes.revision).changed.empty());
        b.append_user_event({{"pinned", true}});
        writer.ingest_all();
        QVERIFY(reader.change_counter() != counter);
        const RunChanges pinned = reader.changes_since(changes.revision);
        QCOMPARE(ids_of(pinned.changed), std::vector<std::string>{b.info().id});
        QVERIFY(pinned.changed[0].pinned);
        fs::remove_all(a.folder());
        writer.ingest_all();
        const RunChanges removed = reader.changes_since(pinned.revision);
        QCOMPARE(removed.removed, std::vector<std::string>{a.info().id});
        QVERIFY(removed.changed.empty());
        QCOMPARE(ids_of(reader.changes_since(removed.revision + 1000).changed),
                 std::vector<std::string>{b.info().id});  // the number of another store
    }
    void a_look_can_be_ended_between_two_runs_and_the_next_goes_on() {
        const TemporaryDirectory project;
        for (std::size_t i = 0; i < 4; ++i) sample_run(project.path(), i);
        Store store(project.path());
        std::vector<std::size_t> seen;
        store.ingest_all([&](std::size_t looked_at, std::size_t runs) {
            seen.push_back(runs);
            return looked_at < 2;
        });
        QCOMPARE(seen, (std::vector<std::size_t>{4, 4}));
        QCOMPARE(store.runs().size(), std::size_t{2});  // what it had taken in stays
        store.ingest_changed();
        QCOMPARE(store.runs().size(), std::size_t{4});
    }
    void a_run_that_comes_back_is_no_longer_called_removed() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        Store store(project.path());
        store.ingest_all();
        fs::rename(run.folder(), project.path() / "aside");
        store.ingest_all();
        QCOMPARE(store.changes_since(1).removed.size(), std::size_t{1});
        fs::rename(project.path() / "aside", run.folder());
        store.ingest_all();
        QVERIFY(store.changes_since(1).removed.empty());
        QCOMPARE(store.changes_since(1).changed.size(), std::size_t{1});
    }
    void a_run_that_is_deleted_while_a_look_goes_on_leaves_the_store() {
        const TemporaryDirectory project;
        std::vector<RunDirectory> runs;
        for (std::size_t i = 0; i < 3; ++i) runs.push_back(sample_run(project.path(), i));
        std::sort(runs.begin(), runs.end(), [](const RunDirectory& a, const RunDirectory& b) { return a.info().id < b.info().id; });
        Store store(project.path());
        store.ingest_all();
        const auto warnings = store.ingest_all([&](std::size_t looked_at, std::size_t) {
            if (looked_at == 1) fs::rename(runs[2].folder(), project.path() / "aside");
            return true;
        });
        QVERIFY(warnings.empty());
        store.ingest_changed();
        QCOMPARE(ids_of(store.runs()), (std::vector<std::string>{runs[0].info().id, runs[1].info().id}));
    }
    void a_run_that_could_not_be_read_any_more_leaves_the_store_with_its_folder() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        Store store(project.path());
        store.ingest_all();
        overwrite(run.folder() / "run.json", "{");
        QCOMPARE(store.ingest_all().size(), std::size_t{1});
        QCOMPARE(store.runs().size(), std::size_t{1});  // what is known of it stays
        fs::remove_all(run.folder());
        store.ingest_changed();
        QVERIFY(store.runs().empty());
    }
    void polling_sees_new_growing_and_removed_runs_at_once() {
        const TemporaryDirectory project;
        const RunDirectory over = sample_run(project.path(), 0);
        write_attempt(over, 1, 5, "finished");
        settle(over);
        Store store(project.path());
        QVERIFY(store.ingest_changed().empty());
        const RunDirectory live = sample_run(project.path(), 1);
        JournalWriter journal(live, live.begin_attempt(), {});
        for (int step = 1; step <= 3000; ++step) {
            journal.step({{"step", step}, {"loss", 1.0 / step}});
            if (step % 1000 != 0) continue;
            journal.flush();
            store.ingest_changed();
            QCOMPARE(store.series(live.info().id, "loss").size(), static_cast<std::size_t>(step));
            QCOMPARE(store.changes_since(0).changed.size(), std::size_t{2});
        }
        journal.event("finished", {});
        store.ingest_changed();
        for (const RunRow& row : store.runs()) QCOMPARE(row.state.phase, RunPhase::done);
        fs::remove_all(live.folder());
        store.ingest_changed();
        QCOMPARE(ids_of(store.runs()), std::vector<std::string>{over.info().id});
    }
    void polling_sees_what_is_added_to_a_run_that_is_over_within_its_turn() {
        const TemporaryDirectory project;
        std::vector<RunDirectory> runs;
        for (std::size_t i = 0; i < 5; ++i) {
            runs.push_back(sample_run(project.path(), i));
            write_attempt(runs.back(), 1, 5, "finished");
            settle(runs.back());
        }
        Store store(project.path());
        store.ingest_changed();
        const std::int64_t revision = store.changes_since(0).revision;
        runs[3].append_user_event({{"tag", "paper"}});
        for (int look = 0; look < 8; ++look) store.ingest_changed();
        QCOMPARE(ids_of(store.changes_since(revision).changed), std::vector<std::string>{runs[3].info().id});
    }
    void a_run_that_waits_again_is_queued_in_the_store_as_well() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        write_attempt(run, 1, 5, "stopped");
        settle(run);
        Store store(project.path());
        store.ingest_all();
        QCOMPARE(store.runs().front().state.phase, RunPhase::stopped);
        write_supervisor(run, ProcessIdentity::own());  // it was resumed, and others run before it
        store.ingest_all();
        QCOMPARE(store.runs().front().state.phase, RunPhase::queued);
        run.request("stop");
        store.ingest_all();
        QCOMPARE(store.runs().front().state.phase, RunPhase::stopped);
    }
    void what_changed_since_the_reading_began_is_not_settled_however_long_it_took() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        write_attempt(run, 1, 5, "finished");
        settle(run);  // an hour ago
        constexpr std::int64_t hour_ns = 3'600'000'000'000;
        QVERIFY(stamps_of(AT_FDCWD, run.folder().string(), 1).settled);
        QVERIFY(!stamps_of(AT_FDCWD, run.folder().string(), 1, now_ns() - 2 * hour_ns).settled);
    }
    void a_score_that_is_rewritten_in_its_place_is_read_anew() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path(), 0);
        write_attempt(run, 1, 5, "finished");
        write_results(run, 1);
        settle(run);
        Store store(project.path()), other(project.path());
        store.ingest_all();
        const auto before = fs::last_write_time(run.results());
        const auto score = [&](Store& one) { return one.results(run.info().id).at(0).score; };
        const double was = score(store);
        Json result = read_json(run.results() / "set0.json");
        result["score"] = was == 12.5 ? 13.5 : 12.5;
        overwrite(run.results() / "set0.json", result.dump());  // as by cp, or an editor
        QVERIFY(fs::last_write_time(run.results()) == before);
        store.ingest_all();
        QCOMPARE(score(store), result["score"].get<double>());
        settle(run);
        store.ingest_all();
        result["score"] = was;
        overwrite(run.results() / "set0.json", result.dump());
        other.ingest(run);  // a command that names the run
        QCOMPARE(score(other), was);
    }
    /// Who looked first was warned, and all others were shown less without a word. A program that looks often is told once.
    void what_cannot_be_read_is_told_to_each_who_looks() {
        const TemporaryDirectory project;
        const RunDirectory torn = sample_run(project.path(), 0), bad = sample_run(project.path(), 1);
        for (const RunDirectory& run : {torn, bad}) write_attempt(run, 1, 5, "finished");
        overwrite(torn.attempt_journal(1), read_file(torn.attempt_journal(1)) + "no event\n");
        overwrite(bad.folder() / "user.jsonl", "{\"tag\":\"paper\"}\n{\"note\": imp}\n");
        overwrite(bad.results() / "bad.json", "{\"score\": ");
        overwrite(bad.figures() / "bad.json", "{");
        for (const RunDirectory& run : {torn, bad}) settle(run);
        for (int program = 0; program < 3; ++program) {
            Store store(project.path());
            QCOMPARE(store.ingest_all().size(), std::size_t{4});
            Store(project.path()).ingest_all();
            QCOMPARE(store.ingest_all().size(), std::size_t{0});
        }
        write_file_atomic(bad.results() / "bad.json", "{\"score\": 5}");
        QCOMPARE(Store(project.path()).ingest_all().size(), std::size_t{3});
        Store store(project.path());
        QCOMPARE(store.results(bad.info().id).size(), std::size_t{1});
    }
    void a_run_that_is_called_otherwise_than_before_is_told() {
        const TemporaryDirectory project;
        const std::string first = sample_run(project.path(), 1).info().id;
        const RunDirectory run = sample_run(project.path(), 2);
        const std::string second = run.info().id;
        Json record = read_json(run.folder() / "run.json");
        record.erase("name");  // as older versions wrote it
        overwrite(run.folder() / "run.json", record.dump(2));
        QVERIFY(Store(project.path()).ingest_all().empty());
        Project(project.path(), false).remove(first);
        QVERIFY(Store(project.path()).ingest_all().empty());
        overwrite(project.path() / "names.jsonl", "");
        const std::vector<std::string> warnings = Store(project.path()).ingest_all();
        QCOMPARE(warnings.size(), std::size_t{1});
        QVERIFY2(warnings.front().find(second + ": what was called EM-2 is EM-1") != std::string::npos, warnings.front().c_str());
    }
    void what_a_death_left_of_a_line_is_told_once() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        write_attempt(run, 1, 5, "finished");
        const std::string whole = read_file(run.attempt_journal(1));
        overwrite(run.attempt_journal(1), whole + whole.substr(0, 40));
        overwrite(run.folder() / "user.jsonl", "{\"tag\":\"paper\"}\n{\"note\":\"imp");
        run.append_user_event({{"tag", "later"}});  // behind the cut line
        settle(run);
        QCOMPARE(Store(project.path()).ingest_all().size(), std::size_t{1});
        QCOMPARE(Store(project.path()).ingest_all(), std::vector<std::string>{});
    }
    void a_score_that_the_journal_has_and_no_file_is_told() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        write_results(run, 0, 2);
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            for (const char* name : {"set0", "set1"}) journal.event("result", {{"name", name}, {"score", 40}});
            journal.event("finished", {});
        }
        QCOMPARE(Store(project.path()).ingest_all(), std::vector<std::string>{});
        fs::remove(run.results() / "set1.json");
        settle(run);
        for (int look = 0; look < 2; ++look) {
            const std::vector<std::string> warnings = Store(project.path()).ingest_all();
            QCOMPARE(warnings.size(), std::size_t{1});
            QVERIFY2(warnings.front().find("set1.json: is missing") != std::string::npos, warnings.front().c_str());
        }
        overwrite(run.results() / "set1.json", R"({"name":"set1"})");
        settle(run);
        const std::vector<std::string> warnings = Store(project.path()).ingest_all();
        QCOMPARE(warnings.size(), std::size_t{1});
        QVERIFY2(warnings.front().find("set1.json: has no score") != std::string::npos, warnings.front().c_str());
    }
    /// From a cluster, or out of a copy: after the run had ended, and its store was up to date.
    void scores_that_arrive_late_are_taken_in() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        write_results(run, 0, 3);
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            for (const char* name : {"set0", "set1"}) journal.event("result", {{"name", name}, {"score", 40}});
            journal.event("finished", {});
        }
        std::vector<std::string> held;  // one that the journal tells of, and one that no line does
        for (const char* name : {"set1.json", "set2.json"}) {
            held.push_back(read_file(run.results() / name));
            fs::remove(run.results() / name);
        }
        settle(run);
        Store watching(project.path());
        QCOMPARE(watching.ingest_changed().size(), std::size_t{1});
        QCOMPARE(watching.results(run.info().id).size(), std::size_t{1});
        const std::int64_t before = watching.changes_since(0).revision;
        write_file_atomic(run.results() / "set1.json", held[0]);
        write_file_atomic(run.results() / "set2.json", held[1]);
        QCOMPARE(Store(project.path()).ingest_all(), std::vector<std::string>{});
        QCOMPARE(watching.results(run.info().id).size(), std::size_t{3});
        QCOMPARE(watching.changes_since(before).changed.size(), std::size_t{1});
        QCOMPARE(watching.runs().front().num_scores, 3);
        settle(run);
        QCOMPARE(Store(project.path()).ingest_all(), std::vector<std::string>{});
    }
    void a_folder_that_is_no_run_is_named_once_by_a_poll() {
        const TemporaryDirectory project;
        make_directories(project.path() / "runs" / "stray");
        Store store(project.path());
        QCOMPARE(store.ingest_changed().size(), std::size_t{1});
        std::size_t named = 0;
        for (int look = 0; look < 8; ++look) named += store.ingest_changed().size();
        QVERIFY(named <= 1);
    }
    void what_is_told_of_a_folder_lasts_until_it_is_a_run_or_gone() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        const std::string record = read_file(run.folder() / "run.json");
        fs::remove(run.folder() / "run.json");  // a copy that is under way
        make_directories(project.path() / "runs" / "stray");
        Store store(project.path());
        const std::vector<std::string> told = store.ingest_all();
        QCOMPARE(told.size(), std::size_t{2});
        QCOMPARE(store.lasting_warnings().size(), std::size_t{2});
        write_file_atomic(run.folder() / "run.json", record);
        QVERIFY(store.ingest_all().size() <= 1);  // of the other one
        QCOMPARE(store.lasting_warnings().size(), std::size_t{1});
        QVERIFY(store.lasting_warnings().front().find("stray") != std::string::npos);
        fs::remove_all(project.path() / "runs" / "stray");
        store.ingest_changed();
        QVERIFY(store.lasting_warnings().empty());
    }
    void a_run_whose_record_breaks_later_is_told_data() {
        QTest::addColumn<bool>("isOver");
        QTest::newRow("that is over") << true;
        QTest::newRow("that goes on") << false;
    }
    void a_run_whose_record_breaks_later_is_told() {
        QFETCH(bool, isOver);
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        std::optional<JournalWriter> journal;
        if (isOver)
            write_attempt(run, 1, 5, "finished");
        else
            journal.emplace(run, run.begin_attempt(), JournalWriter::Start{"", 0, Json::object(), 0});
        settle(run);
        const std::string record = read_file(run.folder() / "run.json");
        Store store(project.path());
        QVERIFY(store.ingest_changed().empty());
        overwrite(run.folder() / "run.json", record.substr(0, record.size() / 2));
        std::vector<std::string> told;
        for (int look = 0; look < 8 && told.empty(); ++look) told = store.ingest_changed();
        QCOMPARE(told.size(), std::size_t{1});
        QVERIFY2(told.front().find("run.json") != std::string::npos, told.front().c_str());
        QCOMPARE(store.lasting_warnings(), told);
        QCOMPARE(Store(project.path()).ingest_all(), told);  // another program that has its rows already
        overwrite(run.folder() / "run.json", record);
        for (int look = 0; look < 8 && !store.lasting_warnings().empty(); ++look) store.ingest_changed();
        QVERIFY(store.lasting_warnings().empty());
        QCOMPARE(store.runs().size(), std::size_t{1});
    }
};

FACETER_TEST(TestStoreLists)
#include "test_store_lists.moc"
