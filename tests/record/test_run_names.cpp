#include "record/run_names.h"

#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "common/error.h"
#include "record/run_directory.h"
#include "store/store.h"
#include "support/deaths.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

std::string text(const std::optional<std::string>& value) { return value.value_or("(nothing)"); }

void copy_run(const RunDirectory& run, const fs::path& project) {
    make_directories(project / "runs");
    fs::copy(run.folder(), project / "runs" / run.info().id, fs::copy_options::recursive);
}

/// As a version without names left it: no name in run.json, no names.jsonl.
void make_old(const fs::path& project, const RunDirectory& run, const std::string& created) {
    Json json = read_json(run.folder() / "run.json", 1 << 20);
    json.erase("name");
    json["created"] = created;
    overwrite(run.folder() / "run.json", json.dump());
    fs::remove(project / "names.jsonl");
}

std::map<std::string, std::string> names_in_store(const fs::path& project) {
    Store store(project);
    store.ingest_all();
    std::map<std::string, std::string> names;
    for (const RunRow& row : store.runs()) names[row.info.id] = row.info.name;
    return names;
}

struct TwoRuns {
    TemporaryDirectory folder;
    RunDirectory first = sample_run(folder.path(), 3), second = sample_run(folder.path(), 4);
    Project project{folder.path(), false};
};

}  // namespace

