#include <fstream>
#include <map>

#include "common/hash.h"
#include "launch/feed.h"
#include "launch/remote.h"
#include "launch/slurm.h"
#include "launch/supervisor.h"
#include "record/launch.h"
#include "record/leftovers.h"
#include "record/state.h"
#include "store/store.h"
#include "support/deaths.h"
#include "support/fake_programs.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// The parts of a record that must be there whole, wherever the run lies.
std::map<std::string, std::string> record_of(const fs::path& run) {
    std::map<std::string, std::string> files;
    for (const std::string& path : fed_files(run)) files[path] = read_file(run / path);
    return files;
}

struct OneProject {
    TemporaryDirectory folder;
    Project project{folder.path(), true};
};

/// A run that was stopped, with results and a tag.
struct OneRun : OneProject {
    RunDirectory run = sample_run(folder.path());
    std::string id = run.info().id;
    std::map<std::string, std::string> before;
    OneRun() {
        write_attempt(run, 1, 5, "stopped");
        write_results(run, 1, 1);
        run.append_user_event({{"tag", "kept"}});
        before = record_of(run.folder());
    }
    fs::path trashed() const { return project.trash_folder() / id; }
};

struct OneTrashed : OneRun {
    OneTrashed() { project.trash(id); }
};

/// It opens, lists what it has, and every run in it is one.
void check_project(const fs::path& folder) {
    const Project project(folder, false);
    for (const std::string& id : project.run_ids()) QCOMPARE(RunDirectory(project.runs_folder() / id).info().id, id);
    Store store(folder);
    store.ingest_all();
    QCOMPARE(store.integrity(), std::string("ok"));
    QCOMPARE(store.runs().size(), project.run_ids().size());
    for (const Leftover& leftover : find_leftovers(project))
        QVERIFY2(!leftover.path.filename().string().starts_with("quick-"), leftover.what.c_str());
}

/// In runs/ or in the trash, and whole there.
void check_whole(OneRun& scene) {
    check_project(scene.folder.path());
    const bool here = fs::exists(scene.run.folder()), there = fs::exists(scene.trashed());
    QVERIFY(here != there);
    const RunDirectory run(here ? scene.run.folder() : scene.trashed());
    QCOMPARE(record_of(run.folder()) == scene.before, true);
    QCOMPARE(run.user_state().tags, std::vector<std::string>{"kept"});
    if (here) scene.project.trash(scene.id);
    scene.project.restore(scene.id);
    prepare_resume({scene.run});
}

void check_removed(OneRun& scene) {
    check_project(scene.folder.path());
    QVERIFY(scene.project.trashed().empty());
    if (fs::exists(scene.run.folder())) {
        QCOMPARE(record_of(scene.run.folder()) == scene.before, true);
        scene.project.remove(scene.id);
    }
    scene.project.empty_trash(0);
    QVERIFY(fs::is_empty(scene.project.runs_folder()));
    QVERIFY(!fs::exists(scene.project.trash_folder()) || fs::is_empty(scene.project.trash_folder()));
}

void check_created(OneProject& scene) {
    check_project(scene.folder.path());
    const std::size_t before = scene.project.run_ids().size();
    QVERIFY(before <= 1);
    sample_run(scene.folder.path());
    QCOMPARE(scene.project.run_ids().size(), before + 1);
}

/// A tag is there or not; what was there before is, and the next one will be.
void check_tags(OneRun& scene) {
    check_project(scene.folder.path());
    std::vector<std::string> tags = scene.run.user_state().tags;
    QVERIFY(tags.size() <= 2 && tags.front() == "kept");
    scene.run.append_user_event({{"tag", "next"}});
    QCOMPARE(scene.run.user_state().tags.back(), std::string("next"));
    QCOMPARE(scene.run.user_state().tags.size(), tags.size() + 1);
}

void check_result(OneRun& scene) {
    check_project(scene.folder.path());
    const auto results = scene.run.read_all(scene.run.results(), [](const auto&, const auto& why) { QFAIL(why.c_str()); });
    for (const auto& [name, result] : results)
        if (name == "set0") QVERIFY(result["score"] == 41.0 || result["score"] == 42.0);
    write_results(scene.run, 2, 1);
}

/// What was said to be written, by the size of a file that the dying process keeps beside.
struct Journaled : OneRun {
    fs::path said = folder.path() / "said";
    void write() {
        JournalWriter journal(run, run.begin_attempt(), {});
        for (int step = 6; step <= 9; ++step) {
            journal.event("checkpoint", {{"step", step}});
            std::ofstream(said, std::ios::app) << 'x' << std::flush;
        }
    }
    void check() {
        check_project(folder.path());
        std::error_code missing;
        const auto events = fs::exists(said) ? fs::file_size(said, missing) : 0;
        const fs::path file = run.attempt_journal(2);
        if (events > 0) QVERIFY(read_journal(file).events.size() >= events + 1);
        QCOMPARE(read_journal(run.attempt_journal(1)).problem, std::string());
        if (fs::exists(file.parent_path()))
            fs::last_write_time(file.parent_path(), fs::file_time_type::clock::now() - std::chrono::minutes(5));
        if (read_state(run).phase == RunPhase::running) return;  // its process is this one: an operation that failed, not a death
        prepare_resume({run});
        write_attempt(run, 6, 9, "finished");
        QCOMPARE(read_state(run).phase, RunPhase::done);
    }
};

