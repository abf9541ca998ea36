#include "record/run_directory.h"

#include <sys/stat.h>

#include <map>
#include <set>
#include <thread>

#include "common/error.h"
#include "common/strings.h"
#include "experiment/machine.h"
#include "record/state.h"
#include "record/whole_settings.h"
#include "store/store.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestRunDirectory : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void of_endless_tags_the_first_are_read() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        std::string lines;
        for (int i = 0; i < 2000; ++i) lines += fmt::format("{{\"tag\": \"t{}\"}}\n", i);
        overwrite(run.folder() / "user.jsonl", lines);
        QCOMPARE(run.user_state().tags.size(), std::size_t{1000});
        QCOMPARE(run.user_state().tags.back(), std::string("t999"));
    }
    void a_run_is_read_back_as_it_was_made() {
        const TemporaryDirectory project;
        const Experiment experiment = parse_sample();
        const RunDirectory made = RunDirectory::create(project.path(), experiment, experiment.runs()[3], true);
        const RunDirectory read(made.folder());
        QCOMPARE(read.info().id, made.folder().filename().string());
        QVERIFY(read.info().id.starts_with("quick-mix-s1-"));
        QCOMPARE(read.info().variant, std::string("Mix"));
        Json settings = experiment.runs()[3].settings;
        settings["threads"] = usable_cores();
        QCOMPARE(read.settings(), settings);
        QVERIFY(read.info().smoke);
        QCOMPARE(read.info().group(), std::string("quick/Mix"));
        QCOMPARE(read_file(made.folder() / "experiment.yaml"), std::string(sample_experiment()));
        QCOMPARE(read.project(), project.path());
    }
    void threads_that_nobody_names_are_those_of_this_machine_or_stay_open() {
        const TemporaryDirectory project;
        const auto threads = [&](const std::string& more, OpenThreads open) {
            const Experiment experiment = parse_sample(sample_experiment() + more);
            return RunDirectory::create(project.path(), experiment, experiment.runs()[1], false, open).settings().at("threads").get<int>();
        };
        QCOMPARE(threads("", OpenThreads::of_this_machine), usable_cores());
        QCOMPARE(threads("", OpenThreads::of_its_node), 0);
        for (const OpenThreads open : {OpenThreads::of_this_machine, OpenThreads::of_its_node}) QCOMPARE(threads("threads: 3\n", open), 3);
    }
    void an_id_begins_with_no_dash_and_has_one_for_what_it_leaves_out() {
        const auto id_of = [](const std::string& name) {
            const TemporaryDirectory project;
            std::string text = sample_experiment();
            text.replace(text.find("quick"), 5, name);
            const Experiment experiment = parse_sample(text);
            return RunDirectory::create(project.path(), experiment, experiment.runs()[3], false).info().id;
        };
        for (const auto& [name, begins] : std::map<std::string, std::string>{
                 {"Über", "ber-mix-s1-"}, {"größe ä", "gr-e-mix-s1-"}, {"ü", "x-mix-s1-"}, {"é.a", "a-mix-s1-"}})
            QVERIFY2(id_of(name).starts_with(begins), id_of(name).c_str());
    }
    void settings_that_lack_what_every_run_has_are_refused_with_the_member() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        QCOMPARE(whole_settings(run), run.settings());
        const Json right = read_json(run.folder() / "run.json");
        const auto with = [&](const std::string& member, const Json& value) {
            Json changed = right;
            if (value.is_discarded())
                changed["settings"].erase(member);
            else
                changed["settings"][member] = value;
            write_file_atomic(run.folder() / "run.json", changed.dump());
            return RunDirectory(run.folder());
        };
        for (const char* member : {"model", "variant", "tasks", "training", "evaluation", "objective", "curriculum"}) {
            EXPECT_ERROR(whole_settings(with(member, Json(Json::value_t::discarded))), "run.json: settings", member, "is missing");
            EXPECT_ERROR(whole_settings(with(member, 3)), "run.json: settings", member, "wrong type");
        }
        EXPECT_ERROR(whole_settings(with("tasks", {{"retrieval", 1}})), "tasks", "'retrieval'");
        EXPECT_ERROR(whole_settings(with("evaluation", Json::object())), "evaluation", "'datasets'");
        EXPECT_ERROR(whole_settings(with("variant", Json::object())), "variant", "'method'");
    }
    void ids_are_unique_and_safe() {
        const TemporaryDirectory project;
        std::set<std::string> ids;
        for (int i = 0; i < 20; ++i) ids.insert(sample_run(project.path()).info().id);
        QCOMPARE(ids.size(), std::size_t{20});
        QCOMPARE(safe_file_name("../../etc/passwd"), std::string("x..-..-etc-passwd"));
        QCOMPARE(safe_file_name(""), std::string("x"));
        QVERIFY(safe_file_name(std::string(500, 'a')).size() <= 101);
    }
    void a_rerun_has_the_same_settings_and_names_its_parent() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        const RunDirectory again = RunDirectory::create_like(project.path(), run);
        QCOMPARE(again.settings(), run.settings());
        QCOMPARE(again.info().parent, run.info().id);
        QVERIFY(again.info().id != run.info().id);
    }
    void a_half_made_run_is_no_run() {
        const TemporaryDirectory project;
        set_file_fault_hook([](FileOperation operation, const fs::path& path) {
            return operation == FileOperation::write && path.string().find("run.json") != std::string::npos ? ENOSPC : 0;
        });
        EXPECT_ERROR(sample_run(project.path()), "No space left");
        set_file_fault_hook(nullptr);
        QVERIFY(Project(project.path(), false).run_ids().empty());
    }
    void broken_run_files_are_named() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        const std::string whole = read_file(run.folder() / "run.json");
        for (std::size_t length = 0; length + 3 < whole.size(); length += 7) {
            overwrite(run.folder() / "run.json", whole.substr(0, length));
            EXPECT_ERROR(RunDirectory(run.folder()), "run.json");
        }
        fs::remove(run.folder() / "run.json");
        EXPECT_ERROR(RunDirectory(run.folder()), "not a run");
    }
    void a_folder_that_cannot_be_looked_into_does_not_hide_the_runs() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        const Project project(folder.path(), false);
        fs::create_symlink("loop", project.runs_folder() / "loop");  // as a folder without permission: to look into it is an error
        EXPECT_ERROR(RunDirectory(project.runs_folder() / "loop"), "not a run", "Too many levels of symbolic links");
        QCOMPARE(project.find_run(run.info().name).info().id, run.info().id);
        std::size_t count = 0;
        project.each_run([&](const RunDirectory&) { ++count; });
        QCOMPARE(count, std::size_t{1});
        QCOMPARE(Store(folder.path()).ingest_all().size(), std::size_t{1});
    }
    void pipes_in_place_of_files_hold_nobody() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path(), 0), other = sample_run(folder.path(), 1);
        write_results(run, 1);
        QCOMPARE(::mkfifo((run.results() / "pipe.json").c_str(), 0600), 0);
        fs::remove(other.folder() / "run.json");
        QCOMPARE(::mkfifo((other.folder() / "run.json").c_str(), 0600), 0);
        EXPECT_ERROR(RunDirectory(other.folder()), "run.json", "is not a file that can be read");
        Store store(folder.path());
        QCOMPARE(store.ingest_all().size(), std::size_t{2});
        QCOMPARE(store.results(run.info().id).size(), std::size_t{3});
    }
    void a_device_in_place_of_a_result_is_not_read() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path(), 0);
        write_results(run, 1);
        fs::create_symlink("/dev/zero", run.results() / "endless.json");
        std::string problem;
        const auto all = run.read_all(run.results(), [&](const std::string&, const std::string& what) { problem += what; });
        QCOMPARE(all.size(), std::size_t{4});
        QCOMPARE(problem, (run.results() / "endless.json").string() + ": is not a file that can be read");
    }
    void a_file_in_place_of_the_results_is_told() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path(), 0);
        std::string problem;
        const auto read = [&] {
            return run.read_all(run.results(), [&](const std::string&, const std::string& what) { problem += what; });
        };
        fs::remove(run.results());
        QVERIFY(read().empty() && problem.empty());  // none are there yet
        write_file_atomic(run.results(), "");
        QVERIFY(read().empty());
        QCOMPARE(problem, run.results().string() + ": cannot be looked into: Not a directory");
    }
    void the_runs_of_a_project_are_not_taken_for_one() {
        const TemporaryDirectory folder;
        const Project project(folder.path() / "p", true);
        const fs::path runs = project.runs_folder(), run = runs / "some-run";
        write_file_atomic(project.folder() / "names.jsonl", "");
        make_directories(run);
        write_file_atomic(run / "run.json", "{}");
        EXPECT_ERROR(Project(runs, true), "holds the runs of the project " + project.folder().string());
        EXPECT_ERROR(Project(run, true), "is a run of the project " + project.folder().string());
        QVERIFY(!fs::exists(runs / "runs") && !fs::exists(run / "runs"));
        Project(folder.path() / "q/runs", true);  // a name like another
    }

    void the_path_of_a_project_is_text() {
        const TemporaryDirectory folder;
        EXPECT_ERROR(Project(folder.path() / "p\xff", true), "must be UTF-8");
        QVERIFY(fs::is_empty(folder.path()));
        EXPECT_ERROR(Project("", true), "is empty", "--project");
    }
    void runs_are_found_by_name_prefix_or_variant() {
        const TemporaryDirectory folder;
        const Project project(folder.path() / "new", true);
        const RunDirectory em = sample_run(project.folder(), 1), em2 = sample_run(project.folder(), 2),
                           mix = sample_run(project.folder(), 3);
        QCOMPARE(project.find_run(em.info().id).folder(), em.folder());
        QCOMPARE(project.find_run("quick-mix").folder(), mix.folder());
        QCOMPARE(project.find_run("mix").folder(), mix.folder());
        QCOMPARE(project.find_run("EM-s2").folder(), em2.folder());
        EXPECT_ERROR(project.find_run("quick-em"), "several runs", em.info().name.c_str());
        EXPECT_ERROR(project.find_run("nothing"), "no run 'nothing'", mix.info().name.c_str());
        EXPECT_ERROR(project.find_run("../runs"), "no run");
        EXPECT_ERROR(project.find_run(""), "no run");
        EXPECT_ERROR(Project(folder.path() / "other", false), "not a project");
    }
    void a_name_that_none_has_names_the_run_whose_record_cannot_be_read() {
        const TemporaryDirectory folder;
        const Project project(folder.path() / "new", true);
        const RunDirectory em = sample_run(project.folder(), 1), em2 = sample_run(project.folder(), 2);
        overwrite(em.folder() / "run.json", "{");
        QCOMPARE(project.find_run("EM").folder(), em2.folder());  // the other of the variant
        EXPECT_ERROR(project.find_run("nothing"), "no run 'nothing'", "; not read: " + (em.folder() / "run.json").string());
        overwrite(em2.folder() / "run.json", "{");
        EXPECT_ERROR(project.find_run("EM"), "no run 'EM'", "run.json", "(and 1 more)");
    }
    void a_variant_stands_for_its_newest_run_that_is_no_smoke_run() {
        const TemporaryDirectory folder;
        const Experiment experiment = parse_sample();
        const auto made = [&](bool smoke) { return RunDirectory::create(folder.path(), experiment, experiment.runs().at(1), smoke); };
        const RunDirectory full = made(false), smoke = made(true);
        const Project project(folder.path(), false);
        QCOMPARE(project.find_run("EM").folder(), smoke.folder());  // which goes on: who stops or follows it means this one
        write_attempt(smoke, 1, 2, "finished");
        QCOMPARE(project.find_run("EM").folder(), full.folder());
        QCOMPARE(project.find_run("em-s1").folder(), full.folder());
        const std::vector<RunInfo> called = project.runs_called("em");
        QCOMPARE(called.size(), std::size_t{2});
        QCOMPARE(called.back().id, smoke.info().id);
        project.remove(full.info().id);
        QCOMPARE(project.find_run("EM").folder(), smoke.folder());
    }
    void requests_are_made_and_cleared() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        QVERIFY(!run.requested("stop"));
        run.request("stop");
        QVERIFY(run.requested("stop"));
        run.clear_request("stop");
        QVERIFY(!run.requested("stop"));
    }
    void a_tag_that_cannot_be_written_says_why() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        for (const int error : {ENOSPC, EIO, EROFS, EDQUOT}) {
            int asked = 0;  // half of the line is on the disk before it is full
            set_file_fault_hook([&](FileOperation operation, const fs::path& path) {
                if (operation != FileOperation::write || path.filename() != "user.jsonl") return 0;
                return ++asked == 1 ? short_write : error;
            });
            EXPECT_ERROR(run.append_user_event({{"tag", "lost"}}), "user.jsonl", errno_text(error));
            set_file_fault_hook(nullptr);
            run.append_user_event({{"tag", fmt::format("kept-{}", error)}});
        }
        QCOMPARE(run.user_state().tags.size(), std::size_t{4});
    }
    void tags_and_notes_survive_a_torn_line_and_many_writers() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        run.append_user_event({{"tag", "paper"}});
        run.append_user_event({{"note", "good"}});
        {
            OutputFile torn(run.folder() / "copy", OutputFile::Mode::truncate);
            torn.write(read_file(run.folder() / "user.jsonl") + "{\"tag\": \"to");
        }
        fs::rename(run.folder() / "copy", run.folder() / "user.jsonl");
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([&run, i] { run.append_user_event({{"tag", fmt::format("t{}", i)}}); });
        for (std::thread& thread : threads) thread.join();
        run.append_user_event({{"untag", "t0"}});
        run.append_user_event({{"archived", true}});
        const RunDirectory::UserState state = run.user_state();
        QCOMPARE(state.tags.size(), std::size_t{4});
        QCOMPARE(state.tags.front(), std::string("paper"));
        QCOMPARE(state.note, std::string("good"));
        QVERIFY(state.archived);
    }
};

FACETER_TEST(TestRunDirectory)
#include "test_run_directory.moc"