class TestRunNames : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_run_is_named_by_its_variant_and_a_number() {
        const TwoRuns two;
        QCOMPARE(two.first.info().name, std::string("Mix-1"));
        QCOMPARE(two.second.info().name, std::string("Mix-2"));
        QCOMPARE(sample_run(two.folder.path(), 1).info().name, std::string("EM-1"));
        QCOMPARE(RunDirectory(two.first.folder()).info().name, std::string("Mix-1"));
        const Experiment experiment = parse_sample();
        QCOMPARE(RunDirectory::create(two.folder.path(), experiment, experiment.runs()[3], true).info().name, std::string("Mix-smoke-1"));
        QCOMPARE(RunDirectory::create_like(two.folder.path(), two.first).info().name, std::string("Mix-3"));
    }
    void a_name_is_fit_for_a_shell_whatever_the_variant_is_called() {
        const TemporaryDirectory folder;
        const std::pair<const char*, const char*> cases[] = {{"sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2-1"},
                                                             {"a $(rm -rf ~)", "a-rm-rf-1"},
                                                             {"für Größe", "f-r-Gr-e-1"},
                                                             {"/", "x-1"},
                                                             {"...", "x-2"},
                                                             {"", "x-3"},
                                                             {"--yes", "yes-1"}};
        int i = 0;
        for (const auto& [variant, expected] : cases)
            QCOMPARE(give_run_name(folder.path(), {fmt::format("id-{}", ++i), variant, "", false, ""}), std::string(expected));
        QCOMPARE(give_run_name(folder.path(), {"long", std::string(300, 'a'), "", false, ""}), std::string(40, 'a') + "-1");
    }
    void commands_find_a_run_by_its_name_in_any_case() {
        const TwoRuns two;
        QCOMPARE(two.project.find_run("Mix-2").folder(), two.second.folder());
        QCOMPARE(two.project.find_run("mix-1").folder(), two.first.folder());
        QCOMPARE(two.project.find_run(two.second.info().id).folder(), two.second.folder());
        EXPECT_ERROR(two.project.find_run("Mix-3"), "no run 'Mix-3'", "Mix-1, Mix-2");
        EXPECT_ERROR(two.project.find_run("quick-mix"), "several runs", "Mix-1");
    }
    void a_name_is_never_given_twice() {
        const TwoRuns two;
        two.project.trash(two.second.info().id);
        const std::string project = "--project '" + two.folder.path().string() + "'";
        EXPECT_ERROR(two.project.find_run("Mix-2"), std::string("in the trash"), "faceter restore Mix-2 " + project);
        QCOMPARE(sample_run(two.folder.path(), 3).info().name, std::string("Mix-3"));
        QCOMPARE(two.project.restore("mix-2"), two.second.info().id);
        QCOMPARE(two.project.find_run("Mix-2").folder(), two.second.folder());
        two.project.remove(two.second.info().id);
        EXPECT_ERROR(two.project.find_run("Mix-2"), "was deleted");
        QCOMPARE(sample_run(two.folder.path(), 3).info().name, std::string("Mix-4"));
    }
    void a_variant_whose_name_ends_like_another_runs_gets_names_of_its_own() {
        const TemporaryDirectory folder;
        const auto give = [&](const char* id, const char* variant) { return give_run_name(folder.path(), {id, variant, "", false, ""}); };
        QCOMPARE(give("a", "TLR"), std::string("TLR-1"));
        QCOMPARE(give("b", "tlr"), std::string("tlr-2"));  // names are told apart whatever the case
        QCOMPARE(give("c", "TLR-2"), std::string("TLR-2-1"));
        QCOMPARE(give("d", "TLR"), std::string("TLR-3"));
        QCOMPARE(give("a", "TLR"), std::string("TLR-1"));  // asked for again
        QCOMPARE(text(id_of_name(folder.path(), "TLR-2-1")), std::string("c"));
        QCOMPARE(text(id_of_name(folder.path(), "TLR-4")), std::string("(nothing)"));
    }
    void runs_of_older_versions_get_names_by_their_creation() {
        const TwoRuns two;
        make_old(two.folder.path(), two.first, "2026-02-02T00:00:00Z");
        make_old(two.folder.path(), two.second, "2026-01-01T00:00:00Z");
        const std::string before = read_file(two.first.folder() / "run.json");
        const auto names = names_in_store(two.folder.path());
        QCOMPARE(names.at(two.second.info().id), std::string("Mix-1"));
        QCOMPARE(names.at(two.first.info().id), std::string("Mix-2"));
        QCOMPARE(two.project.find_run("Mix-1").folder(), two.second.folder());
        QCOMPARE(read_file(two.first.folder() / "run.json"), before);
    }
    void a_project_that_cannot_be_written_has_the_same_names() {
        const TwoRuns two;
        make_old(two.folder.path(), two.first, "2026-02-02T00:00:00Z");
        make_old(two.folder.path(), two.second, "2026-01-01T00:00:00Z");
        set_file_fault_hook([](FileOperation, const fs::path& path) { return path.filename() == "names.jsonl" ? EROFS : 0; });
        const std::string first = two.project.find_run("mix-2").info().id;
        set_file_fault_hook(nullptr);
        QCOMPARE(first, two.first.info().id);
        QVERIFY(!fs::exists(two.folder.path() / "names.jsonl"));
    }
    void a_copied_run_keeps_its_name_where_it_is_free_and_gets_another_where_not() {
        const TwoRuns two;
        const TemporaryDirectory other;
        copy_run(two.second, other.path());
        const Project there(other.path(), false);
        QCOMPARE(there.find_run("Mix-2").info().id, two.second.info().id);
        QCOMPARE(sample_run(other.path(), 3).info().name, std::string("Mix-3"));  // numbers go on behind it
        const TwoRuns third;
        copy_run(third.second, other.path());                                                               // named Mix-2 where it was made
        QCOMPARE(RunDirectory(other.path() / "runs" / third.second.info().id).info().name, std::string());  // never another run's name
        QCOMPARE(there.find_run("Mix-2").info().id, two.second.info().id);
        QCOMPARE(there.find_run("Mix-4").info().id, third.second.info().id);
        QCOMPARE(names_in_store(other.path()).at(third.second.info().id), std::string("Mix-4"));
    }
    void two_lists_of_names_that_were_put_together_leave_each_name_to_one_run() {
        const TwoRuns two;
        const TemporaryDirectory other;
        const RunDirectory theirs = sample_run(other.path(), 3);
        copy_run(theirs, two.folder.path());
        overwrite(two.folder.path() / "names.jsonl",
                  read_file(two.folder.path() / "names.jsonl") + read_file(other.path() / "names.jsonl") + "{\"name\": \"Mix-");
        const auto names = names_in_store(two.folder.path());
        QCOMPARE(names.at(two.first.info().id), std::string("Mix-1"));
        QCOMPARE(names.at(theirs.info().id), std::string("Mix-3"));
        QCOMPARE(std::set<std::string>({names.at(two.first.info().id), names.at(two.second.info().id), names.at(theirs.info().id)}).size(),
                 std::size_t{3});
    }
    void hostile_lines_name_nothing() {
        const TwoRuns two;
        const fs::path file = two.folder.path() / "names.jsonl";
        overwrite(file, read_file(file) + "[]\n{}\n" + R"({"name": "../x-1", "run": "a"})" + "\n" + R"({"name": "x-01", "run": "b"})" +
                            "\n" + R"({"name": "x-99999999999999999999", "run": "c"})" + "\n" + R"({"name": 3, "run": "d"})" + "\n" +
                            std::string(100'000, '[') + "\n");
        for (const char* name : {"../x-1", "x-01", "x-99999999999999999999", "x-1"})
            QCOMPARE(text(id_of_name(two.folder.path(), name)), std::string("(nothing)"));
        QCOMPARE(sample_run(two.folder.path(), 3).info().name, std::string("Mix-3"));
    }
    void processes_that_make_runs_at_once_give_each_name_once() {
        const TemporaryDirectory folder;
        constexpr int processes = 4, each = 15;
        std::vector<pid_t> children;
        for (int p = 0; p < processes; ++p) {
            const pid_t child = ::fork();
            if (child == 0) {
                for (int i = 0; i < each; ++i) give_run_name(folder.path(), {fmt::format("run-{}-{}", p, i), "Mix", "", false, ""});
                ::_exit(0);
            }
            children.push_back(child);
        }
        for (const pid_t child : children) ::waitpid(child, nullptr, 0);
        std::set<std::string> ids;
        for (int n = 1; n <= processes * each; ++n) ids.insert(text(id_of_name(folder.path(), fmt::format("Mix-{}", n))));
        QCOMPARE(ids.size(), static_cast<std::size_t>(processes * each));
        QVERIFY(!ids.contains("(nothing)"));
    }
    void without_locks_the_earlier_line_holds() {
        const TemporaryDirectory folder;
        bool quicker = false;
        set_file_fault_hook([&](FileOperation operation, const fs::path& path) {
            if (operation != FileOperation::write || path.filename() != "names.jsonl" || quicker) return 0;
            quicker = true;  // another machine, and nothing keeps it out
            overwrite(path, "{\"name\": \"Mix-1\", \"run\": \"theirs\"}\n");
            return 0;
        });
        const std::string ours = give_run_name(folder.path(), {"ours", "Mix", "", false, ""});
        set_file_fault_hook(nullptr);
        QCOMPARE(ours, std::string("Mix-2"));
        QCOMPARE(text(id_of_name(folder.path(), "Mix-1")), std::string("theirs"));
    }
    void a_death_at_any_moment_leaves_names_that_are_unique() {
        const int operations = die_everywhere<TwoRuns>(
            [](TwoRuns& two) { sample_run(two.folder.path(), 3); },
            [](TwoRuns& two) {
                const RunDirectory next = sample_run(two.folder.path(), 3);
                std::set<std::string> names;
                two.project.name_runs();
                two.project.each_run([&](const RunDirectory& run) { QVERIFY(names.insert(run.info().name).second); });
                QVERIFY(next.info().name == "Mix-3" || next.info().name == "Mix-4");
                QVERIFY(!names.contains(""));
            });
        QVERIFY(operations > 5);
    }
    void a_store_of_an_older_version_gets_the_names() {
        const TwoRuns two;
        names_in_store(two.folder.path());
        {
            Database database(Store::location(two.folder.path()));
            database.execute("ALTER TABLE runs DROP COLUMN name");
            database.execute("PRAGMA user_version = 2");
        }
        Store store(two.folder.path());
        const std::int64_t before = store.changes_since(0).revision;
        store.ingest_all();
        QCOMPARE(store.changes_since(before).changed.size(), std::size_t{2});
        QCOMPARE(store.runs()[0].info.name, std::string("Mix-1"));
    }
};

FACETER_TEST(TestRunNames)
#include "test_run_names.moc"