/// A SLURM that queues what it is given as job 12, and knows it by its name.
struct Slurm {
    TemporaryDirectory folder;
    FakePrograms programs;
    fs::path queue = folder.path() / "queue";
    Slurm() {
        programs.answers("sbatch", "touch '" + queue.string() + "'; echo 12");
        programs.answers("squeue", "[ ! -e '" + queue.string() + "' ] || echo '12_0|PENDING|Priority|'");
        programs.answers("sacct", "exit 0");
    }
};

struct Submitted : OneRun {
    Slurm slurm;
    Profile profile = parse_profile("kind: slurm\n", "/config/gpu.yaml");
    void submit() { submit_to_slurm(project, profile, {run}); }
    /// The run knows of a job where there is one, and only then: never is it started twice, never does it wait for nothing.
    void check() {
        check_project(folder.path());
        refresh_slurm_jobs(project);
        const auto launch = read_launch(run);
        QCOMPARE(launch.has_value(), fs::exists(slurm.queue));
        QVERIFY(!is_being_submitted(run));
        if (launch) {
            QCOMPARE(launch->job, std::string("12_0"));
            EXPECT_ERROR(prepare_resume({run}), "waits in SLURM");
            return;
        }
        prepare_resume({run});
        submit();
        QCOMPARE(read_launch(run)->job, std::string("12_0"));
    }
};

/// A run there, and its mirror here.
struct Mirrored : OneProject {
    OneRun there;
    Profile profile = parse_profile("kind: ssh\nhost: box\nfolder: /data/p\n", "/config/box.yaml");
    fs::path here() const { return project.runs_folder() / there.id; }
    /// As a feed answers the request of what is here.
    void follow() {
        Mirror mirror(project, profile, {there.id});
        const Json known = Json::parse(mirror.request(true))["runs"][there.id];
        for (const std::string& path : fed_files(there.run.folder())) {
            const std::string bytes = read_file(there.run.folder() / path);
            Json head = {{"run", there.id}, {"file", path}};
            const std::uint64_t has = known.value(path, std::uint64_t{0});
            if (!is_growing_file(path)) {
                if (has != crc32c(bytes)) mirror.take({head, bytes});
                continue;
            }
            head["offset"] = has;
            if (has < bytes.size()) mirror.take({head, bytes.substr(has)});
        }
        mirror.take({{{"run", there.id}, {"over", true}, {"exit_code", 6}}, ""});
    }
    void check() {
        check_project(folder.path());
        follow();
        QCOMPARE(record_of(here()) == there.before, true);
        QCOMPARE(read_state(RunDirectory(here())).phase, RunPhase::stopped);
    }
};

}  // namespace

/// Whatever operation a process dies at, and whatever one of the disk fails: the project opens, what was recorded is there, and the same
/// can be done again.
class SlowDeaths : public QObject {
    Q_OBJECT

    template <typename Scene>
    void everywhere(const std::function<void(Scene&)>& body, const std::function<void(Scene&)>& check, int least) {
        const int deaths = die_everywhere<Scene>(body, check);
        QVERIFY2(deaths >= least, fmt::format("only {} operations", deaths).c_str());
        if (QTest::currentTestFailed()) return;
        QVERIFY(fail_everywhere<Scene>(body, check) >= least);
    }

  private Q_SLOTS:
    void initTestCase() { qputenv("FACETER_WORKER", "/opt/faceter-worker"); }
    void cleanupTestCase() { qunsetenv("FACETER_WORKER"); }

    void making_a_run() {
        everywhere<OneProject>([](OneProject& s) { sample_run(s.folder.path()); }, check_created, 15);
    }
    void moving_it_to_the_trash() {
        everywhere<OneRun>([](OneRun& s) { s.project.trash(s.id); }, check_whole, 6);
    }
    void taking_it_back() {
        everywhere<OneTrashed>([](OneTrashed& s) { s.project.restore(s.id); }, [](OneTrashed& s) { check_whole(s); }, 3);
    }
    void removing_it_for_good() {
        everywhere<OneRun>([](OneRun& s) { s.project.remove(s.id); }, check_removed, 15);
    }
    void tagging_it() {
        everywhere<OneRun>([](OneRun& s) { s.run.append_user_event({{"tag", "new"}}); }, check_tags, 4);
    }
    void writing_results() {
        everywhere<OneRun>([](OneRun& s) { write_results(s.run, 2, 1); }, check_result, 8);
    }
    void journaling() {
        everywhere<Journaled>([](Journaled& s) { s.write(); }, [](Journaled& s) { s.check(); }, 10);
    }
    void submitting() {
        everywhere<Submitted>([](Submitted& s) { s.submit(); }, [](Submitted& s) { s.check(); }, 25);
    }
    void mirroring() {
        everywhere<Mirrored>([](Mirrored& s) { s.follow(); }, [](Mirrored& s) { s.check(); }, 25);
    }
    void queueing() {
        everywhere<OneRun>([](OneRun& s) { Queue::create(s.project, {s.run}, 1); },
                           [](OneRun& s) {
                               check_project(s.folder.path());
                               prepare_resume({s.run});
                               QVERIFY(!Queue::create(s.project, {s.run}, 1).runs.empty());
                           },
                           5);
    }
};

FACETER_TEST(SlowDeaths)
#include "slow_deaths.moc"
