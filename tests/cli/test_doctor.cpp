#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "cli/program.h"
#include "record/final_model.h"
#include "record/state.h"
#include "store/store.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter doctor`: each thing that it finds, the command that it says for it, and what --fix does and does not.
class TestDoctor : public QObject {
    Q_OBJECT
    std::unique_ptr<TemporaryDirectory> folder_;

    fs::path in(const std::string& name) const { return folder_->path() / name; }
    Outcome call(const std::vector<std::string>& more, const std::string& torch = "", const std::string& launched = "") const {
        std::vector<std::string> words{"doctor"};
        words.insert(words.end(), more.begin(), more.end());
        words.insert(words.end(), {"--project", in("p").string()});
        return faceter::testing::faceter(
            words, {"FACETER_CACHE=" + in("cache").string(), "FACETER_TORCH_ROOT=" + torch, "FACETER_TORCH=" + launched,
                    "FACETER_DATA_DIR=" + in("data").string(), "HF_HOME=" + in("hub").string(),
                    "HF_HUB_CACHE=", "HOME=" + in("home").string(), "COLUMNS=200"});
    }
    /// The finding whose sentence holds `piece`; null where there is none.
    static Json about(const Outcome& outcome, const std::string& piece) {
        const Json facts = json_of(outcome);
        for (const Json& finding : facts["findings"])
            if (finding["what"].get<std::string>().find(piece) != std::string::npos) return finding;
        return {};
    }
    /// Found with its command, unchanged without --fix, mended by --fix, and gone after that.
    void is_mended(const std::string& piece, const std::string& command) const {
        for (int look = 0; look < 2; ++look) {
            const Json finding = about(call({"--json"}), piece);
            QVERIFY2(!finding.is_null() && finding["safe"] == true && finding["mended"] == false, finding.dump().c_str());
            HAS(finding["command"].get<std::string>(), command);
        }
        const Outcome fixed = call({"--fix", "--json"});
        QVERIFY2(fixed.code == 0, fixed.out.c_str());
        QCOMPARE(about(fixed, piece)["mended"], Json(true));
        QVERIFY(about(call({"--json"}), piece).is_null());
    }
    /// Found with its command, and left alone by --fix.
    void is_only_said(const std::string& piece, const std::string& command) const {
        const Json finding = about(call({"--fix", "--json"}), piece);
        QVERIFY2(!finding.is_null() && finding["safe"] == false && finding["mended"] == false, finding.dump().c_str());
        HAS(finding["command"].get<std::string>(), command);
        QVERIFY(!about(call({"--json"}), piece).is_null());
    }
    void write_setup(const std::string& script) const {
        make_directories(in("data/packaging"));
        write_file_atomic(in("data/packaging/setup.sh"), script);
    }
    static void leave_long_ago(const fs::path& file) {
        make_directories(file.parent_path());
        overwrite(file, "x");
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(48));
    }

  private Q_SLOTS:
    void init() {
        folder_ = std::make_unique<TemporaryDirectory>();
        for (const char* name : {"p/runs", "cache", "home"}) make_directories(in(name));
    }
    /// It said that all was well, and every command of the worker ended with 127.
    void a_worker_that_does_not_start_is_said() {
        write_file_atomic(in("worker"), "#!/bin/sh\necho 'cannot open libtorch_cpu.so' >&2\nexit 127\n");
        fs::permissions(in("worker"), fs::perms::owner_all);
        qputenv("FACETER_WORKER", in("worker").c_str());
        const auto back = qScopeGuard([] { qunsetenv("FACETER_WORKER"); });
        const Json finding = about(call({"--json"}), "does not start (exit code 127): cannot open libtorch_cpu.so");
        QVERIFY(!finding.is_null() && finding["safe"] == false);
    }
    void what_is_missing_from_the_cache_is_fetched() {
        write_setup(
            "[ \"$*\" = --user ] || exit 2\nroot=$FACETER_CACHE/torch-2.11.0/torch/lib\nmkdir -p \"$root\" && touch "
            "\"$root/libtorch_cpu.so\"\n"
            "echo fetched\n");
        is_mended("no libtorch found", "faceter setup");
        write_setup("exit 3\n");
        fs::remove_all(in("cache/torch-2.11.0"));
        const Outcome failed = call({"--fix"});
        QCOMPARE(failed.code, 5);
        HAS(failed.out, "not mended: ");
        HAS(failed.out, "exit code 3");
        QVERIFY(json_of(call({"--fix", "--json"}))["findings"].size() > 0);
    }
    void a_named_torch_that_is_none_is_only_said() {
        write_setup("");
        const Outcome outcome = call({"--fix", "--json"}, in("nowhere").string());
        HAS(about(outcome, "FACETER_TORCH_ROOT names")["command"].get<std::string>(), "unset FACETER_TORCH_ROOT");
        QCOMPARE(about(outcome, "FACETER_TORCH_ROOT names")["mended"], Json(false));
        fs::create_symlink("loop", in("loop"));  // stands for what cannot be looked at, as another user's folder
        HAS(about(call({"--json"}, in("loop").string()), "FACETER_TORCH_ROOT names")["what"].get<std::string>(), "cannot be read");
    }
    /// As the launcher of the wheel, the bundle and the packages says it.
    void the_torch_of_a_python_environment_is_found() {
        write_setup("");
        make_directories(in("venv/torch/lib"));
        overwrite(in("venv/torch/lib/libtorch_cpu.so"), "");
        const Outcome outcome = call({"--json"}, "", in("venv/torch").string());
        QCOMPARE(json_of(outcome)["libtorch"].get<std::string>(), in("venv/torch/lib/libtorch_cpu.so").string());
        QVERIFY(about(outcome, "no libtorch found").is_null());
    }
    void old_temporaries_of_project_and_cache_are_removed() {
        const RunDirectory run = sample_run(in("p"));
        write_attempt(run, 1, 3, "stopped");
        write_setup("");
        leave_long_ago(run.results() / "set0.json.tmp-123-0");
        is_mended("set0.json.tmp-123-0", "rm -r ");
        QVERIFY(fs::exists(run.attempt_journal(1)));
        leave_long_ago(in("cache/tokens/abc.tmp-123-0"));
        is_mended("abc.tmp-123-0", "rm -r ");
    }
    void young_temporaries_are_only_said() {
        write_setup("");
        overwrite(in("p/names.jsonl.tmp-123-0"), "x");
        is_only_said("names.jsonl.tmp-123-0", "");
        QVERIFY(fs::exists(in("p/names.jsonl.tmp-123-0")));
    }
    void the_lock_of_a_process_that_is_gone_is_removed_and_that_of_another_machine_is_not() {
        write_setup("");
        const RunDirectory run = sample_run(in("p"));
        write_attempt(run, 1, 3, "stopped");
        make_directories(run.control());
        ProcessIdentity gone = ProcessIdentity::own();
        gone.start += "1";
        write_file_atomic(run.control() / "lock.held", gone.to_json().dump());
        is_mended("lock.held", "rm ");
        const ProcessIdentity far{"elsewhere.invalid", 1, "0000-boot:1", "another machine", "pid:[1]"};
        for (const ProcessIdentity& holder : {ProcessIdentity::own(), far}) {
            write_file_atomic(run.control() / "lock.held", holder.to_json().dump());
            QVERIFY(about(call({"--fix", "--json"}), "lock.held").is_null());
            QVERIFY(fs::exists(run.control() / "lock.held"));
        }
    }
    void a_damaged_store_is_made_anew_and_one_that_is_behind_catches_up() {
        write_setup("");
        write_results(sample_run(in("p")), 1);
        Store(in("p")).ingest_all();
        overwrite(in("p/faceter.sqlite"), std::string(20'000, 'x'));
        is_mended("the store is damaged", "faceter ingest --rebuild --project ");
        QCOMPARE(Store(in("p")).runs().size(), std::size_t{1});
        sample_run(in("p"), 2);
        is_mended("other runs than the folder", "faceter ingest --project ");
        QCOMPARE(Store(in("p")).runs().size(), std::size_t{2});
    }
    void a_store_of_a_newer_faceter_is_only_said() {
        write_setup("");
        sample_run(in("p"));
        { Database(in("p/faceter.sqlite")).execute("PRAGMA user_version = 9999"); }
        const std::string before = read_file(in("p/faceter.sqlite"));
        is_only_said("newer Faceter", "mv ");
        QCOMPARE(read_file(in("p/faceter.sqlite")), before);
    }
    void a_run_whose_process_is_gone_is_only_said() {
        write_setup("");
        const RunDirectory run = sample_run(in("p"));
        const pid_t child = ::fork();
        if (child == 0) {
            write_attempt(run, 1, 3, "");
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        is_only_said("gone", "faceter resume EM-1 --project ");
        QCOMPARE(read_state(run).phase, RunPhase::dead);
    }
    void a_run_whose_journal_is_damaged_is_only_said() {
        write_setup("");
        const RunDirectory run = sample_run(in("p"));
        write_attempt(run, 1, 3, "finished");
        write_worker_exit(run, 1, {0, 0, ""});
        QVERIFY(about(call({"--json"}), "journal").is_null());
        fs::resize_file(run.attempt_journal(1), 100);
        is_only_said("its journal is damaged at byte 0", "faceter resume EM-1 --project ");
    }
    void a_final_model_that_is_another_now_is_only_said() {
        const RunDirectory run = sample_run(in("p"));
        write_setup("");
        const fs::path model = run.folder() / "model", weights = model / "model.safetensors", router = model / "router.json";
        make_directories(model / "1_Pooling");
        for (const char* file : {"model.safetensors", "1_Pooling/config.json", "router.json", "library-1.safetensors"})
            overwrite(model / file, "as it was");
        {
            JournalWriter journal(run, run.begin_attempt(), {"", 0, Json::object(), 0});
            journal.event("final_model", final_model_files(model));
            journal.event("finished");
        }
        const auto shown = [&] { return faceter::testing::faceter({"show", run.info().id, "--project", in("p").string()}).err; };
        const auto put = [](const fs::path& file, const char* content) {
            overwrite(file, content);
            fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::minutes(1));
        };
        QVERIFY(about(call({"--json"}), "its model").is_null());
        QVERIFY2(shown().find("model/") == std::string::npos, shown().c_str());
        put(weights, "as it is.");
        is_only_said("its model is not what the run wrote", "faceter rerun ");
        HAS(about(call({"--json"}), "its model")["what"].get<std::string>(), weights.string() + ": its SHA-256 is another");
        HAS(shown(), weights.string() + ": its SHA-256 is another");
        fs::remove(weights);
        HAS(shown(), weights.string() + ": is gone");
        put(weights, "as it was");
        QVERIFY2(shown().find("model/") == std::string::npos, shown().c_str());
        put(router, "with an expert more");  // as by faceter router
        fs::remove(model / "library-1.safetensors");
        QVERIFY(about(call({"--json"}), "its model").is_null());
        put(weights, "short");
        HAS(shown(), weights.string() + ": has 5 bytes, and had 9");
        fs::remove_all(model);  // to save its room
        QVERIFY2(shown().find("model/") == std::string::npos, shown().c_str());
    }
    void a_folder_that_is_no_run_is_only_said() {
        write_setup("");
        make_directories(in("p/runs/photos"));
        is_only_said("runs/photos", "mv ");
        QVERIFY(fs::exists(in("p/runs/photos")));
    }
    void a_person_reads_the_same() {
        write_setup("");
        leave_long_ago(in("p/names.jsonl.tmp-123-0"));
        const Outcome said = call({});
        HAS(said.out, "problem: ");
        HAS(said.out, "can be mended without loss: faceter doctor --fix --project ");
        HAS(call({"--fix"}).out, "mended: " + in("p").string());
        QCOMPARE(call({"--fix", "--profile", "x"}).code, 2);
    }
    void what_a_person_reads_fits_the_terminal() {
        write_setup("");
        make_directories(in("plugins"));
        for (int i = 0; i < 12; ++i) {
            Manifest manifest;
            manifest.id = fmt::format("plugin_{}", i);
            manifest.abi = 1;
            manifest.fingerprint = "none";
            write_manifest(manifest, in("plugins") / (manifest.id + ".json"));
        }
        const Outcome said = faceter::testing::faceter(
            {"doctor"},
            {"FACETER_CACHE=" + in("cache").string(), "FACETER_TORCH_ROOT=", "FACETER_TORCH=", "FACETER_DATA_DIR=" + in("data").string(),
             "FACETER_PLUGIN_DIR=" + in("plugins").string(), "HOME=" + in("home").string(), "COLUMNS=100"});
        HAS(said.out, "plugin_11");
        const std::size_t plugins = said.out.find("\nplugins ");
        QVERIFY2(plugins != std::string::npos, said.out.c_str());
        QVERIFY2(widest_line(said.out.substr(plugins)) <= 100, said.out.c_str());
        HAS(said.out, "\n" + std::string(23, ' ') + "plugin_");
    }
};

FACETER_TEST(TestDoctor)
#include "test_doctor.moc"
